"""What rules are about: words with their tags and features, lists of labels, and where a tree breaks a rule."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
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
    """Whether a list names a label."""
    denied = [each.removeprefix(NOT) for each in wanted if each.startswith(NOT)]
    given = [each for each in wanted if not each.startswith(NOT)]
    named = any(_is(label, each) for each in given) if given else label not in ("", ROOT)
    return named and not any(_is(label, each) for each in denied)


@lru_cache(4096)
def numbers_named(wanted: tuple[str, ...], labels: tuple[str, ...]) -> frozenset[int]:
    """The numbers of these labels."""
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


# What constraints know of the trees of many sentences at once: arrays over all of their words.
#
# A word is there as one of the kinds of words that there are: rules ask for its part of speech and features alone.
# Words of all sentences are numbered on from 0; within its sentence a word has its number from 1 on, and heads have
# theirs.


# The number of a sentence, and words of it.
Place = tuple[int, tuple[int, ...]]


@dataclass(frozen=True, eq=False)
class ManyTrees:
    """The trees of S sentences, W words in all.

    Attributes:
        starts: (S + 1,), where the words of each begin, and where the last end.
        heads: (W,), within the sentence, 0 = ROOT.
        labels: (W,), the numbers of labels, whose names those of `kinds` are.
        kind: (W,), which of the kinds of words each is, from 1 on, for 0 is ROOT's.
        kinds: what is known of a word of each kind.
    """

    starts: Int
    heads: Int
    labels: Int
    kind: Int
    kinds: Words

    @cached_property
    def sizes(self) -> Int:
        """How many words each sentence has, (S,)."""
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

    @cached_property
    def nodes(self) -> Int:
        """The head of each word as a number that no other node has, that of ROOT another one in each sentence, (W,)."""
        return self.above + self.sentences + 1

    @cached_property
    def crossed(self) -> Bool:
        """Which words have arcs that others cross, (W,)."""
        found = np.empty(len(self.heads), dtype=np.bool_)
        for words in self.by_size():
            found[words] = crossings(self.heads[words]) > 0
        return found

    def by_size(self) -> Iterator[Int]:
        """The words of sentences of the same length, (k, n): of each length there is."""
        for n in np.unique(self.sizes).tolist():
            yield self.starts[:-1][self.sizes == n][:, None] + np.arange(n)

    def are_trees(self, space: TreeSpace) -> Bool:
        """Which sentences have trees of a space, (S,)."""
        found = np.zeros(len(self.sizes), dtype=np.bool_)
        for words in self.by_size():
            found[self.sentences[words[:, 0]]] = space.contains(self.heads[words])
        return found

    def only(self, chosen: Bool) -> ManyTrees:
        """Those of some of the sentences."""
        if chosen.all():
            return self
        words = chosen[self.sentences]
        starts = np.concatenate([[0], np.cumsum(self.sizes[chosen])])
        return replace(self, starts=starts, heads=self.heads[words], labels=self.labels[words], kind=self.kind[words])

    def some(self, of_kinds: Bool) -> Bool:
        """Which words are in sentences that have a word of some kinds, (W,); of_kinds: (K,)."""
        found = np.bincount(self.sentences, of_kinds[self.kind - 1], len(self.sizes)) > 0
        return found[self.sentences]

    @cached_property
    def with_tags(self) -> Bool:
        """Which words are in sentences of which some part of speech is known, (W,)."""
        return self.some(~self.kinds.untagged[1:])

    @cached_property
    def with_feats(self) -> Bool:
        """Which words are in sentences of which features are known, (W,)."""
        return self.some(np.array([bool(each) for each in self.kinds.feats]))

    def meant(self, condition: Condition, words: Int) -> Bool:
        """Which of some words a condition means, in their shape."""
        return condition.words(self.kinds)[self.kind[words]] & condition.labels(self.kinds.labels)[self.labels[words]]

    def places(self, *words: Int) -> Iterator[Place]:
        """Words of all sentences, some of one sentence at a time, as places; each argument has one of each place."""
        columns = (self.numbers[each].tolist() for each in words)
        return zip(self.sentences[words[0]].tolist(), zip(*columns, strict=True), strict=True)

    def words(self, sentence: int) -> Words:
        """What is known of the words of a sentence."""
        kinds = (self.kind[self.starts[sentence] : self.starts[sentence + 1]] - 1).tolist()
        upos, feats = ([given[each] for each in kinds] for given in (self.kinds.upos, self.kinds.feats))
        return Words(self.kinds.labels, upos, feats)

    def tree(self, sentence: int) -> LabelledTree:
        """The tree of a sentence."""
        own = slice(self.starts[sentence], self.starts[sentence + 1])
        return LabelledTree(self.heads[own].tolist(), self.labels[own].tolist())


# Conflicts: sets of arcs of a tree of which one must go, found by rules that only a tree decides.


class Choice(NamedTuple):
    """A word and some of its heads and labels.

    Attributes:
        word: from 1 on.
        arcs: (n+1, L), ``[head, label]``, or (n+1, 1) if all labels are meant.
    """

    word: int
    arcs: Bool


def _nothing() -> Sequence[Choice]:
    return ()


@dataclass(frozen=True)
class Conflict:
    """What a tree may not choose together.

    Attributes:
        words: those whose arcs break the rule together; a message names the first.
        made: gives `choices`. It is asked for only by a search: each is an array of all heads.
        also_excluded: what else must go where all of `choices` but the last stay. It is asked for only if this conflict
            is divided, and keeps parts from having the same conflict with one more word.
    """

    words: tuple[int, ...]
    made: Callable[[], Sequence[Choice]]
    also_excluded: Callable[[], Sequence[Choice]] = _nothing

    @cached_property
    def choices(self) -> Sequence[Choice]:
        """The choices that the tree made, of `words` and maybe of others, each of another word: one must go."""
        return self.made()


# The conflicts of a tree by a rule.
Finder = Callable[[LabelledTree], Iterator[Conflict]]


class Suspicion(NamedTuple):
    """With which labels a tree may break a rule: of others it cannot, whatever its words are.

    Attributes:
        siblings: (L,), labels of two dependents of a head.
        below: (L, L), the label of a word, and that of a dependent of it.
        apart: (L,), labels of words whose heads, which are words, do not stand beside them.
        crossing: (L,), labels of words whose arcs others cross.
    """

    siblings: Bool
    below: Bool
    apart: Bool
    crossing: Bool

    @classmethod
    def none(cls, labels: int) -> Suspicion:
        """That of a rule which no tree with so many labels breaks."""
        return cls(*(np.zeros((labels,) * axes, dtype=np.bool_) for axes in (1, 2, 1, 1)))


class TreeRule(Protocol):
    """A rule that only a tree decides."""

    @property
    def name(self) -> str:
        """What it is called where a tree breaks it."""

    def bound(self, words: Words) -> Finder | None:
        """What finds its conflicts in trees of a sentence; None where it has no effect there."""

    def suspicion(self, labels: tuple[str, ...]) -> Suspicion | None:
        """With which of these labels a tree may break it; None where labels do not tell."""

    def places(self, trees: ManyTrees) -> Iterator[Place]:
        """The words of its conflicts in the trees of many sentences, those of a sentence in order."""


def one_by_one(rule: TreeRule, trees: ManyTrees, words: Bool | None = None) -> Iterator[Place]:
    """What a rule finds in the sentences that some words, (W,), are of; without them in all."""
    chosen = np.arange(len(trees.sizes)) if words is None else np.unique(trees.sentences[words])
    for sentence in chosen.tolist():
        find = rule.bound(trees.words(sentence))
        for each in find(trees.tree(sentence)) if find else ():
            yield sentence, each.words


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
        """A word not below these heads with these labels, or with any."""
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
