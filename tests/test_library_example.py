"""The Python examples of README and docs/ run as they stand there; the long one's types check strictly."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
REVEAL = """
from deptree_cli import TreeDistribution

reveal_type(TreeDistribution([[0.0, 1.0], [0.0, 0.0]]).sample(3, 7))
"""


PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
TEXT = "\n".join(page.read_text(encoding="utf-8") for page in PAGES)
BLOCKS = re.findall(r"^```python\n(.*?)```", TEXT, re.DOTALL | re.MULTILINE)

# Those that import us and run by themselves.
PROGRAMS = [block for block in BLOCKS if re.search(r"^from deptree_cli[.\w]* import", block, re.MULTILINE)]


def the_one_with(text: str) -> str:
    """The one program that holds a piece of text."""
    (program,) = (program for program in PROGRAMS if text in program)
    return program


@pytest.fixture(scope="module")
def example() -> str:
    """The long one."""
    return the_one_with("def main(")


def run(*command: str | Path, folder: Path) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "MYPYPATH": str(ROOT), "PYTHONIOENCODING": "utf-8"}
    return subprocess.run(command, capture_output=True, text=True, cwd=folder, env=environment, check=False)


# Those that load no framework, by number.
LIGHT = [number for number, program in enumerate(PROGRAMS) if not re.search(r"^import (torch|jax)", program, re.M)]


@pytest.mark.parametrize("number", LIGHT)
def test_programs_run(number: int, tmp_path: Path, warm: Path) -> None:
    (tmp_path / "sample_data").symlink_to(ROOT / "sample_data")
    (tmp_path / "program.py").write_text(PROGRAMS[number], encoding="utf-8")
    ran = run(warm / "python", "program.py", folder=tmp_path)
    assert (ran.returncode, ran.stderr) == (0, "")


ONE_BY_ONE = "import runpy, sys; [runpy.run_path(name, run_name='__main__') for name in sys.argv[1:]]"


@pytest.mark.parametrize(
    "framework", [pytest.param(name, marks=getattr(pytest.mark, name)) for name in ("torch", "jax")]
)
def test_programs_with_a_framework_run(framework: str, tmp_path: Path) -> None:
    """Each by itself, in one process: to load the framework takes longer than all of them."""
    pytest.importorskip(framework)
    programs = [program for program in PROGRAMS if re.search(rf"^import {framework}", program, re.MULTILINE)]
    names = [f"program{number}.py" for number in range(len(programs))]
    for name, program in zip(names, programs, strict=True):
        (tmp_path / name).write_text(program, encoding="utf-8")
    ran = run(sys.executable, "-c", ONE_BY_ONE, *names, folder=tmp_path)
    assert names
    assert (ran.returncode, ran.stderr) == (0, "")


def test_there_are_programs() -> None:
    assert len(LIGHT) >= 4


@pytest.mark.slow("process")
def test_a_program_of_ones_own(tmp_path: Path, warm: Path) -> None:
    """It has at most 40 lines, and what it prints by randomized pruning is near what it prints exactly."""
    program = the_one_with("class Segmentations(Program)")
    assert len([line for line in program.splitlines() if line]) <= 40
    (tmp_path / "program.py").write_text(program, encoding="utf-8")
    exact, found = (
        [float(number) for number in re.findall(r"[\d.]+", line)]
        for line in run(warm / "python", "program.py", folder=tmp_path).stdout.splitlines()
    )
    assert len(exact) == 7
    assert found == pytest.approx(exact, abs=0.03)
    assert found != exact


@pytest.mark.slow("process")
def test_it_runs(example: str, tmp_path: Path) -> None:
    shutil.copytree(ROOT / "sample_data", tmp_path / "sample_data")
    (tmp_path / "example.py").write_text(example, encoding="utf-8")
    ran = run(sys.executable, "example.py", folder=tmp_path)
    assert ran.returncode == 0, ran.stderr
    assert ran.stderr == ""
    lines = ran.stdout.splitlines()
    assert sum(line.startswith("  expected depth ") for line in lines) == 8
    assert lines[0].startswith("en-1 [2, 0, 4, 2, 7, 7, 2, 2] -0.4349 0.6931")
    assert (tmp_path / "samples.conllu").read_text(encoding="utf-8").count("# sent_id = ") == 24


@pytest.mark.slow("process")
def test_its_types_are_known(example: str, tmp_path: Path) -> None:
    pytest.importorskip("mypy", reason="mypy is not installed")
    (tmp_path / "example.py").write_text(example, encoding="utf-8")
    (tmp_path / "reveal.py").write_text(REVEAL, encoding="utf-8")
    options = ("--strict", "--follow-imports=silent")
    ran = run(sys.executable, "-m", "mypy", *options, "example.py", "reveal.py", folder=tmp_path)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    (revealed,) = re.findall(r'Revealed type is "(.*)"', ran.stdout)
    assert "ndarray" in revealed
    assert "signedinteger[" in revealed
    assert "_32Bit" in revealed or "int32" in revealed
