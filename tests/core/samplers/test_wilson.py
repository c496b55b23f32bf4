"""What happens around the walk: roots, budgets and the redrawing of what was abandoned. Laws are in tests/laws."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from deptree_cli.core.audit import Tally
from deptree_cli.core.distribution import TreeDistribution
from deptree_cli.core.samplers import SAMPLERS, costs, wilson
from deptree_cli.core.spaces.elimination import Elimination
from deptree_cli.kernels.walks.wilson import walk
from tests.oracle import Oracle
from tests.pearson import chi_square

SIZE = 40_000
BUDGET = 5  # about half of the walks over four words take more steps
# Of eleven chi-square tests of budgets (three times three, and two of spanning trees) 1 in 1000 runs may fail one.
THRESHOLD = 0.001 / 11
FEW_OR_MANY = pytest.mark.parametrize("few", [0, 10**9], ids=["by tables", "without"])


def p_value(distribution: TreeDistribution, heads: NDArray[np.int32]) -> float:
    """Chi-square against enumeration; a tree that is none has p = 0."""
    tally = Tally(distribution)
    tally.add(heads)
    return tally.audit().p_value


def test_local_root_probabilities(graphs) -> None:
    assert wilson.local_root_probs(graphs.distribution(graphs.figure1())) == pytest.approx([0, 0.5, 0, 0.5])
    log_scores = graphs.figure1()
    log_scores[2:, 1] = -np.inf  # now only ROOT governs word 1, which must be the root
    assert wilson.local_root_probs(graphs.distribution(log_scores)).tolist() == [0, 1, 0, 0]


class AnyRoot:
    """A wrong way to redraw: from all trees, whatever the root."""

    def __init__(self, elimination: Elimination) -> None:
        self._elimination = elimination

    def draw(self, roots: NDArray[np.int64], state: object, heads: NDArray[np.int32]) -> None:
        heads[:] = self._elimination.sample(len(heads), np.random.default_rng(11))


def mixing(monkeypatch: pytest.MonkeyPatch, few: int = 0) -> None:
    """Never give walking up: the abandoned trees stay mixed with the others. Walk without tables up to `few` trees."""
    monkeypatch.setattr(wilson, "PROBE", 10**9)
    monkeypatch.setattr(costs, "FEW", few)


@FEW_OR_MANY
@pytest.mark.parametrize("budget", [0, BUDGET, 12])
def test_a_budget_does_not_bias_walks_to_a_root(budget: int, few: int, graphs, monkeypatch: pytest.MonkeyPatch) -> None:
    """H0: draw_marginal under a budget draws from the distribution. 40,000 trees of 64; the rarest are
    pooled until expected five times; threshold 0.001 / 11."""
    mixing(monkeypatch, few)
    distribution = graphs.distribution(graphs.gaussian(4, seed=5))
    heads = wilson.draw_marginal(distribution, SIZE, np.random.default_rng(6), budget=budget)
    assert p_value(distribution, heads) > THRESHOLD


@pytest.mark.parametrize("budget", [0, BUDGET, 12])
def test_a_budget_does_not_bias_rejection(budget: int, graphs, monkeypatch: pytest.MonkeyPatch) -> None:
    """H0, size, threshold as above, for the trials of draw_reject, which share one budget per tree."""
    mixing(monkeypatch)
    monkeypatch.setattr(wilson, "BUDGET", budget)
    distribution = graphs.distribution(graphs.gaussian(4, seed=5))
    assert p_value(distribution, wilson.draw_reject(distribution, SIZE, np.random.default_rng(7))) > THRESHOLD


@FEW_OR_MANY
def test_a_budget_does_not_bias_spanning_trees(few: int, graphs, monkeypatch: pytest.MonkeyPatch) -> None:
    """H0, size, threshold as above; 125 trees."""
    mixing(monkeypatch, few)
    distribution = graphs.distribution(graphs.gaussian(4, seed=5), single_root=False)
    heads = wilson.draw_spanning(distribution, SIZE, np.random.default_rng(8), budget=BUDGET)
    assert p_value(distribution, heads) > THRESHOLD


@FEW_OR_MANY
def test_drawing_the_root_anew_would_be_caught(few: int, graphs, monkeypatch: pytest.MonkeyPatch) -> None:
    """A control of the power of the tests above: the same budget, but abandoned trees redrawn with *any* root.

    H0 is false here. 40,000 trees; the p-value has to be below 1e-6. (Walks to some roots are long and to others short:
    those of short ones are then drawn too often, their frequencies move by several percent.)
    """
    mixing(monkeypatch, few)
    monkeypatch.setattr(wilson, "EliminationTables", AnyRoot)
    log_scores = graphs.uniform(4)
    log_scores[1:, 2:] -= 2.0
    log_scores[1, 2:] += 2.5  # word 1 is a likely head: walks to it are short
    distribution = graphs.distribution(log_scores)
    heads = wilson.draw_marginal(distribution, SIZE, np.random.default_rng(10), budget=BUDGET)
    assert p_value(distribution, heads) < 1e-6


@pytest.mark.parametrize("budget", [0, BUDGET, 10**6])
@pytest.mark.parametrize(("probe", "few"), [(32, 0), (10**9, 0), (32, 10**9)])
def test_the_root_drawn_is_kept(budget: int, probe: int, few: int, graphs, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also by trees that ran out of budget, and by those that were not walked because too many had."""
    monkeypatch.setattr(wilson, "PROBE", probe)
    monkeypatch.setattr(costs, "FEW", few)
    for root in range(1, 7):
        distribution = graphs.distribution(graphs.gaussian(6))  # a fresh one: root marginals are worked out once
        monkeypatch.setattr(Elimination, "root_marginals", lambda factors, root=root: np.eye(7)[root])
        heads = wilson.draw_marginal(distribution, 100, np.random.default_rng(12), budget=budget)
        assert (heads[:, root - 1] == 0).all()
        assert ((heads == 0).sum(axis=1) == 1).all()


