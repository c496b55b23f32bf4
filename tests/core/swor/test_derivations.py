"""The choices that a projective tree is made by: every tree once, and conditional distributions against enumeration."""

from __future__ import annotations

import numpy as np
import pytest

from deptree_cli.core.conditionals import Choices, Conditionals, Derivations, choices_in
from deptree_cli.core.distribution import TreeDistribution
from deptree_cli.core.spaces import PROJECTIVE, PROJECTIVE_MULTI, SPACES, TreeSpace
from tests.oracle import Oracle
from tests.pearson import chi_square

BOTH = pytest.mark.parametrize("trees", [PROJECTIVE, PROJECTIVE_MULTI], ids=lambda trees: trees.name)

HARD = {
    "flat": lambda graphs, n, trees: graphs.gaussian(n),
    "times 50": lambda graphs, n, trees: graphs.gaussian(n, 50),
    "saturated": lambda graphs, n, trees: graphs.saturated(n),
    "gap 1000": lambda graphs, n, trees: graphs.disconnected(n, 1000.0),
    "holes": lambda graphs, n, trees: graphs.holes(n, 3, trees.single_root, 1.0, trees.projective),
}


def all_sequences(derivations: Derivations) -> Choices:
    """Every sequence of choices of positive probability, (sequences, depth)."""
    prefixes: Choices = np.empty((1, 0), dtype=np.int64)
    for _ in range(derivations.depth):
        above, choice = np.nonzero(np.isfinite(derivations.log_probs_of_each(prefixes)))
        prefixes = np.column_stack([prefixes[above], choice])
    return prefixes


@BOTH
@pytest.mark.parametrize("n", [1, 2, 4])
@pytest.mark.parametrize("graph", HARD)
def test_against_enumeration(graph: str, n: int, trees: TreeSpace, graphs) -> None:
    """Each tree is made by one sequence; the probability of each choice is that of all trees that agree up to it."""
    distribution = graphs.over(HARD[graph](graphs, n, trees), trees)
    oracle, derivations = Oracle(distribution), Derivations(distribution)
    sequences = all_sequences(derivations)
    heads = derivations.heads_of_each(sequences)
    order = np.lexsort(heads.T[::-1])
    assert heads[order].tolist() == oracle.trees.tolist()
    sequences = sequences[order]
    for prefix in {tuple(row[:length]) for row in sequences.tolist() for length in range(2 * n)}:
        below = (sequences[:, : len(prefix)] == prefix).all(axis=1)
        total, found = np.logaddexp.reduce(oracle.log_probs[below]), derivations.log_probs(prefix)
        for value in range(n + 1):
            part = below & (sequences[:, len(prefix)] == value)
            expected = np.logaddexp.reduce(oracle.log_probs[part], initial=-np.inf) - total
            assert found[value] == pytest.approx(expected, rel=1e-12, abs=1e-12), (prefix, value)


def branched(distribution: TreeDistribution, size: int) -> tuple[Derivations, Choices]:
    derivations, rng = Derivations(distribution), np.random.default_rng(3)
    return derivations, np.array([derivations.branch((), rng)[1] for _ in range(size)])


@BOTH
def test_branches_follow_the_distribution(trees: TreeSpace, graphs) -> None:
    """H0: all choices at once make independent draws from the distribution. 4,000 trees of 4 words, chi-square, rare
    ones pooled until expected five times; threshold 0.001 / 2."""
    distribution = graphs.over(graphs.gaussian(4, 1.5, seed=2), trees)
    oracle = Oracle(distribution)
    derivations, sequences = branched(distribution, 4_000)
    number = {tuple(tree): index for index, tree in enumerate(oracle.trees.tolist())}
    drawn = [number[tuple(tree)] for tree in derivations.heads_of_each(sequences).tolist()]
    probs = np.exp(oracle.log_probs)
    assert chi_square(np.bincount(drawn, minlength=len(probs)), probs / probs.sum())[2] > 0.001 / 2


@BOTH
def test_a_branch_tells_the_probabilities_along_it(trees: TreeSpace, graphs) -> None:
    distribution = graphs.over(graphs.gaussian(12, 10), trees)
    derivations, rng = Derivations(distribution), np.random.default_rng(4)
    for _ in range(5):
        whole = tuple(derivations.branch((), rng)[1].tolist())
        log_probs, chosen = derivations.branch(whole[:7], rng)
        sequence = (*whole[:7], *chosen.tolist())
        for done, row in enumerate(log_probs, 7):
            assert np.array_equal(row, derivations.log_probs(sequence[:done]))
        along = [derivations.log_probs(sequence[:done])[sequence[done]] for done in range(24)]
        assert sum(along) == pytest.approx(
            distribution.log_prob(derivations.heads_of_each(np.array([sequence]))[0]), abs=1e-11
        )


@pytest.mark.parametrize("trees", SPACES, ids=lambda trees: trees.name)
def test_every_space_has_its_choices(trees: TreeSpace, graphs) -> None:
    found = choices_in(graphs.over(graphs.gaussian(3), trees))
    assert isinstance(found, Derivations if trees.projective else Conditionals)
