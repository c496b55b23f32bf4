"""The kinds of rules that only a tree decides; each finds the conflicts of a tree."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import chain

import numpy as np

from deptree_cli.core.constraints.conflicts import Arcs, Choice, Conflict, Finder, Suspicion, one_by_one
from deptree_cli.core.constraints.label_lists import ForLabels, labels_named, numbers_named
from deptree_cli.core.constraints.many import ManyTrees, Place
from deptree_cli.core.constraints.words import Condition, LabelledTree, Words
from deptree_cli.core.dtypes import Bool
from deptree_cli.core.errors import DeptreeError


@dataclass(frozen=True)
class AtMostOne:
    """A head has at most one dependent with a label of a list."""

    name: str
    label: tuple[str, ...]

    def bound(self, words: Words) -> Finder | None:
        """See `TreeRule`."""
        group = labels_named(self.label, words.labels)
        arcs, numbers = Arcs(words.n, len(group)), numbers_named(self.label, words.labels)

        def both(one: int, word: int, head: int) -> list[Choice]:
            return [arcs.of(each, head, group) for each in (one, word)]

        def find(tree: LabelledTree) -> Iterator[Conflict]:
            if numbers.isdisjoint(tree.label_set):
                return
            first: dict[int, int] = {}
            for word, (head, label) in enumerate(zip(tree.heads, tree.labels, strict=True), 1):
                if label in numbers:
                    one = first.setdefault(head, word)
                    if one != word:
                        made = partial(both, one, word, head)
                        yield Conflict((one, word), made, partial(arcs.of_all_but, one, head, group))

        return find if numbers else None

    def suspicion(self, labels: tuple[str, ...]) -> Suspicion | None:
        """See `TreeRule`."""
        return Suspicion.none(len(labels))._replace(siblings=labels_named(self.label, labels))

    def places(self, trees: ManyTrees) -> Iterator[Place]:
        """See `TreeRule`."""
        named = np.flatnonzero(labels_named(self.label, trees.kinds.labels)[trees.labels])
        heads = trees.nodes[named]
        order = np.argsort(heads, kind="stable")
        first = np.searchsorted(heads[order], heads)  # of those below the same head
        others = order[first] != np.arange(len(named))
        return trees.places(named[order[first[others]]], named[others])


# The labels of heads, those of dependents that may not be theirs, and which labels (L,) excuse them.
BelowLabels = tuple[frozenset[int], frozenset[int], Bool]


@dataclass(frozen=True)
class Below:
    """Words of one kind have dependents of some kinds only.

    Attributes:
        head: which words, by the labels of their own arcs too.
        allow: which dependents these may have.
        deny: which they may not have; instead of `allow`.
        unless: labels of dependents, of which one is enough to excuse the head.
    """

    name: str
    head: Condition
    allow: tuple[Condition, ...] = ()
    deny: tuple[Condition, ...] = ()
    unless: tuple[str, ...] = ()

    def bound(self, words: Words) -> Finder | None:
        """See `TreeRule`."""
        arcs = Arcs(words.n, len(words.labels))
        of_heads, of_words, excuses = self._known.get(words.labels, partial(self._labels, words.labels))

        known: list[tuple[Bool, Bool]] = []

        def tables() -> tuple[Bool, Bool]:
            """Which words with which labels are heads that it is about, and are none of their dependents, (n+1, L)."""
            if not known:  # made for the first that needs it: most sentences have no such heads
                bad = _any(self.deny, words) if self.deny else ~_any(self.allow, words)
                known.append((self.head.by_label(words), bad))
            return known[0]

        def find(tree: LabelledTree) -> Iterator[Conflict]:
            concerned = (tree.below[label] for label in of_heads & tree.below.keys())
            is_excused: dict[int, bool] = {}
            for word in sorted(chain.from_iterable(concerned)):
                head, label = tree.heads[word - 1], tree.labels[word - 1]
                if label in of_words:
                    kind, bad = tables()
                    if kind[head, tree.labels[head - 1]] and bad[word, label]:
                        if head not in is_excused:
                            is_excused[head] = any(excuses[tree.labels[child - 1]] for child in tree.children[head])
                        if not is_excused[head]:
                            yield Conflict((word, head), partial(below, word, head))

        def below(word: int, head: int) -> list[Choice]:
            kind, bad = tables()
            found = [arcs.of(word, head, bad[word] & ~excuses), arcs.of(head, slice(None), kind[head])]
            others = range(1, words.n + 1) if excuses.any() else ()
            return found + [arcs.but(other, head, excuses) for other in others if other not in (word, head)]

        return find if of_heads else None

    def suspicion(self, labels: tuple[str, ...]) -> Suspicion | None:
        """See `TreeRule`."""
        of_heads, of_words, _ = self._known.get(labels, partial(self._labels, labels))
        found = Suspicion.none(len(labels))
        found.below[np.ix_(sorted(of_heads), sorted(of_words))] = True
        return found

    def places(self, trees: ManyTrees) -> Iterator[Place]:
        """See `TreeRule`."""
        names = trees.kinds.labels
        _, of_words, excuses = self._known.get(names, partial(self._labels, names))
        words = np.flatnonzero(trees.heads)
        words = words[self.head.labels(names)[trees.labels[trees.above[words]]]]
        words = words[np.isin(trees.labels[words], list(of_words))]
        if not len(words):
            return iter(())
        words = words[trees.meant(self.head, trees.above[words])]
        named = [trees.meant(each, words) for each in self.deny or self.allow]
        words = words[np.any(named, axis=0) == bool(self.deny)] if named else words
        if len(words) and excuses.any():
            excused = np.zeros(len(trees.heads), dtype=np.bool_)
            excused[trees.above[(trees.heads > 0) & excuses[trees.labels]]] = True
            words = words[~excused[trees.above[words]]]
        return trees.places(words, trees.above[words])

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
    """A word and its dependents with a label of a list stand side by side.

    Attributes:
        between: labels of words that may stand between them.
    """

    name: str
    label: tuple[str, ...]
    between: tuple[str, ...] = ()

    def bound(self, words: Words) -> Finder | None:
        """See `TreeRule`."""
        group = labels_named(self.label, words.labels)
        passed = labels_named(self.between, words.labels) if self.between else np.zeros_like(group)
        numbers = numbers_named(self.label, words.labels)
        arcs, others = Arcs(words.n, len(group)), _numbers(passed)

        def in_between(word: int, gap: int, head: int) -> list[Choice]:
            filled = arcs.of(gap, head, group).arcs | passed
            return [arcs.of(word, head, group), Choice(gap, ~filled)]

        def find(tree: LabelledTree) -> Iterator[Conflict]:
            if numbers.isdisjoint(tree.label_set):
                return
            seen: dict[tuple[int, bool], int] = {}  # up to where all may stand beside a head
            for word, (head, label) in enumerate(zip(tree.heads, tree.labels, strict=True), 1):
                if head and label in numbers:
                    side = head, head < word
                    for gap in range(max(min(head, word) + 1, seen.get(side, 0)), max(head, word)):
                        seen[side] = gap
                        own, of_gap = tree.heads[gap - 1], tree.labels[gap - 1]
                        if not (of_gap in others or (own == head and of_gap in numbers)):
                            yield Conflict((word, gap), partial(in_between, word, gap, head))
                            break  # of a long arc the others would be without number

        return find if numbers else None

    def suspicion(self, labels: tuple[str, ...]) -> Suspicion | None:
        """See `TreeRule`."""
        return Suspicion.none(len(labels))._replace(apart=labels_named(self.label, labels))

    def places(self, trees: ManyTrees) -> Iterator[Place]:
        """See `TreeRule`."""
        named = labels_named(self.label, trees.kinds.labels)[trees.labels]
        return one_by_one(self, trees, named & (trees.heads > 0) & (abs(trees.heads - trees.numbers) > 1))


@dataclass(frozen=True)
class Together:
    """Of the words of a span exactly one has its head outside of it."""

    name: str = "spans"

    def bound(self, words: Words) -> Finder | None:
        """See `TreeRule`."""
        arcs = Arcs(words.n, len(words.labels))

        def find(tree: LabelledTree) -> Iterator[Conflict]:
            for first, last in words.spans:
                tops = [word for word in range(first, last + 1) if not first <= tree.heads[word - 1] <= last]
                for other in tops[1:]:
                    made = partial(both, tops[0], other, first, last)
                    yield Conflict((tops[0], other), made, partial(all_leaving_but, tops[0], first, last))

        def both(top: int, other: int, first: int, last: int) -> list[Choice]:
            return [leaving(word, first, last) for word in (top, other)]

        def leaving(word: int, first: int, last: int) -> Choice:
            return arcs.but(word, slice(first, last + 1))

        def all_leaving_but(top: int, first: int, last: int) -> list[Choice]:
            return [leaving(word, first, last) for word in range(first, last + 1) if word != top]

        return find if words.spans else None

    def suspicion(self, labels: tuple[str, ...]) -> Suspicion | None:
        """See `TreeRule`."""
        return None

    def places(self, trees: ManyTrees) -> Iterator[Place]:
        """See `TreeRule`; sentences with spans are no part of many."""
        return iter(())


@dataclass(frozen=True)
class Function:
    """A user's own rule.

    Attributes:
        conflict: of heads (n,) and the names of labels: the words (from 1 on) of whose arcs one must go; nothing where
            the tree obeys.
    """

    name: str
    conflict: Callable[[Sequence[int], Sequence[str]], Sequence[int] | None]

    def bound(self, words: Words) -> Finder:
        """See `TreeRule`."""
        arcs, labels = Arcs(words.n, len(words.labels)), np.arange(len(words.labels))

        def find(tree: LabelledTree) -> Iterator[Conflict]:
            found = self.conflict(tree.heads, [words.labels[label] for label in tree.labels])
            if found:
                self._check(found, words.n)
                named = tuple(dict.fromkeys(found))
                yield Conflict(named, lambda: [own(tree, word) for word in named])

        def own(tree: LabelledTree, word: int) -> Choice:
            return arcs.of(word, tree.heads[word - 1], labels == tree.labels[word - 1])

        return find

    def suspicion(self, labels: tuple[str, ...]) -> Suspicion | None:
        """See `TreeRule`."""
        return None

    def places(self, trees: ManyTrees) -> Iterator[Place]:
        """See `TreeRule`."""
        return one_by_one(self, trees)

    def _check(self, found: Sequence[int], n: int) -> None:
        wrong = next((word for word in found if not 1 <= word <= n), None)
        if wrong is not None:
            raise DeptreeError(f"the rule {self.name!r} names word {wrong} of {n}", "Let it return words from 1 on")


def _numbers(which: Bool) -> frozenset[int]:
    return frozenset(np.flatnonzero(which).tolist())


def _any(conditions: Sequence[Condition], words: Words) -> Bool:
    """Which words with which labels one of some conditions means, (n+1, L)."""
    found = np.zeros((words.n + 1, len(words.labels)), dtype=np.bool_)
    for each in conditions:
        found |= each.by_label(words)
    return found
