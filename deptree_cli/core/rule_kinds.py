"""The kinds of rules."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property, partial
from itertools import chain
from typing import Any

import numpy as np

from deptree_cli.core.dtypes import Bool
from deptree_cli.core.errors import DeptreeError
from deptree_cli.core.rule_words import (
    Arcs,
    Choice,
    Condition,
    ForLabels,
    LabelledTree,
    Nogood,
    TreeRule,
    Words,
    labels_named,
    numbers_named,
)

# Why a word does not descend from another: the arcs above the two that decide it, as choices for a nogood.
#
# Both have a way up to a node above both, ROOT at the latest. As long as the words on these ways have heads on them,
# none above the first is a word of the second's way: the way there would have to come back from above.


@dataclass(frozen=True)
class Apart:
    """Two words of which the first is not the second and does not descend from it.

    Attributes:
        word, other: the two.
        lower: the words from `word` up to a node that is above both, without this; none where `word` is that node.
        upper: those from `other` up to it; none where it is ROOT, which is above whatever happens.
        top: that node.
    """

    word: int
    other: int
    lower: tuple[int, ...]
    upper: tuple[int, ...]
    top: int

    @property
    def words(self) -> tuple[int, ...]:
        return *self.lower, *self.upper

    def choices(self, n: int) -> list[Choice]:
        """What these words choose. In all trees of n words in which they do, `word` has no ancestor in `others`."""
        lower, upper = _nodes(n, (*self.lower, self.top, 0)), _nodes(n, (*self.upper, self.top))
        ways = (self.lower, lower), (self.upper, upper)
        return [Choice(word, heads[:, None]) for way, heads in ways for word in way]

    def heads(self, n: int) -> Bool:
        """The heads of `word` in these trees, (n+1,): any where it is the top."""
        return _nodes(n, (*self.lower, self.top, 0)) if self.lower else np.ones(n + 1, dtype=np.bool_)

    def others(self, n: int) -> Bool:
        """The words from which `word` then does not descend, nor is it one of them, (n+1,); `other` is among them."""
        return _nodes(n, self.upper) if self.upper else ~_nodes(n, (*self.lower, 0))


def apart_in_gap(tree: LabelledTree, word: int) -> Apart | None:
    """Of the words in the gap of a word's arc, that which does not descend from the head for the fewest reasons.

    None where all words between the two descend from it.
    """
    each, *ways = map(int, _kernels().apart_in_gap(tree.arrays, word))
    return _apart(tree, each, tree.heads[word - 1], *ways) if each else None


def apart_under(tree: LabelledTree, word: int) -> tuple[Apart, int] | None:
    """Of the arcs that pass over a word, that from whose head it does not descend for the fewest reasons.

    Only those that end between the word and its own head, on the other side. With the arc's other end; None where the
    word descends from the heads of all.
    """
    head, *ways, end = map(int, _kernels().apart_under(tree.arrays, word))
    return (_apart(tree, word, head, *ways), end) if head else None


@cache
def _kernels() -> Any:
    from deptree_cli.kernels import trees  # loads kernels: when there is work

    return trees


def _apart(tree: LabelledTree, word: int, other: int, lower: int, upper: int, top: int) -> Apart:
    """Two words with so many on their ways."""

    def way(node: int, size: int) -> tuple[int, ...]:
        found = [node]
        while len(found) < size:
            found.append(tree.heads[found[-1] - 1])
        return tuple(found[:size])

    return Apart(word, other, way(word, lower), way(other, upper), top)


def _nodes(n: int, which: Iterable[int]) -> Bool:
    found = np.zeros(n + 1, dtype=np.bool_)
    found[list(which)] = True
    return found


# The kinds of rules about crossing arcs: two about gaps, and a stricter one about any crossing.
#
# An arc has a gap where a word between its ends does not descend from its head. Then another arc crosses it; but of two
# arcs that cross, the one has no gap if its head is above the other's.


@dataclass(frozen=True)
class OfLabels(TreeRule):
    """A rule about the words with a label of a list."""

    name: str
    label: tuple[str, ...]

    def group(self, labels: tuple[str, ...]) -> Bool:
        return labels_named(self.label, labels)


class OfCrossed(OfLabels):
    """One about those of these words whose arcs another word's arc crosses."""

    def find(self, words: Words, tree: LabelledTree) -> Iterator[Nogood]:
        numbers = numbers_named(self.label, words.labels) if tree.crossings else ()
        for word, other in tree.crossings.items():
            if tree.labels[word - 1] in numbers and (found := self.nogood(words, tree, word, other)) is not None:
                yield found

    @abstractmethod
    def nogood(self, words: Words, tree: LabelledTree, word: int, other: int) -> Nogood | None:
        """That of a word whose arc another's crosses, if it breaks the rule."""


