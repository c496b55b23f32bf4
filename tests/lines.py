"""Run this line, expect that: command lines as they are typed, tables of them, and what runs them.

A row of a table is a line and, behind bars, what it must say:

    sample $SCORES --sed 7  |  --sed  |  --seed
"""

from __future__ import annotations

import io
import json
import math
import os
import re
import shlex
import subprocess
import sys
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

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

# What lines of tests begin with: the sample data, and how commands are told to read it.
SHORT = {
    "$SCORES": f"{DATA}/scores.npz --from natasha",
    "$SENTENCES": f"--conllu {DATA}/sentences.conllu",
    "$LABELS": f"--labels {DATA}/labels.json --label-scores {DATA}/label_scores.npz",
    "$FIGURE1": f"{DATA}/figure1.npy --from head-dep",
    "$GOLD": f"{DATA}/gold.conllu",
    "$DATA": str(DATA),
}


def words(line):
    """The words of a line, as a shell would split it; an argument that is no text is one word."""
    if not isinstance(line, str):
        return [str(line)]
    for short, long in SHORT.items():
        line = line.replace(short, long)
    return shlex.split(line)


def table(rows, *, marks=()):
    """Cases `line, parts` of a table's rows, each named by its line. All are quick: a row takes milliseconds."""
    cases = []
    for row in filter(None, map(str.strip, rows.splitlines())):
        line, *parts = (cell.strip() for cell in row.split(" | "))
        assert not re.search(r"\S\|\s|\s\|\S", row), f"blanks are missing around a bar: {row}"
        cases.append(pytest.param(line, tuple(parts), id=line, marks=[pytest.mark.quick, *marks]))
    return cases


@dataclass(frozen=True)
class Ran:
    """How a command ended and what it wrote."""

    code: int
    out: bytes
    err: str

    @property
    def rows(self):
        """Standard output as JSON Lines."""
        return [json.loads(line) for line in self.out.splitlines()]

    @property
    def said(self):
        """The lines on standard error."""
        return self.err.splitlines()

    @property
    def signature(self):
        """The line that says how the output was made: of standard error, or else of the output's header."""
        told = [line.removeprefix("deptree: ") for line in self.said if line.startswith("deptree: deptree|")]
        first = self.out.split(b"\n", 1)[0].decode()
        return (
            told or [first.removeprefix("# generator = ") if first.startswith("#") else json.loads(first)["signature"]]
        )[0]


Run = Callable[..., Ran]


@pytest.fixture
def deptree(tmp_path, monkeypatch):
    """`deptree` with a line of arguments (and more, as they are), in this process and an empty folder: for most cases.

    A line is split as by a shell and knows `$SCORES` and other short words: `deptree("sample $SCORES -k 2")`.
    """
    monkeypatch.chdir(tmp_path)

    def run(line="", *args, stdin=b""):
        out, err = io.TextIOWrapper(io.BytesIO(), encoding="utf-8"), io.StringIO()
        with monkeypatch.context() as patch:
            patch.setattr(module, "LONG", math.inf)  # no test depends on what is compiled before
            patch.setattr(sys, "argv", ["deptree", *words(line), *map(str, args)])
            patch.setattr(sys, "stdin", io.TextIOWrapper(io.BufferedReader(io.BytesIO(stdin)), encoding="utf-8"))
            patch.setattr(sys, "stdout", out)
            patch.setattr(sys, "stderr", err)
            ended = _end_of_main()
        out.flush()
        return Ran(ended, out.buffer.getvalue(), err.getvalue())

    return run


