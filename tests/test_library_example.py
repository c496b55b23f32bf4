"""The Python example of the README: it runs as it stands there, and its types check strictly."""

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


@pytest.fixture(scope="module")
def example() -> str:
    """The one block that is a program."""
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(encoding="utf-8"), re.DOTALL)
    (program,) = (block for block in blocks if "def main(" in block)
    return program


def run(*command: str, folder: Path) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "MYPYPATH": str(ROOT), "PYTHONIOENCODING": "utf-8"}
    return subprocess.run(
        [sys.executable, *command], capture_output=True, text=True, cwd=folder, env=environment, check=False
    )


def test_it_runs(example: str, tmp_path: Path) -> None:
    shutil.copytree(ROOT / "sample_data", tmp_path / "sample_data")
    (tmp_path / "example.py").write_text(example, encoding="utf-8")
    ran = run("example.py", folder=tmp_path)
    assert ran.returncode == 0, ran.stderr
    assert ran.stderr == ""
    lines = ran.stdout.splitlines()
    assert sum(line.startswith("  expected depth ") for line in lines) == 8
    assert lines[0].startswith("en-1 [2, 0, 4, 2, 7, 7, 2, 2] -0.4349 0.6931")
    assert (tmp_path / "samples.conllu").read_text(encoding="utf-8").count("# sent_id = ") == 24


def test_its_types_are_known(example: str, tmp_path: Path) -> None:
    pytest.importorskip("mypy", reason="mypy is not installed")
    (tmp_path / "example.py").write_text(example, encoding="utf-8")
    (tmp_path / "reveal.py").write_text(REVEAL, encoding="utf-8")
    ran = run("-m", "mypy", "--strict", "--follow-imports=silent", "example.py", "reveal.py", folder=tmp_path)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    (revealed,) = re.findall(r'Revealed type is "(.*)"', ran.stdout)
    assert "ndarray" in revealed
    assert "signedinteger[" in revealed
    assert "_32Bit" in revealed or "int32" in revealed
