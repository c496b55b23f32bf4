"""``--projective``: every command over trees without crossing arcs, against enumeration."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import deptree_cli
from deptree_cli.core.distribution import TreeDistribution
from deptree_cli.core.spaces import PROJECTIVE, SPACES, TreeSpace
from deptree_cli.io.conllu.blocks import read_blocks
from tests.sample import DATA, LABELS, SENTENCES

SCORES = (DATA / "scores.npz", "--from", "natasha", "--projective")
GOLD = ("--conllu", DATA / "gold.conllu")
HOT = ("-k", 20, "--temperature", 5, "--seed", 7)
SMALL = ["en-4", "cs-2", "ru-2"]

WITHOUT_CROSSING = [each for each in SPACES if each.projective]
EITHER = pytest.mark.parametrize("trees", WITHOUT_CROSSING, ids=lambda trees: trees.name)

# Word 2 under word 4, which crosses 0 -> 3 and 3 -> 1.
CROSSED = {"sent_id": "x", "scores": [[0, 0, 0, 1, 0], [0] * 5, [0] * 5, [0, 1, 0, 0, 1], [0, 0, 1, 0, 0]]}
FOUR = {"sent_id": "four", "scores": np.ones((5, 5)).tolist()}
HEAD_DEP = ("--orient", "head-dep", "--projective")


def roots(trees: TreeSpace) -> list[str]:
    return [] if trees.single_root else ["--multi-root"]


def options(trees: TreeSpace) -> dict[str, bool]:
    return {"single_root": trees.single_root, "projective": True}


def lines(*objects: dict) -> str:
    return "".join(json.dumps(each) + "\n" for each in objects)


def conllu(sent_id: str, heads: list[str]) -> str:
    words = "".join(f"{i}\tw\t_\t_\t_\t_\t{head}\tdep\t_\t_\n" for i, head in enumerate(heads, 1))
    return f"# sent_id = {sent_id}\n{words}\n"


@EITHER
def test_marginals(done, exact, trees):
    rows = {row["sent_id"]: row for row in done("marginals", *SCORES, *roots(trees), "--temperature", 3).rows}
    for sent_id in SMALL:
        expected = exact(sent_id, temperature=3, **options(trees)).marginals()
        np.testing.assert_allclose(rows[sent_id]["marginals"], expected.T[1:], atol=1e-12)


@EITHER
def test_the_k_best_are_the_enumerated_ones_in_order(done, exact, trees):
    rows = done("decode", *SCORES, *roots(trees), "-k", 12, "--temperature", 2).rows
    for sent_id in SMALL:
        oracle = exact(sent_id, temperature=2, **options(trees))
        found = [row for row in rows if row["sent_id"] == sent_id]
        order = np.argsort(-oracle.log_probs)[:12]
        assert [row["log_prob"] for row in found] == pytest.approx(oracle.log_probs[order], abs=1e-9)
        assert len({tuple(row["heads"]) for row in found}) == len(order)
        assert found[0]["heads"] == oracle.trees[order[0]].tolist()
        assert found[0]["entropy"] == pytest.approx(-(np.exp(oracle.log_probs) @ oracle.log_probs))


def test_minimum_risk(done, exact):
    rows = {row["sent_id"]: row["heads"] for row in done("decode", *SCORES, "--method", "mbr").rows}
    for sent_id in SMALL:
        oracle = exact(sent_id, projective=True)
        right = oracle.marginals()[oracle.trees, np.arange(1, oracle.trees.shape[1] + 1)].sum(axis=1)
        assert rows[sent_id] == oracle.trees[right.argmax()].tolist()


@EITHER
def test_expectations_of_features(done, exact, trees):
    """Means and covariances, and the gradient of entropy as the covariance of arcs with minus the log-probability."""
    given = (*SCORES, *roots(trees), "--features", DATA / "label_scores.npz")
    (mean,) = (row for row in done("expect", "features", *given).rows if row["sent_id"] == "cs-2")
    (covariance,) = (row for row in done("expect", "covariance", *given).rows if row["sent_id"] == "cs-2")
    (entropy,) = (row for row in done("expect", "entropy", *given[:-2], "--grad").rows if row["sent_id"] == "cs-2")
    oracle = exact("cs-2", **options(trees))
    probs, words = np.exp(oracle.log_probs), np.arange(5)
    with np.load(DATA / "label_scores.npz") as features:
        sums = features["cs-2"].astype(float)[words, oracle.trees].sum(axis=1)
    assert mean["features"] == pytest.approx(probs @ sums)
    np.testing.assert_allclose(covariance["covariance"], np.cov(sums.T, aweights=probs, ddof=0), atol=1e-9)
    arcs = np.zeros((len(probs), 5, 6))
    arcs[np.arange(len(probs))[:, None], words, oracle.trees] = 1
    surprise = -oracle.log_probs - probs @ -oracle.log_probs
    np.testing.assert_allclose(entropy["gradient"], np.tensordot(probs * surprise, arcs, axes=1), atol=1e-9)


def test_diff_is_of_projective_trees(done, exact, put):
    with np.load(DATA / "scores.npz") as scores:
        put("half.npz", {key: scores[key] / 2 for key in scores.files})
    rows = {row["sent_id"]: row for row in done("diff", SCORES[0], "half.npz", *SCORES[1:], "--seed", 7).rows}
    for sent_id in SMALL:
        ours, theirs = exact(sent_id, projective=True), exact(sent_id, projective=True, temperature=2)
        divergence = np.exp(ours.log_probs) @ (ours.log_probs - theirs.log_probs)
        assert rows[sent_id]["kl"] == pytest.approx(divergence)
        assert 0 < rows[sent_id]["jensen_shannon"] < divergence
        head, word, before, after = rows[sent_id]["arcs"][0]
        assert before == pytest.approx(ours.marginals()[head, word])
        assert after == pytest.approx(theirs.marginals()[head, word])


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


def test_labels_are_those_of_the_trees(done):
    for command in (("sample", *HOT), ("decode",)):
        for row in done(*command[:1], *SCORES, *command[1:], *LABELS).rows:
            assert [head == 0 for head in row["heads"]] == [label == "root" for label in row["deprels"]]
    plain, labelled = (done("sample", *SCORES, *HOT, *more).rows for more in ((), LABELS))
    assert [row["heads"] for row in plain] == [row["heads"] for row in labelled]


@pytest.mark.parametrize("command", [("sample", *HOT, *SENTENCES), ("partition",), ("decode", "-k", 3)])
def test_the_same_bytes_however_the_work_is_spread(done, command):
    run = (*command[:1], *SCORES, *command[1:])
    assert done(*run, "--jobs", 2).out == done(*run, "--jobs", 1).out


def test_shards_are_the_whole(done):
    whole = done("sample", *SCORES, *HOT).rows
    parts = [done("sample", *SCORES, *HOT, "--shard", f"{i}/3").rows for i in (1, 2, 3)]
    key = lambda row: (row["sent_id"], row["sample"])  # noqa: E731
    assert sorted(whole, key=key) == sorted((row for part in parts for row in part), key=key)


@pytest.mark.slow("process")
def test_a_local_dask_cluster(done, real):
    pytest.importorskip("distributed", reason="dask is not installed")
    ran = real("sample", *SCORES, *HOT, "--scheduler", "local", "--jobs", 2, "-q")
    assert (ran.code, ran.err) == (0, "")
    assert ran.out == done("sample", *SCORES, *HOT).out


def test_in_the_signature(done):
    explicit = done("sample", *SCORES, "--seed", 7, "--header")
    assert "|sampler:auto=eisner|" in explicit.signature
    assert "|root:single|trees:projective|" in explicit.signature


def test_without_it_no_signature_changes(done):
    ran = done("decode", *SCORES[:-1], "--header")
    assert "trees:" not in ran.signature


def test_shown_is_the_best_tree_without_crossing_arcs(done, put):
    """The best of all trees has 1 -> 3 across 4 -> 2."""
    scores = np.zeros((5, 5))
    scores[[0, 1, 4, 1], [1, 3, 2, 4]] = 5.0
    put("four.npy", scores)
    given = ("show", "four.npy", "--scale", "log", "--orient", "head-dep", "--format", "text", "-q")
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


def test_fixed_heads_condition(done, exact, put):
    """P(arc | head of word 1) by the trees that have it."""
    put("s.conllu", conllu("en-4", ["2", "_", "_"]))
    put("s.jsonl", (DATA / "scores.jsonl").read_bytes().splitlines()[3] + b"\n")
    given = ("s.jsonl", *SCORES[1:], "--conllu", "s.conllu", "--fix-heads", "--format", "jsonl")
    (row,) = done("marginals", *given).rows
    oracle = exact("en-4", projective=True)
    probs = np.exp(oracle.log_probs) * (oracle.trees[:, 0] == 2)
    for word in range(3):
        expected = np.bincount(oracle.trees[:, word], probs / probs.sum(), 4)
        np.testing.assert_allclose(row["marginals"][word], expected, atol=1e-12)


def test_an_estimate_from_distinct_projective_trees(done):
    drawn = done("swor", *SCORES, "-k", 20, "--seed", 7).out
    rows = done("estimate", "-", stdin=drawn).rows
    assert len(rows) == 8
    assert {row["non_projective_arcs"]["normalised"] for row in rows} == {0.0}


def test_read_for_python(exact):
    sentences = {
        each.id: each.distribution for each in deptree_cli.read(str(SCORES[0]), preset="natasha", projective=True)
    }
    assert {each.space for each in sentences.values()} == {PROJECTIVE}
    for sent_id in SMALL:
        assert sentences[sent_id].log_partition == pytest.approx(exact(sent_id, projective=True).log_z)
