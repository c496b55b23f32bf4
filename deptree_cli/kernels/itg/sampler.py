"""Exact alignments from the chart's top down: items are split in proportion to what they sum."""

from __future__ import annotations

import numpy as np

from deptree_cli.kernels.flags import kernel
from deptree_cli.kernels.itg.chart import TOTAL, before, leaf
from deptree_cli.kernels.itg.masks import NONE, is_kept
from deptree_cli.kernels.itg.parts import has_order, parts, places, push, split, weight_of
from deptree_cli.kernels.itg.spans import by_start
from deptree_cli.kernels.numbers.operations import (
    divide,
    get,
    is_negative,
    is_positive,
    length,
    multiply,
    scale,
    subtract,
)
from deptree_cli.kernels.xoshiro import uniform


@kernel
def sample_links(weights, kept, chart, total, state, targets):
    """Fill targets (k, p) with the target words that source words are linked with in alignments drawn, -1 for none."""
    p, q = length(weights.source_nulls), length(weights.target_nulls)
    todo = np.empty((min(p, q) + 1, 5), np.int64)
    for d in range(targets.shape[0]):
        targets[d] = NONE
        s, u = draw_item(weights, kept, chart, scale(total, uniform(state)))
        count = 0 if s == NONE else push(todo, 0, TOTAL, s, p, u, q)
        while count > 0:
            count -= 1
            table, s, t, u, v = todo[count, 0], todo[count, 1], todo[count, 2], todo[count, 3], todo[count, 4]
            order, middle, place = drawn(weights, kept, chart, state, p, q, table, s, t, u, v)
            if middle == s:
                targets[d, s] = u
            else:
                count = split(todo, count, order, s, t, u, v, middle, place)


@kernel
def draw_item(weights, kept, chart, rest):
    """Return the first linked words, -1 for none: those at which the sum of all weights exceeds `rest`.

    Of what rounding leaves over the last positive weight gets it, here and below: none of 0 is ever drawn.
    """
    p, q = length(weights.source_nulls), length(weights.target_nulls)
    rest = subtract(rest, before(weights, p, q))
    last_s, last_u = NONE, NONE
    for s in range(p):
        source = by_start(p, s, p)
        for u in range(q):
            if is_negative(rest):
                return last_s, last_u
            if is_kept(kept, source, u, q):
                weight = multiply(before(weights, s, u), get(chart, (TOTAL, source, by_start(q, u, q))))
                if is_positive(weight):
                    last_s, last_u = s, u
                    rest = subtract(rest, weight)
    return last_s, last_u


@kernel
def drawn(weights, kept, chart, state, p, q, table, s, t, u, v):
    """Draw in which order an item has its two parts, and where it is divided on both sides; at s if it is a leaf."""
    source, target = by_start(p, s, t), by_start(q, u, v)
    rest = scale(get(chart, (table, source, target)), uniform(state))
    if length(weights.bispans):
        rest = divide(rest, get(weights.bispans, (source, target)))
    rest = subtract(rest, leaf(weights, s, t, u, v))
    last_order, last_middle, last_place = 0, s, u
    for order in range(2):
        if not has_order(table, order):
            continue
        for middle in range(s + 1, t):
            x_table, x_source, y_table, y_source = parts(p, order, s, t, middle)
            first, end = places(kept, x_source, u, v)
            for place in range(first, end):
                if is_negative(rest):
                    return last_order, last_middle, last_place
                weight = weight_of(kept, chart, q, x_table, x_source, y_table, y_source, u, place, v)
                if is_positive(weight):
                    last_order, last_middle, last_place = order, middle, place
                    rest = subtract(rest, weight)
    return last_order, last_middle, last_place
