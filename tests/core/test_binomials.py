"""Binomial tails beside sums of exact fractions, on the safe side of rounding; the power of one test."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mpmath import mp

from deptree_cli.core import binomials as module
from deptree_cli.core.binomials import binomial_p_values, mean_deviation, shares_found, smallest_p_value


def pmf(k, size, p):
    exact = Fraction(p)
    return math.comb(size, k) * exact**k * (1 - exact) ** (size - k)


def critical(size, p, level):
    return int(module.critical_counts(np.array([size]), np.array([p]), np.array([level]))[0])


def share(size, p, level):
    return float(shares_found(np.array([size]), np.array([p]), np.zeros(1), np.array([level]), 0.9)[0])


@pytest.mark.parametrize("p", [1e-9, 0.01, 0.3, 0.5, 0.93, 1 - 1e-9])
@pytest.mark.parametrize("size", [1, 12, 60])
def test_p_values_are_exact_and_never_too_small(size, p):
    """Down to 60 draws of what has probability 1e-9, p-values of 1e-540, which count as 2e-250."""
    masses = [pmf(k, size, p) for k in range(size + 1)]
    for count in range(size + 1):
        exact = min(Fraction(1), 2 * min(sum(masses[: count + 1]), sum(masses[count:])))
        found = float(binomial_p_values(count, size, p))
        if exact < 1e-250:
            assert found == pytest.approx(2e-250)
        else:
            assert exact <= Fraction(found) <= exact * Fraction(1 + 3 * module.ROUNDING)


def test_p_values_of_certain_and_impossible_arcs():
    counts, probs = np.array([0, 1, 50, 49]), np.array([0.0, 0.0, 1.0, 1.0])
    assert binomial_p_values(counts, 50, probs).tolist() == [1.0, 0.0, 1.0, 0.0]
    assert binomial_p_values(np.array([0]), 0, np.array([0.4])).tolist() == [1.0]


def test_rounded_probabilities_are_not_held_against_a_sampler():
    """1e-30 may have come out as 0 and 1 - 1e-17 as 1: what has been drawn once has p of 2 k slack then, not 0."""
    counts, probs = np.array([1, 1999, 1]), np.array([0.0, 1.0, 1e-30])
    assert binomial_p_values(counts, 2000, probs, 1e-12) == pytest.approx(2 * 2000e-12, rel=1e-6)


@given(st.integers(1, 3000), st.floats(0, 1), st.floats(0, 1), st.floats(0, 1e-3), st.floats(-1, 1))
def test_slack_covers_every_probability_within_it(size, part, p, slack, by):
    count, true = round(part * size), float(np.clip(p + by * slack, 0, 1))
    assert binomial_p_values(count, size, p, slack) >= binomial_p_values(count, size, true) * (1 - 1e-7)


@given(st.integers(1, 5000), st.integers(1, 60), st.integers(0, 10**6), st.booleans())
def test_the_smallest_of_all_p_values(size, events, seed, fair):
    rng = np.random.default_rng(seed)
    probs = rng.beta(0.3, 0.3, events)
    counts = rng.binomial(size, probs if fair else rng.beta(0.3, 0.3, events)).astype(float)
    assert smallest_p_value(counts, size, probs, 1e-12) == binomial_p_values(counts, size, probs, 1e-12).min()
    assert smallest_p_value(np.zeros(0), size, np.zeros(0), 0.0) == 1.0
    assert smallest_p_value(np.zeros(1), 0, np.array([0.1]), 0.0) == 1.0


@pytest.mark.quick
@pytest.mark.parametrize("size", [1, 2, 15, 16, 17, 100, 2000, 10**5, 10**9])
def test_mean_deviation_by_the_formula(size):
    """2 p (1-p) P(Binomial(size-1, p) = floor(size p)) (de Moivre), with 50 digits: 0 where p is 0 or 1."""
    rng = np.random.default_rng(size)
    probs = np.r_[0, 1, rng.random(99), 10.0 ** -rng.uniform(0, 12, 99), 1 - 10.0 ** -rng.uniform(0, 9, 99)]
    with mp.workdps(50):
        counts = [(int(size * p), mp.mpf(p)) for p in probs[2:].tolist()]
        found = [2 * mp.binomial(size - 1, k) * p ** (k + 1) * (1 - p) ** (size - k) for k, p in counts]
        expected = [0.0, 0.0, *map(float, found)]
    assert mean_deviation(probs, size) == pytest.approx(expected, rel=1e-12, abs=1e-300)
    assert mean_deviation(probs, 0).tolist() == [0.0] * len(probs)


@pytest.mark.quick
@pytest.mark.parametrize("p", [0.0, 1e-6, 0.1, 0.5])
@pytest.mark.parametrize("level", [1e-2, 1e-6])
def test_the_critical_count_is_the_first_that_is_rejected(p, level):
    counts = np.arange(1, 51)
    upper = counts[(binomial_p_values(counts, 50, p) < level) & (counts > 50 * p)]
    assert critical(50, p, level) == upper[0]
    assert (critical(3, 0.5, 0.01), share(3, 0.5, 0.01)) == (4, np.inf)  # nothing is rejected among few draws


def test_the_share_found_is_found_as_often_as_it_says():
    mixed = 0.1 + share(50, 0.1, 0.01) * 0.9
    assert sum(float(pmf(k, 50, mixed)) for k in range(critical(50, 0.1, 0.01), 51)) == pytest.approx(0.9, abs=1e-9)
    for size in (1, 9, 100):  # what should never happen is found by happening once: 1 - (1-e)^k = 0.9
        assert share(size, 0.0, 1e-9) == pytest.approx(1 - 0.1 ** (1 / size))


def test_many_tests_at_once_find_what_each_finds():
    sizes, levels = np.array([3, 50, 50, 2000, 10**9]), np.array([0.01, 0.01, 1e-6, 1e-9, 1e-4])
    probs, slacks = np.array([0.5, 0.1, 1.0, 1e-6, 0.3]), np.array([0.0, 1e-3, 0.0, 1e-12, 1e-12])
    each = [shares_found(*(values[i : i + 1] for values in (sizes, probs, slacks, levels)), 0.9) for i in range(5)]
    found = shares_found(sizes, probs, slacks, levels, 0.9)
    assert found.tolist() == np.concatenate(each).tolist()
    assert np.isinf(found).tolist() == [True, False, True, False, False]
