"""Digits at the edges: entropies against 80-digit enumeration, offsets and masks that cost none, exact support."""

from __future__ import annotations

import mpmath as mp
import numpy as np
import pytest
from numpy.typing import NDArray

from deptree_cli.core.distribution import TreeDistribution
from deptree_cli.core.errors import DeptreeError
from deptree_cli.core.expectations import cross_entropy, entropy, kl, renyi
from deptree_cli.core.expectations.divergences import kl_gradient
from deptree_cli.core.expectations.entropies import renyi_gradient
from deptree_cli.core.oracle import all_trees

Float = NDArray[np.float64]

BOTH = pytest.mark.parametrize("single_root", [True, False], ids=["single", "multi"])
SCALES = pytest.mark.parametrize("scale", [1, 10, 50, 200])
ORDERS = [1.0 + sign * 10.0**-digits for digits in (1, 2, 4, 8, 12) for sign in (1, -1)]


def exact_probs(distribution: TreeDistribution) -> list[mp.mpf]:
    """Of every tree, to the digits of the context."""
    weights = []
    for tree in all_trees(distribution.n, distribution.space).tolist():
        scores = [float(distribution.log_scores[head, word]) for word, head in enumerate(tree, 1)]
        if np.isfinite(scores).all():
            weights.append(mp.fsum(map(mp.mpf, scores)))
    highest = max(weights)
    weights = [mp.exp(weight - highest) for weight in weights]
    return [weight / mp.fsum(weights) for weight in weights]


def exact_renyi(probs: list[mp.mpf], order: float) -> mp.mpf:
    if order == 1.0:
        return -mp.fsum(p * mp.log(p) for p in probs)
    return mp.log(mp.fsum(p ** mp.mpf(order) for p in probs)) / (1 - mp.mpf(order))


def some_graphs(graphs, scale: float) -> list[Float]:
    """Of Gaussian scores: as they are, with an offset a column, and with masks, some of which trees must use."""
    rng, found = np.random.default_rng(int(scale)), []
    for seed, n in enumerate((2, 3, 4)):
        plain = graphs.gaussian(n, scale, seed)
        found += [plain, plain + rng.uniform(-1e6, 1e6, n + 1)]
        masked = plain.copy()
        masked[rng.random(plain.shape) < 0.4] = rng.choice([-1e4, -1e9, -9e14])
        found.append(graphs.close(masked))
    return found


@BOTH
@SCALES
def test_renyi_of_orders_near_1(single_root: bool, scale: float, graphs) -> None:
    """Relative error at most 1e-12 at every order, however small the entropy; Shannon's too."""
    for log_scores in some_graphs(graphs, scale):
        distribution = TreeDistribution(log_scores, single_root=single_root)
        with mp.workdps(60 + 2 * scale):
            probs = exact_probs(distribution)
            for order in (1.0, *ORDERS):
                expected = exact_renyi(probs, order)
                error = abs(mp.mpf(renyi(distribution, order)) - expected)
                assert error <= max(expected * mp.mpf(10) ** -12, mp.mpf(10) ** -300)


@pytest.mark.parametrize("order", [1.0 + 1e-12, 1.0 - 1e-9, 1.0 + 1e-4, 0.98])
def test_gradients_of_renyi_near_1(order: float, graphs) -> None:
    """alpha (P_alpha - P) / (1 - alpha) in multi-precision arithmetic."""
    distribution = TreeDistribution(graphs.gaussian(3, 5))
    trees = all_trees(3)
    with mp.workdps(60):
        probs = exact_probs(distribution)
        powers = [p ** mp.mpf(order) for p in probs]
        total = mp.fsum(powers)
        moved = [
            float(mp.mpf(order) * (q / total - p) / (1 - mp.mpf(order))) for p, q in zip(probs, powers, strict=True)
        ]
    expected = np.zeros((4, 4))
    for tree, gain in zip(trees, moved, strict=True):
        expected[tree, [1, 2, 3]] += gain
    np.testing.assert_allclose(renyi_gradient(distribution, order), expected, rtol=1e-10, atol=1e-14)


