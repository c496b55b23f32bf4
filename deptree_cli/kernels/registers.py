"""Vectors (`operations.py`) in machine code: a type of numbers, and what each of their functions is for LLVM.

Imported before the first kernel is compiled.
"""

from __future__ import annotations

import operator
from functools import partial
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import lower_builtin, models, register_model, type_callable

from deptree_cli.kernels import operations as ops
from deptree_cli.kernels.kept import LINE

INT, LANE = ir.IntType(64), ir.IntType(32)


class Vector(types.Type):
    """The type of a vector in machine code."""

    instance_class = np.ndarray

    def __init__(self, dtype: Any) -> None:
        self.dtype, self.count = dtype, LINE * 8 // int(dtype.bitwidth)
        super().__init__(name=f"Vector({dtype})")


@register_model(Vector)
class _Register(models.PrimitiveModel):
    def __init__(self, manager: Any, kind: Vector) -> None:
        super().__init__(manager, kind, ir.VectorType(manager.lookup(kind.dtype).get_value_type(), kind.count))


def _code(function: Any, signature: Any) -> Any:
    """Have a function compiled to the instructions that another one writes; a decorator."""
    type_callable(function)(lambda context: signature)
    return lower_builtin(function, types.VarArg(types.Any))


@_code(ops.load, lambda line: Vector(line.dtype)(line))
def _load(context, builder, signature, given):
    place = _place(context, builder, signature.args[0], given[0], signature.return_type)
    return builder.load(place, align=LINE // signature.return_type.count)


@_code(ops.store, lambda line, x: types.void(line, x))
def _store(context, builder, signature, given):
    line, vector = signature.args
    builder.store(given[1], _place(context, builder, line, given[0], vector), align=LINE // vector.count)
    return context.get_dummy_value()


@_code(ops.load_from, lambda x, j, stop: Vector(x.dtype)(x, types.int64, types.int64))
def _load_from(context, builder, signature, given):
    array, j, stop = given
    place = _place(context, builder, signature.args[0], array, signature.return_type, j)
    mask = _before(builder, signature.return_type.count, j, stop)
    zeros = ir.Constant(context.get_value_type(signature.return_type), None)
    return _masked_call(builder, "load", zeros.type, [place, LANE(LINE // zeros.type.count), mask, zeros])


@_code(ops.store_from, lambda x, j, stop, vector: types.void(x, types.int64, types.int64, vector))
def _store_from(context, builder, signature, given):
    array, j, stop, x = given
    place, mask = (
        _place(context, builder, signature.args[0], array, signature.args[3], j),
        _before(builder, x.type.count, j, stop),
    )
    is_full = builder.icmp_signed("<=", builder.add(j, ir.Constant(INT, x.type.count)), stop)
    with builder.if_else(is_full, likely=True) as (full, partly):
        with full:
            builder.store(x, place, align=LINE // x.type.count)
        with partly:
            _masked_call(builder, "store", ir.VoidType(), [x, place, LANE(LINE // x.type.count), mask])
    return context.get_dummy_value()


def _place(context, builder, kind, array, vector, j=None):
    """The place of a vector in an array, from number j on."""
    data = context.make_array(kind)(context, builder, array).data
    return builder.bitcast(builder.gep(data, [j]) if j else data, context.get_value_type(vector).as_pointer())


def _before(builder, count, j, stop):
    """Which lanes of a vector from number j on are before number `stop`."""
    integers = ir.VectorType(INT, count)
    left = _everywhere(builder, builder.sub(stop, j), integers)
    return builder.icmp_signed("<", ir.Constant(integers, list(range(count))), left)


def _masked_call(builder, what, returned, given):
    vector = given[0].type if what == "store" else returned
    name = f"llvm.masked.{what}.v{vector.count}f{32 if isinstance(vector.element, ir.FloatType) else 64}.p0"
    signature = ir.FunctionType(returned, [each.type for each in given])
    return builder.call(builder.module.globals.get(name) or ir.Function(builder.module, signature, name), given)


@_code(ops.add_across, lambda x: x.dtype(x))
def _add_across(context, builder, signature, given):
    return _fold(builder, given[0], builder.fadd)


@_code(ops.largest, lambda x: x.dtype(x))
def _largest(context, builder, signature, given):
    return _fold(builder, given[0], partial(_larger_of, builder))


@_code(ops.larger, lambda x, y: x(x, y))
def _larger(context, builder, signature, given):
    return _larger_of(builder, *given)


def _larger_of(builder, x, y):
    return builder.select(builder.fcmp_ordered("<", x, y), y, x)


def _fold(builder, x, join):
    """A vector's halves joined, then the halves of that, and so on."""
    count = x.type.count
    while count > 1:
        count //= 2
        lanes = ir.VectorType(LANE, count)
        halves = (ir.Constant(lanes, list(each)) for each in (range(count), range(count, 2 * count)))
        x = join(*(builder.shuffle_vector(x, x, half) for half in halves))
    return builder.extract_element(x, LANE(0))


@_code(ops.everywhere, lambda x: Vector(x)(x))
def _fill(context, builder, signature, given):
    return _everywhere(builder, given[0], context.get_value_type(signature.return_type))


def _everywhere(builder, x, vector):
    first = builder.insert_element(ir.Constant(vector, ir.Undefined), x, LANE(0))
    return builder.shuffle_vector(first, first, ir.Constant(ir.VectorType(LANE, vector.count), None))


# Operators of Python, lane by lane: each is an instruction of LLVM.
for _symbol, _name in {"add": "fadd", "sub": "fsub", "mul": "fmul", "truediv": "fdiv"}.items():
    _operator = getattr(operator, _symbol)
    type_callable(_operator)(lambda context: lambda x, y: x(x, y) if isinstance(x, Vector) and x == y else None)
    lower_builtin(_operator, Vector, Vector)(
        lambda context, builder, signature, given, name=_name: getattr(builder, name)(*given)
    )
