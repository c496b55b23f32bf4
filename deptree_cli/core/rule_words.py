"""What rules are about: words with their tags and features, lists of labels, and where a tree breaks a rule."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from itertools import chain
from typing import Generic, NamedTuple, Protocol, TypeVar

import numpy as np

from deptree_cli.core.dtypes import Bool, Int, Integers, read_only
from deptree_cli.core.factorisation import crossings
from deptree_cli.core.labels import ROOT
from deptree_cli.core.spaces import TreeSpace

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
        self._kept: tuple[tuple[str, ...], Value] | None = None

    def get(self, labels: tuple[str, ...], make: Callable[[], Value]) -> Value:
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
        starts: where sentences begin, and the last ends, if these are the words of several.
    """

    labels: tuple[str, ...]
    upos: Sequence[str | None]
    feats: Sequence[frozenset[str]]
    spans: Sequence[tuple[int, int]] = ()
    tags: Sequence[str | None] = ()
    starts: Int | None = None

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
    def untagged(self) -> Bool:
        """The words whose part of speech is not known, (n+1,); never ROOT."""
        return read_only(np.array([False, *(upos is None for upos in self.upos)]))

    @cached_property
    def has_tags(self) -> bool:
        return any(upos is not None for upos in self.upos)

    @cached_property
    def with_tags(self) -> Bool:
        """The words of sentences in which the part of speech of one is known, (n+1,)."""
        return self._with([upos is not None for upos in self.upos])

    @cached_property
    def with_feats(self) -> Bool:
        """The words of sentences in which features are known, (n+1,)."""
        return self._with([bool(each) for each in self.feats])

    def _with(self, known: list[bool]) -> Bool:
        """The words of sentences of which something is known of one word, (n+1,)."""
        if self.starts is None:
            return np.full(self.n + 1, any(known))
        found = np.logical_or.reduceat(known, self.starts[:-1])
        return np.concatenate([[False], np.repeat(found, np.diff(self.starts))])

    @cached_property
    def numbers(self) -> Int:
        """The number of each node in its sentence, (n+1,)."""
        found = np.arange(self.n + 1)
        if self.starts is not None:
            found[1:] -= np.repeat(self.starts[:-1], np.diff(self.starts))
        return found


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

    def means(self, words: Words, nodes: Integers) -> Bool:
        """Which of some nodes it means but for their labels, in their shape; never ROOT."""
        found = nodes > 0
        if self.upos or self.feats:
            places = (nodes[found] - 1).tolist()
            found[found] = [self.fits(words.upos[place], words.feats[place]) for place in places]
        return found

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


@dataclass(frozen=True)
class LabelledTree:
    """A tree as constraints look at it: heads of words 1 to n, and numbers of labels.

    With `starts`, as of `Words`, the trees of several sentences side by side, all below the same ROOT.
    """

    heads: Sequence[int]
    labels: Sequence[int]
    starts: Int | None = None

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
    def arrays(self) -> tuple[Int, Int]:
        """Heads of all nodes, (n+1,), ROOT's its own, and labels of words, (n,)."""
        return np.array([0, *self.heads]), np.array(self.labels, dtype=np.int64)

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
    def tops(self) -> Sequence[int]:
        """The heads, where ROOT of each sentence has a number of its own."""
        if self.starts is None:
            return self.heads
        roots = np.repeat(-self.starts[1:], np.diff(self.starts)).tolist()
        return [head or root for head, root in zip(self.heads, roots, strict=True)]

    @cached_property
    def crossings(self) -> list[int]:
        """Of each word the first between its arc's ends whose own arc crosses it, else the first beyond, else 0."""
        heads = self.arrays[0][1:]
        if self.starts is None:
            return crossings(heads[None])[0].tolist()
        found = np.zeros_like(heads)
        for words in by_size(self.starts):
            others = crossings(np.maximum(heads[words] - words[:, :1], 0))
            found[words] = np.where(others > 0, others + words[:, :1], 0)
        return found.tolist()


def by_size(starts: Int) -> Iterator[Int]:
    """The words, from 0 on, of sentences of the same length, (k, n): of each length there is."""
    sizes = np.diff(starts)
    for n in np.unique(sizes).tolist():
        yield starts[:-1][sizes == n][:, None] + np.arange(n)


# What constraints know of the trees of many sentences at once: arrays over all of their words.
#
# A word is there as one of the kinds of words that there are: rules ask for its part of speech and features alone.
# Words of all sentences are numbered on from 0; within its sentence a word has its number from 1 on, and heads have
# theirs.


