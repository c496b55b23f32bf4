"""Rules of trees: what they know of words, and each kind of them: what it forbids, and where a tree breaks it."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property, lru_cache, partial
from itertools import chain
from typing import Any, NamedTuple

import numpy as np

from deptree_cli.core.dtypes import Bool, Int, read_only
from deptree_cli.core.errors import DeptreeError
from deptree_cli.core.label_names import ROOT

# Lists of labels as rules give them: which labels they name, and what is kept of that from sentence to sentence.

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


def numbers_of(which: Bool) -> frozenset[int]:
    return frozenset(np.flatnonzero(which).tolist())


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
    """The words of a sentence and the labels of its scores (one nameless where scores tell none)."""

    labels: tuple[str, ...]
    upos: Sequence[str | None]  # the parts of speech that words act as; None where unknown
    feats: Sequence[frozenset[str]]  # Key=Value of each; _ if it has none, but another word of its file has some
    spans: Sequence[tuple[int, int]] = ()  # stretches of words that hang together, first and last, from 1 on
    tags: Sequence[str | None] = ()  # the column UPOS, None where it is empty; nothing where nobody asks

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
    def tagged(self) -> Bool:
        """The nodes whose part of speech is known, (n+1,); ROOT has none, as everybody knows."""
        return read_only(np.array([True, *(upos is not None for upos in self.upos)]))

    @cached_property
    def has_feats(self) -> bool:
        return any(self.feats)

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

    def _fits(self, upos: str | None, feats: frozenset[str]) -> bool:
        if self.upos and upos not in self.upos:  # also where it is not known
            return False
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
            return nodes > 0 and self._fits(words.upos[nodes - 1], words.feats[nodes - 1])
        found = [False, *map(self._fits, words.upos, words.feats)]
        return np.array(found, dtype=np.bool_)[nodes]

    def labels(self, labels: tuple[str, ...]) -> Bool:
        return labels_named(self.label, labels) if self.label else np.ones(len(labels), dtype=np.bool_)

    @property
    def is_any(self) -> bool:
        return not (self.label or self.upos or self.feats)


def words_by(values: Sequence[int]) -> Mapping[int, list[int]]:
    found: dict[int, list[int]] = {}
    for word, value in enumerate(values, 1):
        found.setdefault(value, []).append(word)
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
    """A tree as constraints look at it: heads of words 1 to n, and numbers of labels."""

    heads: Sequence[int]
    labels: Sequence[int]

    @cached_property
    def children(self) -> Mapping[int, list[int]]:
        return words_by(self.heads)

    @cached_property
    def by_label(self) -> Mapping[int, list[int]]:
        return words_by(self.labels)

    @cached_property
    def cycles(self) -> list[tuple[int, ...]]:
        return [tuple(sorted(cycle)) for cycle in cycles_of(self.heads)]

    @cached_property
    def arrays(self) -> Int:
        """Heads of all nodes, (n+1,), ROOT's its own."""
        return np.array([0, *self.heads])

    def with_labels(self, numbers: frozenset[int]) -> list[int]:
        return sorted(chain.from_iterable(self.by_label[label] for label in numbers & self.by_label.keys()))

    @cached_property
    def crossings(self) -> dict[int, int]:
        """Of each word whose arc another's crosses the first such between its arc's ends, else the first beyond."""
        from deptree_cli.core.factorisation import crossings

        found = crossings(self.arrays[None, 1:])[0].tolist()
        return {word: other for word, other in enumerate(found, 1) if other}


# Conflicts: sets of arcs of a tree of which one must go, found by rules that only a tree decides.


class Choice(NamedTuple):
    """A word, from 1 on, and some of its arcs: (n+1, L), ``[head, label]``, or (n+1, 1) if all labels are meant."""

    word: int
    arcs: Bool


@dataclass(frozen=True)
class Nogood:
    """Choices that a tree may not make together; messages name the first word.

    Choices are computed only where a search asks, for each is an array of all heads. `also_excluded` goes too where all
    choices but the last stay, which keeps parts from having the same nogood with one more word.
    """

    words: tuple[int, ...]
    made: Callable[[], Sequence[Choice]]
    also_excluded: Callable[[], Sequence[Choice]] = tuple

    @cached_property
    def choices(self) -> Sequence[Choice]:
        """The choices that the tree made, of `words` and maybe of others, each of another word: one must go."""
        return self.made()


