"""Numbers of spans: a chart over bispans is a table with a row for every source span, a column for every target span.

A span i..j of a sentence of n words begins before word i and ends before word j, 0 <= i <= j <= n; it may be empty.
Target spans are numbered twice: those that begin in the same place stand side by side in one order, those that end in
the same place in the other, so that every sum over a place of division runs along two rows.
"""

from __future__ import annotations

from deptree_cli.kernels.flags import kernel


@kernel(forceinline=True)
def spans_of(n):
    """Return how many spans there are."""
    return (n + 1) * (n + 2) // 2


@kernel(forceinline=True)
def by_start(n, i, j):
    """Return the number of the span i..j among those sorted by their beginnings."""
    return i * n - i * (i - 1) // 2 + j


@kernel(forceinline=True)
def by_end(i, j):
    """Return the number of the span i..j among those sorted by their ends."""
    return j * (j + 1) // 2 + i
