"""Eisner's chart against enumeration and against the number of projective trees; its sampler against its law."""

from __future__ import annotations

from math import comb, log
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from deptree_cli.core.numbers import REAL, WIDE, Kind
from deptree_cli.core.spaces import space
from deptree_cli.kernels.charts.eisner import TABLES, Eisner, inside, outside, root_marginals
from deptree_cli.kernels.charts.projective_trees import sample_trees
from deptree_cli.kernels.numbers.dual import Dual
from deptree_cli.kernels.numbers.operations import logarithm
from tests.oracle import Oracle

Float = NDArray[np.float64]

BOTH = pytest.mark.parametrize("single_root", [True, False], ids=["single", "multi"])
KINDS = pytest.mark.parametrize("kind", [REAL, WIDE], ids=lambda kind: kind.name)


def filled(log_scores: Float, single_root: bool, kind: Kind) -> tuple[Any, Any, Any]:
    """Weights, their chart, and the partition function."""
    weights, chart = kind.exp(log_scores), kind.zeros((TABLES, *log_scores.shape))
    return weights, chart, inside(weights, single_root, chart)


def enumerated(graphs, log_scores: Float, single_root: bool) -> Oracle:
    return Oracle(graphs.over(log_scores, space(single_root, projective=True)))


def number_of_trees(n: int, single_root: bool) -> int:
    """Of projective trees of n words, in closed form."""
    return comb(3 * n - 2, n - 1) // n if single_root else comb(3 * n, n) // (2 * n + 1)


@BOTH
@KINDS
def test_the_number_of_trees(single_root: bool, kind: Kind, graphs) -> None:
    for n in (1, 2, 3, 4, 5, 6, 7, 12):
        total = filled(graphs.uniform(n), single_root, kind)[2]
        assert logarithm(total) == pytest.approx(log(number_of_trees(n, single_root)), rel=1e-14, abs=1e-14)
    assert [number_of_trees(n, True) for n in range(1, 8)] == [1, 2, 7, 30, 143, 728, 3876]


@BOTH
@KINDS
@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_sums(single_root: bool, kind: Kind, n: int, graphs) -> None:
    for seed in range(3):
        log_scores = graphs.holes(n, seed, True, projective=True) if seed else graphs.gaussian(n, 3)
        exact = enumerated(graphs, log_scores, single_root)
        weights, chart, total = filled(log_scores, single_root, kind)
        marginals = kind.zeros((n + 1, n + 1))
        outside(weights, single_root, chart, kind.zeros((TABLES, n + 1, n + 1)), marginals)
        assert logarithm(total) == pytest.approx(exact.log_z, rel=1e-14, abs=1e-14)
        np.testing.assert_allclose(kind.floats(marginals), exact.marginals(), rtol=0, atol=1e-14)
        if single_root:
            of_roots = np.zeros(n + 1)
            root_marginals(chart, of_roots)
            np.testing.assert_allclose(of_roots, exact.marginals()[0], rtol=0, atol=1e-14)


@BOTH
def test_dual_numbers_differentiate_the_marginals(single_root: bool, graphs) -> None:
    """Against central differences."""
    n, step = 4, 1e-5
    log_scores, direction = graphs.gaussian(n, seed=1), np.random.default_rng(2).normal(size=(n + 1, n + 1))

    def marginals(scores: Float) -> Float:
        weights, chart, _ = filled(scores, single_root, REAL)
        found = np.zeros((n + 1, n + 1))
        outside(weights, single_root, chart, np.zeros(chart.shape), found)
        return found

    weights = Dual(np.exp(log_scores), np.exp(log_scores) * direction)
    chart, adjoints = (Dual(*np.zeros((2, TABLES, n + 1, n + 1))) for _ in range(2))
    inside(weights, single_root, chart)
    found = Dual(np.zeros((n + 1, n + 1)), np.zeros((n + 1, n + 1)))
    outside(weights, single_root, chart, adjoints, found)
    with np.errstate(invalid="ignore"):
        expected = (marginals(log_scores + step * direction) - marginals(log_scores - step * direction)) / (2 * step)
    np.testing.assert_allclose(found.value, marginals(log_scores), rtol=0, atol=1e-15)
    np.testing.assert_allclose(found.tangent, expected, rtol=0, atol=1e-8)


@BOTH
@pytest.mark.parametrize("kind", [REAL, WIDE], ids=lambda kind: kind.name)
def test_the_law_of_the_sampler(single_root: bool, kind: Kind, graphs, check_law, draws: int, state) -> None:
    for log_scores in (graphs.gaussian(4, 1.5), graphs.holes(4, 5, True, projective=True)):
        exact = enumerated(graphs, log_scores, single_root)
        chart = filled(log_scores, single_root, kind)[1]
        heads = np.empty((draws, 4), dtype=np.int32)
        sample_trees(Eisner(single_root, chart), state, heads)
        check_law(heads, exact.trees, exact.log_probs)


@BOTH
@pytest.mark.parametrize("kind", [REAL, WIDE], ids=lambda kind: kind.name)
def test_only_trees_of_positive_weight(single_root: bool, kind: Kind, graphs, state) -> None:
    """Also where next to nothing is left for the last split of a scan."""
    for seed in range(20):
        log_scores = graphs.holes(5, seed, True, 30.0, projective=True)
        heads = np.empty((50, 5), dtype=np.int32)
        sample_trees(Eisner(single_root, filled(log_scores, single_root, kind)[1]), state, heads)
        assert np.isfinite(log_scores[heads, np.arange(1, 6)]).all()
        assert space(single_root, projective=True).contains(heads).all()


def test_the_state_goes_on(graphs, state) -> None:
    grammar = Eisner(True, filled(graphs.uniform(6), True, REAL)[1])
    first, second = np.empty((2, 20, 6), dtype=np.int32)
    sample_trees(grammar, state, first)
    sample_trees(grammar, state, second)
    assert not np.array_equal(first, second)
