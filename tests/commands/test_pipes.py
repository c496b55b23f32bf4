"""In a pipeline: readers that leave early, input that has not ended yet."""

from __future__ import annotations

import subprocess
import sys
import threading
from pathlib import Path

import pytest

from tests.every_command import on_scores
from tests.sample import DATA

LINES = (DATA / "scores.jsonl").read_bytes().splitlines(keepends=True)
SCORES = "$DATA/scores.npz --from natasha -q"
MANY = f"deptree sample {SCORES} -k 200000 --seed 7"
CONLLU = "--conllu $DATA/sentences.conllu"
STATUS = "; echo ${PIPESTATUS[0]} >&2"


@pytest.mark.slow("process")
@pytest.mark.parametrize("options", ["", CONLLU, "--unique", "-k 20000 --jobs 2"])
def test_head_ends_quietly(shell, options):
    ran = shell(f"{MANY} {options} | head -1")
    assert ran.err == ""
    assert ran.out.count(b"\n") == 1
    assert ran.out.startswith(
        b"# generator = deptree|sample|" if options == CONLLU else b'{"sent_id":"en-1","sample":1,'
    )


@pytest.mark.slow("process")
@pytest.mark.parametrize("options", [CONLLU, "--format npz"])
def test_nobody_reads_at_all(shell, options):
    ran = shell(f"{MANY} {options} | true")
    assert (ran.err, ran.out) == ("", b"")


@pytest.mark.parametrize("line", on_scores("$DATA"))
def test_every_command_into_a_closed_pipe(shell, line):
    assert shell(f"deptree {line} -q | true").err == ""


def test_leaving_early_is_no_failure_of_the_data(shell):
    """Exit status 1 says that sentences were skipped; under `set -o pipefail` somebody reads it."""
    assert shell(f"{MANY} | head -1{STATUS}").err.strip() == "0"


def test_help_into_a_closed_pipe(shell):
    assert shell("deptree sample --help | true").err == ""


def test_from_command_to_command(shell):
    ran = shell(
        f"deptree sample {SCORES} -k 300 --seed 7 | deptree check-bias {SCORES} --samples - | grep -c 'no bias found'"
    )
    assert (ran.err, ran.out) == ("", b"8\n")


@pytest.mark.parametrize("name", ["/dev/stdout", "/dev/fd/1", ">(cat)"])
def test_output_into_what_is_no_file(shell, name):
    ran = shell(f"deptree partition {SCORES} -o {name}; sleep 0.1")
    assert ran.err == ""
    assert ran.out.count(b"\n") == 8


@pytest.mark.slow("process")
def test_a_full_disk(shell):
    ran = shell(f"deptree partition {SCORES} -o /dev/full")
    assert ran.code == 2
    assert len(ran.said) == 1
    assert "No space left" in ran.err
    # a process of its own, whose standard output still has something in its buffer when it ends
    ran = shell(f"env -u PYTHONUNBUFFERED {sys.executable} -m deptree_cli partition {SCORES} > /dev/full")
    assert ran.code == 2
    assert len(ran.said) == 1


BESIDE = [("decode", "--format", "jsonl", "--conllu", "many.conllu"), ("expect", "risk", "--gold", "many.conllu")]


@pytest.mark.parametrize(
    "args", [("sample",), ("swor", "-k", "3"), ("marginals",), ("partition", "--jobs", "2"), *BESIDE], ids=" ".join
)
def test_output_begins_before_the_input_ends(args, warm, tmp_path, monkeypatch):
    """Half of the lines go in, a result comes out, the other half follows; also beside a file of the same order."""
    monkeypatch.chdir(tmp_path)
    Path("many.conllu").write_bytes((DATA / "gold.conllu").read_bytes() * 50)
    command = [warm / "deptree", *args, "-", "--from", "natasha", "-q"]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    first, rest = threading.Event(), []

    def read() -> None:
        rest.append(process.stdout.readline())
        first.set()
        rest.append(process.stdout.read())

    reader = threading.Thread(target=read, daemon=True)
    reader.start()
    process.stdin.write(b"".join(LINES * 25))
    process.stdin.flush()
    came = first.wait(60)
    process.stdin.write(b"".join(LINES * 25))
    process.stdin.close()
    reader.join(60)
    assert came
    assert process.wait(60) == 0
    assert b"".join(rest).count(b"\n") == 400 * (3 if "swor" in args else 1)
