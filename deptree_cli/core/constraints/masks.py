"""Rules that a single arc decides: which arcs with which labels there may not be."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from deptree_cli.core.constraints.label_lists import ForLabels, numbers_named
from deptree_cli.core.constraints.many import ManyTrees, Place
from deptree_cli.core.constraints.words import Condition, LabelledTree, Words
from deptree_cli.core.dtypes import Bool, Integers

# Whatever stands there.
ANY = Condition()

LEFT, RIGHT = "left", "right"


@dataclass(frozen=True)
class Mask:
    """Arcs that are forbidden, or alone allowed for their labels.

    Attributes:
        name: what it is called where a tree breaks it.
        dependent: which words with which labels it is about.
        head: which heads; never ROOT where it names some.
        direction: "right": the dependent stands to the right of its head; "left"; or nothing: any.
        distance: the least and the most words from one to the other; None: any.
        root: whether it is about arcs from ROOT (True), from words (False), or both (None).
        allow: whether arcs of the labels are allowed only so, instead of forbidden so.
    """

    name: str
    dependent: Condition
    head: Condition = ANY
    direction: str = ""
    distance: tuple[int, int] | None = None
    root: bool | None = None
    allow: bool = False

    def forbidden(self, words: Words) -> Bool:
        """Which arcs with which labels it forbids, (n+1, n+1, L), ``[head, dependent, label]``.

        None of words whose part of speech decides and is not known, and none by features where no word has some.
        """
        if not self.has_effect(words):
            return np.zeros((words.n + 1, words.n + 1, len(words.labels)), dtype=np.bool_)
        return self.arcs(words)[..., None] & self.dependent.labels(words.labels)

    def broken(self, words: Words, tree: LabelledTree) -> Integers:
        """The words of a tree, from 1 on, whose arcs it forbids."""
        numbers = numbers_named(self.dependent.label, words.labels) if self.dependent.label else tree.label_set
        if numbers.isdisjoint(tree.label_set) or not self.has_effect(words):
            return np.empty(0, dtype=np.intp)
        heads, labels = tree.arrays
        named = np.flatnonzero(self.dependent.labels(words.labels)[labels]) + 1
        return named[self._of(words, heads[named], named)]

    def places(self, trees: ManyTrees) -> Iterator[Place]:
        """The words whose arcs it forbids in the trees of many sentences."""
        named = np.flatnonzero(self.dependent.labels(trees.kinds.labels)[trees.labels])
        heads = trees.heads[named]
        kinds = np.where(heads > 0, trees.kind[trees.above[named]], 0), trees.kind[named]
        found = self._of(trees.kinds, heads, trees.numbers[named], kinds)
        if self._needs_tags:
            found &= trees.with_tags[named]
        if self._needs_feats:
            found &= trees.with_feats[named]
        return trees.places(named[found])

    def arcs(self, words: Words) -> Bool:
        """The arcs that it forbids to its labels, (n+1, n+1), in sentences in which it has an effect."""
        nodes = np.arange(words.n + 1)
        return self._of(words, nodes[:, None], nodes)

    def _of(
        self, words: Words, heads: Integers, dependents: Integers, kinds: tuple[Integers, Integers] | None = None
    ) -> Bool:
        """Which arcs from some heads to some words it forbids, in their common shape.

        kinds: which of `words` these are, if those are kinds of words.
        """
        of_heads, of_dependents = kinds or (heads, dependents)
        arcs = np.ones(np.broadcast_shapes(heads.shape, dependents.shape), dtype=np.bool_)
        arcs &= self.dependent.words(words)[of_dependents]
        if not self.head.is_any:
            arcs &= self.head.words(words)[of_heads]
        if self.direction:
            arcs &= (heads < dependents) if self.direction == RIGHT else (heads > dependents)
        if self.distance is not None:
            apart = np.abs(heads - dependents)
            arcs &= (apart >= self.distance[0]) & (apart <= self.distance[1])
        if self.root is not None:
            arcs &= (heads == 0) == self.root
        if self.allow:
            np.logical_not(arcs, out=arcs)
        arcs &= dependents > 0
        if self.dependent.upos:
            arcs &= ~words.untagged[of_dependents]
        if self.head.upos:
            arcs &= ~words.untagged[of_heads]
        return arcs

    @property
    def is_of_tags(self) -> bool:
        """Whether it asks for nothing but the dependent's part of speech."""
        return self == Mask(self.name, Condition(self.dependent.label, self.dependent.upos), allow=self.allow)

    @property
    def is_of_labels(self) -> bool:
        """Whether it asks for nothing but the label: some labels are forbidden to every word below every head."""
        return self == Mask(self.name, Condition(self.dependent.label))

    @property
    def is_of_words(self) -> bool:
        """Whether the head of a word does not matter."""
        return self == Mask(self.name, self.dependent, allow=self.allow)

    def has_effect(self, words: Words) -> bool:
        """Whether it can forbid anything in such a sentence: its labels are there, and its tags are known."""
        if not self.dependent.labels(words.labels).any():
            return False
        return not ((self._needs_tags and not words.has_tags) or (self._needs_feats and not words.has_feats))

    @property
    def _needs_tags(self) -> bool:
        return bool(self.dependent.upos or self.head.upos)

    @property
    def _needs_feats(self) -> bool:
        return bool(self.dependent.feats or self.head.feats)


class TagMasks:
    """Masks that ask for nothing but the dependent's part of speech: a row of labels for each of these.

    Args:
        masks: all of them are such.
    """

    def __init__(self, masks: Sequence[Mask]) -> None:
        self._masks = masks
        self._rows = ForLabels[dict[str | None, Bool]]()

    def forbidden(self, words: Words) -> Bool:
        """The labels that they forbid to words, (n, L), below whatever head."""
        rows = self._rows.get(words.labels, dict)
        for tag in set(words.upos).difference(rows):
            rows[tag] = self._row(Words(words.labels, [tag], [frozenset()]))
        return np.array([rows[tag] for tag in words.upos])

    def _row(self, word: Words) -> Bool:
        """The labels that they forbid to a word, (L,): it has no other."""
        found = np.zeros(len(word.labels), dtype=np.bool_)
        for mask in self._masks:
            found |= mask.forbidden(word)[0, 1]
        return found
