"""log Z and marginals: against enumeration, finite differences, and what must not change them.

Multi-precision arithmetic is in test_precision.py; laws of the samples drawn from the same factors are in tests/laws.
"""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deptree_cli.core.errors import DeptreeError
from deptree_cli.core.spaces import SINGLE_ROOT, space

BOTH = pytest.mark.parametrize("single_root", [True, False], ids=["single", "multi"])
SEEDS = st.integers(0, 2**32 - 1)


@BOTH
@pytest.mark.parametrize("n", range(1, 6))
@pytest.mark.parametrize("scale", [1, 10, 80, 300])
def test_against_the_oracle(n: int, scale: float, single_root: bool, graphs, exact) -> None:
    for seed in range(3):
        exact(graphs.gaussian(n, scale, seed), single_root).check(atol=1e-15 * max(100, 10 * scale))


@BOTH
@pytest.mark.parametrize("n", range(2, 6))
def test_forbidden_arcs(n: int, single_root: bool, graphs, exact) -> None:
    for seed in range(12):
        log_scores = graphs.holes(n, seed, single_root, scale=3)
        marginals = exact(log_scores, single_root).check().marginals()
        assert (marginals[log_scores == -np.inf] == 0.0).all()


@BOTH
@pytest.mark.parametrize("n", range(1, 6))
def test_word_graphs_that_are_not_strongly_connected(n: int, single_root: bool, graphs, exact) -> None:
    exact(graphs.one_way(n, seed=n), single_root).check()
    exact(graphs.close(graphs.one_way(n, seed=n)[::-1, ::-1].T.copy()), single_root).check()


def test_a_chain_has_one_tree() -> None:
    log_scores = np.full((31, 31), -np.inf)
    log_scores[np.arange(30), np.arange(1, 31)] = np.linspace(-200, 200, 30)
    for single_root in (True, False):
        factors = space(single_root).factorise(log_scores)
        assert factors.log_z == pytest.approx(0.0, abs=1e-11)
        assert (factors.marginals() == np.isfinite(log_scores)).all()


@BOTH
def test_known_graphs(single_root: bool, graphs) -> None:
    n = 30
    factors = space(single_root).factorise(graphs.uniform(n))
    assert factors.log_z == pytest.approx((n - 1) * np.log(n if single_root else n + 1), rel=1e-15)
    assert factors.n == n
    roots = SINGLE_ROOT.factorise(graphs.figure1()).root_marginals()
    assert roots == pytest.approx([0, 2 / 3, 0, 1 / 3], abs=1e-16)


@BOTH
@pytest.mark.parametrize(("n", "scale"), [(5, 300), (60, 1), (60, 40), (60, 100), (150, 30)])
def test_columns_of_marginals_sum_to_one(n: int, scale: float, single_root: bool, graphs) -> None:
    factors = space(single_root).factorise(graphs.gaussian(n, scale, seed=4))
    marginals = factors.marginals()
    assert ((marginals >= 0) & (marginals <= 1 + 1e-12)).all()
    np.testing.assert_allclose(marginals[:, 1:].sum(axis=0), 1.0, rtol=0, atol=1e-12)
    assert (marginals[:, 0] == 0).all()
    np.testing.assert_allclose(factors.root_marginals(), marginals[0], rtol=0, atol=1e-12)
    if single_root:
        assert marginals[0].sum() == pytest.approx(1.0, abs=1e-12)


@given(SEEDS, st.integers(1, 6), st.booleans(), st.data())
def test_shifting_a_column(graphs, seed: int, n: int, single_root: bool, data: st.DataObject) -> None:
    """Scaling all arcs into a word scales every tree alike; so does scaling ROOT's where a tree has one of them."""
    log_scores = graphs.gaussian(n, 2, seed)
    shift = data.draw(st.floats(-50, 50))
    shifted = log_scores.copy()
    if single_root and data.draw(st.booleans()):
        shifted[0] += shift
    else:
        shifted[:, data.draw(st.integers(1, n))] += shift
    before, after = space(single_root).factorise(log_scores), space(single_root).factorise(shifted)
    assert after.log_z - before.log_z == pytest.approx(shift, abs=1e-12)
    np.testing.assert_allclose(after.marginals(), before.marginals(), rtol=0, atol=1e-12)