@dataclass(frozen=True, eq=False)
class ManyTrees:
    """The trees of S sentences, (W,) words in all, which begin at `starts` (S + 1,); heads count within the sentence.

    `kind` is the number of each word's kind in `kinds`, from 1 on, for 0 is ROOT's. These name the labels too.
    """

    starts: Int
    heads: Int
    labels: Int
    kind: Int
    kinds: Words

    @cached_property
    def sizes(self) -> Int:
        return np.diff(self.starts)

    @cached_property
    def sentences(self) -> Int:
        """The sentence of each word, (W,)."""
        return np.repeat(np.arange(len(self.sizes)), self.sizes)

    @cached_property
    def numbers(self) -> Int:
        """The number of each word in its sentence, (W,)."""
        return np.arange(len(self.heads)) - self.starts[self.sentences] + 1

    @cached_property
    def above(self) -> Int:
        """The head of each word as the index of a word, (W,); below ROOT it is none."""
        return self.heads + self.starts[self.sentences] - 1

    def are_trees(self, space: TreeSpace) -> Bool:
        """Which sentences have trees of a space, (S,)."""
        found = np.zeros(len(self.sizes), dtype=np.bool_)
        for words in by_size(self.starts):
            found[self.sentences[words[:, 0]]] = space.contains(self.heads[words])
        return found

    def only(self, chosen: Bool) -> ManyTrees:
        if chosen.all():
            return self
        words = chosen[self.sentences]
        starts = np.concatenate([[0], np.cumsum(self.sizes[chosen])])
        return replace(self, starts=starts, heads=self.heads[words], labels=self.labels[words], kind=self.kind[words])

    @cached_property
    def side_by_side(self) -> tuple[Words, LabelledTree]:
        """All words and trees as if they were those of one sentence."""
        kinds, heads = (self.kind - 1).tolist(), np.where(self.heads > 0, self.above + 1, 0)
        upos, feats = ([given[each] for each in kinds] for given in (self.kinds.upos, self.kinds.feats))
        words = Words(self.kinds.labels, upos, feats, starts=self.starts)
        return words, LabelledTree(heads.tolist(), self.labels.tolist(), self.starts)

    def tree(self, sentence: int) -> LabelledTree:
        own = slice(self.starts[sentence], self.starts[sentence + 1])
        return LabelledTree(self.heads[own].tolist(), self.labels[own].tolist())


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


class TreeRule(Protocol):
    """A rule that only a tree decides."""

    @property
    def name(self) -> str:
        """What it is called where a tree breaks it."""

    def bound(self, words: Words) -> Bound | None:
        """What finds its nogoods in trees of a sentence; None where it has no effect there."""


@dataclass(frozen=True, eq=False)
class Bound:
    """A rule of a sentence: the nogoods of trees, and the labels (L,) that it is about, where it is about some."""

    rule: TreeRule | None
    group: Bool
    nogoods: Callable[[LabelledTree], Iterator[Nogood]]


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
        return Choice(word, ~self.of(word, heads, labels).arcs)

    def of_all_but(self, skipped: int, heads: int, labels: Bool) -> list[Choice]:
        """Each word but one below such heads with such labels: one array serves all."""
        arcs = self.of(0, heads, labels).arcs
        return [Choice(word, arcs) for word in range(1, self.n + 1) if word != skipped]


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

    def forbidden(self, words: Words) -> Bool:
        """Which arcs with which labels it forbids, (n+1, n+1, L), ``[head, dependent, label]``.

        None of words whose part of speech decides and is not known, and none by features where these are not known.
        """
        return forbidden([self], words)

    def broken(self, words: Words, tree: LabelledTree) -> Integers:
        """The words of a tree, from 1 on, whose arcs it forbids."""
        if not self.has_effect(words):
            return np.empty(0, dtype=np.intp)
        heads, labels = tree.arrays
        named = np.flatnonzero(self.dependent.labels(words.labels)[labels]) + 1
        return named[self._of(words, heads[named], named)] if len(named) else named

    def arcs(self, words: Words) -> Bool:
        """The arcs that it forbids to its labels, (n+1, n+1), or (n+1,) whatever the head, where it has an effect."""
        nodes = np.arange(words.n + 1)
        return self._of(words, nodes if self.is_of_words else nodes[:, None], nodes)

    def _of(self, words: Words, heads: Integers, dependents: Integers) -> Bool:
        """Which arcs from some heads to some words it forbids, in their common shape."""
        arcs = np.ones(np.broadcast_shapes(heads.shape, dependents.shape), dtype=np.bool_)
        arcs &= self.dependent.means(words, dependents)
        if not self.head.is_any:
            arcs &= self.head.means(words, heads)
        if self.direction:
            arcs &= (heads < dependents) if self.direction == RIGHT else (heads > dependents)
        if self.distance is not None:
            apart = np.abs(words.numbers[heads] - words.numbers[dependents])
            arcs &= (apart >= self.distance[0]) & (apart <= self.distance[1])
        if self.root is not None:
            arcs &= (heads == 0) == self.root
        if self.allow:
            np.logical_not(arcs, out=arcs)
        arcs &= dependents > 0
        if self.dependent.upos:
            arcs &= ~words.untagged[dependents]
        if self.head.upos:
            arcs &= ~words.untagged[heads]
        if self.needs_tags:
            arcs &= words.with_tags[dependents]
        if self.needs_feats:
            arcs &= words.with_feats[dependents]
        return arcs

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

    @property
    def needs_tags(self) -> bool:
        return bool(self.dependent.upos or self.head.upos)

    @property
    def needs_feats(self) -> bool:
        return bool(self.dependent.feats or self.head.feats)


