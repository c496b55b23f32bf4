"""Conflicts: sets of arcs of a tree of which one must go, found by rules that only a tree decides."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, Protocol

import numpy as np

from deptree_cli.core.constraints.many import ManyTrees, Place
from deptree_cli.core.constraints.words import LabelledTree, Words
from deptree_cli.core.dtypes import Bool


class Choice(NamedTuple):
    """A word and some of its heads and labels.

    Attributes:
        word: from 1 on.
        arcs: (n+1, L), ``[head, label]``, or (n+1, 1) if all labels are meant.
    """

    word: int
    arcs: Bool


def _nothing() -> Sequence[Choice]:
    return ()


@dataclass(frozen=True)
class Conflict:
    """What a tree may not choose together.

    Attributes:
        words: those whose arcs break the rule together; a message names the first.
        made: gives `choices`. It is asked for only by a search: each is an array of all heads.
        also_excluded: what else must go where all of `choices` but the last stay. It is asked for only if this conflict
            is divided, and keeps parts from having the same conflict with one more word.
    """

    words: tuple[int, ...]
    made: Callable[[], Sequence[Choice]]
    also_excluded: Callable[[], Sequence[Choice]] = _nothing

    @cached_property
    def choices(self) -> Sequence[Choice]:
        """The choices that the tree made, of `words` and maybe of others, each of another word: one must go."""
        return self.made()


# The conflicts of a tree by a rule.
Finder = Callable[[LabelledTree], Iterator[Conflict]]


class Suspicion(NamedTuple):
    """With which labels a tree may break a rule: of others it cannot, whatever its words are.

    Attributes:
        siblings: (L,), labels of two dependents of a head.
        below: (L, L), the label of a word, and that of a dependent of it.
        apart: (L,), labels of words whose heads, which are words, do not stand beside them.
        crossing: (L,), labels of words whose arcs others cross.
    """

    siblings: Bool
    below: Bool
    apart: Bool
    crossing: Bool

    @classmethod
    def none(cls, labels: int) -> Suspicion:
        """That of a rule which no tree with so many labels breaks."""
        return cls(*(np.zeros((labels,) * axes, dtype=np.bool_) for axes in (1, 2, 1, 1)))


class TreeRule(Protocol):
    """A rule that only a tree decides."""

    @property
    def name(self) -> str:
        """What it is called where a tree breaks it."""

    def bound(self, words: Words) -> Finder | None:
        """What finds its conflicts in trees of a sentence; None where it has no effect there."""

    def suspicion(self, labels: tuple[str, ...]) -> Suspicion | None:
        """With which of these labels a tree may break it; None where labels do not tell."""

    def places(self, trees: ManyTrees) -> Iterator[Place]:
        """The words of its conflicts in the trees of many sentences, those of a sentence in order."""


def one_by_one(rule: TreeRule, trees: ManyTrees, words: Bool | None = None) -> Iterator[Place]:
    """What a rule finds in the sentences that some words, (W,), are of; without them in all."""
    chosen = np.arange(len(trees.sizes)) if words is None else np.unique(trees.sentences[words])
    for sentence in chosen.tolist():
        find = rule.bound(trees.words(sentence))
        for each in find(trees.tree(sentence)) if find else ():
            yield sentence, each.words


class Arcs:
    """Makes choices for a sentence of n words and L labels."""

    def __init__(self, n: int, labels: int) -> None:
        self.n, self.labels = n, labels

    def of(self, word: int, heads: int | Sequence[int] | slice, labels: Bool | slice | None = None) -> Choice:
        """A word below these heads, with these labels or any."""
        arcs = np.zeros((self.n + 1, 1 if labels is None else self.labels), dtype=np.bool_)
        arcs[heads, slice(None) if labels is None else labels] = True
        return Choice(word, arcs)

    def but(self, word: int, heads: int | slice, labels: Bool | None = None) -> Choice:
        """A word not below these heads with these labels, or with any."""
        return Choice(word, ~self.of(word, heads, labels).arcs)

    def of_all_but(self, skipped: int, heads: int, labels: Bool) -> list[Choice]:
        """Each word but one below such heads with such labels: one array serves all."""
        arcs = self.of(0, heads, labels).arcs
        return [Choice(word, arcs) for word in range(1, self.n + 1) if word != skipped]
