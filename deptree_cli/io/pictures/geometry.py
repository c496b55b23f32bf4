"""Where arcs run: how high, from which place of a word, and how far apart that keeps words.

Heights are levels, 1 next to the words. An arc is above all those that it spans, and two arcs of one level have at most
an end in common; so two bars cross only where their arcs do, as in a tree that is not projective.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from itertools import count
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

Float = NDArray[np.float64]


class Spanning(Protocol):
    """An arc, or the part of one that is drawn in a row: its ends, 0 as the head of ROOT's, and the words it spans."""

    @property
    def head(self) -> int:
        """The word that governs, or 0."""

    @property
    def dependent(self) -> int:
        """The word that is governed."""

    @property
    def left(self) -> int:
        """The end nearer to the beginning of the sentence."""

    @property
    def right(self) -> int:
        """The other end."""


class Slot(NamedTuple):
    """The place at a word where an arc ends: the `place`-th from the left of `total`, from 0."""

    place: int
    total: int

    @property
    def offset(self) -> float:
        """How far it is from the middle of the word, in slots."""
        return self.place - (self.total - 1) / 2


class Span(NamedTuple):
    """The least distance between the middles of two words, or more exactly between two of their slots."""

    left: int
    right: int
    distance: float


def levels(arcs: Sequence[Spanning]) -> list[int]:
    """The level of each arc of one side; those from ROOT come down from above all others. O(arcs^2)."""
    left, right = np.array([(arc.left, arc.right) for arc in arcs], dtype=int).reshape(-1, 2).T
    found = np.zeros(len(arcs), dtype=int)
    between_words = np.array([arc.head > 0 for arc in arcs], dtype=bool)
    placed = np.zeros(len(arcs), dtype=bool)
    for arc in np.lexsort((left, right - left)).tolist():
        if not between_words[arc]:
            continue
        inside = placed & (left >= left[arc]) & (right <= right[arc])
        beside = placed & (left < right[arc]) & (right > left[arc])
        taken = set(found[beside].tolist())
        lowest = int(found[inside].max(initial=0)) + 1
        found[arc] = next(level for level in count(lowest) if level not in taken)
        placed[arc] = True
    top = int(found.max(initial=0)) + 1
    return np.where(between_words, found, top).tolist()


def slots(arcs: Sequence[Spanning], heights: Sequence[int]) -> dict[tuple[int, int], Slot]:
    """The slot of every end of an arc of one side, by (number of the arc, word).

    Arcs to the left leave a word at its left, the higher the nearer to its middle, and so at the right: no arc then
    stands in the way of a lower one. ROOT's is in the middle.
    """
    ends: dict[int, list[tuple[int, int, int]]] = defaultdict(list)
    for number, (arc, height) in enumerate(zip(arcs, heights, strict=True)):
        if not arc.head:
            ends[arc.dependent].append((0, 0, number))
            continue
        ends[arc.left].append((1, -height, number))
        ends[arc.right].append((-1, height, number))
    return {
        (number, word): Slot(place, len(at_word))
        for word, at_word in ends.items()
        for place, (_, _, number) in enumerate(sorted(at_word))
    }


def middles(widths: Sequence[float], gap: float, spans: Sequence[Span]) -> Float:
    """Where the middles of the words stand: words at least `gap` apart, and what a span is short of shared by its gaps.

    Args:
        widths: of the n words, in the unit of the result.
        spans: that of a word which heads itself has no gap, and asks for nothing.
    """
    sizes = np.asarray(widths, dtype=float)
    steps = (sizes[1:] + sizes[:-1]) / 2 + gap
    for left, right, distance in sorted(spans, key=lambda span: span.right - span.left):
        within = slice(left - 1, right - 1)
        missing = distance - steps[within].sum()
        if missing > 0 and left < right:
            steps[within] += missing / (right - left)
    return sizes[0] / 2 + np.concatenate([[0.0], np.cumsum(steps)])
