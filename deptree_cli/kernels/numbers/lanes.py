"""Numbers of several sentences side by side, a sentence in each lane of vector registers: float64 or float32.

An array of them is a plain array with one axis more, of as many numbers as a cache line holds, and a number is such a
line, loaded as a whole: LLVM does not vectorise over sentences by itself, since a store could change what is loaded
next. What one lane holds never depends on the others.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic, models, overload, register_model

from deptree_cli.kernels.numbers import operations as ops

LINE = 64  # bytes of a number


class Lanes(NamedTuple):
    """An array of numbers: values has one axis more, the lanes."""

    values: Any


def lane_count(dtype: Any) -> int:
    """Return how many sentences there are side by side."""
    return LINE // np.dtype(dtype).itemsize


class Vector(types.Type):
    """The type of a number in machine code; in Python it is a plain array."""

    instance_class = np.ndarray

    def __init__(self, dtype: Any) -> None:
        self.dtype = dtype
        super().__init__(name=f"Vector({dtype})")

    @property
    def count(self) -> int:
        """The number of lanes."""
        return LINE * 8 // int(self.dtype.bitwidth)


@register_model(Vector)
class _Register(models.PrimitiveModel):
    def __init__(self, manager: Any, kind: Vector) -> None:
        super().__init__(manager, kind, ir.VectorType(manager.lookup(kind.dtype).get_value_type(), kind.count))


@intrinsic
def _load(typing, line):
    kind = Vector(line.dtype)

    def code(context, builder, signature, given):
        return builder.load(_place(context, builder, signature.args[0], given[0], kind), align=LINE // kind.count)

    return kind(line), code


@intrinsic
def _store(typing, line, x):
    def code(context, builder, signature, given):
        place = _place(context, builder, *signature.args[:1], given[0], x)
        builder.store(given[1], place, align=LINE // x.count)
        return context.get_dummy_value()

    return types.void(line, x), code


def _place(context, builder, kind_of_line, line, kind):
    """Where a line begins, as the place of a vector."""
    data = context.make_array(kind_of_line)(context, builder, line).data
    return builder.bitcast(data, context.get_value_type(kind).as_pointer())


@intrinsic
def _fill(typing, x):
    kind = Vector(x)

    def code(context, builder, signature, given):
        first = builder.insert_element(ir.Constant(context.get_value_type(kind), ir.Undefined), given[0], _lane(0))
        mask = ir.Constant(ir.VectorType(ir.IntType(32), kind.count), None)
        return builder.shuffle_vector(first, first, mask)

    return kind(x), code


def _lane(i: int) -> ir.Constant:
    return ir.Constant(ir.IntType(32), i)


def _lane_by_lane(symbol: Callable[..., Any], instruction: str) -> None:
    """Give vectors an operator of Python, as an instruction of LLVM."""

    @intrinsic
    def compute(typing, x, y):
        return x(x, y), lambda context, builder, signature, given: getattr(builder, instruction)(*given)

    @overload(symbol)
    def body_for(x, y):
        return (lambda x, y: compute(x, y)) if isinstance(x, Vector) and isinstance(y, Vector) else None


for _symbol, _instruction in {"add": "fadd", "sub": "fsub", "mul": "fmul", "truediv": "fdiv"}.items():
    _lane_by_lane(getattr(operator, _symbol), _instruction)


def load(line: Any) -> Any:
    """Return the number that a line of an array holds."""
    return line.copy()


def store(line: Any, x: Any) -> None:
    """Overwrite a line of an array."""
    line[:] = x


def everywhere(x: Any) -> Any:
    """Return a number that is x in each lane."""
    return np.full(lane_count(x.dtype), x)


# numba hands an intrinsic its first argument, `typing`, by itself
overload(load)(lambda line: lambda line: _load(line))  # type: ignore[call-arg]
overload(store)(lambda line, x: lambda line, x: _store(line, x))  # type: ignore[call-arg]
overload(everywhere)(lambda x: lambda x: _fill(x))  # type: ignore[call-arg]


@ops.get.register(Lanes)
def _get(array, index):
    return load(array.values[index])


@ops.put.register(Lanes)
def _put(array, index, x):
    store(array.values[index], x)


@ops.row.register(Lanes)
def _row(array, i):
    return Lanes(array.values[i])


@ops.length.register(Lanes)
def _length(array):
    return array.values.shape[0]


@ops.zero.register(Lanes)
def _zero(array):
    return everywhere(array.values.dtype.type(0.0))


@ops.one.register(Lanes)
def _one(array):
    return everywhere(array.values.dtype.type(1.0))


@ops.is_positive.register(np.ndarray)
def _is_positive(x):
    return True  # nobody's sum stops that of others: what a pivot of 0 leads to, stays in its lane
