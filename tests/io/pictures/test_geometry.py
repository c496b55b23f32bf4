"""Levels, slots and columns, for any set of arcs."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deptree_cli.io.pictures.arcs import Arc, levels, middles, slots


def arc(head: int, dependent: int) -> Arc:
    return Arc(head, dependent, 1.0)


ARCS = st.sets(st.tuples(st.integers(0, 9), st.integers(1, 9)).filter(lambda ends: ends[0] != ends[1]), max_size=30)


@given(ARCS)
def test_what_an_arc_spans_is_below_it_and_nothing_overlaps_on_a_level(ends):
    arcs = [arc(*each) for each in sorted(ends)]
    placed = list(zip(arcs, levels(arcs), strict=True))
    between = [(each, level) for each, level in placed if each.head]
    for first, level in between:
        assert level >= 1
        for second, other in between:
            if second is first:
                continue
            if second.left < first.right and second.right > first.left:
                assert level != other
                if (
                    first.left <= second.left
                    and second.right <= first.right
                    and ((first.left, first.right) != (second.left, second.right))
                ):
                    assert level > other
    roots = {level for each, level in placed if not each.head}
    assert len(roots) <= 1
    assert all(level < root for root in roots for _, level in between)


def test_arcs_are_as_low_as_they_can_be():
    """1-2 and 2-3 side by side, 1-3 over them; 4-6 and 5-7 cross; a root over all."""
    arcs = [arc(1, 3), arc(1, 2), arc(3, 2), arc(4, 6), arc(7, 5), arc(0, 4)]
    assert levels(arcs) == [2, 1, 1, 1, 2, 3]
    assert levels([arc(0, 1)]) == [1]
    assert levels([]) == []


@given(ARCS)
def test_no_upright_stands_in_the_way_of_a_lower_arc_of_its_word(ends):
    """Seen from the middle of a word, arcs to one side leave it the farther out the lower they are."""
    arcs = [arc(*each) for each in sorted(ends)]
    heights = levels(arcs)
    places = slots(arcs, heights)
    for word in range(1, 10):
        here = [number for number, each in enumerate(arcs) if word in (each.left, each.right)]
        offsets = sorted(places[number, word].offset for number in here)
        assert offsets == [place - (len(here) - 1) / 2 for place in range(len(here))]
        assert all(places[number, word].total == len(here) for number in here)
        for number in here:
            for other in here:
                goes_left = [arcs[each].head and arcs[each].right == word for each in (number, other)]
                goes_right = [arcs[each].head and arcs[each].left == word for each in (number, other)]
                first, second = places[number, word].offset, places[other, word].offset
                if all(goes_left) and heights[number] < heights[other]:
                    assert first < second
                if all(goes_right) and heights[number] < heights[other]:
                    assert first > second
                if goes_left[0] and not goes_left[1]:
                    assert first < second


def test_words_stand_apart():
    assert middles([4, 2, 6], 1, []).tolist() == [2, 6, 11]
    assert middles([5], 1, []).tolist() == [2.5]


def test_what_a_span_is_short_of_is_shared_by_its_gaps():
    found = middles([2, 2, 2, 2], 1, [(1, 3, 10.0), (2, 4, 6.0), (1, 2, 3.0)])
    assert np.diff(found) == pytest.approx([5, 5, 3])