def _end_of_main():
    """The exit status; a warning of NumPy's, which a user would see on stderr, is a failure."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        try:
            main()
        except SystemExit as ended:
            return ended.code


@pytest.fixture
def done(deptree):
    """Like `deptree` for what must succeed: exit status 0 or the test fails with what was said."""

    def run(*args, stdin=b""):
        ran = deptree(*args, stdin=stdin)
        assert ran.code == 0, ran.err
        return ran

    return run


@pytest.fixture
def refused(deptree):
    """Like `deptree` for what must fail: status 2, nothing on stdout, and one line on stderr with all these parts."""

    def run(line, *says, stdin=b""):
        ran = deptree(line, stdin=stdin)
        assert (ran.code, ran.out) == (2, b""), ran.err
        assert len(ran.said) == 1, ran.err
        assert ran.err.startswith("deptree")
        assert [part for part in says if part not in ran.err] == [], ran.err
        return ran

    return run


@pytest.fixture
def real(tmp_path, warm):
    """`deptree` as a process of its own (forked, see `tests/warm.py`), in an empty folder."""

    def run(line="", *args, stdin=b""):
        command = [warm / "deptree", *words(line), *map(str, args)]
        ended = subprocess.run(command, input=stdin, capture_output=True, cwd=tmp_path, timeout=120, check=False)
        return Ran(ended.returncode, ended.stdout, ended.stderr.decode())

    return run


@pytest.fixture
def shell(tmp_path, warm):
    """A line of bash in an empty folder, whose `deptree` is a fork; `$DATA` is the folder of sample data."""

    def run(line):
        env = {**os.environ, "PATH": f"{warm}:{BIN}:{os.environ['PATH']}", "DATA": str(DATA)}
        command = ["bash", "-c", line]
        ended = subprocess.run(command, capture_output=True, cwd=tmp_path, env=env, timeout=120, check=False)
        return Ran(ended.returncode, ended.stdout, ended.stderr.decode())

    return run


@pytest.fixture
def terminal(tmp_path):
    """`deptree` with a terminal for all its streams: exit status and what stands on the terminal."""

    def run(*args, columns=200):
        code, shown = forked_on_terminal(args, tmp_path, columns)
        return code, as_it_reads(shown)

    return run


@pytest.fixture
def put(tmp_path, monkeypatch):
    """Work in an empty folder; call with a name and bytes, text, an array or a dict of arrays to put a file there."""
    monkeypatch.chdir(tmp_path)

    def write(name, content):
        if isinstance(content, Mapping):
            np.savez(tmp_path / name, **content)
        elif isinstance(content, np.ndarray):
            np.save(tmp_path / name, content, allow_pickle=content.dtype.hasobject)
        else:
            (tmp_path / name).write_bytes(content.encode() if isinstance(content, str) else content)
        return name

    return write


@pytest.fixture
def golden():
    """Hold an output against a golden file: bytes, but numbers up to rounding.

    DEPTREE_GOLDEN=write writes them anew.
    """

    def hold(name, got):
        path = GOLDEN / name
        if os.environ.get("DEPTREE_GOLDEN") == "write":
            path.write_bytes(got)
        text, expected = got.decode(), path.read_bytes().decode()
        assert NUMBER.split(text) == NUMBER.split(expected)
        numbers = [float(number) for number in NUMBER.findall(text)]
        assert numbers == pytest.approx([float(number) for number in NUMBER.findall(expected)], rel=1e-6, abs=1e-9)

    return hold


@pytest.fixture(params=["sample_data", "real_ru", "real_en"])
def treebank(request):
    """A folder with scores (--from natasha), their sentences and trees: ours, and those of trained parsers."""
    return DATA if request.param == "sample_data" else request.getfixturevalue("shared") / request.param


@pytest.fixture(scope="session")
def exact():
    """A sentence of the sample data by its name, every tree enumerated."""

    def enumerate_trees(sent_id, **options):
        with np.load(DATA / "scores.npz") as scores:
            dep_head = scores[sent_id].astype(float)
        square = np.zeros((len(dep_head) + 1, len(dep_head) + 1))
        square[:, 1:] = dep_head.T
        return Oracle(TreeDistribution(square, **options))

    return enumerate_trees
