"""Pairs of float64: error-free transformations against exact fractions, the rest against multi-precision arithmetic."""

from __future__ import annotations

from fractions import Fraction

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deptree_cli.kernels.numbers import pairs as p

SIZES = st.one_of(st.floats(-10, 10), st.floats(-1e15, 1e15), st.sampled_from([0.0, 1.0, -1e15 / 3, 2.0**53]))
# Not so small that an error of a product would be below the range of float64.
FACTORS = st.floats(1e-60, 1e60)

Pair = tuple[float, float]


def exact(x: Pair) -> Fraction:
    return Fraction(float(x[0])) + Fraction(float(x[1]))


def is_normal(x: Pair) -> bool:
    """The second part is what rounding took off the first."""
    return x[0] + x[1] == x[0]


def near(found: Pair, expected: Fraction, bits: int = 100) -> bool:
    return is_normal(found) and abs(exact(found) - expected) <= abs(expected) * Fraction(1, 2**bits)


@given(SIZES, SIZES)
def test_sums_and_products_are_exact(a: float, b: float) -> None:
    assert exact(p.two_sum(a, b)) == Fraction(a) + Fraction(b)
    larger, smaller = (a, b) if abs(a) >= abs(b) else (b, a)
    assert exact(p.quick_two_sum(larger, smaller)) == Fraction(a) + Fraction(b)


@given(FACTORS, FACTORS)
def test_products_are_exact(a: float, b: float) -> None:
    assert exact(p.two_product(a, b)) == Fraction(a) * Fraction(b)
    assert exact(p.two_product(a, -b)) == -Fraction(a) * Fraction(b)


@given(FACTORS, FACTORS, FACTORS)
def test_arithmetic(a: float, b: float, c: float) -> None:
    x, y = p.two_sum(a, a / 3e16), p.two_product(b, c)
    assert near(p.pair_add(x, y), exact(x) + exact(y))
    assert near(p.pair_multiply(x, y), exact(x) * exact(y))
    assert near(p.pair_divide(x, y), exact(x) / exact(y))
    assert near(p.add_product(x, b, c), exact(x) + Fraction(b) * Fraction(c))


@given(st.floats(-300, 300), st.floats(-1, 1))
def test_exponentials_and_logarithms(high: float, low: float) -> None:
    """To 28 digits: what the squaring leaves of 31."""
    x = p.two_sum(high, low * 1e-14 * abs(high))
    with mp.workdps(50):
        value = mp.mpf(x[0]) + mp.mpf(x[1])
        exponential = p.pair_exp(x)
        found = mp.mpf(exponential[0]) + mp.mpf(exponential[1])
        assert abs(found / mp.exp(value) - 1) < mp.mpf(10) ** -28
        logarithm = p.pair_log(exponential)
        assert abs(mp.mpf(logarithm[0]) + mp.mpf(logarithm[1]) - mp.log(found)) < mp.mpf(10) ** -28


def test_what_is_below_float64_is_0() -> None:
    assert p.pair_exp((-1e15, 0.01)) == p.pair_exp((-801.0, 0.0)) == (0.0, 0.0)


@given(SIZES, st.floats(-0.06, 0.06), st.sampled_from([1.0, 0.5, 1.0 + 1e-12, 2.0]))
def test_reduction_loses_nothing(high: float, low: float, factor: float) -> None:
    """Of arguments as large as masks: the remainder to 28 digits after the point."""
    x = p.two_sum(high, low)
    e, rest = p.reduced(x[0], x[1], factor)
    with mp.workdps(60):
        wanted = mp.mpf(factor) * (mp.mpf(x[0]) + mp.mpf(x[1])) - int(e) * 512 * mp.log(2)
        assert abs(mp.mpf(rest[0]) + mp.mpf(rest[1]) - wanted) < mp.mpf(10) ** -28
        assert abs(rest[0]) < 178
        again = p.multiple_of_radix(rest, e)
        wanted = mp.mpf(factor) * (mp.mpf(x[0]) + mp.mpf(x[1]))
        assert abs(mp.mpf(again[0]) + mp.mpf(again[1]) - wanted) <= mp.mpf(2) ** -100 * (300 + abs(wanted))


@pytest.mark.parametrize("size", [0, 1, 9])
def test_inner_products_leave_out_what_is_multiplied_by_0(size: int) -> None:
    rng = np.random.default_rng(size)
    highs = rng.normal(size=(2, size + 1))
    lows = highs * rng.uniform(-1e-17, 1e-17, highs.shape)
    highs[0, 0], lows[0, 0], highs[1, 0] = 0.0, 0.0, -np.inf
    found = p.inner_of_pairs(highs[0], lows[0], highs[1], lows[1])
    wanted = sum(exact((highs[0, i], lows[0, i])) * exact((highs[1, i], lows[1, i])) for i in range(1, size + 1))
    assert abs(exact(found) - wanted) < Fraction(1, 2**98)
