"""Several SCORES in one call: the same as one after another, with as many files of sentences."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from deptree_cli.io.scores.files import ScoreFiles, ScoreSource, ScoreStream
from deptree_cli.io.scores.layout import layout
from tests.sample import DATA

LINES = (DATA / "scores.jsonl").read_bytes().splitlines(keepends=True)
BLOCKS = [f"{block}\n\n" for block in (DATA / "gold.conllu").read_text(encoding="utf-8").rstrip("\n").split("\n\n")]
FROM = ("--from", "natasha")


@pytest.fixture
def parts(put):
    """The sample data in two parts, in different containers."""
    put("a.jsonl", b"".join(LINES[:3]))
    with np.load(DATA / "scores.npz") as scores:
        put("b.npz", {key: scores[key] for key in list(scores)[3:]})
    put("a.conllu", "".join(BLOCKS[:3]))
    put("b.conllu", "".join(BLOCKS[3:]))
    return ("a.jsonl", "b.npz")


SENTENCES = ("--conllu", "a.conllu", "--conllu", "b.conllu")


@pytest.mark.parametrize(
    "args",
    [
        ("sample", "-k", 3, "--seed", 7),
        ("swor", "-k", 3, "--seed", 7),
        ("decode",),
        ("marginals",),
        ("partition",),
        ("partition", "--summary"),
        ("expect", "entropy"),
        ("check-bias", "-k", 50, "--seed", 7),
        ("inspect",),
    ],
    ids=lambda args: " ".join(map(str, args[:2])),
)
@pytest.mark.parametrize("jobs", [1, 2])
def test_as_one_file(deptree, parts, args, jobs):
    many = deptree(*args, *parts, *FROM, "--jobs", jobs)
    one = deptree(*args, DATA / "scores.jsonl", *FROM)
    if args[0] == "inspect":  # one part is of float32, the other of numbers in JSON
        assert many.rows[0].pop("type") != one.rows[0].pop("type")
        return
    assert (many.code, many.out) == (one.code, one.out), many.err


@pytest.mark.parametrize("command", ["sample", "decode", "marginals"])
def test_with_sentences(done, parts, command):
    seed = ["--seed", 7] if command == "sample" else []
    many = done(command, *parts, *FROM, *SENTENCES, *seed, "--no-header").out
    assert (
        many == done(command, DATA / "scores.jsonl", *FROM, "--conllu", DATA / "gold.conllu", *seed, "--no-header").out
    )


def test_with_gold(done, parts):
    gold = ("--gold", "a.conllu", "--gold", "b.conllu")
    many = done("expect", "attachment", *parts, *FROM, *gold).out
    assert many == done("expect", "attachment", DATA / "scores.jsonl", *FROM, "--gold", DATA / "gold.conllu").out


def test_running_numbers_go_on(done, put):
    put("a.npy", np.ones((2, 3, 3)))
    put("b.npy", np.ones((3, 3)))
    rows = done("partition", "a.npy", "b.npy", "--from", "head-dep").rows
    assert [row["sent_id"] for row in rows] == ["1", "2", "3"]


def test_what_does_not_go_together(deptree, done, parts, put):
    done("convert", "a.jsonl", *FROM, "--to", "spacy", "-o", "spacy.jsonl", "-q")
    put("square.npy", np.ones((3, 3)))
    for args, said in [
        (("decode", *parts, *FROM, "--conllu", "a.conllu"), "2 score files but 1 --conllu"),
        (("partition", "-", "-", *FROM), "standard input (-) can be read only once"),
        (("partition", "spacy.jsonl", "square.npy"), "square.npy: has another layout than spacy.jsonl"),
        (("expect", "kl", *parts, *FROM, "--other", "a.jsonl"), "two score files are compared at a time"),
        (("partition", "a.jsonl", "nowhere.npz", *FROM), "nowhere.npz: no such file"),
    ]:
        ran = deptree(*args)
        assert ran.code == 2, args
        assert said in ran.said[-1]


def test_skipping_goes_on_in_the_next_file(deptree, parts, put):
    put("bad.jsonl", LINES[0] + b'{"sent_id": "x", "scores": [[1]]}\n')
    ran = deptree("partition", "bad.jsonl", "b.npz", *FROM, "--on-error", "skip")
    assert ran.code == 1
    assert [json.loads(line)["sent_id"] for line in ran.out.splitlines()][:2] == ["en-1", "en-4"]


@pytest.mark.parametrize("missing", ["scores", "sentences"])
def test_nothing_is_written_before_all_files_can_be_read(deptree, parts, missing):
    files = [*parts, *SENTENCES]
    files[files.index("b.npz" if missing == "scores" else "b.conllu")] = "nowhere"
    ran = deptree("decode", *files, *FROM)
    assert (ran.code, ran.out, len(ran.said)) == (2, b"", 1)
    assert ran.err.startswith("deptree: nowhere: ")


def test_how_far_they_are_read_counts_bytes(parts):
    """A file of which half is read counts for half of its bytes, those before it for all of theirs."""
    stream = ScoreStream([ScoreFiles(ScoreSource(part)) for part in parts], layout("natasha"))
    sizes = [Path(part).stat().st_size for part in parts]
    records, seen = iter(stream), []
    for _ in LINES:
        next(records)
        seen.append(stream.share())
    assert seen == sorted(seen)
    whole, each = sum(sizes), 1 / (len(LINES) - 3)
    assert seen[3:] == pytest.approx([(sizes[0] + sizes[1] * each * (i + 1)) / whole for i in range(len(LINES) - 3)])
