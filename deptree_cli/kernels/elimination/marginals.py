"""Both sweeps of elimination for one sentence whose words stand in their own order: log Z and marginals of arcs.

Elimination wants a word first that reaches all others: that word and word 1 change places in the factors. Weights `W`
and results (n+1, n+1) are by node. The rest is as of `sweeps.py`.
"""

from __future__ import annotations

from deptree_cli.kernels.elimination.sweeps import eliminate, eliminate_backward
from deptree_cli.kernels.flags import Index, kernel
from deptree_cli.kernels.numbers.operations import (
    add,
    as_float,
    get,
    is_positive,
    length,
    multiply,
    put,
    row,
    tolerance,
    zero,
)


@kernel
def swap_words(arcs, a, b):
    """Exchange the rows a and b of a matrix and its columns a and b."""
    if a == b:
        return
    first, second = row(arcs, a), row(arcs, b)
    for j in range(length(first)):
        x = get(first, j)
        put(first, j, get(second, j))
        put(second, j, x)
    for i in range(length(arcs)):
        x = get(arcs, (i, a))
        put(arcs, (i, a), get(arcs, (i, b)))
        put(arcs, (i, b), x)


@kernel
def factorise(W, final_word, A, S, workspace, single_root):
    """Fill A with the factors of an arc matrix and S with its pivots, the final word first; see `eliminate`."""
    for i in range(length(S)):
        target, given = row(A, i), row(W, i)
        for j in range(Index(length(S))):
            put(target, j, get(given, j))
    swap_words(A, final_word, 1)
    return eliminate(A, S, workspace, single_root)


@kernel
def arc_marginals(W, final_word, A, S, adjoints, workspace, single_root, out):
    """Fill out (n+1, n+1) with the marginals of arcs from factors: weights times adjoints.

    Tangents of dual numbers are covariances. adjoints (n+1, n+1): to compute in. Returns whether the probabilities of
    each word's heads sum to 1, in numbers that an array of their kind holds: row 0 of the workspace has the sums.
    """
    eliminate_backward(A, S, adjoints, workspace, single_root)
    swap_words(adjoints, final_word, 1)
    return put_products(W, adjoints, row(row(workspace, 0), 0), out)


@kernel
def put_products(W, adjoints, totals, out):
    """Fill out (n+1, n+1) with products and totals (n+1,) with their sums; return whether the sums are near 1.

    An arc of weight 0 keeps 0 whatever its adjoint, which may be too large for a float64; and so does one whose product
    is -1e-17, because the sweep rounded where it subtracted.
    """
    nodes = length(W)
    for j in range(nodes):
        put(totals, j, zero(totals))
    for i in range(nodes):
        add_row(row(W, i), row(adjoints, i), nodes, totals, row(out, i))
    in_range = True
    for j in range(1, nodes):
        in_range = in_range and abs(as_float(get(totals, j)) - 1.0) < tolerance(totals)
    return in_range


@kernel(forceinline=True)
def add_row(weights, adjoints, nodes, totals, out):
    """Put a row's products into a row of `out`, and add them to the totals (n+1,)."""
    for j in range(Index(nodes)):
        weight, none = get(weights, j), zero(weights)
        x = multiply(weight, get(adjoints, j)) if is_positive(weight) else none
        put(totals, j, add(get(totals, j), x))
        put(out, j, x if is_positive(x) else none)
