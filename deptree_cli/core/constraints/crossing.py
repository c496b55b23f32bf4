"""The kinds of rules about crossing arcs: two about gaps, and a stricter one about any crossing.

An arc has a gap where a word between its ends does not descend from its head. Then another arc crosses it; but of two
arcs that cross, the one has no gap if its head is above the other's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache, cached_property, partial

import numpy as np

from deptree_cli.core.constraints.apart import Apart, Known, apart_in_gap, apart_under
from deptree_cli.core.constraints.conflicts import Arcs, Choice, Conflict, Finder, Suspicion, one_by_one
from deptree_cli.core.constraints.label_lists import labels_named, numbers_named
from deptree_cli.core.constraints.many import ManyTrees, Place
from deptree_cli.core.constraints.words import LabelledTree, Words
from deptree_cli.core.dtypes import Bool


@dataclass(frozen=True)
class NoCrossing:
    """No arc crosses that of a word with a label of a list; ROOT stands before the first word."""

    name: str
    label: tuple[str, ...]

    def bound(self, words: Words) -> Finder | None:
        """See `TreeRule`."""
        group = labels_named(self.label, words.labels)
        arcs, nodes = Arcs(words.n, len(group)), np.arange(words.n + 1)

        def conflict(tree: LabelledTree, word: int, other: int) -> Conflict:
            head = tree.heads[word - 1]
            return Conflict((word, other), partial(both, word, other, head), partial(all_across, word, head))

        def both(word: int, other: int, head: int) -> list[Choice]:
            inside, outside = sides(word, head)
            return [arcs.of(word, head, group), Choice(other, (outside if inside[other] else inside)[:, None])]

        def sides(word: int, head: int) -> tuple[Bool, Bool]:
            """The nodes between two, and those beyond them, (n+1,) each."""
            first, last = min(word, head), max(word, head)
            return (first < nodes) & (nodes < last), (nodes < first) | (nodes > last)

        def all_across(word: int, head: int) -> list[Choice]:
            inside, outside = (side[:, None] for side in sides(word, head))
            found = [(other, outside if inside[other] else inside) for other in range(1, words.n + 1)]
            return [Choice(other, far) for other, far in found if other not in (word, head) and far.any()]

        return _of_crossed(numbers_named(self.label, words.labels), conflict)

    def suspicion(self, labels: tuple[str, ...]) -> Suspicion | None:
        """See `TreeRule`."""
        return Suspicion.none(len(labels))._replace(crossing=labels_named(self.label, labels))

    def places(self, trees: ManyTrees) -> Iterator[Place]:
        """See `TreeRule`."""
        return one_by_one(self, trees, labels_named(self.label, trees.kinds.labels)[trees.labels] & trees.crossed)


@dataclass(frozen=True)
class Projective:
    """The arc to a word with a label of a list has no gap: all words between it and its head descend from the head.

    So does every word where the head is ROOT.
    """

    name: str
    label: tuple[str, ...]

    def bound(self, words: Words) -> Finder | None:
        """See `TreeRule`."""
        group, numbers = labels_named(self.label, words.labels), numbers_named(self.label, words.labels)
        known: Known = {}

        def conflict(tree: LabelledTree, word: int, _: int) -> Conflict | None:
            found = apart_in_gap(tree, word, known)
            if found is None:
                return None
            return Conflict((word, *found.words), partial(choices, found, word), partial(others, tree, found, word))

        @cache  # trees of a search differ in a few arcs
        def choices(found: Apart, word: int) -> list[Choice]:
            return [*found.choices(words.n), *across(found, [word])]

        def others(tree: LabelledTree, found: Apart, word: int) -> list[Choice]:
            alike = (each for each, label in enumerate(tree.labels, 1) if label in numbers and each != word)
            return across(found, alike)

        def across(found: Apart, some: Iterable[int]) -> list[Choice]:
            """Words with these labels, below those on the other side of a word that does not descend from them."""
            left, right = (side[:, None] & group for side in _sides(found.word, found.others(words.n)))
            return [Choice(each, right if each < found.word else left) for each in some if each != found.word]

        return _of_crossed(numbers, conflict)

    def suspicion(self, labels: tuple[str, ...]) -> Suspicion | None:
        """See `TreeRule`."""
        return Suspicion.none(len(labels))._replace(crossing=labels_named(self.label, labels))

    def places(self, trees: ManyTrees) -> Iterator[Place]:
        """See `TreeRule`."""
        return one_by_one(self, trees, labels_named(self.label, trees.kinds.labels)[trees.labels] & trees.crossed)


@dataclass(frozen=True)
class OutOfGaps:
    """A word with a label of a list is in the gap of no arc, unless its head is there too: it makes no gap.

    That is, where it stands under an arc between two words, but its head beyond them, it descends from the arc's head.
    """

    name: str
    label: tuple[str, ...]

    def bound(self, words: Words) -> Finder | None:
        """See `TreeRule`."""
        group = labels_named(self.label, words.labels)
        known: Known = {}

        def conflict(tree: LabelledTree, word: int, _: int) -> Conflict | None:
            found = apart_under(tree, word, known)
            if found is None:
                return None
            apart, other = found
            under = below(apart, other, tree.heads[word - 1])
            named = tuple(dict.fromkeys((word, other, *apart.words)))
            return Conflict(named, partial(getattr, under, "choices"), under.also_excluded)

        @cache  # trees of a search differ in a few arcs
        def below(apart: Apart, other: int, head: int) -> _Under:
            return _Under(apart, other, head, words.n, group)

        return _of_crossed(numbers_named(self.label, words.labels), conflict)

    def suspicion(self, labels: tuple[str, ...]) -> Suspicion | None:
        """See `TreeRule`."""
        return Suspicion.none(len(labels))._replace(crossing=labels_named(self.label, labels))

    def places(self, trees: ManyTrees) -> Iterator[Place]:
        """See `TreeRule`."""
        return one_by_one(self, trees, labels_named(self.label, trees.kinds.labels)[trees.labels] & trees.crossed)


@dataclass(frozen=True)
class _Under:
    """A word that is in the gap of an arc without its head.

    Attributes:
        apart: why it does not descend from the arc's head.
        dependent: the arc's other end.
        head: the word's own head.
        n: how many words there are.
        group: the labels of the word that matter, (L,).
    """

    apart: Apart
    dependent: int
    head: int
    n: int
    group: Bool

    @cached_property
    def choices(self) -> list[Choice]:
        """The word's arc, those that keep it from descending from the arc's head, and the arc."""
        word = self.apart.word
        ways = (each for each in self.apart.choices(self.n) if each.word != word)
        return [Choice(word, self._own[:, None] & self.group), *ways, *self._passing([self.dependent])]

    def also_excluded(self) -> list[Choice]:
        """The other arcs that pass over it like this one."""
        return self._passing(each for each in range(1, self.n + 1) if each != self.dependent)

    @cached_property
    def _own(self) -> Bool:
        """The word's heads beyond the arc, on the side of its head, (n+1,): it is in the gap all the same."""
        first, last = sorted((self.dependent, self.apart.other))
        own = self.apart.heads(self.n)
        if self.head < self.apart.word:
            own[first:] = False
        else:
            own[: last + 1] = False
        return own

    def _passing(self, some: Iterable[int]) -> list[Choice]:
        """Words below those on the other side of the word from which it does not descend, all within its heads."""
        word, own, heads = self.apart.word, np.flatnonzero(self._own), self.apart.others(self.n)
        first, last = (int(own[-1]) + 1, self.n) if self.head < word else (1, int(own[0]) - 1)
        heads[:first] = heads[last + 1 :] = False
        left, right = (side[:, None] for side in _sides(word, heads))
        return [Choice(each, right if each < word else left) for each in some if first <= each <= last and each != word]


def _sides(word: int, nodes: Bool) -> tuple[Bool, Bool]:
    """Those of some nodes to the left of a word, and those to its right, (n+1,) each."""
    places = np.arange(len(nodes))
    return nodes & (places < word), nodes & (places > word)


def _of_crossed(
    numbers: frozenset[int], conflict: Callable[[LabelledTree, int, int], Conflict | None]
) -> Finder | None:
    """What asks for the conflict of each word with one of some labels whose arc another word's arc crosses."""

    def find(tree: LabelledTree) -> Iterator[Conflict]:
        if numbers.isdisjoint(tree.label_set):
            return
        crossed = enumerate(zip(tree.labels, tree.crossings, strict=True), 1)
        for word, other in [(word, other) for word, (label, other) in crossed if other and label in numbers]:
            found = conflict(tree, word, other)
            if found is not None:
                yield found

    return find if numbers else None