@given(SEEDS, st.integers(1, 7), st.booleans(), st.sampled_from([1.0, 20.0]), st.data())
def test_relabelling_words(graphs, seed: int, n: int, single_root: bool, scale: float, data: st.DataObject) -> None:
    log_scores = graphs.gaussian(n, scale, seed)
    nodes = [0, *data.draw(st.permutations(range(1, n + 1)))]
    trees, moved = space(single_root), log_scores[np.ix_(nodes, nodes)]
    before, after = trees.factorise(log_scores), trees.factorise(moved)
    assert after.log_z == pytest.approx(before.log_z, rel=1e-13, abs=1e-13)
    np.testing.assert_allclose(after.marginals(), before.marginals()[np.ix_(nodes, nodes)], rtol=0, atol=1e-12)


@BOTH
def test_the_reverse_sweep_is_the_derivative_of_log_z(single_root: bool, graphs) -> None:
    """Central differences with h = 1e-4: error h^2 times a third derivative (at most 1) / 6, and 1e-14 / h."""
    log_scores = graphs.gaussian(5, 2, seed=11)
    factors, h = space(single_root).factorise(log_scores), 1e-4
    for marginals in (factors.marginals(), factors.in_wide_numbers.marginals()):
        for i, j in np.argwhere(np.isfinite(log_scores)).tolist():
            up, down = log_scores.copy(), log_scores.copy()
            up[i, j] += h
            down[i, j] -= h
            slope = (space(single_root).factorise(up).log_z - space(single_root).factorise(down).log_z) / (2 * h)
            assert marginals[i, j] == pytest.approx(slope, abs=3e-9)


@BOTH
def test_covariances_are_the_derivative_of_marginals(single_root: bool, graphs) -> None:
    """Central differences of fourth order in a random direction, h = 1e-3; forbidden arcs stay at 0."""
    log_scores = graphs.holes(5, 4, single_root)
    direction, h = np.random.default_rng(3).normal(size=log_scores.shape), 1e-3
    factors = space(single_root).factorise(log_scores)
    at = {step: space(single_root).factorise(log_scores + step * h * direction).marginals() for step in (-2, -1, 1, 2)}
    slope = (8 * (at[1] - at[-1]) - (at[2] - at[-2])) / (12 * h)
    for found in (factors.arc_covariance(direction), factors.in_wide_numbers.arc_covariance(direction)):
        np.testing.assert_allclose(found, slope, rtol=0, atol=1e-10)
        assert not found[np.isneginf(log_scores)].any()


def test_roots_that_float64_knows_nothing_of(graphs, exact) -> None:
    log_scores = graphs.gaussian(4, seed=8)
    log_scores[:, 3] += [0, 900, 900, 0, 900]  # words govern 3: it is a root with probability e^-900
    factors = SINGLE_ROOT.factorise(log_scores)
    assert not factors.is_wide
    exact(log_scores).check_log_root_marginals(factors)


def test_no_tree_is_an_error() -> None:
    cycle = np.full((4, 4), -np.inf)
    cycle[0, 1] = cycle[2, 3] = cycle[3, 2] = 0.0
    for single_root in (True, False):
        with pytest.raises(DeptreeError, match="no tree has a positive weight"):
            space(single_root).factorise(cycle)


def test_scores_are_left_as_they_were(graphs) -> None:
    log_scores = graphs.gaussian(5)
    before = log_scores.copy()
    factors = SINGLE_ROOT.factorise(log_scores)
    factors.marginals()
    factors.arc_covariance(np.ones_like(before))
    factors.sample(10, np.random.default_rng(0))
    assert np.array_equal(log_scores, before)


@BOTH
def test_samples_have_shape_and_type(single_root: bool, graphs) -> None:
    for n in (1, 2, 30):
        heads = space(single_root).factorise(graphs.gaussian(n, 5)).sample(40, np.random.default_rng(3))
        assert heads.shape == (40, n)
        assert heads.dtype == np.int32
        assert space(single_root).contains(heads).all()
