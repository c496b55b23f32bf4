"""Every operation for every kind of numbers: against exact arithmetic, and in Python as in machine code."""

from __future__ import annotations

import math
from collections import namedtuple
from fractions import Fraction

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numba import njit

from deptree_cli.kernels import numbers as w
from deptree_cli.kernels import operations as ops
from deptree_cli.kernels.numbers import Dual
from tests.bounded import bounded

SIZES = st.one_of(st.floats(0.1, 10.0), st.floats(-100.0, 100.0).map(math.exp))
SLOPES = st.floats(-10.0, 10.0)
FACTORS = st.floats(2**-53, 1.0)


# How to make numbers of one kind from a size and a slope, and the exact value and derivative that one has.
# ulps: how many half units in the last place an operation may err, relative to the terms it adds.
Kind = namedtuple("Kind", "number array fractions ulps")


def wide(x):
    """A wide number that grows with x, faster than x, so that exponents differ."""
    return (x, round(math.log(abs(x)) / 20)) if x else (0.0, w.ZERO)


def wide_array(numbers):
    mantissas, exponents = zip(*numbers, strict=True)
    return np.array(mantissas), np.array(exponents)


def exact_wide(x):
    return Fraction(float(x[0])) * (Fraction(2) ** (512 * int(x[1])) if x[0] else 1)


def dual_of(number, array, exact):
    return Kind(
        lambda x, slope: Dual(number(x), number(slope)),
        lambda numbers: Dual(array([x.value for x in numbers]), array([x.tangent for x in numbers])),
        lambda x: (exact(x.value), exact(x.tangent)),
        8,
    )


def exact_real(x):
    return Fraction(float(x))


KINDS = {
    "float64": Kind(lambda x, _: np.float64(x), np.array, lambda x: (exact_real(x), Fraction(0)), 1),
    "wide": Kind(lambda x, _: wide(x), wide_array, lambda x: (exact_wide(x), Fraction(0)), 2),
    "dual": dual_of(np.float64, np.array, exact_real),
    "wide dual": dual_of(wide, wide_array, exact_wide),
}
EACH_KIND = pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)


def check(kind, found, value, slope, *terms):
    """To a few half units in the last place of the largest of some terms (of the result, where none are named)."""
    found_value, found_slope = kind.fractions(found)
    unit = Fraction(kind.ulps, 2**53)
    assert abs(found_value - value) <= unit * max(abs(value), *map(abs, terms or [value]))
    assert abs(found_slope - slope) <= unit * max(abs(slope), *map(abs, terms or [slope]))


@EACH_KIND
@given(SIZES, SIZES, SLOPES, SLOPES, FACTORS)
def test_arithmetic(kind, size_x, size_y, slope_x, slope_y, factor):
    x, y, f = kind.number(size_x, slope_x), kind.number(size_y, slope_y), Fraction(factor)
    (a, da), (b, db) = kind.fractions(x), kind.fractions(y)
    check(kind, ops.add(x, y), a + b, da + db, a, b, da, db)
    check(kind, ops.subtract(x, y), a - b, da - db, a, b, da, db)
    check(kind, ops.multiply(x, y), a * b, a * db + da * b, a * b, a * db, da * b)
    check(kind, ops.divide(x, y), a / b, (da - a / b * db) / b, a / b, da / b, a * db / b**2)
    check(kind, ops.scale(x, factor), a * f, da * f, a * f, da * f)


@EACH_KIND
@given(SIZES, SIZES, SLOPES)
def test_comparisons_and_logarithms(kind, size_x, size_y, slope):
    """Of a dual number those of its value."""
    x, y = kind.number(size_x, slope), kind.number(size_y, -slope)
    (a, _), (b, _) = kind.fractions(x), kind.fractions(y)
    assert bool(ops.is_less(x, y)) == (a < b)
    assert ops.is_positive(x)
    assert not ops.is_negative(x)
    less, more = (ops.subtract(x, y), ops.subtract(y, x)) if a < b else (ops.subtract(y, x), ops.subtract(x, y))
    assert bool(ops.is_positive(more)) == bool(ops.is_negative(less)) == (a != b)
    assert ops.logarithm(x) == pytest.approx(math.log(a.numerator) - math.log(a.denominator), rel=1e-13, abs=1e-13)
    with np.errstate(over="ignore"):
        assert ops.as_float(x) == (float(a) if a < 2**1024 else math.inf)


