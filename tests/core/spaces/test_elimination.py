"""log Z and marginals: known graphs, long sentences, and what must not change them; test_register.py enumerates."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deptree_cli.core.errors import DeptreeError
from deptree_cli.core.spaces import SINGLE_ROOT, space

BOTH = pytest.mark.parametrize("single_root", [True, False], ids=["single", "multi"])
SEEDS = st.integers(0, 2**32 - 1)


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


def test_no_tree_is_an_error() -> None:
    cycle = np.full((4, 4), -np.inf)
    cycle[0, 1] = cycle[2, 3] = cycle[3, 2] = 0.0
    for single_root in (True, False):
        with pytest.raises(DeptreeError, match="no tree has a positive weight"):
            space(single_root).factorise(cycle)
