"""The kinds of rules."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property, partial
from itertools import chain
from typing import Any

import numpy as np

from deptree_cli.core.dtypes import Bool, Int
from deptree_cli.core.errors import DeptreeError
from deptree_cli.core.rule_words import (
    Arcs,
    Bound,
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
    heads, path = tree.arrays[0], np.empty(2 * len(tree.heads) + 2, dtype=np.int64)
    found, top, lower, upper = _kernels().apart_in_gap(heads, word, path)
    return _apart(int(found), tree.heads[word - 1], path, lower, upper, top) if found else None


def apart_under(tree: LabelledTree, word: int) -> tuple[Apart, int] | None:
    """Of the arcs that pass over a word, that from whose head it does not descend for the fewest reasons.

    Only those that end between the word and its own head, on the other side. With the arc's other end; None where the
    word descends from the heads of all.
    """
    heads, path = tree.arrays[0], np.empty(2 * len(tree.heads) + 2, dtype=np.int64)
    found, end, top, lower, upper = _kernels().apart_under(heads, word, path)
    return (_apart(word, int(found), path, lower, upper, top), int(end)) if found else None


@cache
def _kernels() -> Any:
    from deptree_cli.kernels import trees  # loads kernels: when there is work

    return trees


def _apart(word: int, other: int, path: Int, lower: int, upper: int, top: int) -> Apart:
    """The ways, of which the one ends at `lower` and the other at `upper`."""
    return Apart(word, other, tuple(path[:lower].tolist()), tuple(path[lower:upper].tolist()), int(top))


def _nodes(n: int, which: Iterable[int]) -> Bool:
    found = np.zeros(n + 1, dtype=np.bool_)
    found[list(which)] = True
    return found


# The kinds of rules about crossing arcs: two about gaps, and a stricter one about any crossing.
#
# An arc has a gap where a word between its ends does not descend from its head. Then another arc crosses it; but of two
# arcs that cross, the one has no gap if its head is above the other's.


@dataclass(frozen=True)
class NoCrossing:
    """No arc crosses that of a word with a label of a list; ROOT stands before the first word."""

    name: str
    label: tuple[str, ...]

    def bound(self, words: Words) -> Bound | None:
        group = labels_named(self.label, words.labels)
        arcs, nodes = Arcs(words.n, len(group)), np.arange(words.n + 1)

        def nogood(tree: LabelledTree, word: int, other: int) -> Nogood:
            head = tree.heads[word - 1]
            return Nogood((word, other), partial(both, word, other, head), partial(all_across, word, head))

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

        return _of_crossed(self, group, nogood)


@dataclass(frozen=True)
class Projective:
    """The arc to a word with a label of a list has no gap: all words between it and its head descend from the head.

    So does every word where the head is ROOT.
    """

    name: str
    label: tuple[str, ...]

    def bound(self, words: Words) -> Bound | None:
        group, numbers = labels_named(self.label, words.labels), numbers_named(self.label, words.labels)

        def nogood(tree: LabelledTree, word: int, _: int) -> Nogood | None:
            found = apart_in_gap(tree, word)
            if found is None:
                return None
            return Nogood((word, *found.words), partial(choices, found, word), partial(others, tree, found, word))

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

        return _of_crossed(self, group, nogood)


@dataclass(frozen=True)
class OutOfGaps:
    """A word with a label of a list is in the gap of no arc, unless its head is there too: it makes no gap.

    That is, where it stands under an arc between two words, but its head beyond them, it descends from the arc's head.
    """

    name: str
    label: tuple[str, ...]

    def bound(self, words: Words) -> Bound | None:
        group = labels_named(self.label, words.labels)

        def nogood(tree: LabelledTree, word: int, _: int) -> Nogood | None:
            found = apart_under(tree, word)
            if found is None:
                return None
            apart, other = found
            under = below(apart, other, tree.heads[word - 1])
            named = tuple(dict.fromkeys((word, other, *apart.words)))
            return Nogood(named, partial(getattr, under, "choices"), under.also_excluded)

        @cache  # trees of a search differ in a few arcs
        def below(apart: Apart, other: int, head: int) -> _Under:
            return _Under(apart, other, head, words.n, group)

        return _of_crossed(self, group, nogood)


@dataclass(frozen=True)
class _Under:
    """A word in the gap of an arc to `dependent` without its head; `group` are the labels of it that matter, (L,)."""

    apart: Apart
    dependent: int
    head: int
    n: int
    group: Bool

    @cached_property
    def choices(self) -> list[Choice]:
        word = self.apart.word
        ways = (each for each in self.apart.choices(self.n) if each.word != word)
        return [Choice(word, self._own[:, None] & self.group), *ways, *self._passing([self.dependent])]

    def also_excluded(self) -> list[Choice]:
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


def _of_crossed(rule: TreeRule, group: Bool, nogood: Callable[[LabelledTree, int, int], Nogood | None]) -> Bound | None:
    """What asks for the nogood of each word with one of some labels whose arc another word's arc crosses."""
    numbers = _numbers(group)

    def find(tree: LabelledTree) -> Iterator[Nogood]:
        for word in tree.with_labels(numbers):
            other = tree.crossings[word - 1]
            if other and (found := nogood(tree, word, other)) is not None:
                yield found

    return Bound(rule, group, find) if numbers else None