class NoCrossing(OfCrossed):
    """No arc crosses that of a word with a label of a list; ROOT stands before the first word."""

    def nogood(self, words: Words, tree: LabelledTree, word: int, other: int) -> Nogood:
        head, nodes = tree.heads[word - 1], np.arange(words.n + 1)
        first, last = min(word, head), max(word, head)
        inside, outside = (first < nodes) & (nodes < last), (nodes < first) | (nodes > last)

        def across(some: Iterable[int]) -> list[Choice]:
            found = [(each, outside if inside[each] else inside) for each in some if each not in (word, head)]
            return [Choice(each, far[:, None]) for each, far in found if far.any()]

        def both() -> list[Choice]:
            return [Arcs(words).of(word, head, self.group(words.labels)), *across([other])]

        return Nogood((word, other), both, partial(across, range(1, words.n + 1)))


class Projective(OfCrossed):
    """The arc to a word with a label of a list has no gap: all words between it and its head descend from the head.

    So does every word where the head is ROOT.
    """

    def nogood(self, words: Words, tree: LabelledTree, word: int, other: int) -> Nogood | None:
        apart = apart_in_gap(tree, word)
        if apart is None:
            return None
        group = self.group(words.labels)

        def across(some: Iterable[int]) -> list[Choice]:
            """Words with these labels, below those on the other side of a word that does not descend from them."""
            left, right = (side[:, None] & group for side in _sides(apart.word, apart.others(words.n)))
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

    def nogood(self, words: Words, tree: LabelledTree, word: int, other: int) -> Nogood | None:
        found = apart_under(tree, word)
        if found is None:
            return None
        apart, dependent = found
        n, head = words.n, tree.heads[word - 1]

        @cache
        def own() -> Bool:
            """The word's heads beyond the arc, on the side of its head, (n+1,): it is in the gap all the same."""
            first, last = sorted((dependent, apart.other))
            nodes = np.arange(n + 1)
            return apart.heads(n) & (nodes < first if head < word else nodes > last)

        def passing(some: Iterable[int]) -> list[Choice]:
            """Words below those on the other side of the word from which it does not descend, all within its heads."""
            far, heads = np.flatnonzero(own()), apart.others(n)
            first, last = (int(far[-1]) + 1, n) if head < word else (1, int(far[0]) - 1)
            heads[:first] = heads[last + 1 :] = False
            left, right = (side[:, None] for side in _sides(word, heads))
            within = (each for each in some if first <= each <= last and each != word)
            return [Choice(each, right if each < word else left) for each in within]

        def choices() -> list[Choice]:
            ways = (each for each in apart.choices(n) if each.word != word)
            return [Choice(word, own()[:, None] & self.group(words.labels)), *ways, *passing([dependent])]

        def others() -> list[Choice]:
            return passing(each for each in range(1, n + 1) if each != dependent)

        return Nogood(tuple(dict.fromkeys((word, dependent, *apart.words))), choices, others)


def _sides(word: int, nodes: Bool) -> tuple[Bool, Bool]:
    """Those of some nodes to the left of a word, and those to its right, (n+1,) each."""
    places = np.arange(len(nodes))
    return nodes & (places < word), nodes & (places > word)


# The kinds of rules that only a tree decides; each finds the nogoods of a tree.


@dataclass(frozen=True)
class AtMostOne(OfLabels):
    """A head has at most one dependent with a label of a list."""

    def find(self, words: Words, tree: LabelledTree) -> Iterator[Nogood]:
        first: dict[int, int] = {}
        for word in tree.with_labels(numbers_named(self.label, words.labels)):
            head = tree.heads[word - 1]
            if (one := first.setdefault(head, word)) != word:
                below, others = partial(self._below, words, head), range(1, words.n + 1)
                yield Nogood((one, word), partial(below, (one, word)), partial(below, others, one))

    def _below(self, words: Words, head: int, some: Iterable[int], skipped: int = 0) -> list[Choice]:
        """Words below a head with such labels: one array serves all."""
        arcs = Arcs(words).of(0, head, self.group(words.labels)).arcs
        return [Choice(word, arcs) for word in some if word != skipped]


