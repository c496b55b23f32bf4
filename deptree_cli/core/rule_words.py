"""What rules are about: words with their tags and features, lists of labels, and where a tree breaks a rule."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache, partial
from itertools import chain
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np

from deptree_cli.core.dtypes import Bool, Int, read_only
from deptree_cli.core.factorisation import crossings
from deptree_cli.core.labels import ROOT

# Lists of labels as rules give them: which labels they name, and what is kept of that from sentence to sentence.


Value = TypeVar("Value")

# In a list of labels, in front of one that is meant not to be among them.
NOT = "!"

# Around an entry of such a list that is a pattern of labels.
PATTERN = "/"


@lru_cache(4096)  # sentences of a file have the same labels
def labels_named(wanted: tuple[str, ...], labels: tuple[str, ...]) -> Bool:
    """Which labels (L,), read-only, a list names: with their subtypes where it says none; all but ``!these`` if it has
    only such. ``/[a-z]+/`` is a pattern of whole labels.

    ``root`` is named by itself only: it stands on arcs from ROOT whatever is asked. A label without a name never is.
    """
    return read_only(np.array([_is_meant(label, wanted) for label in labels], dtype=np.bool_))


@lru_cache(1 << 16)  # sentences of a treebank have other labels each, and the same few
def _is_meant(label: str, wanted: tuple[str, ...]) -> bool:
    denied = [each.removeprefix(NOT) for each in wanted if each.startswith(NOT)]
    given = [each for each in wanted if not each.startswith(NOT)]
    named = any(_is(label, each) for each in given) if given else label not in ("", ROOT)
    return named and not any(_is(label, each) for each in denied)


@lru_cache(4096)
def numbers_named(wanted: tuple[str, ...], labels: tuple[str, ...]) -> frozenset[int]:
    return frozenset(np.flatnonzero(labels_named(wanted, labels)).tolist())


class ForLabels(Generic[Value]):
    """What follows from labels, kept until there are others: those of the sentences of a score file are the same."""

    def __init__(self) -> None:
        self._kept: tuple[object, Value] | None = None

    def get(self, labels: object, make: Callable[[], Value]) -> Value:
        """What was made of the same labels, else what is made now."""
        kept = self._kept
        if kept is None or kept[0] != labels:
            kept = self._kept = labels, make()  # both at once: threads share them
        return kept[1]


class LabelNumbers:
    """Numbers of labels that stay what they are from sentence to sentence, up to so many labels."""

    MOST = 500

    def __init__(self) -> None:
        self._kept: tuple[dict[str, int], tuple[str, ...]] = {}, ()

    def of(self, labels: Sequence[str]) -> tuple[tuple[str, ...], list[int]]:
        """The names of labels, among which these are, and the number of each of these."""
        known, names = self._kept
        if new := [label for label in dict.fromkeys(labels) if label not in known]:
            names = (*(names if len(names) + len(new) <= self.MOST else labels), *new)
            names = tuple(dict.fromkeys(names))
            known = {name: number for number, name in enumerate(names)}
            self._kept = known, names  # both at once: threads share them
        return names, [known[label] for label in labels]


def pattern_in(wanted: str) -> str | None:
    """The pattern that an entry of a list of labels is; None where it is a label."""
    inner = wanted[len(PATTERN) : -len(PATTERN)]
    return inner if inner and wanted.startswith(PATTERN) and wanted.endswith(PATTERN) else None


def _is(label: str, wanted: str) -> bool:
    """Whether a label is the wanted one, a subtype of one that is wanted without, or matches a pattern."""
    if (pattern := pattern_in(wanted)) is not None:
        return label != ROOT and re.fullmatch(pattern, label) is not None
    return label == wanted or (":" not in wanted and label.partition(":")[0] == wanted)


# What constraints know of a sentence: its words, its tree, and which words a condition names.


@dataclass(frozen=True)
class Words:
    """The words of a sentence and the labels of its scores (one nameless where scores tell none).

    Attributes:
        upos: the parts of speech that words act as; None where unknown.
        feats: ``Key=Value`` of each word; ``_`` if it has none, but another word of its file has some.
        spans: stretches of words that hang together, first and last word, from 1 on.
        tags: the column UPOS, None where it is empty; nothing where nobody asks.
    """

    labels: tuple[str, ...]
    upos: Sequence[str | None]
    feats: Sequence[frozenset[str]]
    spans: Sequence[tuple[int, int]] = ()
    tags: Sequence[str | None] = ()

    @property
    def n(self) -> int:
        return len(self.upos)

    @property
    def all_tags(self) -> list[str | None]:
        return [known or own for known, own in zip(self.upos, self.tags or self.upos, strict=True)]

    def knowing(self, upos: Sequence[str]) -> Words:
        """The same of which no other parts of speech are known than these; if there are none, all."""
        return replace(self, upos=[each if each in upos else None for each in self.upos]) if upos else self

    @cached_property
    def has_feats(self) -> bool:
        return any(self.feats)

    @cached_property
    def tagged(self) -> Bool:
        """The nodes whose part of speech is known, (n+1,); ROOT has none, as everybody knows."""
        return read_only(np.array([True, *(upos is not None for upos in self.upos)]))

    @cached_property
    def has_tags(self) -> bool:
        return any(upos is not None for upos in self.upos)


@dataclass(frozen=True)
class Condition:
    """Which words are meant: lists of labels, parts of speech and features, of which a word has one; empty: any.

    Of features that are listed as ``!these`` it has none.
    """

    label: tuple[str, ...] = ()
    upos: tuple[str, ...] = ()
    feats: tuple[str, ...] = ()

    def fits(self, upos: str | None, feats: frozenset[str]) -> bool:
        """Whether it means a word but for its label; none whose part of speech is asked for and not known."""
        if self.upos and upos not in self.upos:
            return False
        if not self.feats:
            return True
        given, denied = self._asked
        return feats.isdisjoint(denied) and not (given and feats.isdisjoint(given))

    @cached_property
    def _asked(self) -> tuple[frozenset[str], frozenset[str]]:
        denied = frozenset(each for each in self.feats if each.startswith(NOT))
        return frozenset(self.feats) - denied, frozenset(each.removeprefix(NOT) for each in denied)

    def means(self, words: Words, nodes: Any) -> Any:
        """Whether it means a node but for its label, or which of an array of some; never ROOT."""
        if not (self.upos or self.feats):
            return nodes > 0
        if isinstance(nodes, int):
            return nodes > 0 and self.fits(words.upos[nodes - 1], words.feats[nodes - 1])
        found = [False, *map(self.fits, words.upos, words.feats)]
        return np.array(found, dtype=np.bool_)[nodes]

    def labels(self, labels: tuple[str, ...]) -> Bool:
        return labels_named(self.label, labels) if self.label else np.ones(len(labels), dtype=np.bool_)

    @property
    def is_any(self) -> bool:
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


def _cross(heads: Sequence[int]) -> bool:
    """Whether arcs of a tree cross; few trees have such, and this is sooner told than which. O(n log n)"""
    size = len(heads) + 1
    ends = [size]  # of the arcs over a node, the outermost first
    for arc in sorted([min(word, head) * size - max(word, head) for word, head in enumerate(heads, 1)]):
        first = -(-arc // size)
        while ends[-1] <= first:
            ends.pop()
        if ends[-1] < first * size - arc:
            return True
        ends.append(first * size - arc)
    return False


@dataclass(frozen=True)
class LabelledTree:
    """A tree as constraints look at it: heads of words 1 to n, and numbers of labels."""

    heads: Sequence[int]
    labels: Sequence[int]

    @cached_property
    def children(self) -> Mapping[int, list[int]]:
        return children_of(self.heads)

    @cached_property
    def below(self) -> Mapping[int, list[int]]:
        found: dict[int, list[int]] = {}
        for word, head in enumerate(self.heads, 1):
            if head:
                found.setdefault(self.labels[head - 1], []).append(word)
        return found

    @cached_property
    def cycles(self) -> list[tuple[int, ...]]:
        return [tuple(sorted(cycle)) for cycle in cycles_of(self.heads)]

    @cached_property
    def arrays(self) -> Int:
        """Heads of all nodes, (n+1,), ROOT's its own."""
        return np.array([0, *self.heads])

    @cached_property
    def by_label(self) -> Mapping[int, list[int]]:
        """The words that have each label, in order: a rule about others has nothing to find."""
        found: dict[int, list[int]] = {}
        for word, label in enumerate(self.labels, 1):
            found.setdefault(label, []).append(word)
        return found

    def with_labels(self, numbers: frozenset[int]) -> list[int]:
        return sorted(chain.from_iterable(self.by_label[label] for label in numbers & self.by_label.keys()))

    @cached_property
    def crossings(self) -> dict[int, int]:
        """Of each word whose arc another's crosses the first such between its arc's ends, else the first beyond."""
        if not _cross(self.heads):
            return {}
        found = crossings(self.arrays[None, 1:])[0].tolist()
        return {word: other for word, other in enumerate(found, 1) if other}