# The kinds of rules that only a tree decides; each finds the nogoods of a tree.


@dataclass(frozen=True)
class AtMostOne:
    """A head has at most one dependent with a label of a list."""

    name: str
    label: tuple[str, ...]

    def bound(self, words: Words) -> Bound | None:
        group = labels_named(self.label, words.labels)
        arcs, numbers = Arcs(words.n, len(group)), numbers_named(self.label, words.labels)

        def both(one: int, word: int, head: int) -> list[Choice]:
            return [arcs.of(each, head, group) for each in (one, word)]

        def find(tree: LabelledTree) -> Iterator[Nogood]:
            first: dict[int, int] = {}
            for word in tree.with_labels(numbers):
                one, head = first.setdefault(tree.tops[word - 1], word), tree.heads[word - 1]
                if one != word:
                    made = partial(both, one, word, head)
                    yield Nogood((one, word), made, partial(arcs.of_all_but, one, head, group))

        return Bound(self, group, find) if numbers else None


# The labels of heads, those of dependents that may not be theirs, and which labels (L,) excuse them.
BelowLabels = tuple[frozenset[int], frozenset[int], Bool]


@dataclass(frozen=True)
class Below:
    """Words of one kind have dependents of some kinds only: those of `allow`, or all but those of `deny`.

    One dependent with a label of `unless` excuses the head.
    """

    name: str
    head: Condition
    allow: tuple[Condition, ...] = ()
    deny: tuple[Condition, ...] = ()
    unless: tuple[str, ...] = ()

    def bound(self, words: Words) -> Bound | None:
        arcs = Arcs(words.n, len(words.labels))
        of_heads, of_words, excuses = self._known.get(words.labels, partial(self._labels, words.labels))

        @cache
        def kind(head: int) -> Bool:
            """With which labels, (L,), a word is a head that it is about."""
            return _labels_of([self.head], words, head)

        @cache
        def bad(word: int) -> Bool:
            """With which labels, (L,), a word is no dependent of such heads."""
            return _labels_of(self.deny, words, word) if self.deny else ~_labels_of(self.allow, words, word)

        def find(tree: LabelledTree) -> Iterator[Nogood]:
            concerned = (tree.below[label] for label in of_heads & tree.below.keys())
            is_excused: dict[int, bool] = {}
            for word in sorted(chain.from_iterable(concerned)):
                head, label = tree.heads[word - 1], tree.labels[word - 1]
                if label in of_words and kind(head)[tree.labels[head - 1]] and bad(word)[label]:
                    if head not in is_excused:
                        is_excused[head] = any(excuses[tree.labels[child - 1]] for child in tree.children[head])
                    if not is_excused[head]:
                        yield Nogood((word, head), partial(below, word, head))

        def below(word: int, head: int) -> list[Choice]:
            found = [arcs.of(word, head, bad(word) & ~excuses), arcs.of(head, slice(None), kind(head))]
            others = range(1, words.n + 1) if excuses.any() else ()
            return found + [arcs.but(other, head, excuses) for other in others if other not in (word, head)]

        return Bound(self, excuses, find) if of_heads else None

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
class NoGaps:
    """A word and its dependents with a label of a list stand side by side, but for words with a label of `between`."""

    name: str
    label: tuple[str, ...]
    between: tuple[str, ...] = ()

    def bound(self, words: Words) -> Bound | None:
        group = labels_named(self.label, words.labels)
        passed = labels_named(self.between, words.labels) if self.between else np.zeros_like(group)
        numbers = numbers_named(self.label, words.labels)
        arcs, others = Arcs(words.n, len(group)), _numbers(passed)

        def in_between(word: int, gap: int, head: int) -> list[Choice]:
            filled = arcs.of(gap, head, group).arcs | passed
            return [arcs.of(word, head, group), Choice(gap, ~filled)]

        def find(tree: LabelledTree) -> Iterator[Nogood]:
            seen: dict[tuple[int, bool], int] = {}  # up to where all may stand beside a head
            for word in tree.with_labels(numbers):
                if head := tree.heads[word - 1]:
                    side = head, head < word
                    for gap in range(max(min(head, word) + 1, seen.get(side, 0)), max(head, word)):
                        seen[side] = gap
                        own, of_gap = tree.heads[gap - 1], tree.labels[gap - 1]
                        if not (of_gap in others or (own == head and of_gap in numbers)):
                            yield Nogood((word, gap), partial(in_between, word, gap, head))
                            break  # of a long arc the others would be without number

        return Bound(self, group, find) if numbers else None


