"""Dual numbers for the sweeps: a number of either kind (`arithmetic.py`) and its derivative in one direction.

Compiled for these, elimination and its reverse sweep differentiate the marginals: one sweep of each gives the
covariance of every arc with an additive function of trees (Zmigrod et al. 2021b's second-order quantities), O(n^3).
"""

from __future__ import annotations

from numba.extending import overload

from deptree_cli.kernels.arithmetic import (
    Dual,
    add,
    as_float,
    divide,
    get,
    inner,
    is_dual,
    is_less,
    is_positive,
    logarithm,
    multiply,
    one,
    part,
    put,
    row,
    subtract,
    zero,
)
from deptree_cli.kernels.flags import kernel


@overload(get)
def _get(array, index):
    if is_dual(array):
        return lambda array, index: Dual(get(array.value, index), get(array.tangent, index))
    return None


@overload(put)
def _put(array, index, x):
    if is_dual(array):

        def dual(array, index, x):
            put(array.value, index, x.value)
            put(array.tangent, index, x.tangent)

        return dual
    return None


@overload(row)
def _row(array, i):
    if is_dual(array):
        return lambda array, i: Dual(row(array.value, i), row(array.tangent, i))
    return None


@overload(part)
def _part(array, start, stop):
    if is_dual(array):
        return lambda array, start, stop: Dual(part(array.value, start, stop), part(array.tangent, start, stop))
    return None


@overload(inner)
def _inner(x, y):
    if is_dual(x):
        return lambda x, y: Dual(inner(x.value, y.value), add(inner(x.value, y.tangent), inner(x.tangent, y.value)))
    return None


@overload(zero)
def _zero(array):
    if is_dual(array):
        return lambda array: Dual(zero(array.value), zero(array.value))
    return None


@overload(one)
def _one(array):
    if is_dual(array):
        return lambda array: Dual(one(array.value), zero(array.value))
    return None


@overload(add)
def _add(x, y):
    if is_dual(x):
        return lambda x, y: Dual(add(x.value, y.value), add(x.tangent, y.tangent))
    return None


@overload(subtract)
def _subtract(x, y):
    if is_dual(x):
        return lambda x, y: Dual(subtract(x.value, y.value), subtract(x.tangent, y.tangent))
    return None


@overload(multiply)
def _multiply(x, y):
    if is_dual(x):
        return lambda x, y: Dual(
            multiply(x.value, y.value), add(multiply(x.value, y.tangent), multiply(x.tangent, y.value))
        )
    return None


@overload(divide)
def _divide(x, y):
    if is_dual(x):

        def dual(x, y):
            ratio = divide(x.value, y.value)
            return Dual(ratio, divide(subtract(x.tangent, multiply(ratio, y.tangent)), y.value))

        return dual
    return None


@overload(is_positive)
def _is_positive(x):
    if is_dual(x):
        return lambda x: is_positive(x.value)
    return None


@overload(is_less)
def _is_less(x, y):
    if is_dual(x):
        return lambda x, y: is_less(x.value, y.value)
    return None


@overload(logarithm)
def _logarithm(x):
    if is_dual(x):
        return lambda x: logarithm(x.value)
    return None


@kernel
def arc_covariances(weights, adjoints, order, out):
    """out[h, d] = the derivative of P(h -> d), (n+1, n+1) by node: `elimination.arc_marginals` for dual numbers."""
    n = order.shape[0]
    for a in range(n + 1):
        head = order[a] if a < n else n
        for b in range(n):
            weight = get(row(weights, head), order[b])
            if is_positive(weight):
                x = multiply(weight, get(row(adjoints, a), b))
                out[head + 1 if head < n else 0, order[b] + 1] = as_float(x.tangent)
