"""What constraints know of a sentence: its words, its tree, and which words a condition names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from deptree_cli.core.constraints.label_lists import NOT, labels_named
from deptree_cli.core.dtypes import Bool, Int, read_only


@dataclass(frozen=True)
class Words:
    """The words of a sentence and the labels of its scores.

    Attributes:
        labels: the L names of labels; one nameless where scores tell none.
        upos: of each of n words, the part of speech that it acts as; None where it is not known.
        feats: of each word, its morphological features, ``Key=Value``.
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

    @cached_property
    def has_feats(self) -> bool:
        """Whether one has features; else they are not known."""
        return any(self.feats)

    @cached_property
    def untagged(self) -> Bool:
        """The words whose part of speech is not known, (n+1,); never ROOT."""
        return read_only(np.array([False, *(upos is None for upos in self.upos)]))

    @cached_property
    def has_tags(self) -> bool:
        """Whether the part of speech of one is known."""
        return not self.untagged[1:].all()


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
        found: list[tuple[int, ...]] = []
        seen = [0] * (len(self.heads) + 1)  # the word from which a node was first reached; ROOT is above all
        for word in range(1, len(seen)):
            node = word
            while node and not seen[node]:
                seen[node] = word
                node = self.heads[node - 1]
            if node and seen[node] == word:
                found.append(self._cycle_of(node))
        return found

    def _cycle_of(self, word: int) -> tuple[int, ...]:
        """The words of the cycle that a word is on."""
        cycle, node = [word], self.heads[word - 1]
        while node != word:
            cycle.append(node)
            node = self.heads[node - 1]
        return tuple(sorted(cycle))

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

        O(length of the arc), but O(n) where only arcs from beyond cross.
        """
        first, last = sorted((word, self.heads[word - 1]))
        if last - first < 2:
            return None
        within = slice(first + 1, last)
        heads, lowest, highest = self._reach
        leaves = (heads[within] < first) | (heads[within] > last)
        if leaves.any():
            return first + 1 + int(leaves.argmax())
        if lowest[within].min() >= first and highest[within].max() <= last:
            return None
        into = (heads > first) & (heads < last)
        into[first : last + 1] = False
        return int(into.argmax())

    def line(self, node: int) -> Mapping[int, int]:
        """A node, its head, and so on up to ROOT, each with the number of arcs below it; of a cycle each word once."""
        if node not in self._lines:
            found, above = {node: 0}, node
            while above and (above := self.heads[above - 1]) not in found:
                found[above] = len(found)
            found.setdefault(0, len(found))
            self._lines[node] = found
        return self._lines[node]

    @cached_property
    def _lines(self) -> dict[int, Mapping[int, int]]:
        return {}

    def leaving(self, word: int) -> list[int]:
        """The words between a word and its head whose heads stand neither there nor at its ends; none below ROOT."""
        first, last = sorted((word, self.heads[word - 1]))
        within = self._reach[0][first + 1 : last]
        return (np.flatnonzero((within < first) | (within > last)) + first + 1).tolist() if first else []

    def passing_over(self, word: int) -> list[int]:
        """The words whose arcs to other words pass over a word, from between this and its head to beyond it."""
        heads, head = self._reach[0], self.heads[word - 1]
        nodes = np.arange(len(heads))
        first, last = np.minimum(heads, nodes), np.maximum(heads, nodes)
        near = first > head if head < word else last < head
        return np.flatnonzero((heads > 0) & (first < word) & (word < last) & near).tolist()

    @cached_property
    def _reach(self) -> tuple[Int, Int, Int]:
        """Of each node its head, its first dependent and its last one, (n+1,) each; itself where it has none."""
        heads = np.array([0, *self.heads])
        words = np.arange(len(heads))
        lowest, highest = words.copy(), words.copy()
        np.minimum.at(lowest, heads[1:], words[1:])
        np.maximum.at(highest, heads[1:], words[1:])
        return heads, lowest, highest
