"""What happens around the walk: roots, the limit, and trees by elimination beyond it. Laws are in tests/laws."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray

from deptree_cli.core import walks
from deptree_cli.core.audit import Tally
from deptree_cli.core.distribution import TreeDistribution
from deptree_cli.core.samplers import SAMPLERS
from deptree_cli.core.spaces import Elimination
from tests.oracle import Oracle
from tests.pearson import chi_square

SIZE = 40_000
CALLS = 6_000  # of two trees each
# Of nine chi-square tests of limits 1 in 1000 runs may fail one.
THRESHOLD = 0.001 / 9
# A walk over four words takes 4 to 10 steps, mostly: no tree, about every second, and nearly all of them are walked.
LIMITS = pytest.mark.parametrize("limit", [0, 8, 20])


def p_value(distribution: TreeDistribution, heads: NDArray[np.int32]) -> float:
    """Chi-square against enumeration; a tree that is none has p = 0."""
    tally = Tally(distribution)
    tally.add(heads)
    return tally.audit().p_value


def test_local_root_probabilities(graphs) -> None:
    assert walks.local_root_probs(graphs.distribution(graphs.figure1())) == pytest.approx([0, 0.5, 0, 0.5])
    log_scores = graphs.figure1()
    log_scores[2:, 1] = -np.inf  # now only ROOT governs word 1, which must be the root
    assert walks.local_root_probs(graphs.distribution(log_scores)).tolist() == [0, 1, 0, 0]


rooted_sampler = Elimination.rooted_sampler


def any_root(elimination: Elimination) -> Callable[[NDArray[np.int64], NDArray[np.uint64], NDArray[np.int32]], None]:
    """A wrong way to redraw: from all trees, whatever the root."""
    draw = rooted_sampler(elimination)
    return lambda roots, state, heads: draw(np.zeros_like(roots), state, heads)


def limited(monkeypatch: pytest.MonkeyPatch, limit: int) -> None:
    """All walks of a call may take so many steps together."""
    monkeypatch.setattr(walks, "LIMIT", limit)
    monkeypatch.setattr(walks, "LIMIT_PER_TREE", 0)


def two_by_two(draw: Callable[..., NDArray[np.int32]], distribution: TreeDistribution, seed: int) -> NDArray[np.int32]:
    """Trees of many calls."""
    rng = np.random.default_rng(seed)
    return np.concatenate([draw(distribution, 2, rng) for _ in range(CALLS)])


@pytest.mark.slow("statistics")
@LIMITS
@pytest.mark.parametrize("draw", [walks.draw_marginal, walks.draw_reject, walks.draw_spanning])
def test_a_limit_does_not_bias(
    draw: Callable[..., NDArray[np.int32]], limit: int, graphs, monkeypatch: pytest.MonkeyPatch
) -> None:
    """H0: trees drawn two by two, some by walking and some beyond the limit, follow the distribution.

    12,000 trees of 64 or 125; the rarest are pooled until expected five times; threshold 0.001 / 9.
    """
    limited(monkeypatch, limit)
    distribution = graphs.distribution(graphs.gaussian(4, seed=5), single_root=draw is not walks.draw_spanning)
    assert p_value(distribution, two_by_two(draw, distribution, seed=6)) > THRESHOLD


@pytest.mark.slow("statistics")
def test_drawing_the_root_anew_would_be_caught(graphs, monkeypatch: pytest.MonkeyPatch) -> None:
    """A control of the power of the tests above: trees beyond the limit redrawn with *any* root.

    H0 is false here. 12,000 trees; the p-value has to be below 1e-6. (Walks to some roots are long and to others short:
    those of short ones are then drawn too often, their frequencies move by several percent.)
    """
    limited(monkeypatch, 8)
    monkeypatch.setattr(Elimination, "rooted_sampler", any_root)
    log_scores = graphs.uniform(4)
    log_scores[1:, 2:] -= 2.0
    log_scores[1, 2:] += 2.5  # word 1 is a likely head: walks to it are short
    distribution = graphs.distribution(log_scores)
    assert p_value(distribution, two_by_two(walks.draw_marginal, distribution, seed=10)) < 1e-6


@pytest.mark.parametrize("limit", [0, 5, 200, 10**6])
def test_the_root_drawn_is_kept(limit: int, graphs, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also beyond the limit."""
    limited(monkeypatch, limit)
    for root in range(1, 7):
        distribution = graphs.distribution(graphs.gaussian(6))  # a fresh one: root marginals are worked out once
        monkeypatch.setattr(Elimination, "root_marginals", lambda factors, root=root: np.eye(7)[root])
        heads = walks.draw_marginal(distribution, 100, np.random.default_rng(12))
        assert (heads[:, root - 1] == 0).all()
        assert ((heads == 0).sum(axis=1) == 1).all()


def root_corrected(distribution: TreeDistribution) -> tuple[Oracle, NDArray[np.float64]]:
    """By enumeration: all trees, and wilson-rc's P(root) P(tree | root) of each."""
    oracle = Oracle(distribution)
    probs, roots = np.exp(oracle.log_probs), np.argmin(oracle.trees, axis=1) + 1
    root_marginals = np.bincount(roots, weights=probs, minlength=distribution.n + 1)
    return oracle, walks.local_root_probs(distribution)[roots] * probs / root_marginals[roots]


@pytest.mark.parametrize("seed", range(10))
def test_the_bias_of_root_correction_is_its_distance_from_the_truth(seed: int, graphs) -> None:
    for log_scores in (graphs.gaussian(4, 2, seed), graphs.holes(4, seed)):
        distribution = graphs.distribution(log_scores)
        oracle, drawn = root_corrected(distribution)
        by_enumeration = 0.5 * np.abs(drawn - np.exp(oracle.log_probs)).sum()
        assert SAMPLERS.get("wilson-rc").bias(distribution) == pytest.approx(by_enumeration, abs=1e-13)


def test_root_correction_is_exact_given_its_roots(graphs) -> None:
    """H0: wilson-rc draws P(tree | root) times its own root probabilities. 40,000 trees, chi-square over those of
    the 64 that are expected five times, threshold 0.001: the bias lies in the roots alone."""
    distribution = graphs.distribution(graphs.gaussian(4, seed=5))
    oracle, drawn = root_corrected(distribution)
    heads = walks.draw_root_corrected(distribution, SIZE, np.random.default_rng(14))
    index = {tuple(tree): number for number, tree in enumerate(oracle.trees.tolist())}
    counts = np.bincount([index[tuple(tree)] for tree in heads.tolist()], minlength=len(index))
    assert chi_square(counts, drawn)[2] > 0.001
