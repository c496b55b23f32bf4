"""Which word does not descend from another for the fewest reasons, by definition, of heads that may be no tree."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from deptree_cli.kernels.trees import apart_in_gap, apart_under

# Words of the one way and of the other, and where they meet.
Reasons = tuple[list[int], list[int], int]


def way(heads: list[int], node: int) -> list[int]:
    """The words from a node up to ROOT, or round a cycle once."""
    found: list[int] = []
    while node and node not in found:
        found.append(node)
        node = heads[node]
    return found


def reasons(heads: list[int], word: int, other: int) -> Reasons | None:
    """Why a word does not descend from another; None if it does."""
    own, beside = way(heads, word), way(heads, other)
    if other in own:
        return None
    top = next((node for node in own if node in beside), 0)
    if top and own.index(top) + beside.index(top) < len(own):
        return own[: own.index(top)], beside[: beside.index(top)], top
    return own, [], 0


def fewest(found: list[tuple[int, Reasons | None]]) -> tuple[int, Reasons] | None:
    """The first for which there are the fewest reasons."""
    some = [(each, why) for each, why in found if why]
    return min(some, key=lambda each: len(each[1][0]) + len(each[1][1]), default=None)


def in_gap(heads: list[int], word: int) -> tuple[int, Reasons] | None:
    """Of the words between a word and its head whose arcs leave these, then of those above the head there the first."""
    head = heads[word]
    first, last = sorted((word, head))
    inside = range(first + 1, last)
    leaving = [each for each in inside if not first <= heads[each] <= last]
    above = [each for each in way(heads, head) if each in inside][:1]
    return fewest([(each, reasons(heads, each, head)) for each in leaving + above]) if head else None


def under(heads: list[int], word: int) -> tuple[int, Reasons] | None:
    """Of the heads of arcs over a word which end before its own head."""
    head, passing = heads[word], []
    for each, above in enumerate(heads):
        first, last = sorted((each, above))
        if above and first < word < last and (first > head if head < word else last < head):
            passing.append((above, reasons(heads, word, above)))
    return fewest(passing)


def as_found(heads: list[int], word: int, other: int, lower: int, upper: int, top: int) -> Reasons:
    return way(heads, word)[:lower], way(heads, other)[:upper], top


@pytest.mark.parametrize("n", [3, 4, 5, pytest.param(6, marks=pytest.mark.slow("size"))])
def test_the_fewest_reasons_of_all_heads(n: int) -> None:
    """Of five words and more some, at random."""
    every = itertools.product(*([head for head in range(n + 1) if head != word] for word in range(1, n + 1)))
    rng, compared = np.random.default_rng(n), 0
    for heads in ([0, *each] for each in every if n < 5 or rng.random() < 0.3):
        for word in range(1, n + 1):
            found, *ways = map(int, apart_in_gap(np.array(heads), word))
            expected = in_gap(heads, word)
            why = as_found(heads, found, heads[word], *ways)
            assert (found, why) == expected if expected else found == 0, (heads, word)
            found, *ways, end = map(int, apart_under(np.array(heads), word))
            expected = under(heads, word)
            why = as_found(heads, word, found, *ways)
            assert (found, why) == expected if expected else found == 0, (heads, word)
            assert not expected or heads[end] == found
            compared += bool(expected)
    assert compared >= 5