def sum_one_by_one(xs, ys):
    """The sum of products as sweeps add it up where there is no row to view."""
    total = ops.zero(xs)
    for j in range(ops.length(xs)):
        total = ops.multiply_add(total, ops.get(xs, j), ops.get(ys, j))
    return total


def sum_of_several(xs, ys):
    """The sum of products as sweeps add it up for all words before one."""
    stop, sums = ops.length(xs), ops.spread(xs, ops.zero(xs))
    for j in range(0, stop, ops.at_once(xs)):
        sums = ops.multiply_add(sums, ops.several(xs, j, stop), ops.several(ys, j, stop))
    return ops.sum_of(xs, sums)


compiled_sum = njit(error_model="numpy")(sum_of_several)


@pytest.mark.slow("size")
@EACH_KIND
@given(st.lists(st.tuples(SIZES, SIZES, SLOPES, SLOPES), min_size=1, max_size=19))
def test_sums_of_products(kind, pairs):
    """In any order: the error is at most the number of additions times that of one, of the sum of absolute values."""
    xs, ys = [kind.number(x, dx) for x, _, dx, _ in pairs], [kind.number(y, dy) for _, y, _, dy in pairs]
    exact = [(*kind.fractions(x), *kind.fractions(y)) for x, y in zip(xs, ys, strict=True)]
    value, slope = sum(a * b for a, _, b, _ in exact), sum(a * db + da * b for a, da, b, db in exact)
    size = sum(abs(a * b) + abs(a * db) + abs(da * b) for a, da, b, db in exact)
    for sum_of_products in (ops.inner, sum_one_by_one, sum_of_several, compiled_sum):
        found = sum_of_products(kind.array(xs), kind.array(ys))
        check(kind, found, value, slope, size * (2 * len(pairs) + 1))


@EACH_KIND
def test_arrays(kind):
    """What is put can be got; rows and parts are views; 0 and 1 are of the array's kind; wide numbers reach far."""
    numbers = [kind.number(1.5 + i, 0.25 * i) for i in range(4)]
    array = kind.array(numbers)
    assert ops.length(array) == 4
    assert ops.reaches(array, -299.0)
    assert bool(ops.reaches(array, -1e6)) is (kind in (KINDS["wide"], KINDS["wide dual"]))
    assert [kind.fractions(ops.get(array, i)) for i in range(4)] == [kind.fractions(x) for x in numbers]
    ops.put(ops.part(array, 1, 3), 1, ops.one(array))
    assert kind.fractions(ops.get(array, 2)) == (1, 0)
    assert kind.fractions(ops.zero(array)) == (0, 0)
    assert kind.fractions(ops.from_wide(array, wide(0.75))) == (Fraction(3, 4), 0)
    assert ops.length(ops.part(array, 1, 3)) == 2
    ops.put(ops.view(array, 1, 2, (2, 1)), (1, 0), ops.number(array, 0.75))
    assert kind.fractions(ops.get(array, 2)) == (Fraction(3, 4), 0)
    memory = ops.new(array, 3)
    ops.set_zero(memory)
    ops.put_rounded(memory, 2, numbers[1])
    assert [kind.fractions(ops.get(memory, i)) for i in (0, 2)] == [(0, 0), kind.fractions(numbers[1])]


def everything(array, x, y, factor, far):
    """Every operation, once."""
    ops.put(array, 0, x)
    ops.put(ops.part(array, 1, 3), 0, y)
    return (
        ops.add(ops.get(array, 0), ops.get(array, 1)),
        (ops.subtract(x, y), ops.multiply(x, y), ops.divide(x, y), ops.scale(x, factor)),
        (ops.is_positive(x), ops.is_negative(x), ops.is_less(x, y), ops.reaches(array, -301.0)),
        (ops.logarithm(x), ops.as_float(y), ops.from_wide(array, far), ops.length(array)),
        (ops.zero(array), ops.one(array), ops.inner(ops.part(array, 0, 1), ops.part(array, 1, 2))),
    )


compiled_everything = njit(error_model="numpy")(everything)


