"""Ancestral sampling (Colbourn, Myrvold, Neufeld 1996): word by word from exact conditionals, in O(n^3) a tree.

Where the papers update an inverse (Zmigrod et al. 2021a, Fig. 5; Stanojevic 2022, Alg. 7 and 8) and subtract nearly
equal numbers on peaked weights, this recursion eliminates the second half of the words, draws the heads of the first
half, and then goes on to the second: the same order of draws, the same cost, no subtraction.

Level l of the recursion describes the walk "go to your head" as seen from an interval [low, high) of positions:
H[l][x, v] is the weight of reaching v in [low, high) from x, and R[l][x] that of reaching the root, all words outside
the interval without a head being left out.
"""

from __future__ import annotations

import numpy as np

from deptree_cli.kernels.categorical import draw_categorical
from deptree_cli.kernels.flags import kernel
from deptree_cli.kernels.numbers.operations import (
    add,
    divide,
    get,
    is_positive,
    multiply,
    one,
    put,
    row,
    zero,
)


@kernel
def draw_ancestral(weights, roots, state, H, R, pick, heads):
    """Fill heads (k, n) with arborescences rooted at the nodes roots[i] (0, or a word that then gets head 0).

    weights: numbers (n+1, n+1), ``[head, dependent]``; H (levels, n, n), R (levels, n) and pick (n+1,): to compute in,
    of the same kind, with levels at least 2 + log2(n); state: of `xoshiro.py`.
    """
    n = heads.shape[1]
    words = np.empty(n, np.int64)
    head_at = np.empty(n + 1, np.int64)
    for i in range(heads.shape[0]):
        count = 0
        for word in range(1, n + 1):
            if word != roots[i]:
                words[count] = word
                count += 1
        if roots[i] > 0:
            heads[i, roots[i] - 1] = 0
        start_level(weights, roots[i], words[:count], row(H, 0), row(R, 0))
        draw_words(weights, roots[i], words[:count], head_at, state, H, R, pick)
        for x in range(count):
            heads[i, words[x] - 1] = roots[i] if head_at[x] == count else words[head_at[x]]


@kernel
def start_level(weights, root, words, H0, R0):
    """Fill H0 and R0, the level of the whole interval, with the weights as they are, dependents in rows."""
    for x in range(words.shape[0]):
        Hx = row(H0, x)
        for v in range(words.shape[0]):
            put(Hx, v, zero(R0) if x == v else get(row(weights, words[v]), words[x]))
        put(R0, x, get(row(weights, root), words[x]))


@kernel
def draw_words(weights, root, words, head_at, state, H, R, pick):
    """Fill head_at with the drawn heads of positions 0, 1, ..., depth first through the halves.

    A head is a position, or len(words) for the root.
    """
    count = words.shape[0]
    low = np.zeros(64, np.int64)
    high = np.zeros(64, np.int64)
    visits = np.zeros(64, np.int64)
    high[0] = count
    level = 0 if count > 0 else -1
    while level >= 0:
        a, b = low[level], high[level]
        if b - a == 1:
            draw_position(weights, root, words, head_at, a, row(R, level), state, pick)
            level -= 1
        elif visits[level] == 2:
            level -= 1
        else:
            middle = (a + b) >> 1
            if visits[level] == 0:
                leave_second_half(
                    row(H, level), row(R, level), row(H, level + 1), row(R, level + 1), a, middle, b, count
                )
                low[level + 1], high[level + 1] = a, middle
            else:
                leave_first_half(
                    row(H, level), row(R, level), row(H, level + 1), row(R, level + 1), a, middle, b, count, head_at
                )
                low[level + 1], high[level + 1] = middle, b
            visits[level] += 1
            level += 1
            visits[level] = 0


@kernel
def top_of(x, limit, head_at):
    """Return the first position on the path from x upwards that has no head yet, not being below `limit`."""
    while x < limit:
        x = head_at[x]
    return x


@kernel
def draw_position(weights, root, words, head_at, d, reach, state, pick):
    """Draw head_at[d], each head by its arc's weight times the probability of reaching the root from it before d."""
    count = words.shape[0]
    total = zero(reach)
    for x in range(count + 1):
        weight = get(row(weights, root if x == count else words[x]), words[d])
        top = top_of(x, d, head_at)
        if top == d:
            weight = zero(reach)
        elif top < count:
            weight = multiply(weight, get(reach, top))
        put(pick, x, weight)
        total = add(total, weight)
    head_at[d] = draw_categorical(pick, 0, count + 1, total, state)


@kernel
def copy_row(source, target, x, start, stop):
    """Copy columns start..stop-1 of row x from source to target."""
    Sx, Tx = row(source, x), row(target, x)
    for v in range(start, stop):
        put(Tx, v, get(Sx, v))


@kernel
def leave_second_half(H, R, H_next, R_next, a, middle, b, count):
    """Fill the next level for the first half [a, middle) of an interval [a, b) in which no word has a head yet."""
    for x in range(a, count):
        copy_row(H, H_next, x, a, b)
        put(R_next, x, get(R, x))
    for x in range(b - 1, middle - 1, -1):
        leave_out(H_next, R_next, x, a, x, a, count)


@kernel
def leave_first_half(H, R, H_next, R_next, a, middle, b, count, head_at):
    """Fill the next level for the second half [middle, b) of an interval [a, b).

    Words of the first half have heads by now, and pass everything on to the top of their tree.
    """
    for x in range(a, count):
        copy_row(H, H_next, x, a, b)
        put(R_next, x, get(R, x))
    for x in range(a, middle):
        follow_top(H, R, H_next, R_next, x, top_of(x, middle, head_at), a, b, count)
    for x in range(a, middle):
        leave_out(H_next, R_next, x, x + 1, b, a, count)


@kernel
def follow_top(H, R, H_next, R_next, x, top, a, b, count):
    """Fill row x of the next level for a word with a head, whose tree ends in `top`.

    That is the root, a word of the interval [a, b), or one left out before.
    """
    Hx = row(H_next, x)
    if top < count and top >= b:
        Ht = row(H, top)
        for v in range(a, b):
            put(Hx, v, get(Ht, v))
        put(R_next, x, get(R, top))
        return
    for v in range(a, b):
        put(Hx, v, zero(R))
    put(R_next, x, one(R) if top == count else zero(R))
    if top < count:
        put(Hx, top, one(R))


@kernel
def leave_out(H, R, x, start, stop, first_row, count):
    """Eliminate position x from columns start..stop-1 and rows first_row..count-1, the ones that are needed later."""
    Hx = row(H, x)
    pivot = get(R, x)
    for v in range(start, stop):
        pivot = add(pivot, get(Hx, v))
    put(R, x, divide(get(R, x), pivot))
    for v in range(start, stop):
        put(Hx, v, divide(get(Hx, v), pivot))
    for h in range(first_row, count):
        Hh = row(H, h)
        factor = get(Hh, x)
        if h != x and is_positive(factor):
            for v in range(start, stop):
                put(Hh, v, add(get(Hh, v), multiply(factor, get(Hx, v))))
            put(R, h, add(get(R, h), multiply(factor, get(R, x))))
