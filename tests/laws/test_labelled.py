"""Labelled trees without replacement against exact order probabilities, and down to the last one."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from deptree_cli.core.conditionals import draw_labelled
from deptree_cli.core.distribution import TreeDistribution
from deptree_cli.core.dtypes import Float
from deptree_cli.core.estimate import weights
from deptree_cli.core.spaces import SINGLE_ROOT, SPACES, TreeSpace
from deptree_cli.core.streams import sentence_stream
from deptree_cli.core.swor import ALGORITHMS, Algorithm, most_certain, size_for_mass
from tests.oracle import Oracle
from tests.pearson import chi_square

pytestmark = pytest.mark.laws

LEVEL = 0.001
RUNS = 1_500
SCALES = (0.0, 1.0, 2.0)
AUTO = ALGORITHMS.get("auto")
SEQUENTIAL = [algorithm for algorithm in ALGORITHMS if algorithm.sequential]
IN_EACH = pytest.mark.parametrize("space", SPACES, ids=lambda space: space.name)


def scores_of(n: int, scale: float, labels: int = 2, gap: float = 0.0) -> Float:
    """Joint scores of `labels` labels behind `root`; each label `gap` below the one before."""
    return np.random.default_rng(4).normal(size=(n + 1, n + 1, labels + 1)) * scale - gap * np.arange(labels + 1)


def labelled(
    n: int, scale: float, labels: int = 2, gap: float = 0.0, trees: TreeSpace = SINGLE_ROOT
) -> TreeDistribution:
    return TreeDistribution(scores_of(n, scale, labels, gap), space=trees, labels=["root", *"abcdefgh"[:labels]])


def every(given: TreeDistribution) -> dict[tuple[tuple[int, ...], tuple[int, ...]], float]:
    """All labelled trees and their probabilities."""
    found = {}
    for heads in Oracle(given).trees:
        choices = [[0] if head == 0 else range(1, len(given.labels.names)) for head in heads]
        for labels in itertools.product(*choices):
            of_labels = given.labels.log_probs_of(heads[None], np.array([labels], dtype=np.int32))
            log_prob = given.log_probs(heads[None]) + of_labels
            found[tuple(heads.tolist()), labels] = float(np.exp(log_prob[0]))
    assert sum(found.values()) == pytest.approx(1)
    return found


def drawn(given: TreeDistribution, size: int, seed: int, algorithm: Algorithm = AUTO, mass: float = 1.0):
    draws = draw_labelled(algorithm, given, size, sentence_stream(seed, "s"), mass)
    trees = [(tuple(heads), tuple(row)) for heads, row in zip(draws.heads.tolist(), draws.labels.tolist(), strict=True)]
    return draws, trees


@pytest.mark.slow("statistics")
@pytest.mark.parametrize("scale", SCALES)
def test_ordered_pairs(scale):
    """H0: P(first a, then b) = p_a p_b / (1 - p_a). Chi-square, 1,500 runs, p > 0.001 / 3. Of 6 labelled trees all 30
    orders are expected 50 times at scale 0."""
    given = labelled(2, scale, labels=3)
    exact = every(given)
    number = {tree: index for index, tree in enumerate(exact)}
    probs = np.array(list(exact.values()))
    expected = probs[:, None] * probs / (1 - probs)[:, None] * (1 - np.eye(len(probs)))
    counts = np.zeros(expected.shape, dtype=np.int64)
    for seed in range(RUNS):
        first, second = drawn(given, 2, seed)[1]
        counts[number[first], number[second]] += 1
    possible = expected.ravel() > 0
    assert chi_square(counts.ravel()[possible], expected.ravel()[possible])[2] > LEVEL / len(SCALES)


@pytest.mark.slow("statistics")
@pytest.mark.parametrize(
    ("scale", "size", "mass", "runs"),
    [*((scale, 6, 1.0, RUNS) for scale in SCALES), (1.0, 24, 0.2, 1_000), (1.0, 24, 0.4, 1_000)],
)
def test_weights_are_unbiased(scale, size, mass, runs):
    """H0: E[sum of weights of drawn labelled trees] = 1, as of Horvitz and Thompson, wherever the drawing stops; 1,500
    runs, 1,000 with a mass, |z| < 3.9. A bias of 0.15 of the sum's standard deviation makes z about 5.8: found with
    probability 0.97."""
    given = labelled(3, scale)
    draws = [drawn(given, size, seed, mass=mass)[0] for seed in range(runs)]
    assert (len({each.certain for each in draws}) > 1) == (mass < 1)
    sums = [weights(each.log_probs, each.window, each.certain).sum() for each in draws]
    z = (np.mean(sums) - 1) / (np.std(sums) / np.sqrt(runs))
    assert abs(z) < 3.9


@pytest.mark.parametrize("algorithm", ALGORITHMS, ids=lambda algorithm: algorithm.name)
@pytest.mark.parametrize("gap", [0.0, 5.0, 1000.0])
@IN_EACH
def test_every_labelled_tree_comes_once_and_then_it_ends(algorithm, gap, space):
    given = labelled(3, 1.0, gap=gap, trees=space)
    draws, trees = drawn(given, 1000, 3, algorithm)
    exact = every(given)
    assert len(trees) == len(set(trees)) == len(exact)
    assert draws.exhausted
    assert draws.tau == np.inf
    assert (np.diff(draws.arrivals[np.isfinite(draws.arrivals)]) >= 0).all()
    np.testing.assert_allclose(np.exp(draws.log_probs), [exact[tree] for tree in trees], rtol=1e-9, atol=1e-300)


@pytest.mark.parametrize("algorithm", SEQUENTIAL, ids=lambda algorithm: algorithm.name)
@IN_EACH
def test_fewer_are_the_first_of_more(algorithm, space):
    given = labelled(4, 1.0, trees=space)
    many, few = drawn(given, 60, 1, algorithm), drawn(given, 9, 1, algorithm)
    assert many[1][:9] == few[1]
    np.testing.assert_array_equal(many[0].arrivals[:9], few[0].arrivals)
    assert few[0].tau == many[0].arrivals[9]


@pytest.mark.parametrize("size", [1000, 20])
def test_the_mass_asked_for_is_reached_and_not_passed_by_a_tree(size):
    given = labelled(4, 2.0)
    draws, trees = drawn(given, size, 1, mass=0.8)
    probs = np.exp(draws.log_probs)
    assert draws.certain == min(int((probs.cumsum() < 0.8).sum()) + 1, most_certain(size))
    assert len(trees) == size_for_mass(draws.certain, size)
    every, more = drawn(given, 1000, 1)
    if size == 1000:  # otherwise the trees behind them are others
        assert more[: len(trees)] == trees
        assert draws.tau == every.arrivals[len(trees)]
