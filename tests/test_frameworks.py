"""PyTorch and JAX are extras: who does not ask for them does not load them, and who lacks them is told in one line."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.every_command import COMMANDS

ROOT = Path(__file__).resolve().parents[1]
FRAMEWORKS = ("torch", "jax")


def python(program: str) -> subprocess.CompletedProcess[str]:
    """Run a program in a fresh interpreter."""
    return subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, cwd=ROOT, check=False)


@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_without_the_extra_the_error_is_one_line(framework: str) -> None:
    ran = python(f"import sys; sys.modules[{framework!r}] = None; import deptree_cli.{framework}")
    assert ran.returncode == 1
    name = {"torch": "PyTorch", "jax": "JAX"}[framework]
    message = f"ImportError: deptree_cli.{framework} needs {name}: pip install 'deptree-cli[{framework}]'"
    assert ran.stderr.splitlines()[-1] == message
    assert "another exception" not in ran.stderr


@pytest.mark.slow("process")
def test_a_command_that_runs_loads_neither(tmp_path: Path) -> None:
    """With kernels, several workers' worth of imports and an output."""
    arguments = ["decode", "sample_data/scores.npz", "--from", "natasha", "-q", "-o", str(tmp_path / "out.jsonl")]
    program = f"""
import sys
from deptree_cli.cli.app import deptree
deptree({arguments!r}, standalone_mode=False)
print(*sorted({{name.partition(".")[0] for name in sys.modules}} & {set(FRAMEWORKS)!r} | {{"done"}}))
"""
    ran = python(program)
    assert (ran.stdout, ran.returncode) == ("done\n", 0), ran.stderr
    assert (tmp_path / "out.jsonl").read_text(encoding="utf-8").count("\n") >= 8


@pytest.mark.slow("size")
def test_no_help_text_loads_them() -> None:
    """Of any command."""
    commands = [name.split() for name in COMMANDS]
    program = f"""
import sys
from click.testing import CliRunner
from deptree_cli.cli.app import deptree
for command in {commands!r}:
    assert CliRunner().invoke(deptree, [*command, "--help"]).exit_code == 0, command
print(*sorted({{name.partition(".")[0] for name in sys.modules}} & {set(FRAMEWORKS)!r} | {{"done"}}))
"""
    ran = python(program)
    assert (ran.stdout, ran.returncode) == ("done\n", 0), ran.stderr
