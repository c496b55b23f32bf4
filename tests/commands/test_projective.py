"""``--projective``: every command over trees without crossing arcs, against enumeration."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from deptree_cli.core.distribution import TreeDistribution
from deptree_cli.core.spaces import PROJECTIVE
from tests.sample import DATA, LABELS, SENTENCES
from tests.tree_files import read_blocks

SCORES = (DATA / "scores.npz", "--from", "natasha", "--projective")
GOLD = ("--conllu", DATA / "gold.conllu")
HOT = ("-k", 20, "--temperature", 5, "--seed", 7)


# Word 2 under word 4, which crosses 0 -> 3 and 3 -> 1.
CROSSED = {"sent_id": "x", "scores": [[0, 0, 0, 1, 0], [0] * 5, [0] * 5, [0, 1, 0, 0, 1], [0, 0, 1, 0, 0]]}
FOUR = {"sent_id": "four", "scores": np.ones((5, 5)).tolist()}
HEAD_DEP = ("--from", "head-dep", "--projective")


def lines(*objects: dict) -> str:
    return "".join(json.dumps(each) + "\n" for each in objects)


def conllu(sent_id: str, heads: list[str]) -> str:
    words = "".join(f"{i}\tw\t_\t_\t_\t_\t{head}\tdep\t_\t_\n" for i, head in enumerate(heads, 1))
    return f"# sent_id = {sent_id}\n{words}\n"


@pytest.mark.parametrize("command", [("sample", *HOT), ("decode", "-k", 5), ("swor", "-k", 5, "--seed", 7)])
def test_no_arcs_cross_in_what_is_written(done, tmp_path, monkeypatch, command):
    monkeypatch.chdir(tmp_path)
    name, *others = command
    rows = done(name, *SCORES, *others).rows
    assert PROJECTIVE.contains(np.array([row["heads"] for row in rows if row["sent_id"] == "cs-1"])).all()
    trees = done(name, *SCORES, *others, *SENTENCES, "-o", "trees.conllu")
    assert trees.out == b""
    with Path("trees.conllu").open("rb") as file:
        assert [block.heads for block in read_blocks(file, "trees")] == [row["heads"] for row in rows]
    if name != "swor":
        done(name, *SCORES, *others, "-o", "heads.npz")
        with np.load("heads.npz") as arrays:
            assert [tree for array in arrays.values() for tree in array.tolist()] == [row["heads"] for row in rows]


def test_conllu(done, golden):
    golden("projective.conllu", done("decode", *SCORES, *GOLD, *LABELS, "--no-header").out)


def test_in_the_signature(done):
    explicit = done("sample", *SCORES, "--seed", 7, "--header")
    assert "|sampler:auto=eisner|" in explicit.signature
    assert "|root:single|trees:projective|" in explicit.signature


def test_shown_is_the_best_tree_without_crossing_arcs(done, put):
    """The best of all trees has 1 -> 3 across 4 -> 2."""
    scores = np.zeros((5, 5))
    scores[[0, 1, 4, 1], [1, 3, 2, 4]] = 5.0
    put("four.npy", scores)
    given = ("show", "four.npy", "--from", "head-dep,log", "--format", "text", "-q")
    all_trees, straight = (done(*given, *more).out.decode() for more in ((), ("--projective",)))
    probability = TreeDistribution(scores, projective=True)
    best = probability.argmax()
    assert f"probability {np.exp(probability.log_prob(best)):.4g}" in straight
    assert [line.split()[2] for line in straight.splitlines()[-4:]] == ["0", *map(str, best[1:])]
    assert [line.split()[2] for line in all_trees.splitlines()[-4:]] == ["0", "4", "1", "1"]


@pytest.mark.parametrize(
    ("heads", "says"),
    [
        (["3", "4", "_", "_"], "the arcs 3 -> 1 and 4 -> 2 cross, and words 1 and 2 have no other head"),
        (["_", "0", "1", "_"], "the arcs 0 -> 2 and 1 -> 3 cross, and words 2 and 3 have no other head"),
        (["_", "_", "4", "3"], "no single-root tree is possible"),
    ],
)
@pytest.mark.parametrize("command", [("sample", "--seed", 7), ("decode",), ("marginals",), ("partition",)])
def test_heads_that_leave_no_projective_tree(deptree, put, heads, says, command):
    put("s.conllu", conllu("four", heads))
    put("s.jsonl", lines(FOUR))
    run = (command[0], "s.jsonl", *command[1:], *HEAD_DEP, "--fix-heads", "--conllu", "s.conllu")
    refused = deptree(*run, "-q")
    assert (refused.code, refused.out, len(refused.said)) == (2, b"", 1)
    assert refused.said[0].startswith("deptree: s.jsonl:1 (four): ")
    assert says in refused.err
    without = deptree(*(word for word in run if word != "--projective"), "-q")
    assert without.code == (2 if "cross" not in says else 0)
    remedy = "Put _ for some of the fixed HEADs" + ", or leave out --projective" * (without.code == 0)
    assert refused.said[0].endswith(f". {remedy}.")


def test_sentences_without_a_projective_tree_are_skipped_by_name(deptree, put):
    put("s.jsonl", lines(FOUR, CROSSED, {**FOUR, "sent_id": "last"}))
    refused = deptree("decode", "s.jsonl", *HEAD_DEP)
    assert refused.code == 2
    assert refused.said[-1].startswith("deptree: s.jsonl:2 (x): no projective tree is possible: the arcs ")
    assert refused.said[-1].endswith("Allow more arcs, or leave out --projective.")
    ran = deptree("decode", "s.jsonl", *HEAD_DEP, "--on-error", "skip")
    assert (ran.code, [row["sent_id"] for row in ran.rows]) == (1, ["four", "last"])
    assert "deptree: 1 sentence skipped" in ran.said
    assert [row["sent_id"] for row in deptree("decode", "s.jsonl", *HEAD_DEP[:-1]).rows] == ["four", "x", "last"]