@dataclass(frozen=True)
class Together:
    """Of the words of a span exactly one has its head outside of it."""

    name: str = "spans"

    def bound(self, words: Words) -> Bound | None:
        arcs = Arcs(words.n, len(words.labels))

        def find(tree: LabelledTree) -> Iterator[Nogood]:
            for first, last in words.spans:
                tops = [word for word in range(first, last + 1) if not first <= tree.heads[word - 1] <= last]
                for other in tops[1:]:
                    made = partial(both, tops[0], other, first, last)
                    yield Nogood((tops[0], other), made, partial(all_leaving_but, tops[0], first, last))

        def both(top: int, other: int, first: int, last: int) -> list[Choice]:
            return [leaving(word, first, last) for word in (top, other)]

        def leaving(word: int, first: int, last: int) -> Choice:
            return arcs.but(word, slice(first, last + 1))

        def all_leaving_but(top: int, first: int, last: int) -> list[Choice]:
            return [leaving(word, first, last) for word in range(first, last + 1) if word != top]

        return Bound(self, np.zeros(len(words.labels), dtype=np.bool_), find) if words.spans else None


@dataclass(frozen=True)
class Function:
    """A user's own rule: heads (n,) and names of labels -> the words (from 1 on) of whose arcs one must go, if any."""

    name: str
    conflict: Callable[[Sequence[int], Sequence[str]], Sequence[int] | None]

    def bound(self, words: Words) -> Bound:
        arcs, labels = Arcs(words.n, len(words.labels)), np.arange(len(words.labels))

        def find(tree: LabelledTree) -> Iterator[Nogood]:
            found = self.conflict(tree.heads, [words.labels[label] for label in tree.labels])
            if found:
                self._check(found, words.n)
                named = tuple(dict.fromkeys(found))
                yield Nogood(named, lambda: [own(tree, word) for word in named])

        def own(tree: LabelledTree, word: int) -> Choice:
            return arcs.of(word, tree.heads[word - 1], labels == tree.labels[word - 1])

        return Bound(self, np.zeros(len(labels), dtype=np.bool_), find)

    def _check(self, found: Sequence[int], n: int) -> None:
        wrong = next((word for word in found if not 1 <= word <= n), None)
        if wrong is not None:
            raise DeptreeError(f"the rule {self.name!r} names word {wrong} of {n}", "Let it return words from 1 on")


def _numbers(which: Bool) -> frozenset[int]:
    return frozenset(np.flatnonzero(which).tolist())


def _labels_of(conditions: Sequence[Condition], words: Words, word: int) -> Bool:
    found = np.zeros(len(words.labels), dtype=np.bool_)
    for each in conditions:
        if each.fits(words.upos[word - 1], words.feats[word - 1]):
            found |= each.labels(words.labels)
    return found
