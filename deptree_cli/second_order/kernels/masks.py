"""What pinned arcs, which every tree is to contain, leave of a chart of projective trees.

A node strictly inside an item's span has its head and its dependents there too, so that a span is pruned that a pinned
arc crosses, with one end strictly inside and the other one outside of it. Complete items are whole sides of their
heads: they are also pruned where a pinned arc leads from the head beyond their end, or out of them from their end.
"""

from __future__ import annotations

from deptree_cli.kernels.flags import kernel


@kernel
def keep_items(pinned, first, last, heads, kept):
    """Fill which complete items and pairs are kept; all are to begin with.

    Args:
        pinned, first, last: as in `kernels/charts/crossing.py`.
        heads: (n+1, 2), the first head that every node may have, and the one behind the last.
        kept: `chart.ArcMask`.
    """
    nodes = len(first)
    for i in range(nodes):
        to_left, to_right = outermost_dependents(pinned, i)
        low, high = nodes, -1
        for j in range(i + 1, nodes):
            start, stop = max(heads[i, 0], heads[j, 0]), min(heads[i, 1], heads[j, 1])
            have_common_head = start < stop and (start < i or stop > j + 1)
            kept.pair[i, j] = low >= i and high <= j and to_right < j and have_common_head
            low, high = min(low, first[j]), max(high, last[j])
            kept.complete[i, j] = low >= i and high <= j and to_right <= j
        low, high = nodes, -1
        for j in range(i - 1, -1, -1):
            kept.pair[j, i] &= to_left > j
            low, high = min(low, first[j]), max(high, last[j])
            kept.complete[i, j] = low >= j and high <= i and to_left >= j


@kernel
def outermost_dependents(pinned, head):
    """Return the first and the last of the nodes that are a head or its pinned dependents."""
    first = last = head
    for dependent in range(len(pinned)):
        if pinned[head, dependent]:
            first, last = min(first, dependent), max(last, dependent)
    return first, last
