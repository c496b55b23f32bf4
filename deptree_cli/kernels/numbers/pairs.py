"""Double-double numbers: the unevaluated sum of two float64, of which the second is what the first rounds off.

Sums and products of two float64 are exact as a pair (Knuth's and Dekker's error-free transformations); arithmetic on
pairs keeps about 31 digits. Nothing here survives `fastmath`.
"""

from __future__ import annotations

import math

import numpy as np

from deptree_cli.kernels.flags import kernel

# 512 ln 2 and ln 2, each in three parts.
LOG_RADIX = (354.891356446692, 1.1873519686893054e-14, 2.9223467204691006e-31)
LOG_2 = (0.6931471805599453, 2.3190468138462996e-17, 5.707708438416212e-34)
SPLITTER = 2.0**27 + 1.0
HALVINGS = 6
TERMS = 14


@kernel
def two_sum(a, b):
    """Return a + b, rounded, and what rounding took off."""
    total = a + b
    x = total - a
    return total, (a - (total - x)) + (b - x)


@kernel
def quick_two_sum(a, b):
    """Return `two_sum` of numbers of which a is the larger, or 0."""
    total = a + b
    return total, b - (total - a)


@kernel
def two_product(a, b):
    """Return a * b, rounded, and what rounding took off; neither a, b nor the product is beyond about 2^990."""
    product = a * b
    x = SPLITTER * a
    a_high = x - (x - a)
    a_low = a - a_high
    y = SPLITTER * b
    b_high = y - (y - b)
    b_low = b - b_high
    return product, ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low


@kernel
def pair_add(x, y):
    """Return the sum of two pairs."""
    high, rest = two_sum(x[0], y[0])
    low, least = two_sum(x[1], y[1])
    high, rest = quick_two_sum(high, rest + low)
    return quick_two_sum(high, rest + least)


@kernel
def pair_multiply(x, y):
    """Return the product of two pairs."""
    high, low = two_product(x[0], y[0])
    return quick_two_sum(high, low + (x[0] * y[1] + x[1] * y[0]))


@kernel
def pair_divide(x, y):
    """Return the quotient of two pairs: three steps of long division."""
    first = x[0] / y[0]
    rest = pair_add(x, pair_multiply((-first, 0.0), y))
    second = rest[0] / y[0]
    rest = pair_add(rest, pair_multiply((-second, 0.0), y))
    high, low = quick_two_sum(first, second)
    return pair_add((high, low), (rest[0] / y[0], 0.0))


@kernel
def add_product(x, a, b):
    """Return the pair x plus a * b, for float64 a and b."""
    return pair_add(x, two_product(a, b))


@kernel
def multiple_of_radix(x, e):
    """Return the pair x plus e * 512 ln 2, for an integer e as a float64."""
    return add_product(add_product(add_product(x, e, LOG_RADIX[0]), e, LOG_RADIX[1]), e, LOG_RADIX[2])


@kernel
def reduced(high, low, factor):
    """Return an integer e as a float64 and the pair of factor * (high + low) - e 512 ln 2, which is at most 178."""
    e = np.rint(factor * high / LOG_RADIX[0])
    rest = two_product(factor, high)
    rest = add_product(rest, -e, LOG_RADIX[0])
    rest = add_product(rest, factor, low)
    rest = add_product(rest, -e, LOG_RADIX[1])
    return e, add_product(rest, -e, LOG_RADIX[2])


@kernel
def pair_exp(x):
    """Return exp of a pair of at most 700, 0 far below that: a Taylor series after halvings, undone by squaring."""
    if x[0] < -800.0:
        return 0.0, 0.0
    k = np.rint(x[0] / LOG_2[0])
    rest = add_product(add_product(add_product(x, -k, LOG_2[0]), -k, LOG_2[1]), -k, LOG_2[2])
    half = 0.5**HALVINGS
    rest = rest[0] * half, rest[1] * half
    less_one = 0.0, 0.0
    for term in range(TERMS, 0, -1):  # rest / 1 (1 + rest / 2 (1 + rest / 3 (...)))
        less_one = pair_divide(pair_multiply(rest, pair_add((1.0, 0.0), less_one)), (float(term), 0.0))
    for _ in range(HALVINGS):
        less_one = pair_add((2.0 * less_one[0], 2.0 * less_one[1]), pair_multiply(less_one, less_one))
    high, low = pair_add((1.0, 0.0), less_one)
    return math.ldexp(high, int(k)), math.ldexp(low, int(k))


@kernel
def pair_log(x):
    """Return the natural logarithm of a positive pair: that of float64, corrected by a series of two terms."""
    rough = math.log(x[0])
    rest = pair_add(pair_multiply(x, pair_exp((-rough, 0.0))), (-1.0, 0.0))
    return pair_add((rough, 0.0), pair_add(rest, (-0.5 * rest[0] * rest[0], 0.0)))


@kernel
def inner_of_pairs(x_high, x_low, y_high, y_low):
    """Return the sum of the products of two arrays of pairs, each given by its two parts (m,), as a pair.

    Products with a 0 in x are left out, whatever y is.
    """
    total = 0.0, 0.0
    for i in range(x_high.shape[0]):
        if x_high[i] != 0.0:
            total = pair_add(total, pair_multiply((x_high[i], x_low[i]), (y_high[i], y_low[i])))
    return total
