"""Arcs that cross: above words in a row, ROOT before the first, one begins below another and ends outside it."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from deptree_cli.core.dtypes import Bool

Arc = tuple[int, int]  # head, dependent


def crossed_by(head: int, word: int, nodes: int) -> Bool:
    """The arcs that cross an arc, (nodes, nodes), ``[head, dependent]``."""
    first, last = sorted((head, word))
    inside = np.zeros(nodes, dtype=np.bool_)
    inside[first + 1 : last] = True
    outside = ~inside
    outside[[first, last]] = False
    found: Bool = np.outer(inside, outside) | np.outer(outside, inside)
    return found


def crossing_pairs(arcs: Bool) -> Iterator[tuple[Arc, Arc]]:
    """The pairs of arcs (n+1, n+1), ``[head, dependent]``, that cross each other, each pair once."""
    for head, word in np.argwhere(arcs).tolist():
        first = min(head, word)
        crossing = arcs & crossed_by(head, word, len(arcs))
        crossing[:first] = crossing[:, :first] = False  # those that begin before this one name the pair
        for other in np.argwhere(crossing).tolist():
            yield (head, word), (other[0], other[1])
