"""The permutation test of two samples of trees, beside all divisions of few trees."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from scipy.stats import binom

from deptree_cli.core import agreement as module
from deptree_cli.core.agreement import STATISTICS, p_values, statistics
from deptree_cli.core.distribution import TreeDistribution
from deptree_cli.core.errors import DeptreeError

ONE = np.array([[2, 0, 2], [2, 0, 2], [0, 1, 2], [2, 0, 2], [2, 0, 1]], dtype=np.int32)
OTHER = np.array([[0, 1, 1], [0, 1, 2], [3, 3, 0], [0, 1, 1]], dtype=np.int32)


def once(heads: np.ndarray) -> np.ndarray:
    return np.ones(len(heads), dtype=np.int64)


def by_definition(one: np.ndarray, other: np.ndarray) -> list[float]:
    """The statistics from the trees themselves, arc by arc and tree by tree."""
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


def test_statistics_are_what_they_are_called() -> None:
    """All are near chi-square or its root; a tree that comes twice is as good as two."""
    found = statistics([ONE, OTHER], [once(ONE), once(OTHER)], 1, np.random.default_rng(1))[0]
    expected = by_definition(ONE, OTHER)
    assert found == pytest.approx(expected, rel=1e-12)
    distinct, times = np.unique(ONE, axis=0, return_counts=True)
    again = statistics([distinct, OTHER], [times, once(OTHER)], 1, np.random.default_rng(1))[0]
    assert again == pytest.approx(found, rel=1e-12)


def test_p_beside_all_divisions() -> None:
    """All 126 divisions of nine trees are exact; 20,000 permutations come within five standard errors (0.018)."""
    pooled = np.vstack([ONE, OTHER])
    rows = []
    for chosen in [tuple(range(5)), *combinations(range(9), 5)]:
        first = np.isin(np.arange(9), chosen)
        samples = ([pooled, pooled], [first * 1, ~first * 1])
        rows.append(statistics(*samples, 0, np.random.default_rng(1))[0])
    exact, observed = np.array(rows[1:]), np.array(rows[0])
    found = statistics([ONE, OTHER], [once(ONE), once(OTHER)], 20_000, np.random.default_rng(2))
    estimated = p_values(found)
    near = np.abs(exact) >= np.abs(observed) - 1e-9
    assert np.abs(estimated.each - near.mean(axis=0)).max() < 0.018
    assert not np.allclose(near.mean(axis=0), 1)
    # The first row of all divisions is the observed one.
    assert abs(estimated.p - p_values(exact).p) < 0.018


def test_blocks_change_nothing(monkeypatch) -> None:
    samples = ([ONE, OTHER], [once(ONE), once(OTHER)])
    whole = statistics(*samples, 50, np.random.default_rng(1))
    monkeypatch.setattr(module, "_ROOM", 100)
    assert np.array_equal(statistics(*samples, 50, np.random.default_rng(1)), whole)


@pytest.mark.slow("statistics")
@pytest.mark.parametrize("scale", [1, 6])
def test_level(scale) -> None:
    """300 pairs of sets of 100 trees of 5 words: p is up to 0.1 no oftener than chance allows once in 10,000 runs,
    nor rarer; p is conservative where few values are possible, so below there is but a loose bound."""
    random, found = np.random.default_rng(scale), []
    for seed in range(300):
        distribution = TreeDistribution(np.random.default_rng(seed).normal(size=(6, 6)) * scale)
        one, other = distribution.sample(100, random), distribution.sample(100, random)
        found.append(p_values(statistics([one, other], [once(one), once(other)], 99, random)).p)
    assert np.sum(np.array(found) <= 0.1) <= binom.ppf(1 - 1e-4, 300, 0.1)
    assert np.sum(np.array(found) <= 0.1) >= (binom.ppf(1e-4, 300, 0.1) if scale == 1 else 3)


def test_what_differs_is_found() -> None:
    """A temperature of 2 in 1,000 trees of 8 words, by peakedness first; identical samples have p = 1."""
    distribution, random = TreeDistribution(np.random.default_rng(1).normal(size=(9, 9)) * 2), np.random.default_rng(1)
    one, other = distribution.sample(1000, random), distribution.tempered(2).sample(1000, random)
    found = p_values(statistics([one, other], [once(one), once(other)], 199, random))
    assert found.p == found.each[STATISTICS.index("peakedness")] == 1 / 200
    assert p_values(statistics([one, one], [once(one), once(one)], 99, random)).p == 1


def test_one_tree_everywhere() -> None:
    """Nothing varies: no statistic, no division by zero."""
    found = p_values(statistics([ONE[:1], ONE[:1]], [np.array([7]), np.array([3])], 9, np.random.default_rng(1)))
    assert (found.p, found.each.tolist()) == (1, [1, 1, 1, 1])


def test_too_many_trees() -> None:
    samples = ([ONE[:1], OTHER[:1]], [np.array([10**9]), np.array([1])])
    with pytest.raises(DeptreeError, match="1000000001 trees cannot be permuted"):
        statistics(*samples, 9, np.random.default_rng(1))
