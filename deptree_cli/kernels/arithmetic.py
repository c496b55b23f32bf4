"""The operations of the sweeps, for two kinds of numbers: float64 and wide ones (`wide.py`).

A sweep is written once, over `get`, `put`, `add`, `subtract`, `multiply`, `divide`; numba compiles it for either kind.
With plain arrays these are the machine's own operations. (`dual.py` adds a third kind, either with a derivative.)
"""

from __future__ import annotations

import math
from functools import wraps
from typing import NamedTuple

from numba import types
from numba.extending import overload

from deptree_cli.kernels.wide import LOG_RADIX, SAFE_LOG, ZERO, is_wide, normal, wide_add


class Dual(NamedTuple):
    """Numbers of either kind with their derivatives in one direction (`dual.py`)."""

    value: object
    tangent: object


def is_dual(kind):
    """Whether a numba type is a dual number or array."""
    return isinstance(kind, types.NamedTuple | types.NamedUniTuple) and kind.instance_class is Dual


def for_numbers(operation, **options):
    """Give an operation its bodies for float64 and wide numbers; those for dual ones are in `dual.py`."""

    def register(choose):
        @overload(operation, **options)
        @wraps(choose)
        def choose_unless_dual(*args):
            return None if is_dual(args[0]) else choose(*args)

        return choose

    return register


# The operations, by name; `for_numbers` below gives each its two bodies.
def get(array, index):
    """The number at an index (an integer, or a pair of them)."""


def put(array, index, x):
    """Store a number at an index."""


def row(array, i):
    """A view of row i."""


def part(array, start, stop):
    """A view of some numbers of a row; loops over a view from 0 are the ones that get vectorised."""


def inner(x, y):
    """The sum of products of two rows."""


def zero(array):
    """The number 0 of an array's kind."""


def one(array):
    """The number 1 of an array's kind."""


def add(x, y):
    """x + y."""


def subtract(x, y):
    """x - y."""


def multiply(x, y):
    """x * y."""


def divide(x, y):
    """x / y."""


def scale(x, factor):
    """x times a float64."""


def is_positive(x):
    """x > 0."""


def is_negative(x):
    """x < 0."""


def is_less(x, y):
    """x < y, both non-negative."""


def logarithm(x):
    """Natural logarithm of a positive number."""


def as_float(x):
    """The nearest float64; 0 or inf beyond its range."""


def from_wide(array, x):
    """A wide number as one of an array's kind."""


def length(array):
    """How many rows or numbers an array has."""


def reaches(array, log_value):
    """Whether sums and products of an array's kind of numbers are sound down to e^log_value."""


@for_numbers(get)
def _get(array, index):
    if is_wide(array):
        return lambda array, index: (array[0][index], array[1][index])
    return lambda array, index: array[index]


@for_numbers(put)
def _put(array, index, x):
    if is_wide(array):

        def wide(array, index, x):
            array[0][index] = x[0]
            array[1][index] = x[1]

        return wide

    def real(array, index, x):
        array[index] = x

    return real


@for_numbers(row)
def _row(array, i):
    if is_wide(array):
        return lambda array, i: (array[0][i], array[1][i])
    return lambda array, i: array[i]


@for_numbers(part)
def _part(array, start, stop):
    if is_wide(array):
        return lambda array, start, stop: (array[0][start:stop], array[1][start:stop])
    return lambda array, start, stop: array[start:stop]


# The one place where additions may be reordered: of a sum of products any order is as good as any other, and only a
# reordered one is vectorised. Marginals hang on it, samples do not.
@for_numbers(inner, jit_options={"fastmath": {"reassoc"}})
def _inner(x, y):
    if is_wide(x):

        def wide(x, y):
            total = (0.0, ZERO)
            for j in range(x[0].shape[0]):
                total = wide_add(total, normal(x[0][j] * y[0][j], x[1][j] + y[1][j]))
            return total

        return wide

    def real(x, y):
        total = 0.0
        for j in range(x.shape[0]):
            total += x[j] * y[j]
        return total

    return real


@for_numbers(zero)
def _zero(array):
    if is_wide(array):
        return lambda array: (0.0, ZERO)
    return lambda array: 0.0


@for_numbers(one)
def _one(array):
    if is_wide(array):
        return lambda array: (1.0, 0)
    return lambda array: 1.0


@for_numbers(add)
def _add(x, y):
    if is_wide(x):
        return lambda x, y: wide_add(x, y)
    return lambda x, y: x + y


@for_numbers(subtract)
def _subtract(x, y):
    if is_wide(x):
        return lambda x, y: wide_add(x, (-y[0], y[1]))
    return lambda x, y: x - y


@for_numbers(multiply)
def _multiply(x, y):
    if is_wide(x):
        return lambda x, y: normal(x[0] * y[0], x[1] + y[1])
    return lambda x, y: x * y


@for_numbers(divide)
def _divide(x, y):
    if is_wide(x):
        return lambda x, y: normal(x[0] / y[0], x[1] - y[1])
    return lambda x, y: x / y


@for_numbers(scale)
def _scale(x, factor):
    if is_wide(x):
        return lambda x, factor: normal(x[0] * factor, x[1])
    return lambda x, factor: x * factor


@for_numbers(is_positive)
def _is_positive(x):
    if is_wide(x):
        return lambda x: x[0] > 0.0
    return lambda x: x > 0.0


@for_numbers(is_negative)
def _is_negative(x):
    if is_wide(x):
        return lambda x: x[0] < 0.0
    return lambda x: x < 0.0


@for_numbers(is_less)
def _is_less(x, y):
    if is_wide(x):
        return lambda x, y: x[1] < y[1] or (x[1] == y[1] and x[0] < y[0])
    return lambda x, y: x < y


@for_numbers(logarithm)
def _logarithm(x):
    if is_wide(x):
        return lambda x: math.log(x[0]) + x[1] * LOG_RADIX
    return lambda x: math.log(x)


@for_numbers(as_float)
def _as_float(x):
    if is_wide(x):
        return lambda x: math.ldexp(x[0], 512 * min(max(x[1], -4), 4))
    return lambda x: x


@for_numbers(from_wide)
def _from_wide(array, x):
    if is_wide(array):
        return lambda array, x: x
    return lambda array, x: as_float(x)


@for_numbers(length)
def _length(array):
    if is_wide(array):
        return lambda array: array[0].shape[0]
    return lambda array: array.shape[0]


@for_numbers(reaches)
def _reaches(array, log_value):
    if is_wide(array):
        return lambda array, log_value: True
    return lambda array, log_value: log_value > SAFE_LOG
