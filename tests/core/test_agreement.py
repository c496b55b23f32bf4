"""Agreement beyond chance, beside sums by hand and over all pairs of trees."""

from __future__ import annotations

import tracemalloc
from collections import Counter
from itertools import product

import numpy as np
import pytest

from deptree_cli.core import agreement as module
from deptree_cli.core.agreement import (
    Distances,
    agreement,
    by_label,
    distances,
    kappa,
    label_chance,
    marginal_chance,
    numbered,
    shared_heads,
    statistics,
    two_samples,
)
from deptree_cli.core.distribution import TreeDistribution

HEADS = [np.array([[2, 0, 2], [0, 1, 2], [3, 3, 0]], dtype=np.int32), np.array([[2, 0, 1], [0, 1, 1]], dtype=np.int32)]
TIMES = [np.array([3, 1, 2]), np.array([1, 4])]
LABELS = [[["a", "r", "b"], ["r", "a", "b"], ["a", "b", "r"]], [["a", "r", "a"], ["r", "a", "b"]]]


def test_agreement_is_that_of_two_random_trees() -> None:
    """Beside the sum over all pairs of trees, with and without labels."""
    names, numbers = numbered(LABELS)
    assert names == ["a", "b", "r"]
    one, other = (shared_heads(*each, len(names)) for each in zip(HEADS, TIMES, numbers, strict=True))
    plain = labelled = 0.0
    for i, j in product(range(3), range(2)):
        weight = TIMES[0][i] / 6 * TIMES[1][j] / 5
        same = HEADS[0][i] == HEADS[1][j]
        plain += weight * same.sum()
        labelled += weight * (same & (np.array(LABELS[0][i]) == np.array(LABELS[1][j]))).sum()
    assert agreement(one.heads, other.heads) == pytest.approx(plain, rel=1e-12)
    assert agreement(one.labelled, other.labelled) == pytest.approx(labelled, rel=1e-12)


@pytest.mark.parametrize("counted", [0, 10**9])
def test_shares_are_the_same_counted_and_sorted(counted: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Beside a loop over words, for trees of which some are twice there."""
    monkeypatch.setattr(module, "_COUNTED", counted)
    cells: Counter[int] = Counter()
    for tree, times in zip(HEADS[0], TIMES[0], strict=True):
        for word, head in enumerate(tree.tolist()):
            cells[4 * word + head] += times / 6
    found = shared_heads(HEADS[0], TIMES[0], None, 0).heads
    assert found.cells.tolist() == sorted(cells)
    assert found.shares == pytest.approx([cells[each] for each in sorted(cells)])


@pytest.mark.slow("size")
def test_memory_grows_with_the_length_of_a_sentence_not_with_its_square() -> None:
    """20,000 words, whose possible arcs would take 3.2 GB: agreement, chance, labels, the permutation test."""
    n, rng = 20_000, np.random.default_rng(3)
    trees = [(np.arange(n) * rng.random(n)).astype(np.int32)[None] for _ in range(4)]
    tracemalloc.start()
    try:
        one, other = (shared_heads(tree, np.array([1]), tree % 40, 40) for tree in trees[:2])
        assert 0 < agreement(one.heads, other.heads) < n
        assert distances(one).sum() == pytest.approx(n)
        assert (
            sum(each.first for each in by_label(one.labelled, other.labelled, list(map(str, range(40)))).values()) == n
        )
        statistics(two_samples([np.vstack(trees[:2]), np.vstack(trees[2:])], [np.array([1, 2])] * 2), 9, rng)
        assert tracemalloc.get_traced_memory()[1] < 60e6
    finally:
        tracemalloc.stop()


def test_labels_by_hand() -> None:
    """Said in 3 and 2 words; with the same head in one."""
    heads = np.array([[2, 0, 2]], dtype=np.int32), np.array([[2, 0, 1]], dtype=np.int32)
    names, numbers = numbered([[["a", "r", "a"]], [["a", "r", "b"]]])
    shares = [shared_heads(each, np.array([1]), label, 3).labelled for each, label in zip(heads, numbers, strict=True)]
    assert by_label(*shares, names) == {"a": (2, 1, 1), "b": (0, 1, 0), "r": (1, 1, 1)}
    assert label_chance(Counter({"a": 3, "b": 1, "r": 2})) == pytest.approx((9 + 1 + 4) / 36)


def test_chance_by_distances_beside_its_definition() -> None:
    """Each word's distances by a loop over its possible heads; two files, sentences of 1 to 6 words."""
    random, found = np.random.default_rng(1), Distances()
    counts: Counter[str | int] = Counter()
    lengths = [4, 6, 1, 4, 2]
    for n in lengths:
        total = np.zeros(2 * n + 1)
        for _ in range(2):
            heads = TreeDistribution(np.ones((n + 1, n + 1))).sample(3, random)
            total += distances(shared_heads(heads, np.array([1, 2, 3]), None, 0))
            for tree, weight in zip(heads, (1, 2, 3), strict=True):
                for word, head in enumerate(tree.tolist(), 1):
                    counts[head - word if head else "root"] += weight / 6
        found.add(total, 2)
    expected = 0.0
    for n in lengths:
        for word in range(1, n + 1):
            allowed = [counts["root"], *(counts[head - word] for head in range(1, n + 1) if head != word)]
            expected += sum((each / sum(allowed)) ** 2 for each in allowed)
    assert found.chance() == pytest.approx(expected, rel=1e-12)


def test_chance_by_marginals_is_that_of_drawn_trees() -> None:
    """20,000 pairs of trees of 5 words agree in as many words, within five standard errors (at most 0.0079 each)."""
    distribution, random = TreeDistribution(np.random.default_rng(2).normal(size=(6, 6)) * 2), np.random.default_rng(3)
    one, other = distribution.sample(20_000, random), distribution.sample(20_000, random)
    assert abs((one == other).sum(axis=1).mean() - marginal_chance(distribution.marginals())) < 5 * 0.0079 * 5**0.5


def test_kappa() -> None:
    assert kappa(0.75, 0.5) == 0.5
    assert kappa(0.5, 0.5) == 0
    assert kappa(1.0, 1.0) is None
