"""Rules that a single arc decides: which arcs with which labels there may not be."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

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

        None of words whose part of speech decides and is not known, and none by features where these are not known.
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
        if self.needs_feats:
            found &= trees.with_feats[named]
        return trees.places(named[found])

    def arcs(self, words: Words) -> Bool:
        """The arcs that it forbids to its labels, (n+1, n+1), in sentences in which it has an effect."""
        nodes = np.arange(words.n + 1)
        return self._of(words, nodes[:, None], nodes)

    def arcs_or_all(self, words: Words) -> Bool | bool:
        """The same without the column of ROOT, (n+1, n); True or False where it forbids all arcs or none."""
        if not (self.head.is_any or (self._needs_tags and self.allow) or self.head.words(words).any()):
            return self.allow  # about no word as head
        return self.arcs(words)[:, 1:]

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
    def is_of_places(self) -> bool:
        """Whether it asks for nothing of words but where they and their heads stand."""
        asked = self.dependent.upos, self.dependent.feats, self.head.upos, self.head.feats
        return self.head.is_any and not any(asked)

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
        return bool(self.dependent.labels(words.labels).any()) and self.can_tell(words)

    def can_tell(self, words: Words) -> bool:
        """Whether tags and features are known if it asks for some."""
        return not ((self._needs_tags and not words.has_tags) or (self.needs_feats and not words.has_feats))

    @property
    def _needs_tags(self) -> bool:
        return bool(self.dependent.upos or self.head.upos)

    @property
    def needs_feats(self) -> bool:
        """Whether it asks for features."""
        return bool(self.dependent.feats or self.head.feats)


# A mask of any label, and the numbers of the labels that it forbids.
OfLabels = tuple[Mask, Integers]

# So large a table of places is kept, in bytes.
LARGEST = 1 << 23


class Masks:
    """All masks of some rules together.

    What places of words decide is a table, of which each sentence has a corner; what parts of speech decide is a row of
    labels for each of these; the others are looked at in each sentence.
    """

    def __init__(self, masks: Sequence[Mask]) -> None:
        self._of_tags = [mask for mask in masks if mask.is_of_tags]
        self._of_places = [mask for mask in masks if mask.is_of_places and not mask.is_of_tags]
        self._others = [mask for mask in masks if not (mask.is_of_places or mask.is_of_tags)]
        self._rows = ForLabels[dict[str | None, Bool]]()
        self._largest: tuple[tuple[str, ...], Bool] = (), np.empty(0, dtype=np.bool_)
        self._by_labels = ForLabels[list[OfLabels]]()

    def forbidden(self, words: Words) -> Bool:
        """Which arcs with which labels they forbid, (n+1, n+1, L), ``[head, dependent, label]``."""
        nodes = words.n + 1
        found = self._table(nodes, words.labels)[:nodes, :nodes].copy()
        np.logical_or(found[:, 1:], self._by_tags(words), out=found[:, 1:])
        for mask, labels in self._by_labels.get(words.labels, lambda: _grouped(self._others, words.labels)):
            if mask.can_tell(words):
                arcs = mask.arcs_or_all(words)
                for label in labels.tolist() if arcs is not False else ():
                    found[:, 1:, label] |= arcs
        return found

    def _table(self, nodes: int, labels: tuple[str, ...]) -> Bool:
        """What places forbid in a sentence of so many nodes or more."""
        kept, found = self._largest
        if kept == labels and len(found) >= nodes:
            return found
        size = 1 << (nodes - 1).bit_length()
        is_kept = size * size * len(labels) <= LARGEST
        size = size if is_kept else nodes
        words = Words(labels, [None] * (size - 1), [frozenset()] * (size - 1))
        found = np.zeros((size, size, len(labels)), dtype=np.bool_)
        for mask, named in _grouped(self._of_places, labels):
            found[..., named] |= mask.arcs(words)[..., None]
        if is_kept:
            self._largest = labels, found  # both at once: threads share them
        return found

    def _by_tags(self, words: Words) -> Bool:
        """The labels that parts of speech forbid to words, (n, L), below whatever head."""
        rows = self._rows.get(words.labels, dict)
        for tag in [each for each in set(words.upos) if each not in rows]:
            rows[tag] = self._row(Words(words.labels, [tag], [frozenset()]))
        return np.array([rows[tag] for tag in words.upos])

    def _row(self, word: Words) -> Bool:
        """The labels that they forbid to a word, (L,): it has no other."""
        found = np.zeros(len(word.labels), dtype=np.bool_)
        for mask in self._of_tags:
            found |= mask.forbidden(word)[0, 1]
        return found


def _grouped(masks: Sequence[Mask], labels: tuple[str, ...]) -> list[OfLabels]:
    """Of masks that forbid the same arcs one, with the numbers of the labels of all of them."""
    found: dict[Mask, list[Bool]] = {}
    for mask in masks:
        named = mask.dependent.labels(labels)
        if named.any():
            of_any = replace(mask, name="", dependent=replace(mask.dependent, label=()))
            found.setdefault(of_any, []).append(named)
    return [(mask, np.flatnonzero(np.any(named, axis=0))) for mask, named in found.items()]