# The labels of heads, those of dependents that may not be theirs, and which labels (L,) excuse them.
BelowLabels = tuple[frozenset[int], frozenset[int], Bool]


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

    def find(self, words: Words, tree: LabelledTree) -> Iterator[Nogood]:
        of_heads, of_words, excuses = self._known.get(words.labels, partial(self._labels, words.labels))
        concerned = [tree.below[label] for label in of_heads & tree.below.keys()]
        is_excused: dict[int, bool] = {}
        for word in sorted(chain.from_iterable(concerned)) if concerned else ():
            head, label = tree.heads[word - 1], tree.labels[word - 1]
            if label in of_words and self.head.means(words, head) and self._bad(words, word)[label]:
                if head not in is_excused:
                    is_excused[head] = any(excuses[tree.labels[child - 1]] for child in tree.children[head])
                if not is_excused[head]:
                    yield Nogood((word, head), partial(self._below, words, word, head))

    def _bad(self, words: Words, word: int) -> Bool:
        """With which labels, (L,), a word is no dependent of the heads that it is about."""
        found = np.zeros(len(words.labels), dtype=np.bool_)
        for each in self.deny or self.allow:
            if each.means(words, word):
                found |= each.labels(words.labels)
        return found if self.deny else ~found

    def _below(self, words: Words, word: int, head: int) -> list[Choice]:
        arcs, excuses = Arcs(words), self._known.get(words.labels, partial(self._labels, words.labels))[2]
        bad = self._bad(words, word) & ~excuses
        found = [arcs.of(word, head, bad), arcs.of(head, slice(None), self.head.labels(words.labels))]
        others = range(1, words.n + 1) if excuses.any() else ()
        return found + [arcs.but(other, head, excuses) for other in others if other not in (word, head)]

    def _labels(self, labels: tuple[str, ...]) -> BelowLabels:
        sure = np.zeros(len(labels), dtype=np.bool_)
        for each in self.deny or self.allow:
            sure |= each.labels(labels) & (bool(self.deny) or not (each.upos or each.feats))
        excuses = labels_named(self.unless, labels) if self.unless else np.zeros_like(sure)
        return _numbers(self.head.labels(labels)), _numbers(sure if self.deny else ~sure), excuses

    @cached_property
    def _known(self) -> ForLabels[BelowLabels]:
        return ForLabels()


@dataclass(frozen=True)
class NoGaps(OfLabels):
    """A word and its dependents with a label of a list stand side by side, but for words with a label of `between`."""

    between: tuple[str, ...] = ()

    def find(self, words: Words, tree: LabelledTree) -> Iterator[Nogood]:
        numbers = numbers_named(self.label, words.labels)
        others = numbers_named(self.between, words.labels) if self.between else ()
        seen: dict[tuple[int, bool], int] = {}  # up to where all may stand beside a head
        for word in tree.with_labels(numbers):
            if head := tree.heads[word - 1]:
                side = head, head < word
                for gap in range(max(min(head, word) + 1, seen.get(side, 0)), max(head, word)):
                    seen[side] = gap
                    own, of_gap = tree.heads[gap - 1], tree.labels[gap - 1]
                    if not (of_gap in others or (own == head and of_gap in numbers)):
                        yield Nogood((word, gap), partial(self._in_between, words, word, gap, head))
                        break  # of a long arc the others would be without number

    def _in_between(self, words: Words, word: int, gap: int, head: int) -> list[Choice]:
        arcs, group = Arcs(words), self.group(words.labels)
        passed = labels_named(self.between, words.labels) if self.between else np.zeros_like(group)
        return [arcs.of(word, head, group), Choice(gap, ~(arcs.of(gap, head, group).arcs | passed))]


@dataclass(frozen=True)
class Together(TreeRule):
    """Of the words of a span exactly one has its head outside of it."""

    name: str = "spans"

    def has_effect(self, words: Words) -> bool:
        return bool(words.spans)

    def find(self, words: Words, tree: LabelledTree) -> Iterator[Nogood]:
        arcs = Arcs(words)

        def leaving(some: Iterable[int], first: int, last: int) -> list[Choice]:
            return [arcs.but(word, slice(first, last + 1)) for word in some]

        for first, last in words.spans:
            span = range(first, last + 1)
            top, *others = [word for word in span if not first <= tree.heads[word - 1] <= last] or [0]
            rest = [word for word in span if word != top]
            for other in others:
                both = partial(leaving, (top, other), first, last)
                yield Nogood((top, other), both, partial(leaving, rest, first, last))


@dataclass(frozen=True)
class Function(TreeRule):
    """A user's own rule: heads (n,) and names of labels -> the words (from 1 on) of whose arcs one must go, if any."""

    name: str
    conflict: Callable[[Sequence[int], Sequence[str]], Sequence[int] | None]

    def find(self, words: Words, tree: LabelledTree) -> Iterator[Nogood]:
        found = self.conflict(tree.heads, [words.labels[label] for label in tree.labels])
        if found:
            wrong = next((word for word in found if not 1 <= word <= words.n), None)
            if wrong is not None:
                problem = f"the rule {self.name!r} names word {wrong} of {words.n}"
                raise DeptreeError(problem, "Let it return words from 1 on")
            arcs, labels, named = Arcs(words), np.arange(len(words.labels)), tuple(dict.fromkeys(found))
            own = [(word, tree.heads[word - 1], labels == tree.labels[word - 1]) for word in named]
            yield Nogood(named, lambda: [arcs.of(*each) for each in own])


def _numbers(which: Bool) -> frozenset[int]:
    return frozenset(np.flatnonzero(which).tolist())
