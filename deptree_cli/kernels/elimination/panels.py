"""What the words of a panel add to the arcs among all nodes before them, and the same backwards, for any numbers.

These are products of matrices, where nearly all of elimination's time goes. float64 has four words at once in every
pass over memory. Dual numbers take three products of their parts. Other kinds take the words one by one: their
arithmetic costs more than memory does, and four copies of it would take long to compile.

A panel is of the words start..stop-1, at most WIDTH; the nodes before it are 0..start-1.
"""

from __future__ import annotations

from deptree_cli.kernels.flags import Index, kernel
from deptree_cli.kernels.numbers.dual import Dual
from deptree_cli.kernels.numbers.lanes import Lanes
from deptree_cli.kernels.numbers.operation import operation
from deptree_cli.kernels.numbers.operations import (
    add,
    at_once,
    get,
    multiply_add,
    put,
    put_several,
    row,
    several,
    spread,
    sum_of,
    zero,
)

WIDTH = 4  # `add_four` and `add_four_backward` name them one by one


@operation
def add_detours(target, factors, detours, start, stop):
    """Add to the arcs target[i, j] among the nodes before a panel factors[i, k] * detours[k, j] for each of its words.

    All are (n+1, n+1).
    """
    if stop - start == WIDTH:
        add_four(target, factors, detours, start)
    else:
        add_each(target, factors, detours, start, stop)


@operation
def add_detours_backward(A, given, target, shares, start, stop):
    """Add to the adjoints of `add_detours`' factors and detours, both of them A, what those of its target are worth.

    given, target: (n+1, n+1), adjoints by node, of which target's are those of detours; shares: (WIDTH, n+1), those of
    the factors, a row for each word.
    """
    if stop - start == WIDTH:
        add_four_backward(A, given, target, shares, start)
    else:
        add_each_backward(A, given, target, shares, start, stop)


@add_detours.register(tuple)
def _add_detours(target, factors, detours, start, stop):
    add_each(target, factors, detours, start, stop)


@add_detours_backward.register(tuple)
def _add_detours_backward(A, given, target, shares, start, stop):
    add_each_backward(A, given, target, shares, start, stop)


# As in float64, not as other tuples.
add_detours.register(Lanes, add_detours.dispatch(float))
add_detours_backward.register(Lanes, add_detours_backward.dispatch(float))


@add_detours.register(Dual)
def _add_dual_detours(target, factors, detours, start, stop):
    add_detours(target.tangent, factors.tangent, detours.value, start, stop)
    add_detours(target.tangent, factors.value, detours.tangent, start, stop)
    add_detours(target.value, factors.value, detours.value, start, stop)


@add_detours_backward.register(Dual)
def _add_dual_detours_backward(A, given, target, shares, start, stop):
    add_detours_backward(A.tangent, given.value, target.tangent, shares.tangent, start, stop)
    add_detours_backward(A.value, given.tangent, target.tangent, shares.tangent, start, stop)
    add_detours_backward(A.value, given.value, target.value, shares.value, start, stop)


@kernel
def clear(target, stop):
    """Fill the first `stop` numbers with 0."""
    for j in range(Index(stop)):
        put(target, j, zero(target))


@kernel
def add_product(target, factor, source, stop):
    """Add factor * source to target, the first `stop` numbers of each."""
    for j in range(Index(stop)):
        put(target, j, multiply_add(get(target, j), factor, get(source, j)))


@kernel
def add_each(target, factors, detours, start, stop):
    """Do what `add_detours` does, a word after another."""
    for k in range(stop - 1, start - 1, -1):
        for i in range(start):
            add_product(row(target, i), get(row(factors, i), k), row(detours, k), start)


@kernel
def add_four(target, factors, detours, start):
    """Do what `add_detours` does, for a full panel."""
    first, second = row(detours, start + 3), row(detours, start + 2)
    third, fourth = row(detours, start + 1), row(detours, start)
    for i in range(start):
        given, into = row(factors, i), row(target, i)
        a, b, c, d = get(given, start + 3), get(given, start + 2), get(given, start + 1), get(given, start)
        for j in range(Index(start)):
            early = multiply_add(multiply_add(get(into, j), a, get(first, j)), b, get(second, j))
            put(into, j, multiply_add(multiply_add(early, c, get(third, j)), d, get(fourth, j)))


@kernel
def add_and_sum(target, factor, source, detours, stop):
    """Add factor * source to target, the first `stop` numbers of each; return their sum of source * detours."""
    factors = spread(source, factor)
    sums = spread(source, zero(source))
    for j in range(0, stop, at_once(source)):
        adjoint = several(source, j, stop)
        sums = multiply_add(sums, adjoint, several(detours, j, stop))
        put_several(target, j, stop, multiply_add(several(target, j, stop), factors, adjoint))
    return sum_of(source, sums)


@kernel
def add_each_backward(A, given, target, shares, start, stop):
    """Do what `add_detours_backward` does, a word after another."""
    for k in range(start, stop):
        share = row(shares, k - start)
        for i in range(start):
            found = add_and_sum(row(target, k), get(row(A, i), k), row(given, i), row(A, k), start)
            put(share, i, add(get(share, i), found))


@kernel
def add_four_backward(A, given, target, shares, start):
    """Do what `add_detours_backward` does, for a full panel."""
    A0, A1, A2, A3 = row(A, start), row(A, start + 1), row(A, start + 2), row(A, start + 3)
    J0, J1, J2, J3 = row(target, start), row(target, start + 1), row(target, start + 2), row(target, start + 3)
    of_0, of_1, of_2, of_3 = row(shares, 0), row(shares, 1), row(shares, 2), row(shares, 3)
    for i in range(start):
        source, factors = row(given, i), row(A, i)
        a, b, c, d = get(factors, start), get(factors, start + 1), get(factors, start + 2), get(factors, start + 3)
        a, b, c, d = spread(source, a), spread(source, b), spread(source, c), spread(source, d)
        of_a = of_b = of_c = of_d = spread(source, zero(source))
        for j in range(0, start, at_once(source)):
            adjoint = several(source, j, start)
            of_a = multiply_add(of_a, adjoint, several(A0, j, start))
            of_b = multiply_add(of_b, adjoint, several(A1, j, start))
            of_c = multiply_add(of_c, adjoint, several(A2, j, start))
            of_d = multiply_add(of_d, adjoint, several(A3, j, start))
            put_several(J0, j, start, multiply_add(several(J0, j, start), a, adjoint))
            put_several(J1, j, start, multiply_add(several(J1, j, start), b, adjoint))
            put_several(J2, j, start, multiply_add(several(J2, j, start), c, adjoint))
            put_several(J3, j, start, multiply_add(several(J3, j, start), d, adjoint))
        put(of_0, i, add(get(of_0, i), sum_of(source, of_a)))
        put(of_1, i, add(get(of_1, i), sum_of(source, of_b)))
        put(of_2, i, add(get(of_2, i), sum_of(source, of_c)))
        put(of_3, i, add(get(of_3, i), sum_of(source, of_d)))