# What finds the nogoods of a tree of a sentence, where the sentence's labels are known.
Finder = Callable[[Words, LabelledTree], Iterator[Nogood]]


class TreeRule(ABC):  # that only a tree decides
    name: str

    @abstractmethod
    def finder(self, labels: tuple[str, ...]) -> Finder:
        """What finds its nogoods in trees of sentences with these labels."""

    def group(self, labels: tuple[str, ...]) -> Bool:
        """The labels (L,) of the words that it is about: all trees without such words obey."""
        return np.ones(len(labels), dtype=np.bool_)

    def has_effect(self, words: Words) -> bool:
        return bool(self.group(words.labels).any())

    def bound(self, words: Words) -> Bound | None:
        """What finds its nogoods in trees of a sentence; None where it has no effect there."""
        if not self.has_effect(words):
            return None
        group, finder = group_and_finder(self, words.labels)
        return Bound(self, group, partial(finder, words), words)


@lru_cache(1024)  # sentences of a treebank have the same few labels
def group_and_finder(rule: TreeRule, labels: tuple[str, ...]) -> tuple[Bool, Finder]:
    return read_only(rule.group(labels)), rule.finder(labels)


@dataclass(frozen=True, eq=False)
class Bound:
    """A rule of a sentence: the nogoods of trees, and the labels (L,) of the words that it is about."""

    rule: TreeRule | None
    group: Bool
    nogoods: Callable[[LabelledTree], Iterator[Nogood]]
    words: Words | None = None

    def __reduce__(self) -> tuple[Any, tuple[Words | None]]:  # finders are closures, made anew
        return self.rule and self.rule.bound, (self.words,)


def arcs_of(words: Words, heads: int | slice, labels: Bool | None = None) -> Bool:
    """A word's arcs from these heads, with these labels (L,) or, (n+1, 1), with any: what a choice consists of."""
    arcs = np.zeros((words.n + 1, 1 if labels is None else len(labels)), dtype=np.bool_)
    arcs[heads, slice(None) if labels is None else labels] = True
    return arcs


# The kinds of rules that only a tree decides.


@dataclass(frozen=True)
class OfLabels(TreeRule):
    name: str
    label: tuple[str, ...]

    def group(self, labels: tuple[str, ...]) -> Bool:
        return labels_named(self.label, labels)


# Rules about crossing arcs: two about gaps, and a stricter one about any crossing.
#
# An arc has a gap where a word between its ends does not descend from its head. Then another arc crosses it; but of two
# arcs that cross, the one has no gap if its head is above the other's.


class OfCrossed(OfLabels):
    """One about those of these words whose arcs another word's arc crosses."""

    def finder(self, labels: tuple[str, ...]) -> Finder:
        group = self.group(labels)
        numbers = numbers_of(group)

        def find(words: Words, tree: LabelledTree) -> Iterator[Nogood]:
            for word, other in tree.crossings.items():
                if tree.labels[word - 1] in numbers and (found := self.nogood(words, tree, word, other, group)):
                    yield found

        return find

    @abstractmethod
    def nogood(self, words: Words, tree: LabelledTree, word: int, other: int, group: Bool) -> Nogood | None:
        """That of a word with a label of the group (L,) whose arc another's crosses, if it breaks the rule."""


class NoCrossing(OfCrossed):
    """No arc crosses that of a word with a label of a list; ROOT stands before the first word."""

    def nogood(self, words: Words, tree: LabelledTree, word: int, other: int, group: Bool) -> Nogood:
        head, nodes = tree.heads[word - 1], np.arange(words.n + 1)
        first, last = min(word, head), max(word, head)
        inside, outside = (first < nodes) & (nodes < last), (nodes < first) | (nodes > last)

        def across(some: Iterable[int]) -> list[Choice]:
            found = [(each, outside if inside[each] else inside) for each in some if each not in (word, head)]
            return [Choice(each, far[:, None]) for each, far in found if far.any()]

        def both() -> list[Choice]:
            return [Choice(word, arcs_of(words, head, group)), *across([other])]

        return Nogood((word, other), both, partial(across, range(1, words.n + 1)))


