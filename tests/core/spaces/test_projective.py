"""Projective trees: everything against enumeration on many kinds of graphs, and what has no tree."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import product

import mpmath
import numpy as np
import pytest
from numpy.typing import NDArray

from deptree_cli.core.distribution import TreeDistribution
from deptree_cli.core.dtypes import Bool, Heads
from deptree_cli.core.errors import DeptreeError
from deptree_cli.core.oracle import all_trees
from deptree_cli.core.spaces import PROJECTIVE, PROJECTIVE_MULTI, SPACES, TreeSpace, space
from deptree_cli.kernels.charts import LONGEST
from tests.oracle import Oracle

BOTH = pytest.mark.parametrize("trees", [PROJECTIVE, PROJECTIVE_MULTI], ids=lambda trees: trees.name)
Float = NDArray[np.float64]

SCALES = (0.1, 1.0, 10.0, 50.0, 200.0)


def random_graph(seed: int, graphs, trees: TreeSpace) -> TreeDistribution:
    """Dense, sparse or saturated scores of 1 to 6 words, at some scale."""
    rng = np.random.default_rng(seed)
    n, scale = int(rng.integers(1, 7)), float(rng.choice(SCALES))
    kind = seed % 3
    if kind == 0:
        return graphs.over(graphs.gaussian(n, scale, seed), trees)
    if kind == 1:
        return graphs.over(graphs.holes(n, seed, True, scale, projective=True), trees)
    return graphs.over(graphs.saturated(n, float(np.exp(-scale))) + rng.normal(size=(n + 1, n + 1)) * 0.1, trees)


def test_the_number_of_trees_enumerated() -> None:
    assert [len(all_trees(n, PROJECTIVE)) for n in range(1, 8)] == [1, 2, 7, 30, 143, 728, 3876]
    assert [len(all_trees(n, PROJECTIVE_MULTI)) for n in range(1, 7)] == [1, 3, 12, 55, 273, 1428]


@BOTH
@pytest.mark.parametrize("block", range(5))
def test_everything_equals_enumeration(trees: TreeSpace, block: int, graphs) -> None:
    """250 random graphs a root constraint: log Z, marginals, trees' probabilities, roots and the best 50 trees."""
    for seed in range(50 * block, 50 * block + 50):
        distribution = random_graph(seed, graphs, trees)
        exact = Oracle(distribution)
        assert distribution.log_partition == pytest.approx(exact.log_z, rel=1e-12, abs=1e-10)
        np.testing.assert_allclose(distribution.marginals(), exact.marginals(), rtol=0, atol=1e-10)
        np.testing.assert_allclose(distribution.root_marginals, exact.marginals()[0], rtol=0, atol=1e-10)
        np.testing.assert_allclose(distribution.log_probs(exact.trees), exact.log_probs, rtol=1e-10, atol=1e-10)
        best, ordered = distribution.top_k(50), np.sort(distribution.log_weights(exact.trees))[::-1][:50]
        np.testing.assert_allclose(distribution.log_weights(best), ordered, rtol=1e-12, atol=1e-10)
        assert distribution.log_weights(distribution.argmax()[None])[0] == pytest.approx(ordered[0], rel=1e-12)
        risks = exact.marginals()[exact.trees, np.arange(1, distribution.n + 1)].sum(axis=1)
        found = exact.marginals()[distribution.mbr(), np.arange(1, distribution.n + 1)].sum()
        assert found == pytest.approx(risks.max(), abs=1e-10)


@pytest.mark.slow("size")
@BOTH
def test_digits_beyond_enumeration(trees: TreeSpace, graphs) -> None:
    """n = 12 at scales where trees are e^-1000 apart, by a plain chart in multi-precision arithmetic."""
    for scale in (1.0, 40.0, 200.0):
        log_scores = graphs.gaussian(12, scale, seed=3)
        found = trees.factorise(log_scores)
        with mpmath.workdps(60):
            weights = [[mpmath.exp(x) if x > -np.inf else mpmath.mpf(0) for x in row] for row in log_scores.tolist()]
            total = partition(weights, trees.single_root)
            assert found.log_z == pytest.approx(float(mpmath.log(total)), rel=1e-15, abs=1e-14)
            for head, word in [(0, 5), (3, 4), (4, 3), (2, 9), (9, 2)]:
                kept, weights[head][word] = weights[head][word], mpmath.mpf(0)
                expected = 1 - partition(weights, trees.single_root) / total
                weights[head][word] = kept
                assert found.marginals()[head, word] == pytest.approx(float(expected), rel=1e-12, abs=1e-15)


def partition(weights: list[list[mpmath.mpf]], single_root: bool) -> mpmath.mpf:
    """Z by memory of what every head has to its left and to its right, written down as differently as can be."""
    n = len(weights) - 1
    memory: dict[tuple[int, int, int], mpmath.mpf] = {}

    def side(head: int, first: int, last: int) -> mpmath.mpf:
        """All ways to hang the words first..last on one side of a head: the group next to it, then the others."""
        if first > last:
            return mpmath.mpf(1)
        key = head, first, last
        if key not in memory:
            after = first > head
            cuts = range(first, last + 1)
            memory[key] = mpmath.fsum(
                group(head, *((first, cut) if after else (cut, last)))
                * (side(head, cut + 1, last) if after else side(head, first, cut - 1))
                for cut in cuts
            )
        return memory[key]

    def group(head: int, first: int, last: int) -> mpmath.mpf:
        """All trees over the words first..last, hanging on a head outside."""
        return mpmath.fsum(
            weights[head][d] * side(d, first, d - 1) * side(d, d + 1, last) for d in range(first, last + 1)
        )

    return group(0, 1, n) if single_root else side(0, 1, n)


