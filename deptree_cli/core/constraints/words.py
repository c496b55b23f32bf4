"""What constraints know of a sentence: its words, and which labels and words a condition names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from deptree_cli.core.dtypes import Bool
from deptree_cli.core.labels import is_root

# In a list of labels, in front of one that is meant not to be among them.
NOT = "!"


@dataclass(frozen=True)
class Words:
    """The words of a sentence and the labels of its scores.

    Attributes:
        labels: the L names of labels; one nameless where scores tell none.
        upos: of each of n words, the part of speech that it acts as; None where it is not known.
        feats: of each word, its morphological features, ``Key=Value``.
        spans: stretches of words that hang together, first and last word, from 1 on.
    """

    labels: tuple[str, ...]
    upos: Sequence[str | None]
    feats: Sequence[frozenset[str]]
    spans: Sequence[tuple[int, int]] = ()

    @property
    def n(self) -> int:
        """How many there are."""
        return len(self.upos)

    @property
    def has_feats(self) -> bool:
        """Whether one has features; else they are not known."""
        return any(self.feats)


def labels_named(wanted: Sequence[str], labels: Sequence[str]) -> Bool:
    """Which labels (L,) a list names: with their subtypes where it says none; all but ``!these`` if it has only such.

    ``root`` is named by itself only: it stands on arcs from ROOT whatever is asked. A label without a name never is.
    """
    denied = [each.removeprefix(NOT) for each in wanted if each.startswith(NOT)]
    given = [each for each in wanted if not each.startswith(NOT)]

    def is_meant(label: str) -> bool:
        named = any(_is(label, each) for each in given) if given else bool(label) and not is_root(label)
        return named and not any(_is(label, each) for each in denied)

    return np.array([is_meant(label) for label in labels])


def _is(label: str, wanted: str) -> bool:
    """Whether a label is the wanted one, or a subtype of one that is wanted without."""
    return label == wanted or (":" not in wanted and label.partition(":")[0] == wanted)


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
        denied = {each.removeprefix(NOT) for each in self.feats if each.startswith(NOT)}
        given = {each for each in self.feats if not each.startswith(NOT)}
        found = np.zeros(words.n + 1, dtype=np.bool_)
        for word, (upos, feats) in enumerate(zip(words.upos, words.feats, strict=True), 1):
            fits = not given or not feats.isdisjoint(given)
            found[word] = (not self.upos or upos in self.upos) and fits and feats.isdisjoint(denied)
        return found

    def by_label(self, words: Words) -> Bool:
        """Which words it means with which labels, (n+1, L)."""
        return self.words(words)[:, None] & self.labels(words.labels)

    def labels(self, labels: Sequence[str]) -> Bool:
        """Which labels it means, (L,)."""
        return labels_named(self.label, labels) if self.label else np.ones(len(labels), dtype=np.bool_)

    @property
    def is_any(self) -> bool:
        """Whether it means all words."""
        return not (self.label or self.upos or self.feats)


def unknown_tags(words: Words) -> Bool:
    """The words whose part of speech is not known, (n+1,)."""
    return np.array([False, *(upos is None for upos in words.upos)])


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
    children: Mapping[int, list[int]] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "children", children_of(self.heads))