@BOTH
@pytest.mark.parametrize("near", [1e-3, 1e-6, 1e-9])
def test_divergences_of_near_equal_distributions(single_root: bool, near: float, graphs) -> None:
    """About near^2 / 2: relative error 1e-10, where a difference in float64 leaves 1e-16 of anything."""
    log_scores = graphs.gaussian(4, 3) + 1e5
    moved = log_scores + near * np.random.default_rng(1).normal(size=log_scores.shape)
    ours, theirs = (TreeDistribution(scores, single_root=single_root) for scores in (log_scores, moved))
    with mp.workdps(80):
        p, q = exact_probs(ours), exact_probs(theirs)
        expected = mp.fsum(x * mp.log(x / y) for x, y in zip(p, q, strict=True))
        assert abs(mp.mpf(kl(ours, theirs)) - expected) <= expected * mp.mpf(10) ** -10
    assert kl(ours, TreeDistribution(log_scores, single_root=single_root)) == 0.0


@pytest.mark.parametrize("mask", [-1e4, -1e9, -9e14])
def test_masks_that_trees_must_use_cost_no_digits(mask: float) -> None:
    """P(ROOT -> 1) is e^0.7 / (e^0.7 + e^0.3); with several roots too, for two masks are one too many."""
    scores = [[0, mask, mask], [0, 0, 0.7], [0, 0.3, 0]]
    expected = 1 / (1 + np.exp(0.3 - 0.7))
    for single_root in (True, False):
        distribution = TreeDistribution(scores, single_root=single_root)
        assert distribution.marginals()[0, 1] == pytest.approx(expected, rel=1e-15)
        assert distribution.log_prob([0, 1]) == pytest.approx(np.log(expected), rel=1e-15)
        assert entropy(distribution) == pytest.approx(
            -expected * np.log(expected) - (1 - expected) * np.log1p(-expected)
        )


def test_support_is_not_a_matter_of_float64() -> None:
    """Arcs that no tree has count for nothing, whatever rounding leaves on them; and e^-800 is not 0."""
    inf = np.inf
    weights = np.array([[0, 0, 0, 2], [0, 0, 0, 2], [0, 0, 0, 1], [0, 2, 3, 0]], dtype=float)
    without = weights.copy()
    without[1, 3] = without[2, 3] = 0
    full, less = TreeDistribution(weights, "weight"), TreeDistribution(without, "weight")
    assert full.marginals()[1, 3] == full.marginals()[2, 3] == 0.0
    assert kl(full, less) == kl(less, full) == 0.0
    logs = np.array([[-inf, 0, -800], [-inf, -inf, 0], [-inf, 0, -inf]])
    only = logs.copy()
    only[0, 2] = -inf
    full, less = TreeDistribution(logs), TreeDistribution(only)
    assert full.marginals()[0, 2] == 0.0
    assert full.support[0, 2]
    assert kl(full, less) == cross_entropy(full, less) == inf
    assert np.isnan(kl_gradient(full, less)).all()
    assert 0 < kl(less, full) < 1e-300 or kl(less, full) == 0.0


@pytest.mark.slow("size")
@BOTH
def test_divergences_are_infinite_where_trees_are_missing_and_nowhere_else(single_root: bool) -> None:
    """Pairs of 1,500 random sparse graphs, of one space or of both, against enumeration."""
    rng, infinite, finite = np.random.default_rng(8), 0, 0
    while infinite + finite < 1500:
        n = int(rng.integers(1, 5))
        log_scores = rng.normal(size=(n + 1, n + 1)) * rng.choice([1.0, 30.0, 400.0])
        log_scores[rng.random(log_scores.shape) < rng.uniform(0, 0.7)] = -np.inf
        others = np.where(rng.random(log_scores.shape) < 0.2, -np.inf, rng.normal(size=log_scores.shape))
        try:
            distribution = TreeDistribution(log_scores, single_root=single_root)
            other = TreeDistribution(
                np.where(rng.random() < 0.5, log_scores, 0) + others, single_root=rng.random() < 0.5
            )
        except DeptreeError:
            continue
        trees = all_trees(n, distribution.space)
        trees = trees[np.isfinite(distribution.log_weights(trees))]
        missing = ~(other.space.contains(trees) & np.isfinite(other.log_weights(trees)))
        found = kl(distribution, other)
        assert np.isinf(found) == np.isinf(cross_entropy(distribution, other)) == missing.any()
        if not missing.any():
            log_ratios = distribution.log_probs(trees) - other.log_probs(trees)
            expected = np.exp(distribution.log_probs(trees)) @ log_ratios
            assert found == pytest.approx(expected, rel=1e-11, abs=1e-12)
        infinite, finite = infinite + missing.any(), finite + (not missing.any())
    assert min(infinite, finite) > 150
