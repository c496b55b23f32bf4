"""Chi-square with rare cells pooled, against a naive one."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import stats

from deptree_cli.core.binomials import binomial_p_values
from tests.pearson import EXPECTED, chi_square

Float = NDArray[np.float64]


def naive_pools(probs: Float, size: int) -> list[list[int]]:
    """Rare cells into one, smallest first, until it and every other is expected often enough."""
    order = [int(index) for index in np.argsort(probs, kind="stable")]
    pool = [order.pop(0)]
    while order and (probs[pool].sum() * size < EXPECTED or probs[order[0]] * size < EXPECTED):
        pool.append(order.pop(0))
    return [pool, *([index] for index in order)]


@given(st.integers(2, 30), st.integers(1, 3000), st.integers(0, 10**6))
def test_against_a_naive_one(cells: int, size: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    probs = rng.dirichlet(np.full(cells, 0.5))
    counts = rng.multinomial(size, probs)
    pools = naive_pools(probs, size)
    statistic, dof, p_value = chi_square(counts, probs)
    if len(pools) == 1:
        assert dof <= 1
        best = int(np.argmax(probs))
        expected = binomial_p_values(np.array([size - counts[best]]), size, np.array([1 - probs[best]]))[0]
        assert p_value == pytest.approx(expected, rel=1e-6, abs=1e-12)
        return
    observed = [counts[pool].sum() for pool in pools]
    expectation = np.array([probs[pool].sum() for pool in pools])
    naive = stats.chisquare(observed, expectation / expectation.sum() * size)
    assert dof == len(pools) - 1
    assert statistic == pytest.approx(naive.statistic, rel=1e-9, abs=1e-9)
    assert p_value == pytest.approx(naive.pvalue, rel=1e-8, abs=1e-12)


def test_without_draws_or_choice() -> None:
    assert chi_square(np.array([0, 0]), np.array([0.5, 0.5])) == (0.0, 0, 1.0)
    assert chi_square(np.array([100]), np.array([1.0])) == (0.0, 0, 1.0)


def test_its_tail_is_why_no_verdict_rests_on_it() -> None:
    """Two cells, 5 of 1,000 expected: rejected 20 times as often as a level of 1e-5 allows."""
    counts = np.arange(1001)
    p_values = np.array([chi_square(np.array([k, 1000 - k]), np.array([0.005, 0.995]))[2] for k in counts.tolist()])
    assert stats.binom.pmf(counts, 1000, 0.005)[p_values < 1e-5].sum() > 20e-5
