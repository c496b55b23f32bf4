"""How the words of a treebank attach: what decides between trees that change as little.

The head of a word is probable by both parts of speech, direction and distance; its label by both parts of speech and
direction, behind that by its own alone. A label that was given is more probable than others: most of them are right.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property

import numpy as np

from deptree_cli.core.constraints.many import ManyTrees
from deptree_cli.core.dtypes import Float, Int, read_only
from deptree_cli.core.labels import ROOT
from deptree_cli.core.repair.given import Given

# What is added to counts of labels, and at most to those of heads; and how many kinds of heads a word may have.
ADDED, KINDS = 0.1, 100

# By how many nats a given label is more probable than others; what else it may mean, by one less each. With 3 to 4
# both damaged gold trees and those of a parser come nearest to gold trees.
STAYS = 4.0

# The label of an arc of which no other is known: likelier than others that were not counted.
ANY = "dep"

# Labels of UD v1, and what they became.
SUCCESSORS = {
    "dobj": "obj",
    "nsubjpass": "nsubj:pass",
    "csubjpass": "csubj:pass",
    "auxpass": "aux:pass",
    "neg": "advmod",
    "mwe": "fixed",
    "name": "flat",
    "foreign": "flat:foreign",
    "remnant": "orphan",
}

# Of so many lists of labels the tables are kept.
_KEPT = 64

# Distances 1, 2-3, 4-7, 8-15 and beyond, to the left and to the right; and ROOT.
_BEYOND = 4
_ROOT = 2 * (_BEYOND + 1)

# What is added of each of these: near heads are likelier where nothing was counted.
_NEAR = np.array([*(0.5 ** np.arange(_BEYOND + 1)), *(0.5 ** np.arange(_BEYOND + 1)), 1.0])


def distances(heads: Int, words: Int) -> Int:
    """The number of the class of distance and direction between nodes, in their common shape."""
    apart = heads - words
    far = np.minimum(np.log2(np.maximum(np.abs(apart), 1)).astype(np.int64), _BEYOND)
    return np.where(heads == 0, _ROOT, np.where(apart > 0, far, far + _BEYOND + 1))


class Habits:
    """Counts of arcs and labels by the parts of speech of the words."""

    def __init__(self) -> None:
        self._heads = Counter[tuple[str, str, int]]()
        self._labels = Counter[tuple[str, str, bool, str]]()

    def __getstate__(self) -> dict[str, object]:
        """The counts: tables are made of them anew."""
        return {"_heads": self._heads, "_labels": self._labels}

    def __bool__(self) -> bool:
        return bool(self._heads)

    def add(self, upos: Sequence[str | None], heads: Sequence[int], labels: Sequence[str]) -> None:
        """Count the words of a tree; those without a label for their heads only."""
        tags = [ROOT, *(tag or "" for tag in upos)]
        kinds = distances(np.array(heads), np.arange(1, len(heads) + 1)).tolist()
        for word, (head, label, kind) in enumerate(zip(heads, labels, kinds, strict=True), 1):
            self._heads[tags[word], tags[head], kind] += 1
            if label:
                self._labels[tags[word], tags[head], head > word, label] += 1

    def add_many(self, trees: ManyTrees) -> None:
        """Count the words of many trees."""
        given = [tag or "" for tag in trees.kinds.all_tags]
        names = tuple(dict.fromkeys([ROOT, *given]))
        tags = np.array([0, *map(names.index, given)])
        of_word, of_head = tags[trees.kind], np.where(trees.heads > 0, tags[trees.kind[trees.above]], 0)
        sizes = len(names), len(names), _ROOT + 1
        for arc, count in _counted((of_word, of_head, distances(trees.heads, trees.numbers)), sizes):
            self._heads[names[arc[0]], names[arc[1]], arc[2]] += count
        labels = trees.kinds.labels
        words = np.flatnonzero(np.array([bool(label) for label in labels])[trees.labels])
        right = (trees.heads > trees.numbers).astype(np.int64)
        columns = tuple(each[words] for each in (of_word, of_head, right, trees.labels))
        for arc, count in _counted(columns, (len(names), len(names), 2, len(labels))):
            self._labels[names[arc[0]], names[arc[1]], bool(arc[2]), labels[arc[3]]] += count

    def __iadd__(self, other: Habits) -> Habits:
        self._heads.update(other._heads)
        self._labels.update(other._labels)
        self.__dict__ = self.__getstate__()
        return self

    @cached_property
    def labels(self) -> tuple[str, ...]:
        """The labels that were counted, in order."""
        return tuple(sorted({label for *_, label in self._labels}))

    def names(self, given: Given, asked: Iterable[str] = ()) -> tuple[str, ...]:
        """The labels that a tree of a sentence may have: those that were counted, given, or asked for, and what given
        ones mean of these; and, where nothing tells another, `ANY`.

        Nameless if there are none.
        """
        known, asked = {*self.labels, *filter(None, given.labels)}, {*asked}
        if not (known or asked):
            return ("",)
        meant = {each for label in given.labels for each in meanings(label) if each.partition(":")[0] in asked}
        return tuple(sorted({*known, *asked, *meant, ROOT, ANY}))

    def scores(self, upos: Sequence[str | None], names: tuple[str, ...], given: Given) -> Float:
        """Log-scores of arcs with labels, (n+1, n+1, L), ``[head, dependent, label]``."""
        return self.arcs(upos)[..., None] + self.label_scores(upos, names, given)

    def arcs(self, upos: Sequence[str | None]) -> Float:
        """Log-scores of arcs, (n+1, n+1), ``[head, dependent]``."""
        tags, nodes = self._numbers(upos), np.arange(len(upos) + 1)
        return self._arc_table[tags, tags[:, None], distances(nodes[:, None], nodes)]

    def label_scores(self, upos: Sequence[str | None], names: tuple[str, ...], given: Given) -> Float:
        """Log-scores of labels given the arc, (n+1, n+1, L)."""
        tags, nodes = self._numbers(upos), np.arange(len(upos) + 1)
        found = self._label_table(names)[tags, tags[:, None], (nodes[:, None] > nodes).astype(np.int64)]
        for word, label in enumerate(given.labels, 1):
            for rank, meant in enumerate(meanings(label, upos[word - 1])):
                if meant in names:
                    found[:, word, names.index(meant)] += STAYS - rank
        return found

    def _numbers(self, upos: Sequence[str | None]) -> Int:
        """The numbers of the nodes' parts of speech, (n+1,): ROOT's, and the last for one that was not counted."""
        return np.array([self._tags.get(tag, len(self._tags)) for tag in (ROOT, *(each or "" for each in upos))])

    @cached_property
    def _tags(self) -> dict[str, int]:
        tags = sorted({tag for word, head, _ in self._heads for tag in (word, head)} - {ROOT})
        return {tag: number for number, tag in enumerate([ROOT, *tags])}

    @cached_property
    def _arc_table(self) -> Float:
        """By the word's part of speech, the head's and the class of distance."""
        counts = np.zeros((len(self._tags) + 1, len(self._tags) + 1, _ROOT + 1))
        for (word, head, kind), count in self._heads.items():
            counts[self._tags[word], self._tags[head], kind] = count
        total = counts.sum(axis=(1, 2), keepdims=True)
        return read_only(np.log((counts + ADDED * _NEAR) / (total + KINDS * ADDED)))

    def _label_table(self, names: tuple[str, ...]) -> Float:
        """By the word's part of speech, the head's, whether the head is on the right, and the label."""
        found = self._label_tables.get(names)  # other threads may clear them
        if found is None:
            if len(self._label_tables) >= _KEPT:
                self._label_tables.clear()
            found = self._label_tables[names] = self._new_label_table(names)
        return found

    @cached_property
    def _label_tables(self) -> dict[tuple[str, ...], Float]:
        return {}

    def _new_label_table(self, names: tuple[str, ...]) -> Float:
        numbers = {name: number for number, name in enumerate(names)}
        counts = np.zeros((len(self._tags) + 1, len(self._tags) + 1, 2, len(names)))
        for (word, head, right, label), count in self._labels.items():
            if label in numbers:
                counts[self._tags[word], self._tags[head], int(right), numbers[label]] = count
        of_word = counts.sum(axis=(1, 2), keepdims=True)  # behind pairs that were seen seldom or never
        of_word = of_word + [ADDED * (1 + (name == ANY)) for name in names]
        behind = of_word / of_word.sum(axis=-1, keepdims=True)
        return read_only(np.log((counts + behind) / (counts.sum(axis=-1, keepdims=True) + 1)))


def _counted(columns: tuple[Int, ...], sizes: tuple[int, ...]) -> Iterator[tuple[list[int], int]]:
    """The rows of some columns, each once, with how often it is there; sizes: above all numbers of each column."""
    rows, counts = np.unique(np.ravel_multi_index(columns, sizes), return_counts=True)
    return zip(np.stack(np.unravel_index(rows, sizes), axis=1).tolist(), counts.tolist(), strict=True)


def meanings(label: str, upos: str | None = None) -> list[str]:
    """What a given label of a word may mean, likeliest first: itself, its name in UD v2, and without capitals or
    subtype."""
    lower = label.lower()
    successor = SUCCESSORS.get(lower) or SUCCESSORS.get(lower.partition(":")[0], lower)
    found = [label, "det" if (lower, upos) == ("neg", "DET") else successor, successor.partition(":")[0]]
    return list(dict.fromkeys(found)) if label else []