@dataclass(frozen=True)
class Apart:
    """Why a word is not another one and does not descend from it: the arcs above the two.

    Both have a way up to a node above both, ROOT at the latest. As long as the words on these ways have heads on them,
    none above the first is a word of the second's way: the way there would have to come back from above.
    """

    word: int
    other: int
    lower: tuple[int, ...]  # the words from `word` up to a node above both, without this; none where it is `word`
    upper: tuple[int, ...]  # those from `other` up to it; none where it is ROOT, which is above whatever happens
    top: int  # that node

    @classmethod
    def of(cls, tree: LabelledTree, word: int, other: int, lower: int, upper: int, top: int) -> Apart:
        return cls(word, other, _way(tree, word, lower), _way(tree, other, upper), top)

    @property
    def words(self) -> tuple[int, ...]:
        return *self.lower, *self.upper

    def choices(self, n: int) -> list[Choice]:
        """What these words choose. In all trees of n words in which they do, `word` has no ancestor in `others`."""
        ways = (self.lower, _nodes(n, *self.lower, self.top, 0)), (self.upper, _nodes(n, *self.upper, self.top))
        return [Choice(word, heads[:, None]) for way, heads in ways for word in way]

    def heads(self, n: int) -> Bool:
        """The heads of `word` in these trees, (n+1,): any where it is the top."""
        return _nodes(n, *self.lower, self.top, 0) if self.lower else np.ones(n + 1, dtype=np.bool_)

    def others(self, n: int) -> Bool:
        """The words from which `word` then does not descend, nor is it one of them, (n+1,); `other` is among them."""
        return _nodes(n, *self.upper) if self.upper else ~_nodes(n, *self.lower, 0)


def _way(tree: LabelledTree, node: int, size: int) -> tuple[int, ...]:
    found = [node]
    while len(found) < size:
        found.append(tree.heads[found[-1] - 1])
    return tuple(found[:size])


def _nodes(n: int, *which: int) -> Bool:
    found = np.zeros(n + 1, dtype=np.bool_)
    found[list(which)] = True
    return found


def _sides(word: int, nodes: Bool) -> tuple[Bool, Bool]:
    """Those of some nodes to the left of a word, and those to its right, (n+1, 1) each."""
    places = np.arange(len(nodes))
    return (nodes & (places < word))[:, None], (nodes & (places > word))[:, None]


class ProjectiveArcs(OfCrossed):
    """The arc to a word with a label of a list has no gap: all words between it and its head descend from the head.

    So does every word where the head is ROOT.
    """

    def nogood(self, words: Words, tree: LabelledTree, word: int, other: int, group: Bool) -> Nogood | None:
        """By the word in the gap that does not descend from the head for the fewest reasons."""
        from deptree_cli.kernels import trees  # loads kernels: when there is work

        each, *ways = map(int, trees.apart_in_gap(tree.arrays, word))
        if not each:
            return None
        apart = Apart.of(tree, each, tree.heads[word - 1], *ways)

        def across(some: Iterable[int]) -> list[Choice]:
            """Words with these labels, below those on the other side of a word that does not descend from them."""
            left, right = (side & group for side in _sides(apart.word, apart.others(words.n)))
            return [Choice(each, right if each < apart.word else left) for each in some if each != apart.word]

        def made() -> list[Choice]:
            return [*apart.choices(words.n), *across([word])]

        def others() -> list[Choice]:
            return across(each for each, label in enumerate(tree.labels, 1) if group[label] and each != word)

        return Nogood((word, *apart.words), made, others)


