"""Samples of `program.py`, drawn from the top down: the walks are those of the sums in `loops.py`.

A draw is a rest, a share of a sum that is known, which a walk through its terms uses up; the term at which it does is
the one drawn. Each walk adds the children that it has drawn to a stack of (s, t, u, v, what may stand there), and
returns its height, which is what it was where the rest was not used up, and the rest. Where rounding leaves a walk with
nothing at its end, the node is drawn again.
"""

from __future__ import annotations

import numpy as np

from benchmarks.pruning.ternary.loops import (
    ANY,
    NOT_A,
    NOT_B,
    in_target_order,
    inner,
    meeting,
    orders,
    terminal,
    three,
)
from deptree_cli.kernels.flags import kernel
from deptree_cli.kernels.xoshiro import uniform


@kernel
def put(stack, height, s, t, u, v, kind):
    """Put a child on the stack; return its height."""
    stack[height, 0], stack[height, 1], stack[height, 2], stack[height, 3], stack[height, 4] = s, t, u, v, kind
    return height + 1


@kernel
def draw_inner(first, last, ranges, i, j, u, k, n, v, kinds, rest, stack, height):
    """Draw where two children meet, of a rest that is less than `inner`."""
    low, high = meeting(ranges, i, j, u, k, n, v)
    for w in range(low, high):
        x = first[i, j, u, w] * last[k, n, v, w]
        if rest < x:
            return put(stack, put(stack, height, i, j, u, w, kinds[0]), k, n, w, v, kinds[1])
        rest -= x
    return height


@kernel
def draw_halves(first, last, ranges, s, t, u, v, inverted, kinds, rest, stack, height):
    """Draw two children in one order."""
    for m in range(s, t + 1):
        i, j, k, n = in_target_order(s, m, t, inverted)
        x = inner(first, last, ranges, i, j, u, k, n, v)
        if rest < x:
            return draw_inner(first, last, ranges, i, j, u, k, n, v, kinds, rest, stack, height), rest
        rest -= x
    return height, rest


@kernel
def draw_three(chart, ranges, order, u, v, rest, stack, height):
    """Draw where three children meet, of a rest that is less than `three`."""
    (i, j), (k, n), (a, b) = order
    low, high = ranges.starts[a, b, v, 0], ranges.starts[a, b, v, 1]
    for x in range(ranges.ends[i, j, u, 0], min(high, ranges.ends[i, j, u, 1])):
        for y in range(max(low, ranges.ends[k, n, x, 0]), min(high, ranges.ends[k, n, x, 1])):
            z = chart.t[i, j, u, x] * chart.t[k, n, x, y] * chart.t[a, b, y, v]
            if rest < z:
                height = put(stack, put(stack, height, i, j, u, x, ANY), k, n, x, y, ANY)
                return put(stack, height, a, b, y, v, ANY)
            rest -= z
    return height


@kernel
def draw_thirds(chart, ranges, s, t, u, v, rest, stack, height):
    """Draw three children in one of six orders."""
    for m in range(s, t + 1):
        for n in range(m, t + 1):
            for order in orders(s, m, n, t):
                x = three(chart, ranges, order, u, v)
                if rest < x:
                    return draw_three(chart, ranges, order, u, v, rest, stack, height)
                rest -= x
    return height


@kernel
def draw_node(chart, ranges, s, t, u, v, kind, rest, stack, height):
    """Draw the children of A, B or D, whichever may stand there."""
    reached = height
    if kind != NOT_A:
        first, last, kinds = chart.t, chart.not_a_turned, (ANY, NOT_A)
        reached, rest = draw_halves(first, last, ranges, s, t, u, v, False, kinds, rest, stack, height)
    if kind != NOT_B and reached == height:
        first, last, kinds = chart.not_b, chart.t_turned, (NOT_B, ANY)
        reached, rest = draw_halves(first, last, ranges, s, t, u, v, True, kinds, rest, stack, height)
    return reached if reached > height else draw_thirds(chart, ranges, s, t, u, v, rest, stack, height)


@kernel(allocates=True)
def draw(mask, nulls, factors, chart, ranges, state, targets):
    """Write a sample's links to `targets` (p,), which is -1: the target word of each source word."""
    p, q = mask.links.shape
    stack = np.empty((p + q + 3, 5), np.int64)
    height = put(stack, 0, 0, p, 0, q, ANY)
    while height > 0:
        height -= 1
        s, t, u, v = stack[height, 0], stack[height, 1], stack[height, 2], stack[height, 3]
        kind = stack[height, 4]
        total = chart.not_b[s, t, u, v] if kind == NOT_B else chart.t[s, t, u, v]
        if kind == NOT_A:
            total = chart.not_a_turned[s, t, v, u]
        own = terminal(mask.links, nulls, s, t, u, v)
        reached = height
        rest = 0.0
        while rest >= 0.0 and reached < height + 2:
            rest = uniform(state) * total / factors[s, t, u, v] - own
            if rest >= 0.0:
                reached = draw_node(chart, ranges, s, t, u, v, kind, rest, stack, height)
        if rest < 0.0:
            reached = height
            if t - s == 1 and v - u == 1:
                targets[s] = u
        height = reached
