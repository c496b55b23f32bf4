"""What is drawn of a sentence, where arcs stand, and the text, character by character, that a terminal shows."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deptree_cli.io.pictures import arcs as module
from deptree_cli.io.pictures.arcs import Arc, Picture, cells, ems, fitted, is_right_to_left, levels, middles, picture_of
from deptree_cli.io.pictures.text import to_text

# Columns are dependents: word 1 under ROOT, word 2 under 1 or ROOT, word 3 under 2 or hardly 1.
MARGINALS = np.array([[0, 1, 0.25, 0], [0, 0, 0.75, 0.004], [0, 0, 0, 0.996], [0, 0, 0, 0]])


@pytest.mark.parametrize(
    ("above", "others"), [(0.01, [(0, 2)]), (0.2, [(0, 2)]), (0.25, []), (0.3, []), (0.0, [(0, 2), (1, 3)])]
)
@pytest.mark.quick
def test_the_tree_and_the_others_above_a_weight(above, others):
    drawn = picture_of("", [], MARGINALS, [0, 1, 2], {}, "", above)
    assert [(arc.head, arc.dependent) for arc in drawn.tree] == [(0, 1), (1, 2), (2, 3)]
    assert [(arc.head, arc.dependent) for arc in drawn.others] == others
    assert all(arc.weight == arc.probability == MARGINALS[arc.head, arc.dependent] for arc in drawn.arcs)


@pytest.mark.parametrize(
    ("arc", "tag"),
    [
        (Arc(2, 1, 0.654), ".65"),
        (Arc(2, 1, 0.654, "obj"), "obj .65"),
        (Arc(2, 1, 0.9951, "obj"), "obj"),
        (Arc(2, 1, 0.99, "obj"), "obj"),
        (Arc(2, 1, 0.9899), ".99"),
        (Arc(2, 1, 0.01), ".01"),
        (Arc(2, 1, 0.0049), "<.01"),
        (Arc(2, 1, 1e-300, "obj"), "obj <.01"),
        (Arc(2, 1, 0.0), "0"),
        (Arc(0, 1, 1.0, "root", count=0, share=0.0), "root 0"),
        (Arc(0, 1, 1.0), "ROOT"),
        (Arc(0, 1, 0.5, "root"), "root .50"),
        (Arc(2, 1, 0.654, "obj", count=1, share=0.25), "obj .25"),
    ],
)
@pytest.mark.quick
def test_what_is_written_on_an_arc(arc, tag):
    """Without a number it is certain, never negligible."""
    assert arc.tag == tag


@pytest.mark.parametrize(
    ("form", "shown"),
    [
        ("man", "man"),
        ("\x1b[31mred\x07", "[31mred"),
        ("a\u202eb\u2066c", "abc"),
        ("\x00\x7f\u2028", "_"),
        ("", "_"),
        ("\ud800x\uffff", "x"),
        ("می‌خواهم", "می‌خواهم"),  # the joiner inside belongs to the spelling
        ("New York", "New York"),
    ],
)
@pytest.mark.quick
def test_what_breaks_a_file_or_a_terminal_is_left_out(form, shown):
    assert module.shown_form(form) == shown


def test_widths_and_directions_of_forms():
    columns = {"man": 3, "друг": 4, "猫です": 6, "e\u0301": 1, "": 0, "Ａ": 2}
    assert {text: cells(text) for text in columns} == columns
    assert (ems("猫"), ems("e\u0301")) == (1.0, ems("e"))
    assert ems("ill") < ems("one") < ems("MOM")
    assert [is_right_to_left(text) for text in ("كتاب", "ספר", "book", "1")] == [True, True, False, False]


@pytest.mark.parametrize(
    ("text", "width", "shown"),
    [("ab", 4, "ab  "), ("abcdef", 4, "abc…"), ("猫猫猫", 4, "猫… "), ("ספר", 5, "ספר\u200e  ")],
)
@pytest.mark.quick
def test_a_form_is_fitted_and_a_right_to_left_one_closed_off_once(text, width, shown):
    assert fitted(text, width) == shown
    assert cells(shown) == width
    assert fitted(fitted("ספר", 3), 5) == "ספר\u200e  "


ARCS = st.sets(st.tuples(st.integers(0, 9), st.integers(1, 9)).filter(lambda ends: ends[0] != ends[1]), max_size=30)


@given(ARCS)
def test_what_an_arc_spans_is_below_it_and_nothing_overlaps_on_a_level(ends):
    arcs = [Arc(*each, 1.0) for each in sorted(ends)]
    placed = list(zip(arcs, levels(arcs), strict=True))
    between = [(each, level) for each, level in placed if each.head]
    assert all(level >= 1 for _, level in between)
    for (first, level), (second, other) in permutations(between, 2):
        if second.left < first.right and second.right > first.left:
            assert level != other
            within = first.left <= second.left and second.right <= first.right
            assert level > other or not within or first.ends == second.ends
    roots = {level for each, level in placed if not each.head}
    assert len(roots) <= 1
    assert all(level < root for root in roots for _, level in between)


def test_arcs_are_as_low_as_they_can_be():
    """1-2 and 2-3 side by side, 1-3 over them; 4-6 and 5-7 cross; a root over all."""
    arcs = [Arc(*each, 1.0) for each in ((1, 3), (1, 2), (3, 2), (4, 6), (7, 5), (0, 4))]
    assert levels(arcs) == [2, 1, 1, 1, 2, 3]
    assert levels([Arc(0, 1, 1.0)]) == [1]
    assert levels([]) == []


@given(ARCS)
def test_no_upright_stands_in_the_way_of_a_lower_arc_of_its_word(ends):
    """Seen from the middle of a word, arcs to one side leave it the farther out the lower they are."""
    arcs = [Arc(*each, 1.0) for each in sorted(ends)]
    heights = levels(arcs)
    places = module.slots(arcs, heights)
    for word in range(1, 10):
        here = [number for number, each in enumerate(arcs) if word in (each.left, each.right)]
        offsets = sorted(places[number, word].offset for number in here)
        assert offsets == [place - (len(here) - 1) / 2 for place in range(len(here))]
        assert all(places[number, word].total == len(here) for number in here)
        for number, other in permutations(here, 2):
            goes_left = [arcs[each].head and arcs[each].right == word for each in (number, other)]
            goes_right = [arcs[each].head and arcs[each].left == word for each in (number, other)]
            first, second = places[number, word].offset, places[other, word].offset
            if all(goes_left) and heights[number] < heights[other]:
                assert first < second
            if all(goes_right) and heights[number] < heights[other]:
                assert first > second
            if goes_left[0] and not goes_left[1]:
                assert first < second


def test_words_stand_apart_and_gaps_share_what_a_span_is_short_of():
    assert middles([4, 2, 6], 1, []).tolist() == [2, 6, 11]
    assert middles([5], 1, []).tolist() == [2.5]
    found = middles([2, 2, 2, 2], 1, [(1, 3, 10.0), (2, 4, 6.0), (1, 2, 3.0)])
    assert np.diff(found) == pytest.approx([5, 5, 3])


DUCK = "We saw her duck .", [2, 0, 4, 2, 2], [(2, 3, 0.625)], "nsubj root det obj punct"
SCHEDULED = "A hearing is scheduled today on this", [2, 3, 0, 3, 4, 2, 6]


def test_pictures_as_text(picture, golden):
    others = [(0, 1, 0.25), (3, 1, 0.25), (4, 1, 0.25)]
    shown = [
        to_text(picture(*DUCK), 80),
        to_text(picture(*DUCK), 80, colour=True),
        to_text(picture(*DUCK), 31),  # without room for labels
        to_text(picture(*DUCK), 28),
        to_text(picture(*SCHEDULED), 45),  # an upright hides what it crosses
        to_text(picture(*SCHEDULED), 40),  # beside the words, which are too long for arcs above them
        to_text(picture("私 は 猫 が 好き です", [5, 1, 5, 3, 0, 5], [(5, 2, 0.02)]), 80),
        to_text(picture("قرأ الولد كتابا", [0, 1, 1]), 80),  # each closed off, so that no number is drawn into its run
        to_text(picture("Aa b c d", [4, 1, 1, 0], others), 12),  # many heads go on in lines below
    ]
    golden("pictures.txt", "\n".join(shown).encode())


def test_two_trees_in_two_colours() -> None:
    """Red above and green below; in the table what differs is yellow."""
    one, other = (
        Picture("s", ["a", "b"], [Arc(0, 1, 1.0, "root"), Arc(1, 2, 1.0, label, differs=differs)], "", titles=[title])
        for title, label, differs in (("A", "x", False), ("B (1 word differs)", "yyyy", True))
    )
    lines = to_text(one.above(other), 80, colour=True).splitlines()
    assert lines[2:9] == [
        "\x1b[31mroot\x1b[0m",
        "\x1b[31m │╭──x──╮\x1b[0m",
        "\x1b[31m ▼│     ▼\x1b[0m",
        "  a     b",
        "\x1b[32m ▲╎     ▲\x1b[0m",
        "\x1b[32m │╰yyyy╌╯\x1b[0m",
        "\x1b[32mroot\x1b[0m",
    ]
    assert lines[-1] == "\x1b[33m≠\x1b[0m  \x1b[2m2\x1b[0m  b     x ← 1 a        \x1b[33myyyy ← 1 a   \x1b[0m"


@pytest.mark.parametrize("width", [20, 40, 80, 200])
@pytest.mark.parametrize("n", [1, 2, 7, 30])
def test_every_word_and_arc_is_there_in_any_width(picture, n, width):
    forms = " ".join(f"w{number}" for number in range(1, n + 1))
    shown = to_text(picture(forms, [number // 2 for number in range(1, n + 1)]), width)
    assert shown.count("▼") + shown.count("►") == n
    if "▼" in shown:
        assert all(cells(line) <= width for line in shown.split("\n\n")[1].splitlines())
    assert all(f"w{number}" in shown for number in range(1, n + 1))
