"""Numbers with an exponent of their own: against multi-precision arithmetic, from e^-1e12 to e^1e12."""

from __future__ import annotations

import math

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numba import njit

from deptree_cli.kernels import numbers as w
from deptree_cli.kernels import operations as ops
from tests.bounded import bounded

LOGS = st.one_of(st.floats(-5, 5), st.floats(-3000, 3000), st.floats(-1e6, 1e6), st.sampled_from([0.0, -177.4456782]))
Number = tuple[float, int]


@njit(nogil=True)
def add(x, y):
    return ops.add(x, y)


@njit(nogil=True)
def subtract(x, y):
    return ops.subtract(x, y)


@njit(nogil=True)
def multiply(x, y):
    return ops.multiply(x, y)


@njit(nogil=True)
def divide(x, y):
    return ops.divide(x, y)


@njit(nogil=True)
def is_less(x, y):
    return ops.is_less(x, y)


@np.errstate(over="ignore")  # machine code is silent; so is Python in its place
@njit(nogil=True)
def unary(x, factor):
    return ops.scale(x, factor), ops.is_positive(x), ops.is_negative(x), ops.as_float(x)


def number(log: float) -> Number:
    """exp(log) as one wide number."""
    mantissas, exponents = w.wide_exp(np.array([log]))
    return float(mantissas[0]), int(exponents[0])


def exact(x: Number) -> mp.mpf:
    """The value that a wide number stands for."""
    return mp.mpf(x[0]) * mp.mpf(2) ** (512 * x[1])


def is_normal(x: Number) -> bool:
    return x == (0.0, w.ZERO) or 2.0**-256 <= abs(x[0]) < 2.0**256


def close(found: Number, expected: mp.mpf, ulps: float = 1) -> bool:
    """To so many half units in the last place, and in canonical form."""
    return is_normal(found) and abs(exact(found) - expected) <= abs(expected) * ulps * mp.mpf(2) ** -53


@pytest.mark.slow("size")
@given(LOGS, LOGS)
def test_arithmetic_is_that_of_float64_with_a_wider_exponent(log_x: float, log_y: float) -> None:
    """One rounding an operation (two where addends are of neighbouring exponents)."""
    x, y = number(log_x), number(log_y)
    with mp.workprec(4000):
        a, b = exact(x), exact(y)
        if abs(log_x - log_y) < 800:  # beyond that mpmath, too, would have to be asked for more bits
            assert close(add(x, y), a + b, 2)
            if abs(a - b) > max(a, b) / 4:
                assert close(subtract(x, y), a - b, 8)
        assert close(multiply(x, y), a * b)
        assert close(divide(x, y), a / b)
        assert is_less(x, y) == (a < b)


@given(st.integers(-5, 5), st.floats(-36, 36), st.floats(-36, 36))
def test_neighbours_on_both_sides_of_a_change_of_exponent(boundary: int, below: float, above: float) -> None:
    """Mantissas end at 2^256 = e^177.4; from there on every 512 bits or e^354.9."""
    log = (2 * boundary + 1) * 256 * math.log(2)
    x, y = number(log + below), number(log + above)
    with mp.workprec(4000):
        assert close(add(x, y), exact(x) + exact(y), 2)
        assert is_less(x, y) == (exact(x) < exact(y))


@given(LOGS, st.floats(2**-53, 1.0))
def test_scaling_and_signs(log_x: float, factor: float) -> None:
    """By what `uniform` draws."""
    x = number(log_x)
    scaled, positive, negative, _ = unary(x, factor)
    with mp.workprec(4000):
        assert close(scaled, exact(x) * mp.mpf(factor))
    assert (positive, negative) == (True, False)
    assert unary((-x[0], x[1]), 1.0)[1:3] == (False, True)


@given(st.floats(-690, 690))
def test_back_to_float64(log_x: float) -> None:
    with mp.workprec(4000):
        x = number(log_x)
        assert unary(x, 1.0)[3] == float(exact(x))


