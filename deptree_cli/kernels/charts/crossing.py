"""Which arcs cross the pinned ones, those that every tree is to contain."""

from __future__ import annotations

from deptree_cli.kernels.flags import kernel


@kernel
def reach(pinned, first, last):
    """Fill first and last (n+1,) with the outermost nodes that every node is linked with by arcs, or is itself.

    pinned: (n+1, n+1), ``[head, dependent]``.
    """
    for i in range(len(first)):
        first[i] = last[i] = i
    for head in range(len(first)):
        for dependent in range(len(first)):
            if pinned[head, dependent]:
                first[head], last[head] = min(first[head], dependent), max(last[head], dependent)
                first[dependent], last[dependent] = min(first[dependent], head), max(last[dependent], head)


@kernel
def prune_crossing(first, last, arcs):
    """Remove the arcs (n+1, n+1) that pinned ones cross, by what `reach` fills in."""
    nodes = len(first)
    for i in range(nodes):
        low, high = nodes, -1
        for j in range(i + 1, nodes):
            if low < i or high > j:
                arcs[i, j] = arcs[j, i] = False
            low, high = min(low, first[j]), max(high, last[j])
