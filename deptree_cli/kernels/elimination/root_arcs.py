"""Other arcs from ROOT in the factors of a sentence with a single root: no pivot depends on them, so each costs O(n^2).

Factors and kinds of numbers are as of `sweeps.py`; nothing is subtracted here.
"""

from __future__ import annotations

from deptree_cli.kernels.elimination.panels import add_product
from deptree_cli.kernels.flags import kernel
from deptree_cli.kernels.numbers.operations import (
    divide,
    get,
    inner,
    is_positive,
    length,
    multiply,
    one,
    part,
    put,
    row,
    zero,
)


@kernel
def fix_root(W, place):
    """Leave ROOT the one arc to the word at a place, with weight 1: rewrite row 0 of an arc matrix or of factors."""
    root = row(W, 0)
    for j in range(length(root)):
        put(root, j, zero(root))
    put(root, place, one(root))


@kernel
def eliminate_root(A, S):
    """Factorise row 0 of A anew, where other weights stand; S[1] becomes what has come to the last word."""
    root = row(A, 0)
    for m in range(length(S) - 1, 1, -1):
        share = divide(get(root, m), get(S, m))
        put(root, m, share)
        if is_positive(share):
            add_product(root, share, row(A, m), m)
    put(S, 1, get(root, 1))
    put(root, 1, one(S))


@kernel
def root_products(W, final_word, A, S, out):
    """Fill out (n+1,), zeros at first, with P(ROOT -> word): weights (n+1, n+1) by node times d log Z / d W[0, j]."""
    put(out, 1, divide(one(S), get(S, 1)))
    for m in range(2, length(S)):
        put(out, m, divide(inner(part(out, 1, m), part(row(A, m), 1, m)), get(S, m)))
    first = get(out, 1)
    put(out, 1, get(out, final_word))
    put(out, final_word, first)
    for j in range(1, length(S)):
        put(out, j, multiply(get(row(W, 0), j), get(out, j)))