def test_sentences_too_long_for_float64_to_count_their_trees() -> None:
    n = LONGEST + 20
    factors = PROJECTIVE.factorise(np.where(np.eye(n + 1, dtype=bool), -np.inf, 0.0))
    assert factors.is_wide
    with mpmath.workdps(40):
        expected = float(mpmath.log(mpmath.binomial(3 * n - 2, n - 1) / n))
    assert factors.log_z == pytest.approx(expected, rel=1e-14)
    heads = factors.sample(3, np.random.default_rng(1))
    assert PROJECTIVE.contains(heads).all()


@pytest.mark.parametrize(
    ("arcs", "message"),
    [
        (
            [(0, 1), (1, 3), (2, 4), (1, 2), (3, 2)],
            "x: no projective tree is possible: the arcs 1 -> 3 and 2 -> 4 cross, and words 3 and 4 have no other head."
            " Allow more arcs, or leave out `projective=True`.",
        ),
        ([(0, 1), (1, 2), (0, 3)], "x: no single-root tree is possible: words 1 and 3 can attach to ROOT only."),
    ],
    ids=str,
)
def test_patterns_that_are_refused(arcs: list[tuple[int, int]], message: str) -> None:
    n = max(word for _, word in arcs)
    scores = np.full((n + 1, n + 1), -np.inf)
    for head, word in arcs:
        scores[head, word] = 0.0
    with pytest.raises(DeptreeError) as caught:
        TreeDistribution(scores, projective=True, id="x")
    assert str(caught.value).startswith(message)


def test_no_pair_of_arcs_alone_is_to_blame() -> None:
    """Word 2 has ROOT as its only head, which any head of word 1 crosses; that one has several."""
    scores = np.full((5, 5), -np.inf)
    for word, heads in {1: (3, 4), 2: (0,), 3: (0, 1), 4: (1, 2)}.items():
        scores[list(heads), word] = 0.0
    with pytest.raises(DeptreeError, match=r"in every tree .* some cross, such as 0 -> 2 and (3 -> 1|4 -> 1|1 -> 4)"):
        TreeDistribution(scores, single_root=False, projective=True)
    with pytest.raises(DeptreeError, match="the arcs 0 -> 2 and 1 -> 3 cross"):  # word 3 is no root beside word 2
        TreeDistribution(scores, projective=True)


def test_a_head_that_nothing_else_can_have_is_named_too() -> None:
    """Word 2 must be the root, for the others hang on it: its arc crosses a fixed one, whatever the scores allow."""
    free = TreeDistribution(np.zeros((4, 4)), scale="log", projective=True)
    with pytest.raises(DeptreeError, match="the arcs 0 -> 2 and 3 -> 1 cross, and words 1 and 2 have no other head"):
        free.given([3, None, 2])


ARCS_THAT_CROSS = re.compile(r"(\d+) -> (\d+) and (\d+) -> (\d+)")


@pytest.mark.parametrize("n", [3, 4])
@pytest.mark.parametrize("single_root", [True, False])
def test_every_refusal_of_fixed_heads_names_two_arcs_that_cross(n: int, single_root: bool) -> None:
    """All partial assignments of heads that leave trees, but no projective one: the arcs are of one that is left."""
    free = TreeDistribution(np.zeros((n + 1, n + 1)), scale="log", single_root=single_root, projective=True)
    trees = {crossing: all_trees(n, space(single_root, not crossing)) for crossing in (True, False)}
    refused = 0
    for heads in product([None, *range(n + 1)], repeat=n):
        if any(head == word for word, head in enumerate(heads, 1)):
            continue
        left = {crossing: rows[matching(rows, heads)] for crossing, rows in trees.items()}
        if len(left[False]) or not len(left[True]):
            continue
        with pytest.raises(DeptreeError, match="no projective") as caught:
            free.given(heads)
        found = ARCS_THAT_CROSS.search(caught.value.problem)
        assert found
        head, word, other, below = map(int, found.groups())
        ends = sorted([sorted((head, word)), sorted((other, below))])
        assert ends[0][0] < ends[1][0] < ends[0][1] < ends[1][1]
        assert ((left[True][:, word - 1] == head) & (left[True][:, below - 1] == other)).any()
        refused += 1
    assert refused > 5


def matching(trees: Heads, heads: Sequence[int | None]) -> Bool:
    """The trees (k, n) that have the heads that are given."""
    return np.all([trees[:, word] == head for word, head in enumerate(heads) if head is not None], axis=0)


def test_going_between_spaces(graphs) -> None:
    """A projective distribution is the other one given that no arcs cross."""
    distribution = graphs.distribution(graphs.gaussian(5, 2))
    without = distribution.over(PROJECTIVE)
    exact = Oracle(distribution)
    kept = PROJECTIVE.contains(exact.trees)
    mass = np.logaddexp.reduce(exact.log_probs[kept])
    assert without.log_partition - distribution.log_partition == pytest.approx(mass, abs=1e-13)
    np.testing.assert_allclose(without.log_probs(exact.trees[kept]), exact.log_probs[kept] - mass, atol=1e-12)
    assert np.isneginf(without.log_probs(exact.trees[~kept])).all()
    assert without.multi_root().space is PROJECTIVE_MULTI
    assert without.kl(distribution) == pytest.approx(-mass, rel=1e-12)
    assert distribution.kl(without) == np.inf
    assert {space.projective for space in SPACES} == {True, False}