def test_walking_is_given_up_after_the_probe(graphs, monkeypatch: pytest.MonkeyPatch) -> None:
    """Once a quarter of the first 32 were abandoned, the others cost no steps at all."""
    walks: list[int] = []

    def counting(*arguments: object) -> object:
        walks.append(len(arguments[2]))  # type: ignore[arg-type]
        return walk(*arguments)

    monkeypatch.setattr(wilson.kernel, "walk", counting)
    wilson.draw_marginal(graphs.distribution(graphs.saturated(4)), 1000, np.random.default_rng(13), budget=100)
    assert sum(walks) == wilson.PROBE
    walks.clear()
    wilson.draw_marginal(graphs.distribution(graphs.uniform(4)), 1000, np.random.default_rng(13))
    assert sum(walks) == 1000


def total_variation_of_root_correction(distribution: TreeDistribution) -> float:
    """By enumeration: wilson-rc's P(root) P(tree | root) against P(tree), tree by tree."""
    oracle = Oracle(distribution)
    probs, roots = np.exp(oracle.log_probs), np.argmin(oracle.trees, axis=1) + 1
    root_marginals = np.bincount(roots, weights=probs, minlength=distribution.n + 1)
    drawn = wilson.local_root_probs(distribution)[roots] * probs / root_marginals[roots]
    return 0.5 * float(np.abs(drawn - probs).sum())


@pytest.mark.parametrize("seed", range(10))
def test_the_bias_of_root_correction_is_its_distance_from_the_truth(seed: int, graphs) -> None:
    for log_scores in (graphs.gaussian(4, 2, seed), graphs.holes(4, seed)):
        distribution = graphs.distribution(log_scores)
        by_enumeration = total_variation_of_root_correction(distribution)
        assert SAMPLERS.get("wilson-rc").bias(distribution) == pytest.approx(by_enumeration, abs=1e-13)


def test_root_correction_is_exact_given_its_roots(graphs) -> None:
    """H0: wilson-rc draws P(tree | root) times its own root probabilities. 40,000 trees, chi-square over those of
    the 64 that are expected five times, threshold 0.001: the bias lies in the roots alone."""
    distribution = graphs.distribution(graphs.gaussian(4, seed=5))
    oracle = Oracle(distribution)
    probs, roots = np.exp(oracle.log_probs), np.argmin(oracle.trees, axis=1) + 1
    root_marginals = np.bincount(roots, weights=probs, minlength=5)
    drawn = wilson.local_root_probs(distribution)[roots] * probs / root_marginals[roots]
    heads = wilson.draw_root_corrected(distribution, SIZE, np.random.default_rng(14))
    index = {tuple(tree): number for number, tree in enumerate(oracle.trees.tolist())}
    counts = np.bincount([index[tuple(tree)] for tree in heads.tolist()], minlength=len(index))
    assert chi_square(counts, drawn)[2] > 0.001