def forbidden(masks: Sequence[Mask], words: Words, beside: Bool | None = None) -> Bool:
    """Which arcs with which labels some masks forbid, (n+1, n+1, L), ``[head, dependent, label]``.

    beside: what is forbidden anyway, to be filled in.
    """
    nodes, size = words.n + 1, len(words.labels)
    found = np.zeros((nodes, nodes, size), dtype=np.bool_) if beside is None else beside
    by_arcs: dict[Mask, Bool] = {}  # of masks that forbid the same arcs one, with the labels of all of them
    for mask in masks:
        if mask.has_effect(words):
            of_any = replace(mask, name="", dependent=replace(mask.dependent, label=()))
            labels = mask.dependent.labels(words.labels)
            by_arcs[of_any] = by_arcs[of_any] | labels if of_any in by_arcs else labels
    for mask, labels in by_arcs.items():
        arcs = mask.arcs(words)
        for label in np.flatnonzero(labels).tolist() if arcs.any() else ():
            found[..., label] |= arcs
    return found


# So large a table of places is kept, in bytes.
LARGEST = 1 << 23


class Masks:
    """Masks put together.

    What places of words decide is a table, of which each sentence has a corner; what parts of speech decide is a row of
    labels for each of these; the others are looked at in each sentence.
    """

    def __init__(self, masks: Sequence[Mask]) -> None:
        self._of_tags = [mask for mask in masks if mask.is_of_words and not mask.dependent.feats]
        others = [mask for mask in masks if mask not in self._of_tags]
        self._of_places = [mask for mask in others if not (mask.needs_tags or mask.needs_feats)]
        self._others = [mask for mask in others if mask not in self._of_places]
        self._rows = ForLabels[dict[str | None, Bool]]()
        self._largest: tuple[tuple[str, ...], Bool] = (), np.empty(0, dtype=np.bool_)

    def forbidden(self, words: Words) -> Bool:
        """The same as the function."""
        nodes, rows = words.n + 1, self._rows.get(words.labels, dict)
        for tag in [each for each in set(words.upos) if each not in rows]:
            rows[tag] = self._row(tag, words.labels)
        found = self._table(nodes, words.labels)[:nodes, :nodes].copy()
        found[:, 1:] |= np.array([rows[tag] for tag in words.upos])
        return forbidden(self._others, words, found)

    def _row(self, tag: str | None, labels: tuple[str, ...]) -> Bool:
        """The labels that words with a part of speech may not have, (L,)."""
        found = np.zeros(len(labels), dtype=np.bool_)
        for mask in self._of_tags:
            is_known = tag is not None or not mask.needs_tags
            if is_known and mask.dependent.fits(tag, frozenset()) != mask.allow:
                found |= mask.dependent.labels(labels)
        return found

    def _table(self, nodes: int, labels: tuple[str, ...]) -> Bool:
        """What places forbid in a sentence of so many nodes or more."""
        kept, found = self._largest
        if kept == labels and len(found) >= nodes:
            return found
        size = 1 << (nodes - 1).bit_length()
        is_kept = size * size * len(labels) <= LARGEST
        words = (size if is_kept else nodes) - 1
        found = forbidden(self._of_places, Words(labels, [None] * words, [frozenset()] * words))
        if is_kept:
            self._largest = labels, found  # both at once: threads share them
        return found