# Conflicts: sets of arcs of a tree of which one must go, found by rules that only a tree decides.


class Choice(NamedTuple):
    """A word, from 1 on, and some of its arcs: (n+1, L), ``[head, label]``, or (n+1, 1) if all labels are meant."""

    word: int
    arcs: Bool


def _nothing() -> Sequence[Choice]:
    return ()


@dataclass(frozen=True)
class Nogood:
    """Choices that a tree may not make together; messages name the first word.

    Choices are computed only where a search asks, for each is an array of all heads. `also_excluded` goes too where all
    choices but the last stay, which keeps parts from having the same nogood with one more word.
    """

    words: tuple[int, ...]
    made: Callable[[], Sequence[Choice]]
    also_excluded: Callable[[], Sequence[Choice]] = _nothing

    @cached_property
    def choices(self) -> Sequence[Choice]:
        """The choices that the tree made, of `words` and maybe of others, each of another word: one must go."""
        return self.made()


class TreeRule(ABC):
    """A rule that only a tree decides."""

    name: str

    @abstractmethod
    def find(self, words: Words, tree: LabelledTree) -> Iterator[Nogood]:
        """The nogoods of a tree of a sentence."""

    def group(self, labels: tuple[str, ...]) -> Bool:
        """The labels (L,) of the words that it is about: all trees without such words obey."""
        return np.ones(len(labels), dtype=np.bool_)

    def has_effect(self, words: Words) -> bool:
        """Whether a tree of a sentence can break it."""
        return bool(self.group(words.labels).any())

    def bound(self, words: Words) -> Bound | None:
        """What finds its nogoods in trees of a sentence; None where it has no effect there."""
        return Bound(self, self.group(words.labels), partial(self.find, words)) if self.has_effect(words) else None


