"""``deptree check-bias --projective``: crossing arcs are impossible, and a bias among projective trees is found."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from deptree_cli.core.arc_factored import ArcFactored
from deptree_cli.core.dtypes import Heads
from deptree_cli.core.samplers import SAMPLERS, Sampler
from deptree_cli.core.spaces import SINGLE_ROOT
from tests.sample import SCORES


def test_samples_whose_arcs_cross_are_bias(deptree, done, put):
    """Exact samples of all trees, of which some are impossible here; they are caught, and so is one of 300."""
    put("all.jsonl", done("sample", *SCORES, "-k", 300, "--seed", 7).out)
    done("check-bias", *SCORES, "--samples", "all.jsonl")
    ran = deptree("check-bias", *SCORES, "--samples", "all.jsonl", "--projective")
    assert ran.code == 1
    rows = {row["sent_id"]: row for row in ran.rows}
    assert rows["en-4"]["impossible"] > 30  # 28 % of this sentence's trees
    assert (rows["en-4"]["verdict"], rows["en-4"]["evidence"]) == ("biased", "impossible trees")
    assert sum(row["impossible"] for row in ran.rows) > rows["en-4"]["impossible"]
    put("one.jsonl", done("sample", *SCORES, "-k", 300, "--seed", 7, "--projective").out)
    done("check-bias", *SCORES, "--samples", "one.jsonl", "--projective")
    with Path("one.jsonl").open("a", encoding="utf-8") as file:
        file.write(json.dumps({"sent_id": "en-3", "heads": [6, 3, 1, 5, 7, 0, 6, 6]}))  # 7 -> 5 crosses 0 -> 6
    ran = deptree("check-bias", *SCORES, "--samples", "one.jsonl", "--projective")
    assert ran.code == 1
    assert [row["sent_id"] for row in ran.rows if row["verdict"] == "biased"] == ["en-3"]


def lifted(distribution: ArcFactored, size: int, rng: np.random.Generator) -> Heads:
    """Trees drawn from all, and made projective: while arcs cross, a word moves to its head's head. A plain mistake."""
    trees = distribution.over(SINGLE_ROOT).factorisation.sample(size, rng)
    for tree in trees:
        while moved := [word for word in range(1, len(tree) + 1) if _is_across(tree, word)]:
            word = min(moved, key=lambda word: abs(tree[word - 1] - word))
            tree[word - 1] = tree[tree[word - 1] - 1]
    return trees


def _is_across(tree: Heads, word: int) -> bool:
    """Whether between a word and its head there is one that the head does not govern, near or far."""
    head = int(tree[word - 1])
    for other in range(min(head, word) + 1, max(head, word)):
        above = other
        while above not in (0, head):
            above = int(tree[above - 1])
        if above != head:
            return True
    return False


def crossing(distribution: ArcFactored, size: int, rng: np.random.Generator) -> Heads:
    """Trees of another space than asked for."""
    return distribution.over(SINGLE_ROOT).factorisation.sample(size, rng)


@pytest.mark.parametrize(("draw", "impossible"), [(lifted, False), (crossing, True)])
@pytest.mark.parametrize(("n", "method"), [(5, "enumeration"), (8, "marginals")])
def test_biased_samplers_of_projective_trees_are_caught(deptree, put, monkeypatch, n, method, draw, impossible):
    """H0 is false: of 5 and 8 words with uniform weights most trees have arcs that cross, and lifting favours some."""
    entry = Sampler("mistaken", draw, False, ("projective",), "", "")
    monkeypatch.setattr(SAMPLERS, "_entries", {**SAMPLERS._entries, entry.name: entry})
    put("flat.npy", np.ones((n + 1, n + 1)))
    ran = deptree("check-bias", "flat.npy", "--projective", "--sampler", entry.name, "-k", 1000, "--seed", 7)
    assert ran.code == 1
    (row,) = ran.rows
    assert row["verdict"] == "biased"
    assert (row["impossible"] > 0) == impossible
    assert row["method"] == method
