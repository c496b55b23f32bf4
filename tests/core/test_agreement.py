"""Agreement beyond chance, by hand and over pairs of trees; the permutation test beside all divisions of few trees."""

import tracemalloc
from itertools import combinations, product

import numpy as np
import pytest
from scipy.stats import binom

from deptree_cli.core import agreement as module
from deptree_cli.core.agreement import STATISTICS, agreement, by_distance, by_label, p_values, shares, statistics
from deptree_cli.core.distribution import TreeDistribution
from deptree_cli.core.errors import DeptreeError

HEADS = [np.array([[2, 0, 2], [0, 1, 2], [3, 3, 0]], dtype=np.int32), np.array([[2, 0, 1], [0, 1, 1]], dtype=np.int32)]
TIMES = [np.array([3, 1, 2]), np.array([1, 4])]
LABELS = [[["a", "r", "b"], ["r", "a", "b"], ["a", "b", "r"]], [["a", "r", "a"], ["r", "a", "b"]]]


def test_agreement_is_that_of_two_random_trees():
    """Beside the sum over all pairs of trees, with and without labels."""
    heads = [shares(times, each.tolist()) for times, each in zip(TIMES, HEADS, strict=True)]
    named = [shares(times, each.tolist(), own) for times, each, own in zip(TIMES, HEADS, LABELS, strict=True)]
    expected = np.zeros(2)
    for i, j in product(range(3), range(2)):
        same = HEADS[0][i] == HEADS[1][j]
        both = same & (np.array(LABELS[0][i]) == np.array(LABELS[1][j]))
        expected += TIMES[0][i] / 6 * TIMES[1][j] / 5 * np.array([same.sum(), both.sum()])
    assert list(named[0]) == sorted(named[0])  # sums do not depend on the order of trees
    assert [agreement(*heads), agreement(*named)] == pytest.approx(expected, rel=1e-12)


@pytest.mark.slow("size")
def test_memory_grows_with_the_length_of_a_sentence_not_with_its_square():
    """20,000 words, whose possible arcs would take 3.2 GB: agreement, chance, labels, the permutation test."""
    n, rng = 20_000, np.random.default_rng(3)
    trees = [(np.arange(n) * rng.random(n)).astype(np.int32)[None] for _ in range(4)]
    once, labels = np.array([1]), [[str(each % 40) for each in range(n)]]
    tracemalloc.start()
    try:
        one, other = (shares(once, tree.tolist()) for tree in trees[:2])
        assert 0 < agreement(one, other) < n
        assert sum(by_distance(one).values()) == n
        named = [shares(once, tree.tolist(), labels) for tree in trees[:2]]
        assert sum(each[0] for each in by_label(*named).values()) == n
        statistics([np.vstack(trees[:2]), np.vstack(trees[2:])], [np.array([1, 2])] * 2, 9, rng)
        assert tracemalloc.get_traced_memory()[1] < 60e6
    finally:
        tracemalloc.stop()


ONE = np.array([[2, 0, 2], [2, 0, 2], [0, 1, 2], [2, 0, 2], [2, 0, 1]], dtype=np.int32)
OTHER = np.array([[0, 1, 1], [0, 1, 2], [3, 3, 0], [0, 1, 1]], dtype=np.int32)


def compared(one, other, permutations, random):
    once = [np.ones(len(each), dtype=np.int64) for each in (one, other)]
    return statistics([one, other], once, permutations, random)


def by_definition(one, other):
    """The statistics from the trees themselves, arc by arc and tree by tree: near chi-square or its root."""
    a, b = len(one), len(other)
    pooled, scale = np.vstack([one, other]), a * b / (a + b)
    arcs, typical = [], np.zeros(a + b)
    for word in range(one.shape[1]):
        for head in range(one.shape[1] + 1):
            p = (pooled[:, word] == head).mean()
            if 0 < p < 1:
                gap = (one[:, word] == head).mean() - (other[:, word] == head).mean()
                arcs.append(scale * gap**2 / (p * (1 - p)))
            typical[pooled[:, word] == head] += np.log(p) if p else 0
    gap = typical[:a].mean() - typical[a:].mean()
    trees, times = np.unique(pooled, axis=0, return_counts=True)
    cells = [[(each == tree).all(axis=1).sum() for tree in trees] for each in (one, other)]
    rare = times == 1
    counts = [[*np.array(each)[~rare], np.array(each)[rare].sum()] for each in cells]
    chi = sum((x / a - y / b) ** 2 * scale * (a + b) / (x + y) for x, y in zip(*counts, strict=True) if x + y)
    return [sum(arcs), max(arcs), gap * scale**0.5 / typical.std(), chi]


