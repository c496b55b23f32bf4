"""A bad sentence among good ones, and runs that are interrupted: nobody finds half a file under its final name."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.sample import DATA

LINES = (DATA / "scores.jsonl").read_text(encoding="utf-8").splitlines(keepends=True)
GOOD = ("good.jsonl", "--from", "natasha")
MIXED = ("mixed.jsonl", "--from", "natasha")
SEED = ("--seed", 7)


@pytest.fixture
def mixed(put) -> None:
    """Eight good sentences, and the same with three bad ones between them."""
    ragged = json.dumps({"sent_id": "bad-2", "scores": [[0, 1], [0]]}) + "\n"
    negative = json.dumps({"sent_id": "bad-3", "scores": [[float("nan")] * 3] * 2}) + "\n"
    put("good.jsonl", "".join(LINES))
    put("mixed.jsonl", "".join(["oops\n", *LINES[:3], ragged, *LINES[3:], negative]))


COMMANDS = [
    ("sample", "-k", 3, *SEED),
    ("sample", "-k", 3, *SEED, "--jobs", 4),
    ("sample", "-k", 3, *SEED, "--format", "npz"),
    ("swor", "-k", 3, *SEED),
    ("marginals",),
    ("marginals", "--format", "npz"),
    ("partition",),
    ("partition", "--summary"),
]


@pytest.mark.parametrize("command", COMMANDS, ids=lambda args: " ".join(map(str, args)))
def test_skip_gives_the_good_ones(deptree, done, mixed, command):
    name, *options = command
    ran = deptree(name, *MIXED, *options, "--on-error", "skip")
    good = done(name, *GOOD, *options)
    assert ran.code == 1
    assert ran.out == good.out


def test_skip_names_and_counts_the_bad_ones(deptree, mixed):
    for options in [(), ("-q",)]:
        ran = deptree("partition", *MIXED, "--on-error", "skip", *options)
        skipped = [line for line in ran.said if "skipped: " in line]
        assert len(skipped) == 3
        assert "mixed.jsonl:1" in skipped[0]
        assert "mixed.jsonl:5 (bad-2): " in skipped[1]
        assert "mixed.jsonl:11 (bad-3): " in skipped[2]
        assert any(re.search("3 sentences", line) for line in ran.said)


def test_skip_without_bad_ones_is_success(done, mixed):
    assert "skipped" not in done("partition", *GOOD, "--on-error", "skip").err


def test_inspect_skips_too(deptree, done, mixed):
    ran = deptree("inspect", *MIXED, "--on-error", "skip", "--json")
    assert ran.code == 1
    assert ran.rows == done("inspect", *GOOD, "--json").rows


def test_all_skipped(deptree, put):
    put("bad.jsonl", "oops\n" * 2)
    ran = deptree("partition", "bad.jsonl", "--on-error", "skip", "-q", "-o", "out.jsonl")
    assert ran.code == 1
    assert Path("out.jsonl").read_bytes() == b""
    assert "Traceback" not in ran.err


WRITERS = [
    ("out.jsonl", ("sample", "-k", 3)),
    ("out.npz", ("sample", "-k", 3)),
    ("out.jsonl", ("swor",)),
    ("out.npz", ("marginals",)),
    ("out.jsonl", ("partition",)),
    ("out.jsonl", ("check-bias", "-k", 10)),
]


@pytest.mark.parametrize("old", [None, b"an older result"], ids=["new", "existing"])
@pytest.mark.parametrize(("name", "command"), WRITERS, ids=lambda value: value if isinstance(value, str) else value[0])
def test_fail_leaves_no_file(deptree, put, mixed, tmp_path, name, command, old):
    put("late.jsonl", "".join(LINES) + "oops\n")
    if old:
        put(name, old)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    assert deptree(command[0], "late.jsonl", "--from", "natasha", *command[1:], "-o", name).code == 2
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_success_replaces_an_older_file_and_keeps_its_mode(done, put, mixed, tmp_path):
    put("out.jsonl", b"an older result")
    (tmp_path / "out.jsonl").chmod(0o640)
    done("partition", *GOOD, "-o", "out.jsonl")
    assert len((tmp_path / "out.jsonl").read_bytes().splitlines()) == 8
    assert (tmp_path / "out.jsonl").stat().st_mode & 0o777 == 0o640
