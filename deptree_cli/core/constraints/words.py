"""What constraints know of a sentence: its words, its tree, and which words a condition names."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from deptree_cli.core.constraints.label_lists import NOT, labels_named
from deptree_cli.core.dtypes import Bool, Int, read_only
from deptree_cli.core.spaces.rules import crossings


@dataclass(frozen=True)
class Words:
    """The words of a sentence and the labels of its scores.

    Attributes:
        labels: the L names of labels; one nameless where scores tell none.
        upos: of each of n words, the part of speech that it acts as; None where it is not known.
        feats: of each word, its features, ``Key=Value``; ``_`` if it has none, but another word of its file has some.
        spans: stretches of words that hang together, first and last word, from 1 on.
        tags: of each word, what its column UPOS has, None where that is empty; nothing where nobody asks.
    """

    labels: tuple[str, ...]
    upos: Sequence[str | None]
    feats: Sequence[frozenset[str]]
    spans: Sequence[tuple[int, int]] = ()
    tags: Sequence[str | None] = ()

    @property
    def n(self) -> int:
        """How many there are."""
        return len(self.upos)

    @property
    def all_tags(self) -> list[str | None]:
        """Their parts of speech, or what else their column UPOS has."""
        return [known or own for known, own in zip(self.upos, self.tags or self.upos, strict=True)]

    def knowing(self, upos: Sequence[str]) -> Words:
        """The same of which no other parts of speech are known than these; if there are none, all."""
        return replace(self, upos=[each if each in upos else None for each in self.upos]) if upos else self

    @cached_property
    def has_feats(self) -> bool:
        """Whether features are known, if only that there are none."""
        return any(self.feats)

    @cached_property
    def untagged(self) -> Bool:
        """The words whose part of speech is not known, (n+1,); never ROOT."""
        return read_only(np.array([False, *(upos is None for upos in self.upos)]))

    @cached_property
    def has_tags(self) -> bool:
        """Whether the part of speech of one is known."""
        return any(upos is not None for upos in self.upos)


@dataclass(frozen=True)
class Condition:
    """Which words are meant, as heads or as dependents.

    Attributes:
        label: a list of labels of the arc to the word; empty: any.
        upos: parts of speech; empty: any.
        feats: features of which it has one, and none of ``!these``; empty: any.
    """

    label: tuple[str, ...] = ()
    upos: tuple[str, ...] = ()
    feats: tuple[str, ...] = ()

    def words(self, words: Words) -> Bool:
        """Which words it means but for their labels, (n+1,), never ROOT; none whose part of speech is not known."""
        found = np.ones(words.n + 1, dtype=np.bool_)
        found[0] = False
        if self.upos:
            found[1:] = [upos in self.upos for upos in words.upos]
        if self.feats:
            denied = {each.removeprefix(NOT) for each in self.feats if each.startswith(NOT)}
            given = {each for each in self.feats if not each.startswith(NOT)}
            fits = [feats.isdisjoint(denied) and not (given and feats.isdisjoint(given)) for feats in words.feats]
            found[1:] &= fits
        return found

    def by_label(self, words: Words) -> Bool:
        """Which words it means with which labels, (n+1, L)."""
        return self.words(words)[:, None] & self.labels(words.labels)

    def labels(self, labels: tuple[str, ...]) -> Bool:
        """Which labels it means, (L,)."""
        return labels_named(self.label, labels) if self.label else np.ones(len(labels), dtype=np.bool_)

    @property
    def is_any(self) -> bool:
        """Whether it means all words."""
        return not (self.label or self.upos or self.feats)


def children_of(heads: Sequence[int]) -> Mapping[int, list[int]]:
    """The dependents of each node that has some, in order; from heads of words 1, 2, ..."""
    found: dict[int, list[int]] = {}
    for word, head in enumerate(heads, 1):
        found.setdefault(head, []).append(word)
    return found


def cycles_of(heads: Sequence[int]) -> Iterator[list[int]]:
    """The cycles of heads of words 1, 2, ..., each word followed by its head; none of a tree. O(n)"""
    above, seen_from = (0, *heads), [0] * (len(heads) + 1)  # the word from which a node was first reached
    for start in range(1, len(above)):
        word = start
        while word and not seen_from[word]:
            seen_from[word] = start
            word = above[word]
        if word and seen_from[word] == start:
            cycle = [word]
            while above[cycle[-1]] != word:
                cycle.append(above[cycle[-1]])
            yield cycle


@dataclass(frozen=True)
class LabelledTree:
    """A tree as constraints look at it.

    Attributes:
        heads: of words 1 to n.
        labels: the number of each word's label.
    """

    heads: Sequence[int]
    labels: Sequence[int]

    @cached_property
    def children(self) -> Mapping[int, list[int]]:
        """The dependents of each node that has some."""
        return children_of(self.heads)

    @cached_property
    def below(self) -> Mapping[int, list[int]]:
        """The dependents of words, in order, by the labels of these."""
        found: dict[int, list[int]] = {}
        for word, head in enumerate(self.heads, 1):
            if head:
                found.setdefault(self.labels[head - 1], []).append(word)
        return found

    @cached_property
    def cycles(self) -> list[tuple[int, ...]]:
        """The words of each cycle, in order: a tree has none."""
        return [tuple(sorted(cycle)) for cycle in cycles_of(self.heads)]

    @cached_property
    def arrays(self) -> tuple[Int, Int]:
        """Heads of all nodes, (n+1,), ROOT's its own, and labels of words, (n,)."""
        return np.array([0, *self.heads]), np.array(self.labels, dtype=np.int64)

    @cached_property
    def label_set(self) -> frozenset[int]:
        """The labels that it has: a rule about others has nothing to find."""
        return frozenset(self.labels)

    def crossing(self, word: int) -> int | None:
        """The first word between the ends of a word's arc whose own arc crosses it, else the first beyond them; None
        if none does. ROOT stands before the first word.

        O(n^2) once for all words.
        """
        return self.crossings[word - 1] or None

    @cached_property
    def crossings(self) -> list[int]:
        """The same of all words, 0 where none does."""
        return crossings(self.arrays[0][None, 1:])[0].tolist()