def test_statistics_are_what_they_are_called(monkeypatch):
    """A tree that comes twice is as good as two, and work in blocks changes nothing."""
    found = compared(ONE, OTHER, 50, np.random.default_rng(1))
    assert found[0] == pytest.approx(by_definition(ONE, OTHER), rel=1e-12)
    distinct, times = np.unique(ONE, axis=0, return_counts=True)
    again = statistics([distinct, OTHER], [times, np.ones(4, dtype=np.int64)], 1, np.random.default_rng(1))[0]
    assert again == pytest.approx(found[0], rel=1e-12)
    monkeypatch.setattr(module, "_ROOM", 100)
    assert np.array_equal(compared(ONE, OTHER, 50, np.random.default_rng(1)), found)


def test_p_beside_all_divisions():
    """All 126 divisions of nine trees are exact; 20,000 permutations come within five standard errors (0.018)."""
    pooled, rows = np.vstack([ONE, OTHER]), []
    for chosen in [tuple(range(5)), *combinations(range(9), 5)]:  # the first is the observed one
        first = np.isin(np.arange(9), chosen)
        rows.append(statistics([pooled, pooled], [first * 1, ~first * 1], 0, np.random.default_rng(1))[0])
    exact, observed = np.array(rows[1:]), np.array(rows[0])
    estimated = p_values(compared(ONE, OTHER, 20_000, np.random.default_rng(2)))
    near = np.abs(exact) >= np.abs(observed) - 1e-9
    assert np.abs(estimated.each - near.mean(axis=0)).max() < 0.018
    assert not np.allclose(near.mean(axis=0), 1)
    assert abs(estimated.p - p_values(exact).p) < 0.018


@pytest.mark.slow("statistics")
@pytest.mark.parametrize("scale", [1, 6])
def test_the_level_of_the_permutation_test(scale):
    """300 pairs of sets of 100 trees of 5 words: p is up to 0.1 no oftener than chance allows once in 10,000 runs,
    nor rarer; p is conservative where few values are possible, so below there is but a loose bound."""
    random, found = np.random.default_rng(scale), []
    for seed in range(300):
        distribution = TreeDistribution(np.random.default_rng(seed).normal(size=(6, 6)) * scale)
        one, other = distribution.sample(100, random), distribution.sample(100, random)
        found.append(p_values(compared(one, other, 99, random)).p)
    assert np.sum(np.array(found) <= 0.1) <= binom.ppf(1 - 1e-4, 300, 0.1)
    assert np.sum(np.array(found) <= 0.1) >= (binom.ppf(1e-4, 300, 0.1) if scale == 1 else 3)


def test_another_temperature_is_noticed():
    """A temperature of 2 in 1,000 trees of 8 words, by peakedness first; identical samples have p = 1, and where there
    is one tree everywhere nothing varies: no statistic, no division by zero."""
    distribution, random = TreeDistribution(np.random.default_rng(1).normal(size=(9, 9)) * 2), np.random.default_rng(1)
    one, other = distribution.sample(1000, random), distribution.tempered(2).sample(1000, random)
    found = p_values(compared(one, other, 199, random))
    assert found.p == found.each[STATISTICS.index("peakedness")] == 1 / 200
    assert p_values(compared(one, one, 99, random)).p == 1
    same = p_values(statistics([ONE[:1], ONE[:1]], [np.array([7]), np.array([3])], 9, random))
    assert (same.p, same.each.tolist()) == (1, [1, 1, 1, 1])


def test_too_many_trees_to_permute():
    with pytest.raises(DeptreeError, match="1000000001 trees cannot be permuted"):
        statistics([ONE[:1], OTHER[:1]], [np.array([10**9]), np.array([1])], 9, np.random.default_rng(1))
