"""Vectors (`operations.py`) in machine code: a type of numbers, and what each of their functions is for LLVM."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic, models, overload, register_model

from deptree_cli.kernels.kept import LINE


class Vector(types.Type):
    """The type of a vector in machine code."""

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
def _load_from(typing, x, j, stop):
    kind = Vector(x.dtype)

    def code(context, builder, signature, given):
        place, mask = _masked(context, builder, signature.args[0], given, kind)
        vector = context.get_value_type(kind)
        return _masked_call(builder, "load", vector, [place, *_aligned(kind), mask, ir.Constant(vector, None)])

    return kind(x, types.int64, types.int64), code


@intrinsic
def _store_from(typing, x, j, stop, vector):
    def code(context, builder, signature, given):
        place, mask = _masked(context, builder, signature.args[0], given, vector)
        is_full = builder.icmp_signed("<=", builder.add(given[1], ir.Constant(ir.IntType(64), vector.count)), given[2])
        with builder.if_else(is_full, likely=True) as (full, partial):
            with full:
                builder.store(given[3], place, align=LINE // vector.count)
            with partial:
                _masked_call(builder, "store", ir.VoidType(), [given[3], place, *_aligned(vector), mask])
        return context.get_dummy_value()

    return types.void(x, types.int64, types.int64, vector), code


def _masked(context, builder, kind_of_array, given, kind):
    """The place of a vector from number j of an array on, and which of its lanes are before number `stop`."""
    array, j, stop = given[:3]
    data = builder.gep(context.make_array(kind_of_array)(context, builder, array).data, [j])
    integers = ir.VectorType(ir.IntType(64), kind.count)
    left = _everywhere(builder, builder.sub(stop, j), integers)
    mask = builder.icmp_signed("<", ir.Constant(integers, list(range(kind.count))), left)
    return builder.bitcast(data, context.get_value_type(kind).as_pointer()), mask


def _masked_call(builder, what, returned, given):
    vector = given[0].type if what == "store" else returned
    name = f"llvm.masked.{what}.v{vector.count}f{32 if isinstance(vector.element, ir.FloatType) else 64}.p0"
    signature = ir.FunctionType(returned, [each.type for each in given])
    return builder.call(builder.module.globals.get(name) or ir.Function(builder.module, signature, name), given)


def _aligned(kind):
    """The argument that tells a masked instruction how its place is aligned: as any number is."""
    return [ir.Constant(ir.IntType(32), LINE // kind.count)]


@intrinsic
def _add_across(typing, x):
    def code(context, builder, signature, given):
        return _fold(builder, given[0], x.count, lambda a, b: builder.fadd(a, b))

    return x.dtype(x), code


@intrinsic
def _largest(typing, x):
    def code(context, builder, signature, given):
        return _fold(builder, given[0], x.count, lambda a, b: _larger_of(builder, a, b))

    return x.dtype(x), code


@intrinsic
def _larger(typing, x, y):
    return x(x, y), lambda context, builder, signature, given: _larger_of(builder, *given)


def _larger_of(builder, x, y):
    return builder.select(builder.fcmp_ordered("<", x, y), y, x)


def _fold(builder, vector, count, join):
    """A vector's halves joined, then the halves of that, and so on."""
    while count > 1:
        count //= 2
        halves = (
            builder.shuffle_vector(vector, vector, ir.Constant(ir.VectorType(ir.IntType(32), count), list(lanes)))
            for lanes in (range(count), range(count, 2 * count))
        )
        vector = join(*halves)
    return builder.extract_element(vector, _lane(0))


@intrinsic
def _fill(typing, x):
    kind = Vector(x)

    def code(context, builder, signature, given):
        return _everywhere(builder, given[0], context.get_value_type(kind))

    return kind(x), code


def _everywhere(builder, x, vector):
    first = builder.insert_element(ir.Constant(vector, ir.Undefined), x, _lane(0))
    return builder.shuffle_vector(first, first, ir.Constant(ir.VectorType(ir.IntType(32), vector.count), None))


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


def implement(
    load: Any, store: Any, load_from: Any, store_from: Any, everywhere: Any, larger: Any, largest: Any, add_across: Any
) -> None:
    """Have these functions compiled to what is above; numba hands an intrinsic its first argument, `typing`, itself."""
    overload(load)(lambda line: lambda line: _load(line))  # type: ignore[call-arg]
    overload(store)(lambda line, x: lambda line, x: _store(line, x))  # type: ignore[call-arg]
    overload(load_from)(lambda x, j, stop: lambda x, j, stop: _load_from(x, j, stop))  # type: ignore[call-arg]
    overload(store_from)(lambda x, j, stop, vector: lambda x, j, stop, vector: _store_from(x, j, stop, vector))  # type: ignore[call-arg]
    overload(everywhere)(lambda x: lambda x: _fill(x))  # type: ignore[call-arg]
    overload(larger)(lambda x, y: lambda x, y: _larger(x, y))  # type: ignore[call-arg]
    overload(largest)(lambda x: lambda x: _largest(x))  # type: ignore[call-arg]
    overload(add_across)(lambda x: lambda x: _add_across(x))  # type: ignore[call-arg]
