"""The operations that sweeps are written in, with their bodies for float64.

A sweep is written once, over `get`, `put`, `add`, `subtract`, `multiply`, `divide`, ..., and runs on every kind of
numbers: with plain arrays as here, with wide numbers as in `wide.py`, with dual numbers as in `dual.py`. A kind is
recognised by the Python class of the first argument.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from deptree_cli.kernels.flags import kernel
from deptree_cli.kernels.numbers.operation import operation
from deptree_cli.kernels.numbers.vectors import add_across, everywhere, load_from, store_from
from deptree_cli.kernels.portable import LINE

SAFE_LOG = -300.0  # how far float64 is trusted: its smallest normal number is e^-708
SAFE_LOG_SINGLE = -60.0  # the same of float32, e^-87


@operation
def get(array, index):
    """Return the number at an index, which is an integer or a pair of integers."""
    return array[index]


@operation
def put(array, index, x):
    """Store the number x at an index."""
    array[index] = x


@operation
def row(array, i):
    """Return a view of row i."""
    return array[i]


@operation
def part(array, start, stop):
    """Return a view of the numbers start..stop-1 of a row; only loops over a view from 0 are vectorised."""
    return array[start:stop]


@operation
def inner(x, y):
    """Return the sum of the products of two rows' numbers."""
    return sum_of_products(x, y)


@kernel
def sum_of_products(x, y):
    """Return the sum of x[j] * y[j]: lane by lane of vectors, then of the lanes.

    The order is written down, not left to the compiler, so that Python and every processor come to the same digits.
    """
    stop, sums = x.shape[0], everywhere(x.dtype.type(0.0))
    for j in range(0, stop, LINE // x.itemsize):
        sums = sums + load_from(x, j, stop) * load_from(y, j, stop)
    return add_across(sums)


@operation
def multiply_add(total, x, y):
    """Return total + x * y."""
    return total + x * y


@operation
def at_once(array):
    """Return how many numbers of a row `several` takes: as many as a vector holds, one of other kinds."""
    return LINE // array.itemsize


@at_once.register(tuple)
def _at_once(array):
    return 1


@operation
def several(array, j, stop):
    """Return the numbers j, j + 1, ... of a row before `stop` at once, to be added and multiplied."""
    return load_from(array, j, stop)


@several.register(tuple)
def _several(array, j, stop):
    return get(array, j)


@operation
def put_several(array, j, stop, x):
    """Store numbers at places j, j + 1, ... of a row before `stop`."""
    store_from(array, j, stop, x)


@put_several.register(tuple)
def _put_several(array, j, stop, x):
    put(array, j, x)


@operation
def spread(array, x):
    """Return the number x as several, for an array's kind."""
    return everywhere(x)


@spread.register(tuple)
def _spread(array, x):
    return x


@operation
def sum_of(array, x):
    """Return the sum of several numbers of an array's kind, in an order that is written down."""
    return add_across(x)


@sum_of.register(tuple)
def _sum_of(array, x):
    return x


@operation
def zero(array):
    """Return the number 0 of an array's kind."""
    return array.dtype.type(0.0)


@zero.register(float)
def _zero(array):
    return 0.0


@operation
def one(array):
    """Return the number 1 of an array's kind."""
    return array.dtype.type(1.0)


@operation
def add(x, y):
    """Return x + y."""
    return x + y


@operation
def subtract(x, y):
    """Return x - y."""
    return x - y


@operation
def multiply(x, y):
    """Return x * y."""
    return x * y


@operation
def divide(x, y):
    """Return x / y."""
    return x / y


@operation
def scale(x, factor):
    """Return x times a float64."""
    return x * factor


@operation
def is_positive(x):
    """Return whether x > 0."""
    return x > 0.0


@operation
def is_negative(x):
    """Return whether x < 0."""
    return x < 0.0


@operation
def is_less(x, y):
    """Return whether x < y, neither being negative unless they are scores."""
    return x < y


@operation
def logarithm(x):
    """Return the natural logarithm of a positive number, a float64."""
    return math.log(np.float64(x))


@operation
def as_float(x):
    """Return the nearest float64; 0 or inf beyond its range."""
    return x


@operation
def from_wide(array, x):
    """Return the wide number x as a number of an array's kind."""
    return as_float(x)


@operation
def length(array):
    """Return how many rows or numbers an array has."""
    return array.shape[0]


@operation
def reaches(array, log_value):
    """Return whether sums and products of an array's kind of numbers are sound down to e^log_value."""
    return log_value > (SAFE_LOG if array.itemsize == 8 else SAFE_LOG_SINGLE)


@operation
def tolerance(array):
    """Return by how much sums of an array's kind of numbers may fail to be 1 where they should."""
    return 1e-9 if array.itemsize == 8 else 1e-5


def treat_parts_alike(kind: Any, make: Any) -> None:
    """Register the bodies of a kind of two parts that do the same with both; `make` makes a number or an array of them.

    A part is a number or an array of another kind.
    """

    @get.register(kind)
    def _get(array, index):
        return make(get(array[0], index), get(array[1], index))

    @put.register(kind)
    def _put(array, index, x):
        put(array[0], index, x[0])
        put(array[1], index, x[1])

    @row.register(kind)
    def _row(array, i):
        return make(row(array[0], i), row(array[1], i))

    @part.register(kind)
    def _part(array, start, stop):
        return make(part(array[0], start, stop), part(array[1], start, stop))

    @length.register(kind)
    def _length(array):
        return length(array[0])
