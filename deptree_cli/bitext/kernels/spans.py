"""Numbers of spans: a chart over bispans is a table with a row for every source span, a column for every target span.

A span i..j of a sentence of n words begins before word i and ends before word j, 0 <= i < j <= n. Spans that begin in
the same place stand side by side: target spans are a triangular matrix, a row for where they begin.
"""

from __future__ import annotations

from deptree_cli.kernels.flags import kernel


@kernel(forceinline=True)
def spans_of(n):
    """Return how many spans there are."""
    return n * (n + 1) // 2


@kernel(forceinline=True)
def by_start(n, i, j):
    """Return the number of the span i..j among those sorted by their beginnings."""
    return beginning(n, i) + j


@kernel(forceinline=True)
def beginning(n, i):
    """Return what, added to j, gives the number of the span i..j."""
    return i * n - i * (i + 1) // 2 - 1
