"""Dual numbers: a number of either kind, float64 or wide, with its derivative in one direction.

Elimination and its reverse sweep, run on these, differentiate the marginals: one sweep of each gives the covariance of
every arc with an additive function of trees (the second-order quantities of Zmigrod et al. 2021b), O(n^3).
"""

from __future__ import annotations

from typing import NamedTuple

from deptree_cli.kernels.numbers import operations as ops
from deptree_cli.kernels.numbers.operations import add, divide, inner, multiply, multiply_add, scale, subtract, zero


class Dual(NamedTuple):
    """A number or an array of numbers of either kind, and the derivatives, of the same kind and shape."""

    value: object
    tangent: object


ops.treat_parts_alike(Dual, Dual)


@ops.inner.register(Dual)
def _inner(x, y):
    return Dual(inner(x.value, y.value), add(inner(x.value, y.tangent), inner(x.tangent, y.value)))


@ops.multiply_add.register(Dual)
def _multiply_add(total, x, y):
    tangent = multiply_add(multiply_add(total.tangent, x.value, y.tangent), x.tangent, y.value)
    return Dual(multiply_add(total.value, x.value, y.value), tangent)


@ops.zero.register(Dual)
def _zero(array):
    return Dual(zero(array.value), zero(array.value))


@ops.one.register(Dual)
def _one(array):
    return Dual(ops.one(array.value), zero(array.value))


@ops.add.register(Dual)
def _add(x, y):
    return Dual(add(x.value, y.value), add(x.tangent, y.tangent))


@ops.subtract.register(Dual)
def _subtract(x, y):
    return Dual(subtract(x.value, y.value), subtract(x.tangent, y.tangent))


@ops.multiply.register(Dual)
def _multiply(x, y):
    return Dual(multiply(x.value, y.value), add(multiply(x.value, y.tangent), multiply(x.tangent, y.value)))


@ops.divide.register(Dual)
def _divide(x, y):
    ratio = divide(x.value, y.value)
    return Dual(ratio, divide(subtract(x.tangent, multiply(ratio, y.tangent)), y.value))


@ops.scale.register(Dual)
def _scale(x, factor):
    return Dual(scale(x.value, factor), scale(x.tangent, factor))


@ops.is_positive.register(Dual)
def _is_positive(x):
    return ops.is_positive(x.value)


@ops.is_negative.register(Dual)
def _is_negative(x):
    return ops.is_negative(x.value)


@ops.is_less.register(Dual)
def _is_less(x, y):
    return ops.is_less(x.value, y.value)


# What leaves the arithmetic, and what is not differentiated, is the value's.
@ops.logarithm.register(Dual)
def _logarithm(x):
    return ops.logarithm(x.value)


@ops.as_float.register(Dual)
def _as_float(x):
    return ops.as_float(x.value)


@ops.from_wide.register(Dual)
def _from_wide(array, x):
    return Dual(ops.from_wide(array.value, x), zero(array.value))


@ops.reaches.register(Dual)
def _reaches(array, log_value):
    return ops.reaches(array.value, log_value)


@ops.tolerance.register(Dual)
def _tolerance(array):
    return ops.tolerance(array.value)
