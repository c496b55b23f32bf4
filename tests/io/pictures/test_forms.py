"""Forms as they are shown, and their widths."""

from __future__ import annotations

import pytest

from deptree_cli.io.pictures.arcs import cells, ems, fitted, is_right_to_left, shown_form


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
def test_what_breaks_a_file_or_a_terminal_is_left_out(form, shown):
    assert shown_form(form) == shown


@pytest.mark.parametrize(
    ("text", "columns"), [("man", 3), ("друг", 4), ("猫です", 6), ("e\u0301", 1), ("", 0), ("Ａ", 2)]
)
def test_columns_of_a_terminal(text, columns):
    assert cells(text) == columns


def test_widths_in_em():
    assert ems("猫") == 1.0
    assert ems("e\u0301") == ems("e")
    assert ems("ill") < ems("one") < ems("MOM")


@pytest.mark.parametrize(("text", "told"), [("كتاب", True), ("ספר", True), ("book", False), ("1", False)])
def test_right_to_left(text, told):
    assert is_right_to_left(text) is told


@pytest.mark.parametrize(("text", "width", "shown"), [("ab", 4, "ab  "), ("abcdef", 4, "abc…"), ("猫猫猫", 4, "猫… ")])
def test_fitted(text, width, shown):
    assert fitted(text, width) == shown
    assert cells(shown) == width


def test_a_right_to_left_word_is_closed_off_once():
    assert fitted("ספר", 5) == "ספר\u200e  "
    assert fitted(fitted("ספר", 3), 5) == "ספר\u200e  "