class OutOfGaps(OfCrossed):
    """A word with a label of a list is in the gap of no arc, unless its head is there too: it makes no gap.

    That is, where it stands under an arc between two words, but its head beyond them, it descends from the arc's head.
    """

    def nogood(self, words: Words, tree: LabelledTree, word: int, other: int, group: Bool) -> Nogood | None:
        """By the arc over it, ending between it and its head, from whose head it is apart for the fewest reasons."""
        from deptree_cli.kernels import trees  # loads kernels: when there is work

        above, *ways, dependent = map(int, trees.apart_under(tree.arrays, word))
        if not above:
            return None
        apart = Apart.of(tree, word, above, *ways)
        n, head = words.n, tree.heads[word - 1]

        @cache
        def own() -> Bool:
            """The word's heads beyond the arc, on the side of its head, (n+1,): it is in the gap all the same."""
            first, last = sorted((dependent, above))
            nodes = np.arange(n + 1)
            return apart.heads(n) & (nodes < first if head < word else nodes > last)

        def passing(some: Iterable[int]) -> list[Choice]:
            """Words below those on the other side of the word from which it does not descend, all within its heads."""
            far, heads = np.flatnonzero(own()), apart.others(n)
            first, last = (int(far[-1]) + 1, n) if head < word else (1, int(far[0]) - 1)
            heads[:first] = heads[last + 1 :] = False
            left, right = _sides(word, heads)
            within = (each for each in some if first <= each <= last and each != word)
            return [Choice(each, right if each < word else left) for each in within]

        def choices() -> list[Choice]:
            ways = (each for each in apart.choices(n) if each.word != word)
            return [Choice(word, own()[:, None] & group), *ways, *passing([dependent])]

        def others() -> list[Choice]:
            return passing(each for each in range(1, n + 1) if each != dependent)

        return Nogood(tuple(dict.fromkeys((word, dependent, *apart.words))), choices, others)


@dataclass(frozen=True)
class AtMostOne(OfLabels):
    """A head has at most one dependent with a label of a list."""

    def finder(self, labels: tuple[str, ...]) -> Finder:
        group = self.group(labels)
        numbers = numbers_of(group)

        def below(words: Words, head: int, some: Iterable[int], skipped: int = 0) -> list[Choice]:
            arcs = arcs_of(words, head, group)
            return [Choice(word, arcs) for word in some if word != skipped]

        def find(words: Words, tree: LabelledTree) -> Iterator[Nogood]:
            first: dict[int, int] = {}
            for word in tree.with_labels(numbers):
                head = tree.heads[word - 1]
                if (one := first.setdefault(head, word)) != word:
                    both, others = (one, word), range(1, words.n + 1)
                    yield Nogood(both, partial(below, words, head, both), partial(below, words, head, others, one))

        return find


@dataclass(frozen=True)
class Below(TreeRule):
    """Words of one kind have dependents of some kinds only: those of `allow`, or all but those of `deny`.

    One dependent with a label of `unless` excuses the head.
    """

    name: str
    head: Condition
    allow: tuple[Condition, ...] = ()
    deny: tuple[Condition, ...] = ()
    unless: tuple[str, ...] = ()

    def group(self, labels: tuple[str, ...]) -> Bool:
        return self.head.labels(labels)

    def finder(self, labels: tuple[str, ...]) -> Finder:
        group, nothing = self.group(labels), np.zeros(len(labels), dtype=np.bool_)
        excuses = labels_named(self.unless, labels) if self.unless else nothing
        listed = [(each, each.labels(labels)) for each in self.deny or self.allow]
        sure = [named for each, named in listed if self.deny or not (each.upos or each.feats)]
        named = np.logical_or.reduce([nothing, *sure])
        of_heads, of_words = numbers_of(group), numbers_of(named if self.deny else ~named)

        def bad(words: Words, word: int) -> Bool:
            """With which labels, (L,), a word is not a dependent of the heads that it is about."""
            named = np.logical_or.reduce([nothing, *(own for each, own in listed if each.means(words, word))])
            return named if self.deny else ~named

        def find(words: Words, tree: LabelledTree) -> Iterator[Nogood]:
            is_excused: dict[int, bool] = {}
            for word in sorted(word for head in tree.with_labels(of_heads) for word in tree.children.get(head, ())):
                head, label = tree.heads[word - 1], tree.labels[word - 1]
                if label in of_words and self.head.means(words, head) and bad(words, word)[label]:
                    if head not in is_excused:
                        is_excused[head] = any(excuses[tree.labels[child - 1]] for child in tree.children[head])
                    if not is_excused[head]:
                        yield Nogood((word, head), partial(below, words, word, head))

        def below(words: Words, word: int, head: int) -> list[Choice]:
            own = Choice(word, arcs_of(words, head, bad(words, word) & ~excuses))
            others = [other for other in range(1, words.n + 1) if other not in (word, head)] if excuses.any() else ()
            unexcused = [Choice(other, ~arcs_of(words, head, excuses)) for other in others]
            return [own, Choice(head, arcs_of(words, slice(None), group)), *unexcused]

        return find


