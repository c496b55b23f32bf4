"""Options that mean nothing, or nothing together, and samples that cannot be audited, each with its line."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from tests.commands.bad.conftest import bad
from tests.sample import DATA, SCORES


def jsonl(*objects: Any) -> str:
    return "".join(json.dumps(each) + "\n" for each in objects)


TWINS = jsonl({"sent_id": "twins", "scores": [[0, 1], [0, 0]]}) * 2
BATCH = (DATA / "scores.npy", "--from", "supar")

OPTIONS = [
    bad("unknown command", ("sampel", *SCORES), ("sampel", "sample")),
    bad("unknown option", ("sample", *SCORES, "--frobnicate"), ("--frobnicate",)),
    bad("a typo in an option", ("sample", *SCORES, "--sed", 7), ("--sed", "--seed")),
    bad("no scores", ("sample",), ("SCORES",)),
    bad("one file too many", ("sample", *SCORES, "b.npz"), ("b.npz",)),
    bad("unknown sampler", ("sample", *SCORES, "--sampler", "gibbs"), ("gibbs", "wilson-marginal")),
    bad("unknown audited sampler", ("check-bias", *SCORES, "--sampler", "gibbs"), ("gibbs", "wilson-marginal")),
    bad("unknown algorithm", ("swor", *SCORES, "--sampler", "gibbs"), ("gibbs", "trie")),
    bad("unknown orientation", ("sample", SCORES[0], "--from", "log,rows"), ("rows", "dep-head")),
    bad(
        "an option of old",
        ("sample", *SCORES, "--orient=dep-head"),
        ("There is no --orient now: pass --from dep-head.",),
    ),
    bad(
        "an option of old, apart", ("sample", *SCORES, "--scale", "log"), ("There is no --scale now: pass --from log.",)
    ),
    bad(
        "an option of pairs of old",
        ("bitext", "align", DATA / "bitext.npz", "--chains", 2),
        ("There is no --chains now: in Python, deptree_cli.pruning.expectations takes it.",),
    ),
    bad(
        "contexts as a file",
        ("hpyp", "train", DATA / "treebank.conllu", "--contexts", "c.toml"),
        ("There is no --contexts now: in Python, Parser.train takes contexts.",),
    ),
    bad(
        "a command of old", ("hpyp", "describe", "m.npz"), ("There is no describe now: in Python, Parser.load(MODEL)",)
    ),
    bad("the scheduler", ("sample", *SCORES, "--scheduler", "a:1"), ("set DEPTREE_SCHEDULER=a:1.",)),
    bad("unknown format", ("sample", *SCORES, "--format", "xml"), ("--format", "xml", "jsonl")),
    bad("no trees", ("sample", *SCORES, "-k", 0), ("-k", "0")),
    bad("no distinct trees", ("swor", *SCORES, "-k", 0), ("-k", "0")),
    bad("half a tree", ("sample", *SCORES, "-k", 0.5), ("-k", "0.5")),
    bad("more trees than memory", ("sample", DATA / "one.npy", "-k", 10**14), ()),
    bad("more trees than an array can count", ("sample", DATA / "one.npy", "-k", 10**22), ()),
    bad("temperature 0", ("sample", *SCORES, "--temperature", 0), ("temperature", "0", "positive")),
    bad("negative temperature", ("sample", *SCORES, "--temperature", -1), ("temperature", "-1")),
    bad("no temperature", ("sample", *SCORES, "--temperature", "nan"), ("temperature", "nan")),
    bad("temperature 0, skipping", ("sample", *SCORES, "--temperature", 0, "--on-error=skip"), ("temperature",)),
    bad("no jobs", ("sample", *SCORES, "--jobs", 0), ("--jobs", "0")),
    bad("shard 0", ("sample", *SCORES, "--shard", "0/3"), ("--shard", "0/3")),
    bad("shard 4 of 3", ("sample", *SCORES, "--shard", "4/3"), ("--shard", "4/3")),
    bad("a shard of nothing", ("sample", *SCORES, "--shard", "1"), ("--shard", "'1'")),
    bad("negative seed", ("sample", *SCORES, "--seed", -1), ("--seed", "-1")),
    bad("alpha 1", ("check-bias", *SCORES, "--alpha", 1), ("--alpha", "1")),
    bad("wilson under a root constraint", ("sample", *SCORES, "--sampler", "wilson"), ("wilson", "--multi-root")),
    bad(
        "wilson-marginal without one",
        ("sample", *SCORES, "--sampler", "wilson-marginal", "--multi-root"),
        ("wilson-marginal", "--multi-root", "elimination"),
    ),
    bad("audit of the same", ("check-bias", *SCORES, "--sampler", "wilson"), ("wilson", "--multi-root")),
    bad(
        "wilson under two constraints",
        ("sample", *SCORES, "--sampler", "wilson", "--projective"),
        ("does not draw projective single-root trees", "auto, eisner,", "add --multi-root and leave out --projective"),
    ),
    bad(
        "elimination among projective trees",
        ("check-bias", *SCORES, "--sampler", "elimination", "--projective", "--multi-root"),
        ("does not draw projective trees with several roots", "auto, eisner, or leave out --projective."),
    ),
    bad(
        "eisner among all trees",
        ("sample", *SCORES, "--sampler", "eisner", "--multi-root"),
        ("eisner does not draw spanning trees", "elimination", "or add --projective."),
    ),
    bad("nearly an option", ("sample", *SCORES, "--projektive"), ("--projektive", "Did you mean", "--projective")),
    bad("counts in an .npz", ("sample", *SCORES, "--unique", "-o", "a.npz"), ("arrays", "--unique")),
    bad("swor into an .npz", ("swor", *SCORES, "-o", "a.npz"), ("npz",)),
    bad("partition into an .npz", ("partition", *SCORES, "-o", "a.npz"), ("npz",)),
    bad("audit into CoNLL-U", ("check-bias", *SCORES, "-o", "a.conllu"), ("conllu",)),
    bad("output into no folder", ("sample", *SCORES, "-o", "none/a.jsonl"), ("none/a.jsonl", "folder", "Create none")),
    bad("output onto a folder", ("sample", *SCORES, "-o", DATA), ("sample_data", "irectory")),
    bad("standard input twice", ("sample", "-", "--conllu", "-"), ("standard input", "once")),
    bad("twice with samples", ("check-bias", "-", "--from", "natasha", "--samples", "-"), ("standard input", "once")),
    bad("nothing on standard input", ("sample", "-"), ("standard input", "empty")),
    bad("a length beyond the batch", ("partition", *BATCH, "--lengths", "l"), ("12", "(10, 10)"), {"l": "12\n" * 8}),
    bad("a batch without lengths", ("partition", *BATCH), ("scores.npy", "--lengths")),
]

FIGURE1 = DATA / "figure1.npy"


def drawn(name: str, content: str | bytes, *says: str) -> Any:
    return bad(name, ("check-bias", FIGURE1, "--samples", "s"), says, {"s": content})


SAMPLES = [
    bad("no such samples", ("check-bias", FIGURE1, "--samples", "s.jsonl"), ("s.jsonl", "no such file")),
    drawn("another length", jsonl({"sent_id": "1", "heads": [0, 1]}), "s:1 (1)", "2 words", "3"),
    drawn(
        "another sentence",
        jsonl({"sent_id": "x", "heads": [0, 1, 1]}),
        "s:1 (x)",
        "the scores do not have this sentence",
    ),
    drawn("an archive", (DATA / "scores.npz").read_bytes(), "s:", "CoNLL-U or JSON Lines"),
]


@pytest.mark.parametrize(("args", "says", "files"), OPTIONS + SAMPLES)
def test_usage(meet, refused, args, says, files):
    refused(meet(args, files), *says)


@pytest.mark.parametrize(
    ("args", "says"),
    [
        (("partition", "missing.npz", "-q"), "no such file"),
        (("sample", *SCORES, "--sed", 7), "--seed"),
        (("sampel", *SCORES), "sampel"),
        (("sample", *SCORES, "-k", 0), "-k"),
        (("sample", SCORES[0], "-q"), "--from log"),
        (("sample", *SCORES, "--format", "conllu", "-q"), "--conllu"),
    ],
    ids=["file", "option", "command", "value", "sentence", "format"],
)
def test_the_real_command(real, refused, args, says):
    refused(real(*args), says)


def test_no_command_at_all_is_not_a_wall_of_text(real):
    """Help as help, or one line that leads to it; not the whole help squashed into one line."""
    ran = real()
    assert ran.code == 2
    assert ran.out == b""
    assert "--help" in ran.err
    assert max(map(len, ran.said)) <= 120
    assert "Traceback" not in ran.err


def test_numbers_that_overflow_are_no_news(real, put):
    """The result is a null with a reason; a warning of NumPy's on stderr tells nobody anything."""
    scores = np.zeros((4, 4))
    scores[0] = 1000
    put("roots.npy", scores)
    ran = real("partition", "roots.npy", "--from", "log", "-q")
    assert (ran.code, ran.err) == (0, "")
