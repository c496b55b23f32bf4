"""What of a chart is kept: for every source span, and every place where a target span begins, a range of its ends."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from deptree_cli.bitext.kernels.spans import beginning, by_start, spans_of
from deptree_cli.kernels.flags import kernel

NONE = -1


class SpanMask(NamedTuple):
    """The bispans that are kept, for p source and q target words; all others are as if nothing were built over them.

    Attributes:
        ends: (source spans, q, 2): of the target spans that begin in a place the first end, and the one behind the
            last. Where there is none the second is not above the first.
        begins: (source spans, 2): the first place where some begin, and the one behind the last.
    """

    ends: Any
    begins: Any


def new_ranges(p: int, q: int) -> SpanMask:
    """Return ranges that are still to be filled."""
    return SpanMask(np.empty((spans_of(p), q, 2), dtype=np.int32), np.empty((spans_of(p), 2), dtype=np.int32))


@kernel(forceinline=True)
def ends(kept, source, u):
    """Return the first end of the target spans from u on, and the one behind the last."""
    return np.int64(kept.ends[source, u, 0]), np.int64(kept.ends[source, u, 1])


@kernel(forceinline=True)
def begins(kept, source):
    """Return the first place where target spans of a source span begin, and the one behind the last."""
    return np.int64(kept.begins[source, 0]), np.int64(kept.begins[source, 1])


@kernel(forceinline=True)
def is_kept(kept, source, u, v):
    """Return whether a bispan is within the ranges."""
    return kept.ends[source, u, 0] <= v < kept.ends[source, u, 1]


@kernel
def keep_states(states, kept):
    """Keep ranges that hold all that is marked, (source spans, target spans); what is between is kept as well."""
    q = kept.ends.shape[1]
    for source in range(states.shape[0]):
        kept.begins[source, 0], kept.begins[source, 1] = q, 0
        for u in range(q):
            first, last, begin = q + 1, NONE, beginning(q, u)
            for v in range(u + 1, q + 1):
                if states[source, begin + v]:
                    first, last = min(first, v), v
            keep(kept, source, u, first, last)


@kernel(forceinline=True)
def keep(kept, source, u, first, last):
    """Keep the target spans from u to first..last; places come in order, `begins` is empty before the first."""
    kept.ends[source, u, 0], kept.ends[source, u, 1] = first, last + 1
    if first <= last:
        kept.begins[source, 0] = min(kept.begins[source, 0], u)
        kept.begins[source, 1] = u + 1


@kernel(allocates=True)
def keep_around_links(target_of, source_of, kept):
    """Keep the bispans that no pinned link crosses: those that hold both of its words or neither.

    target_of (p,), source_of (q,): the word that a word is pinned to, -1 for none.

    A source span without a pinned word goes with the target spans without one. One with some goes with the spans that
    begin behind the last pinned word before their targets, and end before the next one behind them, if no other pinned
    target is among these.
    """
    p, q = target_of.shape[0], source_of.shape[0]
    free_from, free_to, pinned_before = gaps(source_of)
    for s in range(p):
        first, last, pinned = q, NONE, 0
        for t in range(s + 1, p + 1):
            if target_of[t - 1] != NONE:
                first, last = min(first, target_of[t - 1]), max(last, target_of[t - 1])
                pinned += 1
            source = by_start(p, s, t)
            kept.begins[source, 0], kept.begins[source, 1] = q, 0
            for u in range(q):
                if not pinned:
                    keep(kept, source, u, u + 1, free_to[u])
                elif free_from[first] <= u <= first and pinned_before[last + 1] - pinned_before[first] == pinned:
                    keep(kept, source, u, last + 1, free_to[last + 1])
                else:
                    keep(kept, source, u, q + 1, NONE)


@kernel(allocates=True)
def gaps(source_of):
    """Return for each place between target words where the gap between pinned words that it is in begins and ends.

    And how many pinned words are before it, (q+1,) each.
    """
    q = source_of.shape[0]
    start, end, before = np.zeros(q + 1, np.int64), np.full(q + 1, q), np.zeros(q + 1, np.int64)
    for j in range(1, q + 1):
        is_pinned = source_of[j - 1] != NONE
        start[j] = j if is_pinned else start[j - 1]
        before[j] = before[j - 1] + is_pinned
    for j in range(q - 1, -1, -1):
        end[j] = j if source_of[j] != NONE else end[j + 1]
    return start, end, before
