"""log Z, marginals and conditioning on a root: against enumeration, multi-precision arithmetic and finite differences.

Laws of the samples drawn from the same factors are in tests/laws.
"""

from __future__ import annotations

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from deptree_cli.core.elimination import Elimination
from deptree_cli.core.errors import DeptreeError
from deptree_cli.core.oracle import Oracle, are_trees

Float = NDArray[np.float64]

BOTH = pytest.mark.parametrize("single_root", [True, False], ids=["single", "multi"])
SEEDS = st.integers(0, 2**32 - 1)


def oracle_marginals(oracle: Oracle) -> Float:
    """The oracle's, normalised once more: its log-probabilities are as coarse as its log-weights are large."""
    marginals = oracle.marginals()
    marginals[:, 1:] /= marginals[:, 1:].sum(axis=0)
    return marginals


def check_against_oracle(graphs, log_scores: Float, single_root: bool, atol: float = 1e-12) -> Elimination:
    """log Z, marginals and root marginals of every kind."""
    oracle = Oracle(graphs.sentence(log_scores, single_root))
    factors = Elimination(log_scores, single_root)
    exact = oracle_marginals(oracle)
    assert factors.log_z == pytest.approx(oracle.log_z, rel=1e-14, abs=1e-13)
    np.testing.assert_allclose(factors.marginals(), exact, rtol=0, atol=atol)
    np.testing.assert_allclose(factors.root_marginals(), exact[0], rtol=0, atol=atol)
    if single_root:
        check_log_root_marginals(factors, oracle)
    return factors


def log_root_marginals(oracle: Oracle, n: int) -> Float:
    """log P(ROOT -> word) by enumeration, without leaving the logarithms."""
    log_probs = oracle.log_probs - np.logaddexp.reduce(oracle.log_probs)
    masses = [np.logaddexp.reduce(log_probs[oracle.trees[:, w] == 0], initial=-np.inf) for w in range(n)]
    return np.array([-np.inf, *masses])


def check_log_root_marginals(factors: Elimination, oracle: Oracle) -> None:
    found, exact = factors.log_root_marginals(), log_root_marginals(oracle, factors.n)
    assert (np.isfinite(found) == np.isfinite(exact)).all()
    possible = np.isfinite(exact)
    coarse = 1e-15 * abs(oracle.log_z)  # logarithms as large as log Z are subtracted
    np.testing.assert_allclose(found[possible], exact[possible], rtol=1e-14, atol=1e-13 + coarse)


@BOTH
@pytest.mark.parametrize("n", range(1, 6))
@pytest.mark.parametrize("scale", [1, 10, 80, 300])
def test_against_the_oracle(n: int, scale: float, single_root: bool, graphs) -> None:
    for seed in range(3):
        check_against_oracle(graphs, graphs.gaussian(n, scale, seed), single_root, atol=1e-15 * max(100, 10 * scale))


@BOTH
@pytest.mark.parametrize("n", range(2, 6))
def test_forbidden_arcs(n: int, single_root: bool, graphs) -> None:
    for seed in range(12):
        log_scores = graphs.holes(n, seed, single_root, scale=3)
        marginals = check_against_oracle(graphs, log_scores, single_root).marginals()
        assert (marginals[log_scores == -np.inf] == 0.0).all()


@BOTH
@pytest.mark.parametrize("n", range(1, 6))
def test_word_graphs_that_are_not_strongly_connected(n: int, single_root: bool, graphs) -> None:
    check_against_oracle(graphs, graphs.one_way(n, seed=n), single_root)
    check_against_oracle(graphs, graphs.close(graphs.one_way(n, seed=n)[::-1, ::-1].T.copy()), single_root)


def test_a_chain_has_one_tree() -> None:
    log_scores = np.full((31, 31), -np.inf)
    log_scores[np.arange(30), np.arange(1, 31)] = np.linspace(-200, 200, 30)
    for single_root in (True, False):
        factors = Elimination(log_scores, single_root)
        assert factors.log_z == pytest.approx(0.0, abs=1e-11)
        assert (factors.marginals() == np.isfinite(log_scores)).all()


