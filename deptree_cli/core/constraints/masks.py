"""Rules that a single arc decides: which arcs with which labels there may not be."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from deptree_cli.core.constraints.words import Condition, ForLabels, Words, unknown_tags
from deptree_cli.core.dtypes import Bool

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

    def arcs(self, words: Words) -> Bool:
        """The arcs that it forbids to its labels, (n+1, n+1), in sentences in which it has an effect."""
        nodes = np.arange(words.n + 1)
        arcs = self.dependent.words(words)[None, :] & np.ones((words.n + 1, 1), dtype=np.bool_)
        if not self.head.is_any:
            arcs &= self.head.words(words)[:, None]
        if self.direction:
            arcs &= (nodes[:, None] < nodes) if self.direction == RIGHT else (nodes[:, None] > nodes)
        if self.distance is not None:
            apart = np.abs(nodes[:, None] - nodes)
            arcs &= (apart >= self.distance[0]) & (apart <= self.distance[1])
        if self.root is not None:
            arcs &= ((nodes == 0) == self.root)[:, None]
        return (~arcs if self.allow else arcs) & ~self._undecided(words)

    @property
    def is_of_tags(self) -> bool:
        """Whether it asks for nothing but the dependent's part of speech."""
        return self == Mask(self.name, Condition(self.dependent.label, self.dependent.upos), allow=self.allow)

    def _undecided(self, words: Words) -> Bool:
        """Arcs of which it cannot be told, (n+1, n+1); those into ROOT too."""
        found = np.zeros((words.n + 1, words.n + 1), dtype=np.bool_)
        found[:, 0] = True
        if self.dependent.upos:
            found |= unknown_tags(words)[None, :]
        if self.head.upos:
            found |= unknown_tags(words)[:, None]
        return found

    def has_effect(self, words: Words) -> bool:
        """Whether it can forbid anything in such a sentence: its labels are there, and its tags are known."""
        if not self.dependent.labels(words.labels).any():
            return False
        needs_tags = bool(self.dependent.upos or self.head.upos) and bool(unknown_tags(words)[1:].all())
        needs_feats = bool(self.dependent.feats or self.head.feats) and not words.has_feats
        return not (needs_tags or needs_feats)


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
