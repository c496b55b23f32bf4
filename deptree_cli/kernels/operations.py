"""The operations that sweeps are written in, and their bodies for float64 and float32."""

from __future__ import annotations

import math
from functools import partial, singledispatch, wraps
from importlib import import_module
from typing import Any

import numpy as np

from deptree_cli.kernels.budget import when_compiled
from deptree_cli.kernels.flags import kernel
from deptree_cli.kernels.kept import LINE

# What an operation is: a function of numbers that has a body for each kind of them.


def operation(body: Any = None, **options: Any) -> Any:
    """Return a function that chooses its body by the kind of its first argument; `body` is the one for float64.

    In Python `functools.singledispatch` chooses, at every call; in compiled code the same bodies are chosen by type
    while numba compiles, so that nothing is left of the choice. Other kinds add theirs with ``@operation.register``,
    under the same names of parameters.

    options: flags for the compiler, such as `forceinline`.
    """
    if body is None:
        return partial(operation, **options)
    choice = singledispatch(body)
    when_compiled(partial(_overload, choice, body, options))
    return choice


def _overload(choice: Any, body: Any, options: dict[str, Any]) -> None:
    """Let compiled code choose too."""
    from numba.extending import overload

    from deptree_cli.kernels.machine_code import WITHIN

    @overload(choice, jit_options=WITHIN | options)
    @wraps(body)
    def body_for(*kinds: Any) -> Any:
        return choice.dispatch(_class_of(kinds[0]))


def _class_of(kind: Any) -> type:
    """The Python class that stands for a numba type."""
    from numba import types

    if hasattr(kind, "instance_class"):  # tuples with names, and vectors
        return kind.instance_class
    if isinstance(kind, types.Float):
        return float
    if isinstance(kind, types.NoneType):
        return type(None)
    return tuple if isinstance(kind, types.BaseTuple) else object


# Vectors: as many float64 or float32 as a cache line holds, loaded, stored and computed with as a whole.
#
# In machine code they are registers (`registers.py`), in Python arrays.


def lane_count(dtype: Any) -> int:
    """Return how many numbers a vector holds."""
    return LINE // np.dtype(dtype).itemsize


def load(line: Any) -> Any:
    """Return the numbers that a line of an array holds."""
    return line.copy()


def store(line: Any, x: Any) -> None:
    """Overwrite a line of an array."""
    line[:] = x


def load_from(x: Any, j: int, stop: int) -> Any:
    """Return the numbers j, j + 1, ... of a row as a vector; 0 for those from `stop` on, which are not read."""
    found = np.zeros(lane_count(x.dtype), x.dtype)
    given = x[j : min(stop, j + len(found))]
    found[: len(given)] = given
    return found


def store_from(x: Any, j: int, stop: int, vector: Any) -> None:
    """Overwrite the numbers j, j + 1, ... of a row by a vector, up to `stop`."""
    into = x[j : min(stop, j + len(vector))]
    into[:] = vector[: len(into)]


def everywhere(x: Any) -> Any:
    """Return a vector that is x in each lane."""
    return np.full(lane_count(type(x)), x)


def larger(x: Any, y: Any) -> Any:
    """Return the larger number of each lane."""
    return np.maximum(x, y)


def add_across(x: Any) -> Any:
    """Return the sum of a vector's numbers: the halves are added, then the halves of that, and so on."""
    while len(x) > 1:
        x = x[: len(x) // 2] + x[len(x) // 2 :]
    return x[0]


def largest(x: Any) -> Any:
    """Return the largest of a vector's numbers."""
    return x.max()


when_compiled(partial(import_module, "deptree_cli.kernels.registers"))


# The operations that sweeps are written in, with their bodies for float64.
#
# A sweep is written once, over `get`, `put`, `add`, `subtract`, `multiply`, `divide`, ..., and runs on every kind of
# numbers: with plain arrays as here, with the wide, dual and other numbers of `numbers.py`.
# A kind is recognised by the Python class of the first argument.


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
def view(memory, start, size, shape):
    """Return a view of `size` numbers from a place on as an array of a shape."""
    return memory[start : start + size].reshape(shape)


@operation
def new(like, size):
    """Return memory for this many numbers of an array's kind."""
    return np.empty(size, like.dtype)


@operation
def set_zero(memory):
    """Store 0 in all places of an array."""
    memory[:] = 0.0


@operation
def put_rounded(array, index, x):
    """Store a number of any kind in an array of float64 or float32, or in one of its own kind."""
    array[index] = as_float(x)


@operation
def number(like, x):
    """Return a float64 as a number of an array's kind."""
    return x


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


@operation
def several(array, j, stop):
    """Return the numbers j, j + 1, ... of a row before `stop` at once, to be added and multiplied."""
    return load_from(array, j, stop)


@operation
def put_several(array, j, stop, x):
    """Store numbers at places j, j + 1, ... of a row before `stop`."""
    store_from(array, j, stop, x)


@operation
def spread(array, x):
    """Return the number x as several, for an array's kind."""
    return everywhere(x)


@operation
def sum_of(array, x):
    """Return the sum of several numbers of an array's kind, in an order that is written down."""
    return add_across(x)


at_once.register(tuple, lambda array: 1)
several.register(tuple, lambda array, j, stop: get(array, j))
put_several.register(tuple, lambda array, j, stop, x: put(array, j, x))
spread.register(tuple, lambda array, x: x)
sum_of.register(tuple, lambda array, x: x)


@operation
def zero(array):
    """Return the number 0 of an array's kind."""
    return array.dtype.type(0.0)


zero.register(float, lambda array: 0.0)


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

    get.register(kind, lambda array, index: make(get(array[0], index), get(array[1], index)))
    new.register(kind, lambda like, size: make(new(like[0], size), new(like[1], size)))
    row.register(kind, lambda array, i: make(row(array[0], i), row(array[1], i)))
    part.register(kind, lambda array, start, stop: make(part(array[0], start, stop), part(array[1], start, stop)))
    length.register(kind, lambda array: length(array[0]))

    @view.register(kind)
    def _view(memory, start, size, shape):
        return make(view(memory[0], start, size, shape), view(memory[1], start, size, shape))

    @put.register(kind)
    def _put(array, index, x):
        put(array[0], index, x[0])
        put(array[1], index, x[1])

    @put_rounded.register(kind)
    def _put_rounded(array, index, x):
        put_rounded(array[0], index, x[0])
        put_rounded(array[1], index, x[1])

    @set_zero.register(kind)
    def _set_zero(memory):
        set_zero(memory[0])
        set_zero(memory[1])
