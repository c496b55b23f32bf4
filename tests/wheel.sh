#!/usr/bin/env bash
# Install a wheel that brings machine code along into an empty environment without a home, and run the demo and what the
# help of commands says to try: for that no kernel may be compiled. Usage: tests/wheel.sh PYTHON WHEEL
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$1" -m venv "$work/venv"
"$work/venv/bin/python" -m pip install --quiet "$2"
touch "$work/venv/.installed" # for make, which finds nothing to install, and commands by the PATH
export PATH="$work/venv/bin:$PATH" HOME=/nonexistent XDG_CACHE_HOME=/nonexistent NUMBA_CACHE_DIR=$work
unset PYTHONPATH
make --no-print-directory demo VENV="$work/venv"
cp -r sample_data "$work/data"
for name in sample swor decode marginals partition expect inspect check-bias; do
  line=$(deptree "$name" --help | sed -n 's/^ *Try: //p' | sed 's/ | jq .*//')
  (cd "$work/data" && NUMBA_DISABLE_JIT=0 bash -c "$line" > /dev/null) || test "$name" = check-bias
done
if find "$work/deptree" -name '*.nbc' 2>/dev/null | grep .; then
  echo "these kernels were compiled, although \`deptree warm\` has run those lines" >&2
  exit 1
fi
