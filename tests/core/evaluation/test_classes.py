"""Scores broken down by classes, counted by hand."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pytest

from deptree_cli.core.dtypes import Int
from deptree_cli.core.evaluation import CLASSES, by_class, in_order
from tests.tree_files import comparison, tree_text, word


class Attached(NamedTuple):
    """A tree with labels."""

    heads: Int
    labels: Sequence[str]


# The arc from word 4 to word 2 spans word 3, which is below word 1.
CROSSING = Attached(np.array([0, 4, 1, 1]), ["root", "case", "obj", "obj"])
FLAT = Attached(np.array([0, 1, 1, 1]), ["root", "obj", "obj", "obl"])


def table(kind: str, gold: Attached = CROSSING, system: Attached = FLAT) -> dict[tuple[str, str], list[int]]:
    return of_texts(kind, *(tree_text(each.heads.tolist(), each.labels) for each in (gold, system)))


def of_texts(kind: str, gold: str, system: str) -> dict[tuple[str, str], list[int]]:
    kinds, compared = [CLASSES.get(kind)], comparison(gold, system)
    (found,) = by_class(compared, kinds, compared.gold.words, compared.system.words)
    return {each[1:]: [counter[each] for counter in found] for each in in_order(found, kinds)}


def test_labels() -> None:
    """The most frequent of the gold tree first; those that only the system has are there too."""
    rows = table("label")
    assert rows == {
        ("obj", "LAS"): [1, 2, 2],
        ("case", "LAS"): [0, 1, 0],
        ("root", "LAS"): [1, 1, 1],
        ("obl", "LAS"): [0, 0, 1],
    }
    assert list(rows) == [("obj", "LAS"), ("case", "LAS"), ("root", "LAS"), ("obl", "LAS")]


def test_arc_lengths() -> None:
    assert table("arc-length") == {
        ("root", "UAS"): [1, 1, 1],
        ("root", "LAS"): [1, 1, 1],
        ("1", "UAS"): [0, 0, 1],
        ("1", "LAS"): [0, 0, 1],
        ("2", "UAS"): [1, 2, 1],
        ("2", "LAS"): [1, 2, 1],
        ("3", "UAS"): [1, 1, 1],
        ("3", "LAS"): [0, 1, 1],
    }


def test_projectivity() -> None:
    rows = table("projectivity")
    assert rows["non-projective", "UAS"] == [0, 1, 0]
    assert rows["projective", "UAS"] == [3, 3, 4]
    assert rows["projective", "LAS"] == [2, 3, 4]


@pytest.mark.parametrize("lost", [-1, 3, 9])
def test_words_without_an_arc(lost: int) -> None:
    """A system's head that is no word, or the word itself, is no arc; crossing arcs are those of trees only."""
    system = Attached(np.array([0, 1, lost, 1]), ["root", "obj", "obj", "obl"])
    assert table("arc-length", CROSSING, system)["none", "UAS"] == [0, 0, 1]
    rows = table("projectivity", CROSSING, system)
    assert rows["none", "UAS"] == [0, 0, 2]  # the right ones are in their gold classes
    assert rows["projective", "UAS"] == [2, 3, 2]
    assert table("sentence-length", CROSSING, system)["1-10", "UAS"] == [2, 4, 4]


@pytest.mark.parametrize(("n", "name"), [(1, "1-10"), (10, "1-10"), (11, "11-20"), (50, "41-50"), (51, "51+")])
def test_sentence_lengths(n: int, name: str) -> None:
    chain = Attached(np.arange(n), ["dep"] * n)
    assert table("sentence-length", chain, chain) == {(name, "UAS"): [n, n, n], (name, "LAS"): [n, n, n]}


@pytest.mark.parametrize("kind", CLASSES.names)
def test_classes_divide_the_words(kind: str) -> None:
    """Every class's right words are among its words in both trees, and all words of a tree are in one class."""
    random = np.random.default_rng(3)
    for _ in range(20):
        gold, system = (
            Attached(
                np.array([random.integers(0, word) for word in range(1, 13)]), random.choice(["a", "b"], 12).tolist()
            )
            for _ in range(2)
        )
        for metric in CLASSES.get(kind).metrics:
            rows = np.array([row for (_, each), row in table(kind, gold, system).items() if each == metric])
            assert (rows[:, :1] <= rows[:, 1:]).all()
            assert rows[:, 1:].sum(axis=0).tolist() == [12, 12]


def test_a_right_word_is_in_the_class_of_its_gold_arc() -> None:
    """An arc over a word that the system splits is longer there, and right all the same, in the gold class."""
    gold = word(1, "a", 3, "det") + word(2, "bc", 3, "amod") + word(3, "d", 0, "root") + "\n"
    system = word(1, "a", 4, "det") + word(2, "b", 4) + word(3, "c", 4) + word(4, "d", 0, "root") + "\n"
    rows = of_texts("arc-length", gold, system)
    assert rows["2", "UAS"] == [1, 1, 2]
    assert rows["1", "UAS"] == [0, 1, 1]
    assert ("3", "UAS") not in rows
