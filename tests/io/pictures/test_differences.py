"""Annotations side by side as text: arcs of the one above the words, of the other below, a table of all."""

from __future__ import annotations

import pytest

from deptree_cli.io.pictures.arcs import Arc
from deptree_cli.io.pictures.text import DifferencePicture, differences_to_text

LONG = [f"word{number}" for number in range(1, 41)]


def picture(forms: list[str], *answers: tuple[Arc | None, ...]) -> DifferencePicture:
    """Of words, each with its arcs in all annotations."""
    words = [next(arc.dependent for arc in each if arc) for each in answers]
    names = [f"{letter}: file" for letter, _ in zip("abcdef", answers[0], strict=False)]
    return DifferencePicture("s", forms, words, names, list(zip(*answers, strict=True)))


def arc(head: int, dependent: int, label: str = "obl", probability: float = 1.0) -> Arc:
    return Arc(head, dependent, probability, label)


def lines(shown: DifferencePicture, width: int = 80, colour: bool = False) -> list[str]:
    return differences_to_text(shown, width, colour).splitlines()


def test_nothing_of_no_picture() -> None:
    assert differences_to_text(None, 80) == ""


def test_arcs_above_and_below() -> None:
    shown = lines(picture(["a", "b", "c"], (arc(1, 3), arc(0, 3, "root"))))
    assert shown == [
        "s: 1 word differs",
        "",
        "╭─obl──╮",
        "│      ▼",
        "a  b   c",
        "       ▲",
        "     root",
        "",
        "   word  a: file    b: file",
        "3  c     obl ← 1 a  root",
        "",
    ]


@pytest.mark.parametrize("width", range(40, 200, 10))
def test_only_what_fits_is_drawn(width: int) -> None:
    """Around the ends of arcs, of few words at a time; every word that differs has its arcs somewhere."""
    answers = [(arc(word - 1, word, "obj"), arc(word + 5, word, "nmod:poss")) for word in (3, 9, 20, 33)]
    text = differences_to_text(picture(LONG, *answers), width)
    drawn = [line for line in text.splitlines() if "←" not in line and "file" not in line]
    assert max(map(len, drawn)) <= width
    assert sum(line.count("▼") for line in drawn) == sum(line.count("▲") for line in drawn) == len(answers)
    assert text.count("←") == 2 * len(answers)


def test_where_nothing_fits_the_table_remains() -> None:
    wide = picture(["x" * 50, "y" * 50], (arc(1, 2), arc(0, 2, "root")))
    assert "▼" not in differences_to_text(wide, 40)
    assert "obl ← 1" in differences_to_text(wide, 40)


def test_right_to_left_words_and_three_annotations_have_no_arcs() -> None:
    assert "▼" not in differences_to_text(picture(["שלום", "עולם"], (arc(1, 2), arc(0, 2))), 80)
    three = lines(picture(["a", "b"], (arc(1, 2), None, arc(0, 2, "root"))))
    assert three[2:4] == ["   word  a: file    b: file  c: file", "2  b     obl ← 1 a  no head  root"]


def test_probabilities() -> None:
    shown = lines(picture(["a", "b"], (arc(1, 2, "obl", 0.3), arc(1, 2, "", 0.62))))
    assert shown[2:7] == ["╭obl .30╌╮", "╎        ▼", "a        b", "│        ▲", "╰──.62───╯"]
    assert shown[-2] == "2  b     obl .30 ← 1 a  .62 ← 1 a"


def test_each_annotation_has_its_colour() -> None:
    shown = lines(picture(["a", "b"], (arc(1, 2, "obl"), arc(1, 2, "obj"))), colour=True)
    above, below = (next(line for line in shown if label in line) for label in ("obl", "obj"))
    assert (above[:5], below[:5]) == ("\x1b[31m", "\x1b[32m")
