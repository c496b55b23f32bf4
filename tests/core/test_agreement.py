"""Agreement beyond chance, beside sums by hand and over all pairs of trees."""

from __future__ import annotations

import tracemalloc
from collections import Counter
from itertools import product

import numpy as np
import pytest

from deptree_cli.core.agreement import (
    agreement,
    by_distance,
    by_label,
    distance_chance,
    kappa,
    label_chance,
    marginal_chance,
    shares,
    statistics,
)
from deptree_cli.core.distribution import TreeDistribution

HEADS = [np.array([[2, 0, 2], [0, 1, 2], [3, 3, 0]], dtype=np.int32), np.array([[2, 0, 1], [0, 1, 1]], dtype=np.int32)]
TIMES = [np.array([3, 1, 2]), np.array([1, 4])]
LABELS = [[["a", "r", "b"], ["r", "a", "b"], ["a", "b", "r"]], [["a", "r", "a"], ["r", "a", "b"]]]


def test_agreement_is_that_of_two_random_trees() -> None:
    """Beside the sum over all pairs of trees, with and without labels."""
    heads = [shares(times, each.tolist()) for times, each in zip(TIMES, HEADS, strict=True)]
    named = [shares(times, each.tolist(), own) for times, each, own in zip(TIMES, HEADS, LABELS, strict=True)]
    plain = labelled = 0.0
    for i, j in product(range(3), range(2)):
        weight = TIMES[0][i] / 6 * TIMES[1][j] / 5
        same = HEADS[0][i] == HEADS[1][j]
        plain += weight * same.sum()
        labelled += weight * (same & (np.array(LABELS[0][i]) == np.array(LABELS[1][j]))).sum()
    assert agreement(*heads) == pytest.approx(plain, rel=1e-12)
    assert agreement(*named) == pytest.approx(labelled, rel=1e-12)


def test_shares_are_those_of_a_loop_over_words() -> None:
    """For trees of which some are twice there; in order."""
    arcs: Counter[tuple[int, int]] = Counter()
    for tree, times in zip(HEADS[0].tolist(), TIMES[0], strict=True):
        for arc in enumerate(tree, 1):
            arcs[arc] += times / 6
    found = shares(TIMES[0], HEADS[0].tolist())
    assert list(found) == sorted(arcs)
    assert found == pytest.approx(arcs)


@pytest.mark.slow("size")
def test_memory_grows_with_the_length_of_a_sentence_not_with_its_square() -> None:
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


def test_labels_by_hand() -> None:
    """Said in 3 and 2 words; with the same head in one."""
    once = np.array([1])
    first, second = shares(once, [[2, 0, 2]], [["a", "r", "a"]]), shares(once, [[2, 0, 1]], [["a", "r", "b"]])
    found = {name: tuple(each) for name, each in by_label(first, second).items()}
    assert found == {"a": (2, 1, 1), "b": (0, 1, 0), "r": (1, 1, 1)}
    assert label_chance(Counter({"a": 3, "b": 1, "r": 2})) == pytest.approx((9 + 1 + 4) / 36)


def test_chance_by_distances_beside_its_definition() -> None:
    """Each word's distances by a loop over its possible heads; two files, sentences of 1 to 6 words."""
    random, found = np.random.default_rng(1), Counter[int]()
    counts: Counter[str | int] = Counter()
    lengths = [4, 6, 1, 4, 2]
    for n in lengths:
        total: Counter[int] = Counter()
        for _ in range(2):
            heads = TreeDistribution(np.ones((n + 1, n + 1))).sample(3, random)
            total.update(by_distance(shares(np.array([1, 2, 3]), heads.tolist())))
            for tree, weight in zip(heads, (1, 2, 3), strict=True):
                for word, head in enumerate(tree.tolist(), 1):
                    counts[head - word if head else "root"] += weight / 6
        found.update({distance: each / 2 for distance, each in total.items()})
    expected = 0.0
    for n in lengths:
        for word in range(1, n + 1):
            allowed = [counts["root"], *(counts[head - word] for head in range(1, n + 1) if head != word)]
            expected += sum((each / sum(allowed)) ** 2 for each in allowed)
    assert distance_chance(found, Counter(lengths)) == pytest.approx(expected, rel=1e-12)


def test_chance_by_marginals_is_that_of_drawn_trees() -> None:
    """20,000 pairs of trees of 5 words agree in as many words, within five standard errors (at most 0.0079 each)."""
    distribution, random = TreeDistribution(np.random.default_rng(2).normal(size=(6, 6)) * 2), np.random.default_rng(3)
    one, other = distribution.sample(20_000, random), distribution.sample(20_000, random)
    assert abs((one == other).sum(axis=1).mean() - marginal_chance(distribution.marginals())) < 5 * 0.0079 * 5**0.5


def test_kappa() -> None:
    assert kappa(0.75, 0.5) == 0.5
    assert kappa(0.5, 0.5) == 0
    assert kappa(1.0, 1.0) is None
