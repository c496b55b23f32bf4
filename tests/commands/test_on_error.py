"""A bad sentence among good ones, and runs that are interrupted: nobody finds half a file under its final name."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.sample import DATA

LINES = (DATA / "scores.jsonl").read_text(encoding="utf-8").splitlines(keepends=True)
SENTENCES = DATA / "sentences.conllu"
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


def test_skip_a_malformed_sentence(deptree, done, put):
    text = SENTENCES.read_text(encoding="utf-8")
    put("bad.conllu", text.replace("3\tn't", "4\tn't"))
    options = ("--from", "natasha", *SEED, "--no-header", "-q")
    ran = deptree("sample", DATA / "scores.npz", *options, "--conllu", "bad.conllu", "--on-error", "skip")
    good = done("sample", DATA / "scores.npz", *options, "--conllu", SENTENCES).out
    start, end = good.index(b"# sent_id = en-2"), good.index(b"# sent_id = en-3")
    assert ran.code == 1
    assert ran.out == good[:start] + good[end:]
    assert "bad.conllu:18" in ran.err


def test_skip_a_sentence_of_another_length(deptree, done, put):
    text = SENTENCES.read_text(encoding="utf-8")
    put("bad.conllu", text.replace("3\t.\t.\tPUNCT\t_\t_\t_\t_\t_\t_\n", ""))
    for scores in (DATA / "scores.npz", DATA / "scores.jsonl"):
        ran = deptree("sample", scores, "--from", "natasha", "--conllu", "bad.conllu", "--on-error", "skip", "-q")
        assert ran.code == 1
        assert ran.out.count(b"# sent_id") == 7
        assert "en-4" in ran.said[0]


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


def wait_for(seen, process: subprocess.Popen) -> None:
    deadline = time.monotonic() + 60
    while not seen():
        assert process.poll() is None, process.stderr.read()
        assert time.monotonic() < deadline
        time.sleep(0.01)


def children(pid: int) -> list[int]:
    """Its worker processes, where the system tells."""
    listed = Path(f"/proc/{pid}/task/{pid}/children")
    if not listed.exists():
        return []
    return [int(child) for child in listed.read_text().split()]


def is_running(pid: int) -> bool:
    """Whether it is there and more than an entry that nobody has asked for."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def orphans(workers: list[int], patience: float = 5) -> list[int]:
    """Which of the workers have not ended after a while; they are ended here."""
    deadline = time.monotonic() + patience
    while any(map(is_running, workers)) and time.monotonic() < deadline:
        time.sleep(0.05)
    left = [pid for pid in workers if is_running(pid)]
    for pid in left:
        os.kill(pid, signal.SIGKILL)
    return left


@dataclass(frozen=True)
class Interrupted:
    """How a command ended, what it had written, and the workers that it left behind."""

    code: int
    out: bytes
    err: bytes
    orphans: list[int]


# Every sentence under a name of its own, many enough to fill a buffer (128 KiB from Python 3.14 on).
MANY = "".join(line.replace('": "', f'": "{number}-', 1) for number in range(20) for line in LINES).encode()


@pytest.fixture
def interrupt(put, tmp_path):
    """Start a command that reads from a pipe, wait until it has begun to write, press Ctrl-C or send a signal."""

    def run(*args: object, by: int = signal.SIGINT) -> Interrupted:
        put("unrelated", b"")
        command = [Path(sys.executable).with_name("deptree"), *map(str, args)]
        pipe = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        # a shell may have told its background jobs to ignore Ctrl-C
        heed = {"preexec_fn": lambda: signal.signal(signal.SIGINT, signal.SIG_DFL)}
        process = subprocess.Popen(command, cwd=tmp_path, **pipe, **heed)
        process.stdin.write(MANY)
        process.stdin.flush()
        wait_for(lambda: any(path.stat().st_size for path in tmp_path.glob(".deptree*")), process)
        workers = children(process.pid)
        process.send_signal(by)
        code = process.wait(60)
        left = orphans(workers)
        return Interrupted(code, *process.communicate(timeout=60), left)

    return run


@pytest.mark.slow("process")
@pytest.mark.parametrize("jobs", [1, 2])
@pytest.mark.parametrize("name", ["out.jsonl", "out.npz"])
def test_interrupted(interrupt, tmp_path, name, jobs):
    ended = interrupt("sample", "-", "--from", "natasha", "-k", 500, "-q", "-o", name, "--jobs", jobs)
    assert (ended.code, ended.out, ended.err.strip(), ended.orphans) == (130, b"", b"", [])
    assert [path.name for path in tmp_path.iterdir()] == ["unrelated"]


@pytest.mark.slow("process")
def test_interrupted_over_an_older_file(interrupt, put, tmp_path):
    put("out.jsonl", b"an older result")
    ended = interrupt("marginals", "-", "--from", "natasha", "-o", "out.jsonl")
    assert ended.code == 130
    assert b"Traceback" not in ended.err
    assert (tmp_path / "out.jsonl").read_bytes() == b"an older result"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out.jsonl", "unrelated"]


@pytest.mark.slow("process")
@pytest.mark.parametrize("jobs", [1, 2])
def test_terminated(interrupt, tmp_path, jobs):
    """What a job scheduler sends: no half file under the final name, and no worker outlives its master."""
    ended = interrupt(
        "sample", "-", "--from", "natasha", "-k", 50, "-o", "out.jsonl", "--jobs", jobs, by=signal.SIGTERM
    )
    assert ended.code != 0
    assert b"Traceback" not in ended.err
    assert not (tmp_path / "out.jsonl").exists()
    assert ended.orphans == []
