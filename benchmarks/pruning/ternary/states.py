"""States of the paper's program, `program.py`, for methods that keep some of them: what they are worth, and their list.

Spans may be empty here, for an unlinked word is a part by itself; the package has no such parts.
"""

from __future__ import annotations

import numpy as np

from deptree_cli.bitext.distribution import DOUBT, Direction, directions
from deptree_cli.bitext.scores import LinkScores
from deptree_cli.core.dtypes import Bool, Float, Int


def bispan_merits(scores: LinkScores) -> Float:
    """What `deptree_cli.bitext.distribution` says of parts, (source spans, target spans), of empty spans as well.

    Single words, links by themselves and the whole are always kept; nothing beside nothing is no state.
    """
    source, target = directions(scores)
    merits = _staying(source) + _staying(target).T
    (s, t), (u, v) = (np.triu_indices(n + 1) for n in scores.links.shape)
    size, width = (t - s)[:, None], v - u
    merits[size + width == 0] = -np.inf
    merits[(size + width == 1) | ((size == 1) & (width == 1)) | ((size == t[-1]) & (width == v[-1]))] = np.inf
    return merits


def _staying(direction: Direction) -> Float:
    words, others = direction.links.shape
    (begin, end), (first, last) = np.triu_indices(words + 1), np.triu_indices(others + 1)
    sums = np.pad(np.cumsum(direction.links, axis=1), ((0, 0), (1, 0)))
    inside, nulls = sums[:, last] - sums[:, first], direction.nulls[:, None] + DOUBT
    within, outside = (np.log(nulls + np.maximum(each, 0.0)) for each in (inside, sums[:, -1:] - inside))
    gains = np.pad(np.cumsum(within - outside, axis=0), ((1, 0), (0, 0)))
    found: Float = gains[end] - gains[begin] + outside.sum(axis=0)
    return found


def listed(kept: Bool, p: int, q: int) -> Int:
    """The bispans that are marked, (n, 4), parts before wholes."""
    spans = [np.array(np.triu_indices(n + 1)).T for n in (p, q)]
    found = np.hstack([each[number] for each, number in zip(spans, np.nonzero(kept), strict=True)])
    s, t, u, v = found.T
    return found[np.lexsort((v - u, t - s))].astype(np.int64)