@dataclass(frozen=True, eq=False)
class Bound:
    """A rule of a sentence: the nogoods of trees, and the labels (L,) of the words that it is about."""

    rule: TreeRule | None
    group: Bool
    nogoods: Callable[[LabelledTree], Iterator[Nogood]]


class Arcs:
    """Makes choices for a sentence."""

    def __init__(self, words: Words) -> None:
        self.n, self.labels = words.n, len(words.labels)

    def of(self, word: int, heads: int | Sequence[int] | slice, labels: Bool | slice | None = None) -> Choice:
        """A word below these heads, with these labels or any."""
        arcs = np.zeros((self.n + 1, 1 if labels is None else self.labels), dtype=np.bool_)
        arcs[heads, slice(None) if labels is None else labels] = True
        return Choice(word, arcs)

    def but(self, word: int, heads: int | slice, labels: Bool | None = None) -> Choice:
        return Choice(word, ~self.of(word, heads, labels).arcs)


# Rules that a single arc decides: which arcs with which labels there may not be.


# Whatever stands there.
ANY = Condition()

LEFT, RIGHT = "left", "right"


@dataclass(frozen=True)
class Mask:
    """Arcs that are forbidden, or alone allowed for their labels.

    Attributes:
        head: which heads; never ROOT where it names some.
        direction: "right": the dependent stands to the right of its head; "left"; or nothing: any.
        distance: the least and the most words from one to the other.
        root: whether it is about arcs from ROOT (True), from words (False), or both (None).
    """

    name: str
    dependent: Condition
    head: Condition = ANY
    direction: str = ""
    distance: tuple[int, int] | None = None
    root: bool | None = None
    allow: bool = False

    def forbids(self, words: Words, heads: Any, dependents: Any) -> Any:
        """Whether it forbids its labels to an arc between two nodes, or to which of arrays; where it has an effect.

        To none of words whose part of speech decides and is not known.
        """
        found = self.dependent.means(words, dependents)
        if not self.head.is_any:
            found = found & self.head.means(words, heads)
        if self.direction:
            found = found & ((heads < dependents) if self.direction == RIGHT else (heads > dependents))
        if self.distance is not None:
            apart = abs(heads - dependents)
            found = found & (apart >= self.distance[0]) & (apart <= self.distance[1])
        if self.root is not None:
            found = found & ((heads == 0) == self.root)
        found = found ^ self.allow
        for condition, nodes in ((self.dependent, dependents), (self.head, heads)):
            if condition.upos:
                found = found & words.tagged[nodes]
        return found

    @property
    def is_of_labels(self) -> bool:
        """Whether it asks for nothing but the label: some labels are forbidden to every word below every head."""
        return self == Mask(self.name, Condition(self.dependent.label))

    @property
    def is_of_words(self) -> bool:
        return self == Mask(self.name, self.dependent, allow=self.allow)

    def has_effect(self, words: Words) -> bool:
        """Whether it can forbid anything in such a sentence: its labels are there, and its tags are known."""
        knows_all = (words.has_tags or not self.needs_tags) and (words.has_feats or not self.needs_feats)
        return knows_all and bool(self.dependent.labels(words.labels).any())

    @cached_property
    def asks_little(self) -> bool:
        """Whether parts of speech, sides and ROOT decide."""
        return not self.needs_feats and self.distance is None

    @property
    def needs_tags(self) -> bool:
        return bool(self.dependent.upos or self.head.upos)

    @property
    def needs_feats(self) -> bool:
        return bool(self.dependent.feats or self.head.feats)


def forbidden(masks: Sequence[Mask], words: Words) -> Bool:
    """Which arcs with which labels some masks forbid, (n+1, n+1, L), ``[head, dependent, label]``."""
    nodes, labels = np.arange(words.n + 1), len(words.labels)
    by_arc, by_word = (np.zeros((*shape, labels), dtype=np.bool_) for shape in ((len(nodes),) * 2, (words.n,)))
    for mask in masks:
        if mask.has_effect(words):
            arcs = mask.forbids(words, nodes[:, None], nodes[1:])
            found = by_word if arcs.ndim == 1 else by_arc[:, 1:]  # whatever the head, or not
            if arcs.any():
                found |= arcs[..., None] & mask.dependent.labels(words.labels)
    by_arc[:, 1:] |= by_word
    return by_arc
