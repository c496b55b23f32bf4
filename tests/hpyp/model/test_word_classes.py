"""Classes of words by their spelling, one by one."""

from __future__ import annotations

import pytest

from deptree_cli.hpyp.model.unknown import SUFFIXES, word_class

KNOWN = {"dogs", "sleeping", "a"}


def of(form: str, is_first: bool = False) -> str:
    return word_class(form, is_first, KNOWN.__contains__)


@pytest.mark.parametrize(
    ("form", "first", "later"),
    [
        ("!?", "UNK-PUNC", "UNK-PUNC"),
        ("--", "UNK-PUNC", "UNK-PUNC"),
        ("Dogs", "UNK-INITC-KNOWNLC-s", "UNK-CAPS-s"),
        ("Sleeping", "UNK-INITC-KNOWNLC-ing", "UNK-CAPS-ing"),
        ("Heidi", "UNK-INITC", "UNK-CAPS"),
        ("A", "UNK-INITC-KNOWNLC", "UNK-CAPS"),
        ("McCoy", "UNK-CAPS-y", "UNK-CAPS-y"),
        ("iPod", "UNK-CAPS", "UNK-CAPS"),
        ("USA", "UNK-ALLC", "UNK-ALLC"),
        ("dogs", "UNK-LC-s", "UNK-LC-s"),
        ("1984", "UNK-NUM", "UNK-NUM"),
        ("1980s", "UNK-LC-NUM-s", "UNK-LC-NUM-s"),
        ("well-being", "UNK-LC-DASH", "UNK-LC-DASH"),
        ("www.example.org/x", "UNK-LC-URL", "UNK-LC-URL"),
        ("ftp://example.org", "UNK-LC-URL", "UNK-LC-URL"),
        ("anna@example.org", "UNK-LC-MAIL", "UNK-LC-MAIL"),
        ("@anna", "UNK-LC", "UNK-LC"),
        ("bed", "UNK-LC", "UNK-LC"),
        ("речка", "UNK-LC", "UNK-LC"),
        ("東京", "UNK", "UNK"),
    ],
)
def test_classes(form: str, first: str, later: str) -> None:
    assert (of(form, is_first=True), of(form)) == (first, later)


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_suffixes_of_words_of_five_letters(suffix: str) -> None:
    long, short = "b" * (5 - len(suffix)) + suffix, "b" * (4 - len(suffix)) + suffix
    assert of(long) == of(long.upper()).replace("ALLC", "LC") == f"UNK-LC-{suffix}"
    assert of(short) == "UNK-LC"


def test_of_several_suffixes_the_first_counts() -> None:
    """-ly before -y, and -ity before -y."""
    assert of("gladly") == "UNK-LC-ly"
    assert of("clarity") == "UNK-LC-ity"
    assert of("sandy") == "UNK-LC-y"


def test_only_a_word_in_lower_case_is_looked_up() -> None:
    asked: list[str] = []
    word_class("Bob", True, lambda form: bool(asked.append(form)))
    word_class("bob", True, lambda form: bool(asked.append(form)))
    assert asked == ["bob"]
