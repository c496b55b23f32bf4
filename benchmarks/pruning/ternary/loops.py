"""The loops of `program.py`: what three children make, summed, differentiated and drawn.

A chart has a row of sums for each source span and each place where it starts on the target side, and the same sums
turned round: a row for each place where it ends. So wherever two children meet on the target side stands an inner
product of two rows, over the places where bispans of both are kept. Names: a bispan holds source words s..t-1 and
target words u..v-1; the source side is cut at m and n, the target side at w.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from deptree_cli.core.dtypes import Float, Int
from deptree_cli.kernels.flags import kernel

# What may stand at a place: anything, anything but A, anything but B.
ANY, NOT_A, NOT_B = 0, 1, 2

# All that is added is positive: in any order it is right to the last digits, and in some it is faster.
reordered: Any = kernel(fastmath={"reassoc", "contract"})


class Mask(NamedTuple):
    """The bispans that are kept, (n, 4), parts before wholes, and the weights of links, (p, q)."""

    kept: Int
    links: Float


class Chart(NamedTuple):
    """Sums of T, not A and not B, or derivatives by them, by `[s, t, u, v]`; turned round: by `[s, t, v, u]`."""

    t: Float
    t_turned: Float
    not_a_turned: Float
    not_b: Float


class Ranges(NamedTuple):
    """First place and last + 1 of kept bispans: where they end by `[s, t, u]`, where they start by `[s, t, v]`.

    Every bispan between them is kept: what a longer one and a shorter one hold of a link, so does one between. So what
    other masks have left in a chart is never read.
    """

    ends: Int
    starts: Int


@kernel(allocates=True)
def list_kept(p, q, positive, kept):
    """Write the bispans that no positive link (m, 2) crosses to `kept`, parts before wholes; return their number."""
    before = np.zeros(q + 1, np.int64)  # positive links, by their target words
    for k in range(len(positive)):
        before[positive[k, 1] + 1 :] += 1
    n = 0
    for length in range(p + 1):
        for s in range(p - length + 1):
            first, last, count = q, -1, 0
            for k in range(len(positive)):
                if s <= positive[k, 0] < s + length:
                    first, last, count = min(first, positive[k, 1]), max(last, positive[k, 1]), count + 1
            for u in range(first, -1, -1):
                for v in range(max(u + (length == 0), last + 1), q + 1):
                    if before[v] - before[u] > count:  # it holds the target word of a link that starts elsewhere
                        break
                    kept[n, 0], kept[n, 1], kept[n, 2], kept[n, 3] = s, s + length, u, v
                    n += 1
    return n


@kernel
def clear(chart, kept):
    """Set the cells of bispans to 0."""
    for k in range(len(kept)):
        s, t, u, v = kept[k, 0], kept[k, 1], kept[k, 2], kept[k, 3]
        chart.t[s, t, u, v] = 0.0
        chart.t_turned[s, t, v, u] = 0.0
        chart.not_a_turned[s, t, v, u] = 0.0
        chart.not_b[s, t, u, v] = 0.0


@kernel
def find_ranges(kept, ranges):
    """Write where kept bispans end and start."""
    for each in ranges:
        each[..., 0] = each.shape[2]
        each[..., 1] = 0
    for k in range(len(kept)):
        s, t, u, v = kept[k, 0], kept[k, 1], kept[k, 2], kept[k, 3]
        ends, starts = ranges.ends[s, t, u], ranges.starts[s, t, v]
        ends[0], ends[1] = min(ends[0], np.uint64(v)), max(ends[1], np.uint64(v + 1))
        starts[0], starts[1] = min(starts[0], np.uint64(u)), max(starts[1], np.uint64(u + 1))


@kernel
def terminal(links, nulls, s, t, u, v):
    """Return the weight of C over a bispan."""
    if t - s == 1 and v - u == 1:
        return links[s, u]
    if t - s == 1 and v == u:
        return nulls[0][s]
    return nulls[1][u] if t == s and v - u == 1 else 0.0


@kernel
def meeting(ranges, i, j, u, k, n, v):
    """Return the first place and the last + 1 where source spans i..j from u and k..n up to v can meet."""
    ends, starts = ranges.ends[i, j, u], ranges.starts[k, n, v]
    return max(ends[0], starts[0]), min(ends[1], starts[1])


@kernel
def in_target_order(s, m, t, inverted):
    """Return the source spans of two children, as they follow on the target side."""
    return (m, t, s, m) if inverted else (s, m, m, t)


@reordered
def inner(first, last, ranges, i, j, u, k, n, v):
    """Sum over where a source span i..j that starts at u and one k..n that ends at v meet."""
    low, high = meeting(ranges, i, j, u, k, n, v)
    total = 0.0
    for w in range(low, high):
        total += first[i, j, u, w] * last[k, n, v, w]
    return total


@kernel
def halves(first, last, ranges, s, t, u, v, inverted):
    """Sum over two children in one order."""
    total = 0.0
    for m in range(s, t + 1):
        i, j, k, n = in_target_order(s, m, t, inverted)
        total += inner(first, last, ranges, i, j, u, k, n, v)
    return total


@kernel
def orders(s, m, n, t):
    """Return the source spans of three children in the six orders on the target side."""
    a, b, c = (s, m), (m, n), (n, t)
    return (a, b, c), (a, c, b), (b, a, c), (b, c, a), (c, a, b), (c, b, a)


@reordered
def three(chart, ranges, order, u, v):
    """Sum over three children in one order."""
    (i, j), (k, n), (a, b) = order
    low, high = ranges.starts[a, b, v, 0], ranges.starts[a, b, v, 1]
    first, middle, last = chart.t[i, j, u], chart.t[k, n], chart.t_turned[a, b, v]
    middle_ends = ranges.ends[k, n]
    total = 0.0
    for x in range(ranges.ends[i, j, u, 0], min(high, ranges.ends[i, j, u, 1])):
        if first[x] > 0.0:
            partial = 0.0
            for y in range(max(low, middle_ends[x, 0]), min(high, middle_ends[x, 1])):
                partial += middle[x, y] * last[y]
            total += first[x] * partial
    return total


@kernel
def thirds(chart, ranges, s, t, u, v):
    """Sum over three children in six orders."""
    total = 0.0
    for m in range(s, t + 1):
        for n in range(m, t + 1):
            for order in orders(s, m, n, t):
                total += three(chart, ranges, order, u, v)
    return total


@kernel
def sum_inside(mask, nulls, factors, chart, ranges):
    """Write what can be built over each kept bispan to a chart; bispans that hold nothing have 0 there."""
    kept = mask.kept
    for k in range(len(kept)):
        s, t, u, v = kept[k, 0], kept[k, 1], kept[k, 2], kept[k, 3]
        factor = factors[s, t, u, v]
        rest = factor * (terminal(mask.links, nulls, s, t, u, v) + thirds(chart, ranges, s, t, u, v))
        a = factor * halves(chart.t, chart.not_a_turned, ranges, s, t, u, v, False)
        b = factor * halves(chart.not_b, chart.t_turned, ranges, s, t, u, v, True)
        chart.t[s, t, u, v] = chart.t_turned[s, t, v, u] = a + b + rest
        chart.not_a_turned[s, t, v, u] = b + rest
        chart.not_b[s, t, u, v] = a + rest


@kernel
def push_halves(first, last, by_first, by_last, ranges, s, t, u, v, inverted, slope):
    """Add the derivatives by what `halves` sums, times the slope of the sum, to slopes."""
    for m in range(s, t + 1):
        i, j, k, n = in_target_order(s, m, t, inverted)
        low, high = meeting(ranges, i, j, u, k, n, v)
        for w in range(low, high):
            by_first[i, j, u, w] += slope * last[k, n, v, w]
            by_last[k, n, v, w] += slope * first[i, j, u, w]


@reordered
def push_three(chart, slopes, ranges, order, u, v, slope):
    """Add the derivatives by what `three` sums, times the slope of the sum, to slopes."""
    (i, j), (k, n), (a, b) = order
    low, high = ranges.starts[a, b, v, 0], ranges.starts[a, b, v, 1]
    first, middle, last = chart.t[i, j, u], chart.t[k, n], chart.t_turned[a, b, v]
    by_first, by_middle, by_last = slopes.t[i, j, u], slopes.t[k, n], slopes.t_turned[a, b, v]
    middle_ends = ranges.ends[k, n]
    for x in range(ranges.ends[i, j, u, 0], min(high, ranges.ends[i, j, u, 1])):
        if first[x] > 0.0:
            partial, z = 0.0, slope * first[x]
            start, stop = max(low, middle_ends[x, 0]), min(high, middle_ends[x, 1])
            for y in range(start, stop):  # by itself, for the compiler cannot know that the rows are two
                by_last[y] += z * middle[x, y]
            for y in range(start, stop):
                partial += middle[x, y] * last[y]
                by_middle[x, y] += z * last[y]
            by_first[x] += slope * partial


@kernel
def push_thirds(chart, slopes, ranges, s, t, u, v, slope):
    """Add the derivatives by what `thirds` sums, times the slope of the sum, to slopes."""
    for m in range(s, t + 1):
        for n in range(m, t + 1):
            for order in orders(s, m, n, t):
                push_three(chart, slopes, ranges, order, u, v, slope)


@kernel
def sum_outside(mask, factors, chart, ranges, slopes, probs):
    """Write the probabilities of links to `probs` (p, q), which is 0; `slopes` is 0 wherever a bispan is kept."""
    kept = mask.kept
    p, q = probs.shape
    slopes.t[0, p, 0, q] = 1.0 / chart.t[0, p, 0, q]
    for k in range(len(kept) - 1, -1, -1):
        s, t, u, v = kept[k, 0], kept[k, 1], kept[k, 2], kept[k, 3]
        if chart.t[s, t, u, v] == 0.0:
            continue
        factor = factors[s, t, u, v]
        anywhere = slopes.t[s, t, u, v] + slopes.t_turned[s, t, v, u]
        by_a = factor * (anywhere + slopes.not_b[s, t, u, v])
        by_b = factor * (anywhere + slopes.not_a_turned[s, t, v, u])
        by_rest = by_a + factor * slopes.not_a_turned[s, t, v, u]
        if by_rest == 0.0:
            continue
        if t - s == 1 and v - u == 1:
            probs[s, u] = by_rest * mask.links[s, u]
        x, y, dx, dy = chart.t, chart.not_a_turned, slopes.t, slopes.not_a_turned
        push_halves(x, y, dx, dy, ranges, s, t, u, v, False, by_a)
        x, y, dx, dy = chart.not_b, chart.t_turned, slopes.not_b, slopes.t_turned
        push_halves(x, y, dx, dy, ranges, s, t, u, v, True, by_b)
        push_thirds(chart, slopes, ranges, s, t, u, v, by_rest)