@BOTH
def test_known_graphs(single_root: bool, graphs) -> None:
    n = 30
    factors = Elimination(graphs.uniform(n), single_root)
    assert factors.log_z == pytest.approx((n - 1) * np.log(n if single_root else n + 1), rel=1e-15)
    assert factors.n == n
    roots = Elimination(graphs.figure1()).root_marginals()
    assert roots == pytest.approx([0, 2 / 3, 0, 1 / 3], abs=1e-16)


@pytest.mark.parametrize("n", range(1, 6))
@pytest.mark.parametrize("scale", [1, 10, 80, 300])
def test_given_root(n: int, scale: float, graphs) -> None:
    """One sweep of ROOT's row gives what forbidding all other ROOT arcs gives, however unlikely the root."""
    log_scores = graphs.gaussian(n, scale, seed=n)
    for root in range(1, n + 1):
        only = log_scores.copy()
        only[0, np.arange(n + 1) != root] = -np.inf
        given, oracle = Elimination(log_scores).given_root(root), Oracle(graphs.sentence(only))
        assert given.log_z == pytest.approx(oracle.log_z, rel=1e-14, abs=1e-13)
        atol = 1e-15 * max(100, 10 * scale)
        np.testing.assert_allclose(given.marginals(), oracle_marginals(oracle), rtol=0, atol=atol)
        assert given.root_marginals() == pytest.approx(np.eye(n + 1)[root], abs=1e-15)
        trees = given.sample(20, np.random.default_rng(root))
        assert are_trees(trees).all()
        assert (trees[:, root - 1] == 0).all()


@pytest.mark.parametrize("n", [3, 4, 5])
def test_given_root_with_forbidden_arcs(n: int, graphs) -> None:
    for seed in range(8):
        log_scores = graphs.holes(n, seed)
        roots = Elimination(log_scores).root_marginals()
        for root in range(1, n + 1):
            only = log_scores.copy()
            only[0, np.arange(n + 1) != root] = -np.inf
            if roots[root] == 0:
                with pytest.raises(DeptreeError, match=f"no tree has word {root} as its root"):
                    Elimination(log_scores).given_root(root)
            else:
                given = Elimination(log_scores).given_root(root)
                exact = Oracle(graphs.sentence(only))
                assert given.log_z == pytest.approx(exact.log_z, abs=1e-13)
                np.testing.assert_allclose(given.marginals(), exact.marginals(), rtol=0, atol=1e-13)


def test_given_root_leaves_the_parent_alone(graphs) -> None:
    factors = Elimination(graphs.gaussian(5))
    before = factors.marginals(), factors.log_z, factors.sample(50, np.random.default_rng(1))
    factors.given_root(3).sample(50, np.random.default_rng(2))
    after = factors.marginals(), factors.log_z, factors.sample(50, np.random.default_rng(1))
    for old, new in zip(before, after, strict=True):
        assert np.array_equal(old, new)


def test_given_root_forgets_the_wide_factors_of_its_parent(graphs) -> None:
    """`log_root_marginals` keeps wide factors; those of the parent do not know of the root given."""
    factors = Elimination(graphs.gaussian(4))
    factors.log_root_marginals()
    given = factors.given_root(2)
    assert np.exp(given.log_root_marginals()) == pytest.approx(np.eye(5)[2], abs=1e-14)


def laplacian_hat(weights: mp.matrix, n: int, single_root: bool) -> mp.matrix:
    """Koo et al.'s Laplacian in multi-precision arithmetic."""
    laplacian = mp.matrix(n, n)
    for j in range(n):
        for i in range(n):
            laplacian[i, j] = -weights[i + 1, j + 1]
        laplacian[j, j] = mp.fsum(weights[i, j + 1] for i in range(1 if single_root else 0, n + 1))
    if single_root:
        laplacian[0, :] = weights[0, 1:]
    return laplacian


