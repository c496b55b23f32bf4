"""Rules that a single arc decides: which arcs with which labels there may not be."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from deptree_cli.core.constraints.words import Condition, Words, unknown_tags
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
        labels = self.dependent.labels(words.labels)
        nodes = np.arange(words.n + 1)
        arcs = self.dependent.words(words)[None, :] & np.ones((words.n + 1, 1), dtype=np.bool_)
        if not self.head.is_any:
            arcs = arcs & self.head.words(words)[:, None]
        if self.direction:
            arcs = arcs & ((nodes[:, None] < nodes) if self.direction == RIGHT else (nodes[:, None] > nodes))
        if self.distance is not None:
            apart = np.abs(nodes[:, None] - nodes)
            arcs = arcs & (apart >= self.distance[0]) & (apart <= self.distance[1])
        if self.root is not None:
            arcs = arcs & ((nodes == 0) == self.root)[:, None]
        found = (~arcs if self.allow else arcs)[..., None] & labels
        return found & ~self._undecided(words)[..., None]

    def _undecided(self, words: Words) -> Bool:
        """Arcs of which it cannot be told, (n+1, n+1); those into ROOT too."""
        unknown, found = unknown_tags(words), np.zeros((words.n + 1, words.n + 1), dtype=np.bool_)
        found[:, 0] = True
        if self.dependent.upos:
            found |= unknown[None, :]
        if self.head.upos:
            found |= unknown[:, None]
        return found

    def has_effect(self, words: Words) -> bool:
        """Whether it can forbid anything in such a sentence: its labels are there, and its tags are known."""
        needs_tags = bool(self.dependent.upos or self.head.upos) and bool(unknown_tags(words)[1:].all())
        needs_feats = bool(self.dependent.feats or self.head.feats) and not words.has_feats
        return bool(self.dependent.labels(words.labels).any()) and not (needs_tags or needs_feats)
