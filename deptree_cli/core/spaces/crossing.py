"""Arcs that cross: above words in a row, ROOT before the first, one begins below another and ends outside it."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from deptree_cli.core.dtypes import Bool

Arc = tuple[int, int]  # head, dependent


def crossing_pairs(arcs: Bool) -> Iterator[tuple[Arc, Arc]]:
    """The pairs of arcs (n+1, n+1), ``[head, dependent]``, that cross each other, each pair once."""
    for head, word in np.argwhere(arcs).tolist():
        first, last = sorted((head, word))
        inside = np.zeros(len(arcs), dtype=np.bool_)
        inside[first + 1 : last] = True
        outside = np.zeros(len(arcs), dtype=np.bool_)
        outside[last + 1 :] = True
        for other in np.argwhere(arcs & (np.outer(inside, outside) | np.outer(outside, inside))).tolist():
            yield (head, word), (other[0], other[1])