def by_mpmath(log_scores: Float, single_root: bool) -> tuple[float, Float]:
    """log Z and marginals from LU decompositions; digits enough for the cancellation of weights e^-1000 apart."""
    n = len(log_scores) - 1
    weights = mp.matrix(n + 1, n + 1)
    for i, j in np.argwhere(np.isfinite(log_scores)).tolist():
        weights[i, j] = mp.exp(mp.mpf(float(log_scores[i, j])))
    laplacian = laplacian_hat(weights, n, single_root)
    B = (laplacian**-1).T
    marginals = mp.matrix(n + 1, n + 1)
    for j in range(1, n + 1):
        diagonal = 0 if single_root and j == 1 else B[j - 1, j - 1]
        for i in range(1, n + 1):
            marginals[i, j] = weights[i, j] * (diagonal - (0 if single_root and i == 1 else B[i - 1, j - 1]))
        marginals[0, j] = weights[0, j] * (B[0, j - 1] if single_root else diagonal)
        assert abs(mp.fsum(marginals[i, j] for i in range(n + 1)) - 1) < mp.mpf(10) ** -60
    return float(mp.log(mp.det(laplacian))), np.array(marginals.tolist(), dtype=float)


@BOTH
@pytest.mark.parametrize("n", [10, 20])
@pytest.mark.parametrize("scale", [1, 10, 40, 80, 100])
def test_against_multi_precision_arithmetic(n: int, scale: float, single_root: bool, graphs) -> None:
    """60 digits are left of the 60 + 10 * scale after the Laplacian's cancellation, which `by_mpmath` asserts."""
    log_scores = graphs.gaussian(n, scale, seed=17 + n)
    with mp.workdps(60 + 10 * scale):
        log_z, marginals = by_mpmath(log_scores, single_root)
    factors = Elimination(log_scores, single_root)
    assert factors.log_z == pytest.approx(log_z, rel=1e-10)
    np.testing.assert_allclose(factors.marginals(), marginals, rtol=0, atol=1e-12)
    np.testing.assert_allclose(factors.root_marginals(), marginals[0], rtol=0, atol=1e-12)


@BOTH
@pytest.mark.parametrize("scale", [1, 10, 40, 80])
def test_float64_and_wide_numbers_agree(scale: float, single_root: bool, graphs) -> None:
    for n in (1, 2, 7, 20):
        factors = Elimination(graphs.gaussian(n, scale, seed=n), single_root)
        wide = factors.in_wide_numbers
        assert wide.is_wide
        assert wide.log_z == pytest.approx(factors.log_z, rel=1e-14, abs=1e-14)
        np.testing.assert_allclose(wide.marginals(), factors.marginals(), rtol=0, atol=1e-13)
        np.testing.assert_allclose(wide.root_marginals(), factors.root_marginals(), rtol=0, atol=1e-13)


def test_wide_numbers_draw_the_same_trees(graphs) -> None:
    """The same random bits take the same decisions but where rounding differs, once in about 1e15 decisions."""
    for single_root in (True, False):
        factors = Elimination(graphs.gaussian(9, 3, seed=2), single_root)
        real, wide = (kind.sample(500, np.random.default_rng(5)) for kind in (factors, factors.in_wide_numbers))
        assert np.array_equal(real, wide)


@BOTH
@pytest.mark.parametrize("log_gap", [350.0, 740.0, 1000.0, 1e4, 1e9])
@pytest.mark.parametrize("n", [3, 4, 5])
def test_gaps_beyond_float64(n: int, log_gap: float, single_root: bool, graphs) -> None:
    """Every tree has arcs that underflow, lose digits (e^-740 has three left) or might: also masks such as -1e4 and
    -1e9 that had to be used."""
    for seed in range(3):
        log_scores = graphs.disconnected(n, log_gap, seed)
        assert check_against_oracle(graphs, log_scores, single_root).is_wide


@BOTH
@pytest.mark.parametrize("mask", [-1000.0, -1e4, -1e9])
def test_masks_that_no_tree_needs(mask: float, single_root: bool, graphs) -> None:
    """Arcs masked instead of forbidden count for nothing, and do not ask for wide numbers."""
    for seed in range(8):
        forbidden = graphs.holes(4, seed, single_root)
        masked = np.maximum(forbidden, mask)
        factors = Elimination(graphs.close(masked.copy()), single_root)
        plain = Elimination(forbidden, single_root)
        assert not factors.is_wide
        assert factors.log_z == pytest.approx(plain.log_z, abs=1e-12 + 1e-15 * abs(mask))
        np.testing.assert_allclose(factors.marginals(), plain.marginals(), rtol=0, atol=1e-13)


