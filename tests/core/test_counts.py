"""How many trees: the one check of all that are asked for trees, and as much memory as there are trees."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from deptree_cli import ALGORITHMS, DeptreeError, TreeDistribution
from deptree_cli.bitext import AlignmentDistribution
from deptree_cli.core.arc_factored import FEW
from deptree_cli.core.spaces import SPACES, TreeSpace
from deptree_cli.second_order import SecondOrder
from tests.oracle import Oracle

SCORES = np.random.default_rng(1).normal(size=(4, 4))
NAMES = ("root", "a")
TREES = TreeDistribution(SCORES, id="x")

ASKED = {
    "sample": TREES.sample,
    "sample_without_replacement": TREES.sample_without_replacement,
    "labelled trees": lambda k: TREES.labelled(NAMES, np.zeros((4, 4, 2))).sample_without_replacement(k, labelled=True),
    "top_k": TREES.top_k,
    "second order": SecondOrder(SCORES).sample,
    "alignments": AlignmentDistribution(SCORES).sample,
}


@pytest.mark.parametrize("k", [-1, 1.5, None, "3", True, np.True_, [2]], ids=repr)
def test_what_is_no_number_is_refused(k: Any) -> None:
    with pytest.raises(DeptreeError) as caught:
        TREES.sample(k)
    problem = "-1 trees are asked for" if k == -1 else f"{k!r} is not a number of trees"
    assert str(caught.value) == f"{problem}. Ask for 1 or more."


@pytest.mark.parametrize("kind", ASKED)
def test_everything_that_takes_a_number_checks_it(kind: str) -> None:
    what = "alignments" if kind == "alignments" else "trees"
    with pytest.raises(DeptreeError, match=rf"^True is not a number of {what}\. Ask for 1 or more\.$"):
        ASKED[kind](True)


@pytest.mark.parametrize("kind", ASKED)
def test_none_at_all(kind: str) -> None:
    """And as many as a number of NumPy says."""
    for k in (0, 2):
        found = ASKED[kind](np.int64(k))
        assert len(getattr(found, "heads", found)) == k


@pytest.mark.parametrize("k", [10**12, 10**30])
@pytest.mark.parametrize("kind", ["sample", "second order", "alignments"])
def test_more_than_memory_holds(kind: str, k: int) -> None:
    with pytest.raises(
        DeptreeError, match=rf"^there is not enough memory for {k:,} (trees|alignments)\. Ask for fewer\.$"
    ):
        ASKED[kind](k)


@pytest.mark.parametrize("k", [10**9, 10**30])
@pytest.mark.parametrize("trees", SPACES, ids=lambda trees: trees.name)
def test_no_more_than_there_are(trees: TreeSpace, k: int, graphs) -> None:
    distribution = graphs.over(graphs.holes(4, 3, trees.single_root, projective=trees.projective), trees)
    every = {tuple(tree) for tree in Oracle(distribution).trees.tolist() if distribution.log_prob(tree) > -np.inf}
    assert {tuple(tree) for tree in distribution.top_k(k).tolist()} == every
    for algorithm in ALGORITHMS.names:
        draws = distribution.sample_without_replacement(k, 1, algorithm)
        assert draws.exhausted
        assert len(draws.heads) == len(every)
        assert {tuple(tree) for tree in draws.heads.tolist()} == every


def test_few_arcs_of_a_long_sentence() -> None:
    """2^12 trees of 200 words: counted, not guessed from the number of words; the draws are those of fewer."""
    weights = np.diag(np.ones(200), 1)
    weights[0, 3:15] = 0.0
    weights[1, 3:15] = 0.5
    distribution = TreeDistribution(weights, "weight")
    assert distribution.log_count == pytest.approx(12 * np.log(2), abs=1e-9)
    assert distribution.room_for(FEW) == FEW
    assert 2**12 <= distribution.room_for(10**9) <= 2**12 + 2
    draws = distribution.sample_without_replacement(10**9, 3)
    assert len(draws.heads) == 2**12
    assert draws.exhausted
    np.testing.assert_array_equal(draws.heads[:20], distribution.sample_without_replacement(20, 3).heads)


def test_more_trees_than_memory_holds() -> None:
    distribution = TreeDistribution(np.zeros((30, 30)))
    with pytest.raises(DeptreeError, match="there is not enough memory for 1,000,000,000,000 trees"):
        distribution.sample_without_replacement(10**12)
