"""Conflicts: sets of arcs of a tree of which one must go, found by rules that only a tree decides."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol

import numpy as np

from deptree_cli.core.constraints.words import LabelledTree
from deptree_cli.core.dtypes import Bool


class Choice(NamedTuple):
    """A word and some of its heads and labels.

    Attributes:
        word: from 1 on.
        arcs: (n+1, L), ``[head, label]``.
    """

    word: int
    arcs: Bool


# What a tree may not choose together: the words differ.
Conflict = list[Choice]

# The first conflict of a tree, None where it has none.
Finder = Callable[[LabelledTree], Conflict | None]


class TreeRule(Protocol):
    """A rule that only a tree decides."""

    @property
    def name(self) -> str:
        """What it is called where a tree breaks it."""

    def bound(self, words: object) -> Finder | None:
        """What finds its conflicts in trees of a sentence; None where it has no effect there."""


class Arcs:
    """Makes choices for a sentence of n words and L labels."""

    def __init__(self, n: int, labels: int) -> None:
        self.shape = n + 1, labels

    def of(self, word: int, heads: int | Sequence[int] | slice, labels: Bool | slice = slice(None)) -> Choice:
        """A word below these heads with these labels."""
        arcs = np.zeros(self.shape, dtype=np.bool_)
        arcs[heads, labels] = True
        return Choice(word, arcs)

    def but(self, word: int, heads: int | slice, labels: Bool | slice) -> Choice:
        """A word not below these heads with these labels."""
        return Choice(word, ~self.of(word, heads, labels).arcs)
