"""Which words of two files of the same text belong together, as the script of the CoNLL 2018 shared task has it.

Words that are tokens belong together if they are the same characters of the text. Around multiword tokens, the words of
the smallest span into which all multiword tokens fit belong together by a longest common subsequence of their forms.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from deptree_cli.core.dtypes import Int
from deptree_cli.core.evaluation.words import FORM, Words


class Alignment(NamedTuple):
    """The words of a gold file and of a system's that belong together, in the order of the text, (m,) each."""

    gold: Int
    system: Int


class _Side(NamedTuple):
    """The words of a file as lists, which loops are quick with; behind the last stands one beyond all text."""

    starts: list[int]
    ends: list[int]
    in_multiword: list[bool]
    forms: list[int]
    size: int

    def ends_beyond(self, word: int, end: int) -> bool:
        """Whether a word is behind a span that ends so."""
        return (self.starts[word] >= end) if self.in_multiword[word] else (self.ends[word] > end)


def aligned(gold: Words, system: Words) -> Alignment:
    """Align the words of two files of the same text."""
    if not (gold.in_multiword.any() or system.in_multiword.any()):
        return Alignment(*same_spans(*gold.spans, *system.spans))
    if _same(gold, system):
        every = np.arange(len(gold.heads))
        return Alignment(every, every)
    beyond = int(gold.token_starts[-1]) + 1
    one, two = (_side(each, beyond) for each in (gold, system))
    pairs: list[tuple[int, int]] = []
    g = s = 0
    while g < one.size and s < two.size:
        if one.in_multiword[g] or two.in_multiword[s]:
            first, g, s = _span(one, two, g, s)
            pairs += _common(one.forms[first[0] : g], two.forms[first[1] : s], first)
        elif one.starts[g] == two.starts[s] and one.ends[g] == two.ends[s]:
            pairs.append((g, s))
            g, s = g + 1, s + 1
        elif one.starts[g] <= two.starts[s]:
            g += 1
        else:
            s += 1
    found = np.array(pairs, dtype=np.int64).reshape(-1, 2)
    return Alignment(found[:, 0], found[:, 1])


def same_spans(starts: Int, ends: Int, other_starts: Int, other_ends: Int) -> tuple[Int, Int]:
    """Return the indices of spans that begin and end alike; each side's do not overlap."""
    _, ours, theirs = np.intersect1d(starts, other_starts, assume_unique=True, return_indices=True)
    same = ends[ours] == other_ends[theirs]
    return ours[same], theirs[same]


def _same(gold: Words, system: Words) -> bool:
    """Whether both files have the same words in the same tokens, as those have that were parsed with gold tokens."""
    of_each = zip(*((*each.spans, each.in_multiword, each.columns[FORM]) for each in (gold, system)), strict=True)
    return all(np.array_equal(ours, theirs) for ours, theirs in of_each)


def _side(words: Words, beyond: int) -> _Side:
    starts, ends = (each.tolist() for each in words.spans)
    flags, forms = words.in_multiword.tolist(), words.columns[FORM].tolist()
    return _Side([*starts, beyond], [*ends, beyond], [*flags, False], forms, len(forms))


def _span(one: _Side, two: _Side, g: int, s: int) -> tuple[tuple[int, int], int, int]:
    """The first words of the smallest span around a multiword token, one of which g or s is in; the first behind it."""
    if one.in_multiword[g]:
        end = one.ends[g]
        if not two.in_multiword[s] and two.starts[s] < one.starts[g]:
            s += 1  # by one word, as in the script, even if the next ones begin before the span too
    else:
        end = two.ends[s]
        if not one.in_multiword[g] and one.starts[g] < two.starts[s]:
            g += 1
    first = g, s
    while not (one.ends_beyond(g, end) and two.ends_beyond(s, end)):
        if g < one.size and (s >= two.size or one.starts[g] <= two.starts[s]):
            end = max(end, one.ends[g]) if one.in_multiword[g] else end
            g += 1
        else:
            end = max(end, two.ends[s]) if two.in_multiword[s] else end
            s += 1
    return first, g, s


def _common(one: Sequence[int], two: Sequence[int], first: tuple[int, int]) -> list[tuple[int, int]]:
    """The pairs of a longest common subsequence, of several the one that the script takes.

    Args:
        first: the words that the first forms are of.
    """
    longest = [[0] * (len(two) + 1) for _ in range(len(one) + 1)]
    for g in reversed(range(len(one))):
        for s in reversed(range(len(two))):
            both = 1 + longest[g + 1][s + 1] if one[g] == two[s] else 0
            longest[g][s] = max(both, longest[g + 1][s], longest[g][s + 1])
    pairs, g, s = [], 0, 0
    while g < len(one) and s < len(two):
        if one[g] == two[s]:
            pairs.append((first[0] + g, first[1] + s))
            g, s = g + 1, s + 1
        elif longest[g][s] == longest[g + 1][s]:
            g += 1
        else:
            s += 1
    return pairs
