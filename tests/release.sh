#!/usr/bin/env bash
# Install a wheel into an empty environment and use it from an empty folder that has nothing but the sample data.
# Usage: tests/release.sh PYTHON WHEEL
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$1" -m venv "$work/venv"
"$work/venv/bin/python" -m pip install --quiet "$2"
cp -r "$root/sample_data" "$root/Makefile" "$root/pyproject.toml" "$work"
touch "$work/venv/.installed" # newer than pyproject.toml: make finds nothing to install
export PATH="$work/venv/bin:$PATH"
unset PYTHONPATH
cd "$work"
deptree --help
deptree-cli --version
make --no-print-directory demo VENV=venv