@dataclass(frozen=True)
class NoGaps(OfLabels):
    """A word and its dependents with a label of a list stand side by side, but for words with a label of `between`."""

    between: tuple[str, ...] = ()

    def finder(self, labels: tuple[str, ...]) -> Finder:
        group = self.group(labels)
        passed = labels_named(self.between, labels) if self.between else np.zeros_like(group)
        numbers, others = numbers_of(group), numbers_of(passed)

        def find(words: Words, tree: LabelledTree) -> Iterator[Nogood]:
            seen: dict[tuple[int, bool], int] = {}  # up to where all may stand beside a head
            for word in tree.with_labels(numbers):
                if head := tree.heads[word - 1]:
                    side = head, head < word
                    for gap in range(max(min(head, word) + 1, seen.get(side, 0)), max(head, word)):
                        seen[side] = gap
                        own, of_gap = tree.heads[gap - 1], tree.labels[gap - 1]
                        if not (of_gap in others or (own == head and of_gap in numbers)):
                            yield Nogood((word, gap), partial(in_between, words, word, gap, head))
                            break  # of a long arc the others would be without number

        def in_between(words: Words, word: int, gap: int, head: int) -> list[Choice]:
            arcs = arcs_of(words, head, group)
            return [Choice(word, arcs), Choice(gap, ~(arcs | passed))]

        return find


@dataclass(frozen=True)
class Together(TreeRule):
    """Of the words of a span exactly one has its head outside of it."""

    name: str = "spans"

    def has_effect(self, words: Words) -> bool:
        return bool(words.spans)

    def finder(self, labels: tuple[str, ...]) -> Finder:
        def leaving(words: Words, some: Iterable[int], first: int, last: int) -> list[Choice]:
            return [Choice(word, ~arcs_of(words, slice(first, last + 1))) for word in some]

        def find(words: Words, tree: LabelledTree) -> Iterator[Nogood]:
            for first, last in words.spans:
                span = range(first, last + 1)
                top, *others = [word for word in span if not first <= tree.heads[word - 1] <= last] or [0]
                rest = [word for word in span if word != top]
                for other in others:
                    both = partial(leaving, words, (top, other), first, last)
                    yield Nogood((top, other), both, partial(leaving, words, rest, first, last))

        return find


@dataclass(frozen=True, eq=False)  # what a user calls need not have a hash
class Function(TreeRule):
    """A user's own rule: heads (n,) and names of labels -> the words (from 1 on) of whose arcs one must go, if any."""

    name: str
    conflict: Callable[[Sequence[int], Sequence[str]], Sequence[int] | None]

    def finder(self, labels: tuple[str, ...]) -> Finder:
        def find(words: Words, tree: LabelledTree) -> Iterator[Nogood]:
            found = self.conflict(tree.heads, [labels[label] for label in tree.labels])
            if found:
                wrong = next((word for word in found if not 1 <= word <= words.n), None)
                if wrong is not None:
                    problem = f"the rule {self.name!r} names word {wrong} of {words.n}"
                    raise DeptreeError(problem, "Let it return words from 1 on")
                numbers, own = np.arange(len(labels)), tuple(zip(tree.heads, tree.labels, strict=True))
                named = [(word, *own[word - 1]) for word in dict.fromkeys(found)]
                yield Nogood(
                    tuple(word for word, *_ in named),
                    lambda: [Choice(word, arcs_of(words, head, numbers == label)) for word, head, label in named],
                )

        return find


# Rules that a single arc decides: which arcs with which labels there may not be.

ANY = Condition()
LEFT, RIGHT = "left", "right"


@dataclass(frozen=True)
class Mask:
    """Arcs that are forbidden, or alone allowed for their labels."""

    name: str
    dependent: Condition
    head: Condition = ANY  # never ROOT where it names some
    direction: str = ""  # where the dependent stands beside its head; nothing: anywhere
    distance: tuple[int, int] | None = None  # the least and the most words from one to the other
    root: bool | None = None  # whether it is about arcs from ROOT, from words (False), or both (None)
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