@pytest.mark.slow("compile")
@pytest.mark.parametrize("name", ["float64", "wide", "dual"])
@given(SIZES, SIZES, SLOPES, SLOPES, FACTORS)
def test_python_and_machine_code_agree_to_the_last_bit(name, size_x, size_y, slope_x, slope_y, factor):
    """Whether `singledispatch` chooses the body or numba does. (Without compilation this compares Python to itself.)"""
    kind, far = KINDS[name], wide(0.25)
    x, y = kind.number(size_x, slope_x), kind.number(size_y, slope_y)
    with np.errstate(over="ignore"):
        in_python = everything(kind.array([x, y, x]), x, y, factor, far)
        assert compiled_everything(kind.array([x, y, x]), x, y, factor, far) == in_python


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_sums_of_vectors_are_the_same_digits(dtype):
    rng, compiled, lanes = np.random.default_rng(0), njit(lambda x, y: ops.inner(x, y)), ops.lane_count(dtype)
    for n in range(20):
        x, y = rng.normal(size=(2, n)).astype(dtype)
        padded = np.zeros((-(-n // lanes) or 1) * lanes, dtype)
        padded[:n] = x * y
        sums = padded.reshape(-1, lanes).cumsum(axis=0)[-1]  # one after another, as a loop adds
        while len(sums) > 1:
            sums = sums[: len(sums) // 2] + sums[len(sums) // 2 :]
        assert ops.inner(x, y) == compiled(x, y) == sums[0]


def shifted(source, target, stop):
    """Store what a row holds before `stop` in another, times the number before it there."""
    for j in range(0, stop, 8):
        ops.store_from(target, j, stop, ops.load_from(source, j, stop) * ops.load_from(target, j, stop))


def test_vectors_touch_nothing_beyond_the_end():
    rng, compiled = np.random.default_rng(0), njit(shifted)
    for n in range(20):
        source, target = rng.normal(size=(2, 24))
        for each in (shifted, compiled):
            found = target.copy()
            each(source, found, n)
            assert (found == np.where(np.arange(24) < n, source * target, target)).all()


# Numbers with an exponent of their own, against multi-precision arithmetic, from e^-1e12 to e^1e12.

LOGS = st.one_of(st.floats(-5, 5), st.floats(-3000, 3000), st.floats(-1e6, 1e6), st.sampled_from([0.0, -177.4456782]))
NOTHING = (0.0, w.ZERO)


def number(log):
    """exp(log) as one wide number."""
    mantissas, exponents = w.wide_exp(np.array([log]))
    return float(mantissas[0]), int(exponents[0])


def exact(x):
    return mp.mpf(x[0]) * mp.mpf(2) ** (512 * x[1])


def close(found, expected, ulps=1):
    """To so many half units in the last place, and in canonical form."""
    is_normal = found == NOTHING or 2.0**-256 <= abs(found[0]) < 2.0**256
    return is_normal and abs(exact(found) - expected) <= abs(expected) * ulps * mp.mpf(2) ** -53


@pytest.mark.slow("size")
@given(LOGS, LOGS)
def test_arithmetic_is_that_of_float64_with_a_wider_exponent(log_x, log_y):
    """One rounding an operation (two where addends are of neighbouring exponents)."""
    x, y = number(log_x), number(log_y)
    with mp.workprec(4000):
        a, b = exact(x), exact(y)
        if abs(log_x - log_y) < 800:  # beyond that mpmath, too, would have to be asked for more bits
            assert close(ops.add(x, y), a + b, 2)
            if abs(a - b) > max(a, b) / 4:
                assert close(ops.subtract(x, y), a - b, 8)
        assert close(ops.multiply(x, y), a * b)
        assert close(ops.divide(x, y), a / b)
        assert ops.is_less(x, y) == (a < b)


@given(st.integers(-5, 5), st.floats(-36, 36), st.floats(-36, 36))
def test_neighbours_on_both_sides_of_a_change_of_exponent(boundary, below, above):
    """Mantissas end at 2^256 = e^177.4; from there on every 512 bits or e^354.9."""
    log = (2 * boundary + 1) * 256 * math.log(2)
    x, y = number(log + below), number(log + above)
    with mp.workprec(4000):
        assert close(ops.add(x, y), exact(x) + exact(y), 2)
        assert ops.is_less(x, y) == (exact(x) < exact(y))


@given(LOGS, st.floats(allow_nan=False, allow_infinity=False))
def test_scaling_by_any_float64(log_x, factor):
    """Mantissas and factors may multiply to more than float64 holds."""
    mantissas, exponents = w.wide_scaled(w.wide_exp(np.array([[log_x]])), np.array([[factor]]))
    with mp.workprec(4000):
        assert close((float(mantissas[0, 0]), int(exponents[0, 0])), exact(number(log_x)) * mp.mpf(factor))


def test_zero():
    x = number(-1e5)
    assert number(-math.inf) == NOTHING
    assert ops.add(NOTHING, x) == ops.add(x, NOTHING) == x
    assert ops.add(NOTHING, NOTHING) == ops.multiply(NOTHING, x) == ops.multiply(NOTHING, NOTHING) == NOTHING
    assert ops.divide(NOTHING, x) == ops.subtract(x, x) == ops.scale(NOTHING, 3.0) == NOTHING
    assert ops.is_less(NOTHING, number(-1e12))
    assert not ops.is_less(NOTHING, NOTHING)
    assert (ops.is_positive(NOTHING), ops.is_negative(NOTHING), ops.as_float(NOTHING)) == (False, False, 0.0)
    assert w.wide_log(w.wide_zeros(2)).tolist() == [-math.inf, -math.inf]


def error_of_exp(x):
    """The logarithm of what `wide_exp` gives, less x."""
    with mp.workprec(400):
        m, e = number(x)
        return float(mp.log(mp.mpf(m)) + 512 * e * mp.log(2) - mp.mpf(x))


@pytest.mark.parametrize("size", [1.0, 300.0, 1e4, 1e9])
def test_exponentials_and_logarithms(size):
    """Half a unit in the last place of x, about 5e-17 |x|, and what exp itself loses of a mantissa up to e^177."""
    xs = np.random.default_rng(1).uniform(-size, size, 200)
    assert max(abs(error_of_exp(x)) - 5e-17 * abs(x) for x in xs.tolist()) < 1e-13
    mantissas, exponents = w.wide_exp(xs)
    assert (np.abs(np.log2(mantissas)) <= 256 + 1e-9).all()
    np.testing.assert_allclose(w.wide_log((mantissas, exponents)), xs, rtol=3e-16, atol=1e-13)


def test_ratios_of_far_away_weights_are_exact():
    """Numbers below a mask keep their proportions: their common error, of about 1e-16 of the distance, divides out."""
    for far in (0.0, 1e4, 1e9):
        errors = [error_of_exp(step / 64 - far) for step in range(200)]
        assert max(errors) - min(errors) < 1e-13


def test_exponents_beyond_any_score_do_not_wrap_around():
    """Log-scores may be 1e15 apart; twenty arcs of them multiply to e^-2e16, in machine code too."""
    multiply, product = njit(lambda x, y: ops.multiply(x, y)), number(0.0)
    for _ in range(20):
        product = multiply(product, number(-1e15))
    assert ops.is_less(NOTHING, product)
    assert ops.is_less(product, number(-1e16))
    assert ops.logarithm(product) == pytest.approx(-2e16, rel=1e-14)


@pytest.mark.parametrize("bad", [math.inf, -math.inf, math.nan])
def test_what_is_infinite_becomes_nan_and_stays_it(bad):
    """Whatever it is added to or multiplied by, and at once: nobody brings such a mantissa into range."""
    x = bounded(lambda: ops.scale(number(1.0), bad))
    for other in (number(-1e15), number(1e15), NOTHING, x):
        found = ops.add(x, other), ops.subtract(other, x), ops.multiply(x, other)
        assert [math.isnan(each[0]) for each in found] == [True] * 3
    mantissas, exponents = bounded(lambda: w.wide_scaled(w.wide_exp(np.array([-1e9, 1.0])), np.array([bad, 2.0])))
    assert np.isnan(w.wide_floats((mantissas, exponents))).tolist() == [True, False]
    assert math.isnan(ops.add((mantissas[0], exponents[0]), number(1e15))[0])