def test_given_root_behind_a_mask(graphs) -> None:
    """The rest of the factors may be float64 while the root asked for is e^-1000 away."""
    log_scores = graphs.gaussian(4, seed=8)
    log_scores[:, 3] += [0, 900, 900, 0, 900]  # words govern 3: it is a root with probability e^-900
    factors = Elimination(log_scores)
    assert not factors.is_wide
    only = log_scores.copy()
    only[0, [1, 2, 4]] = -np.inf
    given, oracle = factors.given_root(3), Oracle(graphs.sentence(only))
    assert given.log_z == pytest.approx(oracle.log_z, rel=1e-14)
    np.testing.assert_allclose(given.marginals(), oracle.marginals(), rtol=0, atol=1e-12)
    assert (given.sample(100, np.random.default_rng(0))[:, 2] == 0).all()
    check_log_root_marginals(factors, Oracle(graphs.sentence(log_scores)))


@BOTH
@pytest.mark.parametrize(("n", "scale"), [(5, 300), (60, 1), (60, 40), (60, 100), (150, 30)])
def test_columns_of_marginals_sum_to_one(n: int, scale: float, single_root: bool, graphs) -> None:
    factors = Elimination(graphs.gaussian(n, scale, seed=4), single_root)
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
    before, after = Elimination(log_scores, single_root), Elimination(shifted, single_root)
    assert after.log_z - before.log_z == pytest.approx(shift, abs=1e-12)
    np.testing.assert_allclose(after.marginals(), before.marginals(), rtol=0, atol=1e-12)


@given(SEEDS, st.integers(1, 7), st.booleans(), st.sampled_from([1.0, 20.0]), st.data())
def test_relabelling_words(graphs, seed: int, n: int, single_root: bool, scale: float, data: st.DataObject) -> None:
    log_scores = graphs.gaussian(n, scale, seed)
    nodes = [0, *data.draw(st.permutations(range(1, n + 1)))]
    before, after = Elimination(log_scores, single_root), Elimination(log_scores[np.ix_(nodes, nodes)], single_root)
    assert after.log_z == pytest.approx(before.log_z, rel=1e-13, abs=1e-13)
    np.testing.assert_allclose(after.marginals(), before.marginals()[np.ix_(nodes, nodes)], rtol=0, atol=1e-12)


@BOTH
def test_the_reverse_sweep_is_the_derivative_of_log_z(single_root: bool, graphs) -> None:
    """Central differences with h = 1e-4: error h^2 times a third derivative (at most 1) / 6, and 1e-14 / h."""
    log_scores = graphs.gaussian(5, 2, seed=11)
    factors, h = Elimination(log_scores, single_root), 1e-4
    for marginals in (factors.marginals(), factors.in_wide_numbers.marginals()):
        for i, j in np.argwhere(np.isfinite(log_scores)).tolist():
            up, down = log_scores.copy(), log_scores.copy()
            up[i, j] += h
            down[i, j] -= h
            slope = (Elimination(up, single_root).log_z - Elimination(down, single_root).log_z) / (2 * h)
            assert marginals[i, j] == pytest.approx(slope, abs=3e-9)


def test_no_tree_is_an_error() -> None:
    cycle = np.full((4, 4), -np.inf)
    cycle[0, 1] = cycle[2, 3] = cycle[3, 2] = 0.0
    for single_root in (True, False):
        with pytest.raises(DeptreeError, match="no tree has a positive weight"):
            Elimination(cycle, single_root)


def test_scores_are_left_as_they_were(graphs) -> None:
    log_scores = graphs.gaussian(5)
    before = log_scores.copy()
    factors = Elimination(log_scores)
    factors.marginals()
    factors.sample(10, np.random.default_rng(0))
    assert np.array_equal(log_scores, before)


@BOTH
def test_samples_have_shape_and_type(single_root: bool, graphs) -> None:
    for n in (1, 2, 30):
        heads = Elimination(graphs.gaussian(n, 5), single_root).sample(40, np.random.default_rng(3))
        assert heads.shape == (40, n)
        assert heads.dtype == np.int32
        assert are_trees(heads, single_root).all()
