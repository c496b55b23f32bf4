"""Scores that cannot be used, each with its line: the matrix and the file; containers: tests/io/scores."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.commands.bad.conftest import bad
from tests.every_command import ENTRIES, options, reading
from tests.sample import DATA

SENTENCES = (DATA / "sentences.conllu").read_text(encoding="utf-8")


def matrix(*cells: tuple[Any, Any, float]) -> np.ndarray:
    """Three words, all arcs of weight 1 but for some cells."""
    weights = np.ones((4, 4))
    for head, dependent, weight in cells:
        weights[head, dependent] = weight
    return weights


def jsonl(*objects: Any) -> str:
    return "".join(json.dumps(each) + "\n" for each in objects)


def one(name: str, array: Any, *says: str, options: tuple[str, ...] = (), **more: Any) -> Any:
    """A bad matrix in a .npy of its own."""
    return bad(name, ("partition", "bad.npy", *options), ("bad.npy", "(1)", *says), {"bad.npy": array, **more})


# As stanza and supar hold it: rows are dependents, and ROOT depends on nothing.
DEP_HEAD = np.zeros((4, 4))
DEP_HEAD[0] = -np.inf

TWO_ISLANDS = np.zeros((5, 5))
TWO_ISLANDS[[0, 1, 3, 4], [1, 2, 4, 3]] = 1

CROSSING = np.zeros((5, 5))
CROSSING[[3, 4, 0, 3], [1, 2, 3, 4]] = 1

SENTENCE = [
    one("NaN", matrix((1, 2, np.nan)), "1 -> 2", "NaN", "np.isnan"),
    one("NaN of ROOT", matrix((0, 2, np.nan)), "ROOT -> 2", "NaN"),
    one("+inf among weights", matrix((1, 2, np.inf)), "1 -> 2", "inf"),
    one("+inf among log-scores", matrix((1, 2, np.inf)), "1 -> 2", "inf", options=("--from", "log")),
    one("negative weight", matrix((1, 2, -0.25)), "1 -> 2 (-0.25)", "negative", "--from log"),
    one("not square", np.ones((3, 6)), "(3, 6)"),
    one("one dimension", np.ones(4), "(4,)"),
    one("a label axis", np.ones((2, 4, 4, 3)), "(2, 4, 4, 3)"),
    one("n = 0", np.ones((1, 1)), "(1, 1)", "without words"),
    one("no numbers at all", np.ones((0, 0)), "(0, 0)", "without words"),
    one("a word without a head", matrix((slice(None), 2, 0)), "no single-root tree is possible", "word 2 has no head"),
    one("the same among log-scores", matrix((slice(None), 2, -np.inf)), "word 2 has no head", options=("--from=log",)),
    one("no arc from ROOT", matrix((0, slice(None), 0)), "no word may attach to ROOT"),
    one(
        "two words under ROOT only", matrix((slice(1, 4), slice(2, 4), 0)), "words 2 and 3", "ROOT only", "--multi-root"
    ),
    one("no tree", TWO_ISLANDS, "no single-root tree is possible", "words 3 and 4 cannot be reached"),
    one("no spanning tree", TWO_ISLANDS, "words 3 and 4 cannot be reached from ROOT", options=("--multi-root",)),
    one("no projective tree", CROSSING, "0 -> 3 and 4 -> 2 cross", "leave out --projective", options=("--projective",)),
    one(
        "ROOT on the diagonal of a rectangle",
        np.ones((3, 4)),
        "(3, 4)",
        "first or last in --from",
        options=("--from", "diagonal"),
    ),
    one("wide against head-dep", np.ones((3, 4)), "the layout is head-dep", "(3, 4)", options=("--from", "head-dep")),
    one("tall against dep-head", np.ones((4, 3)), "the layout is dep-head", "(4, 3)", options=("--from", "dep-head")),
    one("wide against a preset", np.ones((3, 4)), "the layout is head-dep", "(3, 4)", options=("--from", "synjax")),
    one(
        "what was assumed and may be why",
        DEP_HEAD,
        "no word may attach to ROOT",
        "--from dep-head",
        options=("--from=log",),
    ),
    bad("the key", ("partition", "b.npz"), ("b.npz[two]", "NaN"), {"b.npz": {"two": matrix((1, 2, np.nan))}}),
    bad(
        "file:line (sent_id)",
        ("partition", "b.jsonl"),
        ("b.jsonl:3 (x-7): ", "negative"),
        {"b.jsonl": "\n\n" + jsonl({"sent_id": "x-7", "scores": matrix((1, 2, -1)).tolist()})},
    ),
]


@pytest.mark.parametrize(
    ("scores", "options"),
    [
        (matrix((1, 2, -0.25)), ()),
        (matrix((1, 2, np.nan)), ("--from", "log")),
        (TWO_ISLANDS, ()),
        (matrix((1, 2, 5)), ("--temperature", "1e-18")),
        (np.ones((4, 4), complex), ()),
    ],
    ids=["negative", "NaN", "no tree in either", "temperature", "type"],
)
def test_what_was_assumed_and_is_not_why(deptree, put, refused, scores, options):
    """Read the other way round the scores are as bad."""
    put("bad.npy", scores)
    ran = deptree("partition", "bad.npy", *options, "-q")
    refused(ran, "bad.npy")
    assert "head-dep" not in ran.err


FILES = [
    bad("no such file", ("partition", "scoer.npz"), ("scoer.npz", "Did you mean score.npz?"), {"score.npz": b"x"}),
    bad("no such folder", ("partition", "folder/x.npz"), ("folder/x.npz", "no such file")),
    bad("a folder", ("partition", DATA), ("sample_data", "folder")),
    bad("no scores", ("partition", "a.conllu"), ("a.conllu", "sentences", "--conllu"), {"a.conllu": SENTENCES}),
]


@pytest.mark.parametrize(("args", "says", "files"), SENTENCE + FILES)
def test_scores(meet, refused, args, says, files):
    refused(meet(args, files), *says)


# Of those whose scores are an option, or not the line's: how they read them.
OF_MORE = {
    "combine": ("combine", "bad.npz"),
    "agree": ("agree", "trees.conllu", "trees.jsonl", "--scores", "bad.npz"),
    "diff": ("diff", "trees.conllu", "trees.jsonl", "--scores", "bad.npz"),
    "eval": ("eval", "trees.conllu", "--scores", "bad.npz"),
    "measure": ("measure", "trees.conllu", "--scores", "bad.npz"),
    "repair": ("repair", "trees.conllu", "--scores", "bad.npz"),
}
READ = {name: reading(name, "bad.npz") for name, entry in ENTRIES.items() if entry.reads == "scores"} | OF_MORE


def test_no_command_that_reads_scores_is_left_out():
    assert {name for name in ENTRIES if "--scores" in options(name)} <= READ.keys()


@pytest.mark.parametrize("args", READ.values(), ids=READ)
@pytest.mark.parametrize(
    ("scores", "says"),
    [(matrix((1, 2, np.nan)), ("1 -> 2", "NaN")), (np.ones((4, 4), complex), ("type complex128",))],
    ids=["NaN", "complex"],
)
def test_every_command(deptree, put, refused, args, scores, says):
    """The sentence is named, whatever is wrong with it."""
    put("bad.npz", {"x-7": scores})
    words = (f"{word}\tx\t_\t_\t_\t_\t{head}\t_\t_\t_\n" for word, head in ((1, 0), (2, 1), (3, 1)))
    put("trees.conllu", "# sent_id = x-7\n" + "".join(words) + "\n")
    put("gold.conllu", Path("trees.conllu").read_bytes())
    put("trees.jsonl", jsonl({"sent_id": "x-7", "heads": [0, 1, 1]}))
    refused(deptree(*args, "-q"), "bad.npz[x-7] (x-7): ", *says)


@pytest.mark.parametrize("command", ["align", "expectations", "show"])
def test_sentence_pairs(deptree, put, refused, command):
    """Of which there is no CoNLL-U."""
    put("bad.npz", {"x-7": np.ones((4, 4), complex)})
    put("bad.conllu", SENTENCES)
    refused(deptree("bitext", command, "bad.npz", "-q"), "bad.npz[x-7] (x-7): ", "type complex128")
    ran = deptree("bitext", command, "bad.conllu", "-q")
    refused(ran, "bad.conllu: these are sentences (CoNLL-U), not scores", "--text")
    assert "--conllu" not in ran.err


@pytest.mark.parametrize("jobs", [2, 4])
def test_the_first_error_is_told_with_any_number_of_jobs(deptree, put, refused, jobs):
    good, bad = matrix().tolist(), matrix((1, 2, -1)).tolist()
    objects = [{"sent_id": str(i), "scores": bad if i in (3, 5) else good} for i in range(9)]
    put("b.jsonl", jsonl(*objects))
    ran = deptree("partition", "b.jsonl", "-q", "--jobs", jobs, "-o", "out.jsonl")
    refused(ran, "b.jsonl:4 (3)", "negative", "--from log")
