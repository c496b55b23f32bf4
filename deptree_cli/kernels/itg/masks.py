"""What of a chart is kept: a list of bispans in an order in which they can be filled, and their ranges."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from deptree_cli.kernels.flags import kernel
from deptree_cli.kernels.itg.spans import by_start, spans_of

NONE = -1


class Kept(NamedTuple):
    """The bispans that are kept, for p source and q target words; all others are as if they had no derivation.

    Attributes:
        cells: (room, 4), the first `count` rows in use: s, t, u, v, shorter source spans first, within one source span
            shorter target spans first where one holds the other.
        count: (1,).
        ends: (source spans, q+1, 2): the first and the last v for which (s, t, u, v) is kept.
        starts: the same with the first and the last u for a v. Where there is none the last is before the first.
    """

    cells: Any
    count: Any
    ends: Any
    starts: Any


def nothing_kept(p: int, q: int, room: int) -> Kept:
    """Return an empty list with room for so many bispans."""
    ranges = np.empty((spans_of(p), q + 1, 2), dtype=np.int32)
    ranges[:, :, 0], ranges[:, :, 1] = q + 1, NONE
    return Kept(np.empty((room, 4), dtype=np.int32), np.zeros(1, dtype=np.int64), ranges, ranges.copy())


@kernel(forceinline=True)
def cell(kept, k):
    """Return s, t, u and v of the k-th bispan of the list."""
    cells = kept.cells
    return np.int64(cells[k, 0]), np.int64(cells[k, 1]), np.int64(cells[k, 2]), np.int64(cells[k, 3])


@kernel
def forget(kept, p):
    """Make the list empty again."""
    q = kept.ends.shape[1] - 1
    for k in range(kept.count[0]):
        s, t, u, v = cell(kept, k)
        source = by_start(p, s, t)
        kept.ends[source, u, 0], kept.ends[source, u, 1] = q + 1, NONE
        kept.starts[source, v, 0], kept.starts[source, v, 1] = q + 1, NONE
    kept.count[0] = 0


@kernel(forceinline=True)
def note(kept, p, s, t, u, v):
    """Append a bispan."""
    k = kept.count[0]
    kept.cells[k, 0], kept.cells[k, 1], kept.cells[k, 2], kept.cells[k, 3] = s, t, u, v
    kept.count[0] = k + 1
    source = by_start(p, s, t)
    kept.ends[source, u, 0] = min(kept.ends[source, u, 0], v)
    kept.ends[source, u, 1] = max(kept.ends[source, u, 1], v)
    kept.starts[source, v, 0] = min(kept.starts[source, v, 0], u)
    kept.starts[source, v, 1] = max(kept.starts[source, v, 1], u)


@kernel
def list_states(states, p, q, kept):
    """List the bispans that are marked, (source spans, target spans by their starts); those of nothing are none."""
    for size in range(p + 1):
        for s in range(p + 1 - size):
            for width in range(q + 1):
                for u in range(q + 1 - width):
                    if size + width and states[by_start(p, s, s + size), by_start(q, u, u + width)]:
                        note(kept, p, s, s + size, u, u + width)


@kernel
def list_around_links(target_of, source_of, kept):
    """List the bispans that no pinned link crosses: those that hold both of its words or neither.

    target_of (p,), source_of (q,): the word that a word is pinned to, -1 for none. The cost is that of the list.

    Between two pinned target words is a gap. A source span without a pinned word goes with the spans within a gap; one
    with some goes with the spans that begin in the gap before their targets, the first to the last, and end in the gap
    behind, if no other pinned target is among these.
    """
    p, q = target_of.shape[0], source_of.shape[0]
    gap_start, gap_end = gaps(source_of)
    pinned_before = np.zeros(q + 1, np.int64)
    for j in range(q):
        pinned_before[j + 1] = pinned_before[j] + (source_of[j] != NONE)
    for size in range(p + 1):
        for s in range(p + 1 - size):
            first, last, pinned = q, NONE, 0
            for i in range(s, s + size):
                if target_of[i] != NONE:
                    first, last = min(first, target_of[i]), max(last, target_of[i])
                    pinned += 1
            if not pinned:
                list_gaps(gap_end, p, q, s, s + size, kept)
            elif pinned_before[last + 1] - pinned_before[first] == pinned:
                list_spans(gap_start[first], first, last + 1, gap_end[last + 1], p, s, s + size, kept)


@kernel
def gaps(source_of):
    """Return for each place between target words where the gap that it is in begins and ends, (q+1,) each."""
    q = source_of.shape[0]
    start, end = np.zeros(q + 1, np.int64), np.full(q + 1, q)
    for j in range(1, q + 1):
        start[j] = j if source_of[j - 1] != NONE else start[j - 1]
    for j in range(q - 1, -1, -1):
        end[j] = j if source_of[j] != NONE else end[j + 1]
    return start, end


@kernel
def list_gaps(gap_end, p, q, s, t, kept):
    """List a source span with the target spans within every gap."""
    begin = 0
    while begin <= q:
        list_spans(begin, gap_end[begin], begin, gap_end[begin], p, s, t, kept)
        begin = gap_end[begin] + 1


@kernel
def list_spans(first_u, last_u, first_v, last_v, p, s, t, kept):
    """List a source span with the target spans that begin and end in these ranges, shorter ones first."""
    for width in range(max(first_v - last_u, 0), last_v - first_u + 1):
        for u in range(max(first_u, first_v - width), min(last_u, last_v - width) + 1):
            if t > s or width:
                note(kept, p, s, t, u, u + width)


@kernel
def marked(kept, p, q, states):
    """Mark the listed bispans in states (source spans, target spans by their starts), which is False everywhere."""
    for k in range(kept.count[0]):
        s, t, u, v = cell(kept, k)
        states[by_start(p, s, t), by_start(q, u, v)] = True
