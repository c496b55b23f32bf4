"""What the tests of the command line share: the command in this process and as a real one, scratch and golden files."""

from __future__ import annotations

import io
import json
import math
import os
import re
import subprocess
import sys
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from deptree_cli.cli import terminal as module
from deptree_cli.cli.app import main
from deptree_cli.core.distribution import TreeDistribution
from tests.on_terminal import as_it_reads, forked_on_terminal
from tests.oracle import Oracle
from tests.sample import DATA

GOLDEN = Path(__file__).parent / "golden"
BIN = Path(sys.executable).parent

NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:e[+-]?\d+)?")


@dataclass(frozen=True)
class Ran:
    """How a command ended and what it wrote."""

    code: int
    out: bytes
    err: str

    @property
    def rows(self) -> list[dict[str, Any]]:
        """Standard output as JSON Lines."""
        return [json.loads(line) for line in self.out.splitlines()]

    @property
    def said(self) -> list[str]:
        """The lines on standard error."""
        return self.err.splitlines()

    @property
    def signature(self) -> str:
        """The line that says how the output was made: of standard error, or else of the output's header."""
        told = [line.removeprefix("deptree: ") for line in self.said if line.startswith("deptree: deptree|")]
        first = self.out.split(b"\n", 1)[0].decode()
        return (
            told or [first.removeprefix("# generator = ") if first.startswith("#") else json.loads(first)["signature"]]
        )[0]


Run = Callable[..., Ran]


@pytest.fixture
def deptree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """`deptree` with arguments and bytes for standard input, in this process and an empty folder: for most cases."""
    monkeypatch.chdir(tmp_path)

    def run(*args: object, stdin: bytes = b"") -> Ran:
        out, err = io.TextIOWrapper(io.BytesIO(), encoding="utf-8"), io.StringIO()
        with monkeypatch.context() as patch:
            patch.setattr(module, "LONG", math.inf)  # no test depends on what is compiled before
            patch.setattr(sys, "argv", ["deptree", *map(str, args)])
            patch.setattr(sys, "stdin", io.TextIOWrapper(io.BufferedReader(io.BytesIO(stdin)), encoding="utf-8"))
            patch.setattr(sys, "stdout", out)
            patch.setattr(sys, "stderr", err)
            ended = _end_of_main()
        out.flush()
        return Ran(ended, out.buffer.getvalue(), err.getvalue())

    return run


def _end_of_main() -> int:
    """The exit status; a warning of NumPy's, which a user would see on stderr, is a failure."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        try:
            main()
        except SystemExit as ended:
            return ended.code


@pytest.fixture
def done(deptree: Run) -> Run:
    """Like `deptree` for what must succeed: exit status 0 or the test fails with what was said."""

    def run(*args: object, stdin: bytes = b"") -> Ran:
        ran = deptree(*args, stdin=stdin)
        assert ran.code == 0, ran.err
        return ran

    return run


@pytest.fixture
def real(tmp_path: Path, warm: Path) -> Run:
    """`deptree` as a process of its own (forked, see `tests/warm.py`), in an empty folder."""

    def run(*args: object, stdin: bytes = b"") -> Ran:
        command = [warm / "deptree", *map(str, args)]
        ended = subprocess.run(command, input=stdin, capture_output=True, cwd=tmp_path, timeout=120, check=False)
        return Ran(ended.returncode, ended.stdout, ended.stderr.decode())

    return run


@pytest.fixture
def shell(tmp_path: Path, warm: Path) -> Run:
    """A line of bash in an empty folder, whose `deptree` is a fork; `$DATA` is the folder of sample data."""

    def run(line: str) -> Ran:
        env = {**os.environ, "PATH": f"{warm}:{BIN}:{os.environ['PATH']}", "DATA": str(DATA)}
        command = ["bash", "-c", line]
        ended = subprocess.run(command, capture_output=True, cwd=tmp_path, env=env, timeout=120, check=False)
        return Ran(ended.returncode, ended.stdout, ended.stderr.decode())

    return run


@pytest.fixture
def terminal(tmp_path: Path) -> Callable[..., tuple[int, str]]:
    """`deptree` with a terminal for all its streams: exit status and what stands on the terminal."""

    def run(*args: object, columns: int = 200) -> tuple[int, str]:
        code, shown = forked_on_terminal(args, tmp_path, columns)
        return code, as_it_reads(shown)

    return run


@pytest.fixture
def put(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str, Any], str]:
    """Work in an empty folder; call with a name and bytes, text, an array or a dict of arrays to put a file there."""
    monkeypatch.chdir(tmp_path)

    def write(name: str, content: Any) -> str:
        if isinstance(content, Mapping):
            np.savez(tmp_path / name, **content)
        elif isinstance(content, np.ndarray):
            np.save(tmp_path / name, content, allow_pickle=content.dtype.hasobject)
        else:
            (tmp_path / name).write_bytes(content.encode() if isinstance(content, str) else content)
        return name

    return write


@pytest.fixture
def golden() -> Callable[[str, bytes], None]:
    """Hold an output against a golden file: bytes, but numbers up to rounding.

    DEPTREE_GOLDEN=write writes them anew.
    """

    def hold(name: str, got: bytes) -> None:
        path = GOLDEN / name
        if os.environ.get("DEPTREE_GOLDEN") == "write":
            path.write_bytes(got)
        text, expected = got.decode(), path.read_bytes().decode()
        assert NUMBER.split(text) == NUMBER.split(expected)
        numbers = [float(number) for number in NUMBER.findall(text)]
        assert numbers == pytest.approx([float(number) for number in NUMBER.findall(expected)], rel=1e-6, abs=1e-9)

    return hold


@pytest.fixture(params=["sample_data", "real_ru", "real_en"])
def treebank(request: pytest.FixtureRequest) -> Path:
    """A folder with scores (--from natasha), their sentences and trees: ours, and those of trained parsers."""
    return DATA if request.param == "sample_data" else request.getfixturevalue("shared") / request.param


@pytest.fixture(scope="session")
def exact() -> Callable[..., Oracle]:
    """A sentence of the sample data by its name, every tree enumerated."""

    def enumerate_trees(sent_id: str, **options: Any) -> Oracle:
        with np.load(DATA / "scores.npz") as scores:
            dep_head = scores[sent_id].astype(float)
        square = np.zeros((len(dep_head) + 1, len(dep_head) + 1))
        square[:, 1:] = dep_head.T
        return Oracle(TreeDistribution(square, **options))

    return enumerate_trees