def test_float64_has_an_end() -> None:
    assert unary(number(-5000.0), 1.0)[3] == 0.0
    assert unary(number(5000.0), 1.0)[3] == math.inf
    assert unary(number(-720.0), 1.0)[3] == pytest.approx(math.exp(-720), rel=1e-10)  # denormal


def test_zero() -> None:
    nothing, x = (0.0, w.ZERO), number(-1e5)
    assert number(-math.inf) == nothing
    assert add(nothing, x) == add(x, nothing) == x
    assert add(nothing, nothing) == nothing
    assert multiply(nothing, x) == multiply(nothing, nothing) == divide(nothing, x) == nothing
    assert subtract(x, x) == nothing
    assert is_less(nothing, number(-1e12))
    assert not is_less(nothing, nothing)
    assert unary(nothing, 3.0) == (nothing, False, False, 0.0)
    assert w.wide_log(w.wide_zeros(2)).tolist() == [-math.inf, -math.inf]


def error_of_exp(x: float) -> float:
    """The logarithm of what `wide_exp` gives, less x."""
    with mp.workprec(400):
        m, e = number(x)
        return float(mp.log(mp.mpf(m)) + 512 * e * mp.log(2) - mp.mpf(x))


@pytest.mark.parametrize("size", [1.0, 300.0, 1e4, 1e9])
def test_exponentials_and_logarithms(size: float) -> None:
    """Half a unit in the last place of x, about 5e-17 |x|, and what exp itself loses of a mantissa up to e^177."""
    xs = np.random.default_rng(1).uniform(-size, size, 200)
    assert max(abs(error_of_exp(x)) - 5e-17 * abs(x) for x in xs.tolist()) < 1e-13
    mantissas, exponents = w.wide_exp(xs)
    assert (np.abs(np.log2(mantissas)) <= 256 + 1e-9).all()
    np.testing.assert_allclose(w.wide_log((mantissas, exponents)), xs, rtol=3e-16, atol=1e-13)


@pytest.mark.parametrize("far", [0.0, 1e4, 1e9])
def test_ratios_of_far_away_weights_are_exact(far: float) -> None:
    """Numbers below a mask keep their proportions: their common error, of about far * 1e-16, divides out."""
    steps = np.arange(200) / 64
    errors = [error_of_exp(step - far) for step in steps.tolist()]
    assert max(errors) - min(errors) < 1e-13


def test_exponents_beyond_any_score_do_not_wrap_around() -> None:
    """Log-scores may be 1e15 apart; twenty arcs of them multiply to e^-2e16."""
    product = number(0.0)
    for _ in range(20):
        product = multiply(product, number(-1e15))
    assert is_less((0.0, w.ZERO), product)
    assert is_less(product, number(-1e16))
    assert w.wide_log((np.array([product[0]]), np.array([product[1]])))[0] == pytest.approx(-2e16, rel=1e-14)


@pytest.mark.parametrize("bad", [math.inf, -math.inf, math.nan])
def test_what_is_infinite_becomes_nan_and_stays_it(bad: float) -> None:
    """Whatever it is added to or multiplied by, and at once: nobody brings such a mantissa into range."""
    x = bounded(lambda: unary(number(1.0), bad))[0]
    for other in (number(-1e15), number(1e15), (0.0, w.ZERO), x):
        assert all(math.isnan(found[0]) for found in (add(x, other), subtract(other, x), multiply(x, other)))
    mantissas, exponents = bounded(lambda: w.wide_scaled(w.wide_exp(np.array([-1e9, 1.0])), np.array([bad, 2.0])))
    assert np.isnan(w.wide_floats((mantissas, exponents))).tolist() == [True, False]
    assert math.isnan(add((mantissas[0], exponents[0]), number(1e15))[0])


@given(LOGS, st.floats(allow_nan=False, allow_infinity=False))
def test_scaling_by_any_float64(log_x: float, factor: float) -> None:
    """Mantissas and factors may multiply to more than float64 holds."""
    mantissas, exponents = w.wide_scaled(w.wide_exp(np.array([[log_x]])), np.array([[factor]]))
    with mp.workprec(4000):
        assert close((float(mantissas[0, 0]), int(exponents[0, 0])), exact(number(log_x)) * mp.mpf(factor))
