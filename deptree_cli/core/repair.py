"""The nearest trees to given ones that are trees and keep rules."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, repeat
from typing import NamedTuple, Protocol

import numpy as np

from deptree_cli.core.arc_factored import ArcFactored
from deptree_cli.core.counts import BUDGET
from deptree_cli.core.dtypes import Bool, Float, Heads, Int
from deptree_cli.core.errors import counted
from deptree_cli.core.label_names import ROOT, is_root
from deptree_cli.core.memory import memory_for
from deptree_cli.core.rule_search import BranchAndBound, GivenUp, LogScores, Relaxation, none_found
from deptree_cli.core.rules import Bound, Words
from deptree_cli.core.ruleset import Constraint, rules_of
from deptree_cli.core.scores import MOST_MASKED
from deptree_cli.core.spaces import TreeSpace

# A tree as somebody gave it, and what it costs to change it.

# Instead of a head that is not known: any head will do.
FREE = -1


class Costs(NamedTuple):
    """What another head and another label of a word cost; a word with both costs both."""

    head: int = 1
    label: int = 1


ONE_EACH = Costs()


@dataclass(frozen=True)
class Given:
    """Heads and labels (empty: none) that need not be a tree.

    Heads are `FREE` where none is given; others that are not nodes, or the word itself, are wrong. `others`: what else
    each label may mean, likeliest first. `kept`: words that stay as given if a tree allows it, whatever others cost.
    """

    heads: Sequence[int]
    labels: Sequence[str]
    others: Sequence[Sequence[str]] = ()
    kept: Collection[int] = ()

    @property
    def n(self) -> int:
        return len(self.heads)

    @property
    def meanings(self) -> Iterator[list[str]]:
        """What each given label may mean, likeliest first: itself, and `others`."""
        for label, others in zip(self.labels, self.others or repeat(()), strict=False):
            yield list(dict.fromkeys([label, *others])) if label else []

    def costs(self, costs: Costs, names: Sequence[str]) -> Float:
        """What arcs with labels cost, (n+1, n+1, L), ``[head, dependent, label]``, whole numbers."""
        numbers = {name: number for number, name in enumerate(names)}
        found = np.full((self.n + 1, self.n + 1, len(names)), float(costs.head))
        for word, (head, label) in enumerate(zip(self.heads, self.labels, strict=True), 1):
            if head == FREE or 0 <= head <= self.n:
                found[slice(None) if head == FREE else head, word] = 0
            if label:
                found[:, word] += costs.label
                found[:, word, numbers[label]] -= costs.label
        return found


# How the words of a treebank attach: what decides between trees that change as little.
#
# The head of a word is probable by both parts of speech, direction and distance; its label by both parts of speech and
# direction, behind that by its own alone. A label that was given is more probable than others: most of them are right.

# What is added to counts of labels, and at most to those of heads; and how many kinds of heads a word may have.
ADDED, KINDS = 0.1, 100

# By how many nats a given label is more probable than others; what else it may mean, by one less each. With 3 to 4
# both damaged gold trees and those of a parser come nearest to gold trees.
STAYS = 4.0

# The label of an arc of which no other is known: likelier than others that were not counted.
ANY = "dep"

# Distances 1, 2-3, 4-7, 8-15 and beyond, to the left and to the right; and ROOT.
_BEYOND = 4
_ROOT = 2 * (_BEYOND + 1)

# What is added of each of these: near heads are likelier where nothing was counted.
_NEAR = np.array([*(0.5 ** np.arange(_BEYOND + 1)), *(0.5 ** np.arange(_BEYOND + 1)), 1.0])


def distances(heads: Int, words: Int) -> Int:
    apart = heads - words
    far = np.minimum(np.log2(np.maximum(np.abs(apart), 1)).astype(np.int64), _BEYOND)
    return np.where(heads == 0, _ROOT, np.where(apart > 0, far, far + _BEYOND + 1))


class Habits:
    """Counts of arcs and labels by the parts of speech of the words."""

    def __init__(self) -> None:
        self._heads = Counter[tuple[str, str, int]]()
        self._labels = Counter[tuple[str, str, bool, str]]()

    def __bool__(self) -> bool:
        return bool(self._heads)

    def __iadd__(self, other: Habits) -> Habits:
        self._heads.update(other._heads)
        self._labels.update(other._labels)
        self.__dict__.pop("_arrays", None)
        return self

    def add(self, upos: Sequence[str | None], heads: Sequence[int], labels: Sequence[str]) -> None:
        """Count the words of a tree, or of trees side by side; those without a label for their heads only."""
        self.__dict__.pop("_arrays", None)
        tags, words = [ROOT, *(tag or "" for tag in upos)], np.arange(1, len(heads) + 1)
        above, kinds = [tags[head] for head in heads], distances(np.array(heads), words).tolist()
        self._heads.update(zip(tags[1:], above, kinds, strict=True))
        found = zip(tags[1:], above, (np.array(heads) > words).tolist(), labels, strict=True)
        self._labels.update(arc for arc in found if arc[-1])

    @cached_property
    def _arrays(self) -> tuple[dict[str, int], dict[str, int], Float, Float]:
        """Numbers of parts of speech and of labels, and the counts by these, in the order of the counters' keys.

        Behind the last part of speech and the last label is room for those that were not counted.
        """
        known = sorted({tag for word, head, _ in self._heads for tag in (word, head)} - {ROOT})
        tags = {tag: number for number, tag in enumerate([ROOT, *known])}
        labels = {label: number for number, label in enumerate(sorted({label for *_, label in self._labels}))}
        of_heads = np.zeros((len(tags) + 1, len(tags) + 1, _ROOT + 1))
        of_labels = np.zeros((len(tags) + 1, len(tags) + 1, 2, len(labels) + 1))
        for (word, head, kind), count in self._heads.items():
            of_heads[tags[word], tags[head], kind] = count
        for (word, head, right, label), count in self._labels.items():
            of_labels[tags[word], tags[head], int(right), labels[label]] = count
        return tags, labels, of_heads, of_labels

    def names(self, given: Given, asked: Iterable[str] = ()) -> tuple[str, ...]:
        """The labels that a tree of a sentence may have: those that were counted, given, or asked for, and what given
        ones mean of these; and, where nothing tells another, `ANY`.

        Nameless if there are none.
        """
        known, asked = {*self._arrays[1], *filter(None, given.labels)}, {*asked}
        if not (known or asked):
            return ("",)
        meant = {each for each in chain.from_iterable(given.meanings) if each.partition(":")[0] in asked}
        return tuple(sorted({*known, *asked, *meant, ROOT, ANY}))

    def arcs(self, upos: Sequence[str | None]) -> Float:
        """Log-scores of arcs, (n+1, n+1), ``[head, dependent]``."""
        counts, tags, nodes = self._arrays[2], self._numbers(upos), np.arange(len(upos) + 1)
        kinds = distances(nodes[:, None], nodes)
        total = counts.sum(axis=(1, 2))[tags]
        return np.log((counts[tags, tags[:, None], kinds] + (ADDED * _NEAR)[kinds]) / (total + KINDS * ADDED))

    def label_scores(self, upos: Sequence[str | None], names: tuple[str, ...], given: Given) -> Float:
        (own, tags), nodes = np.unique(self._numbers(upos), return_inverse=True), np.arange(len(upos) + 1)
        counts, labels = self._arrays[3][own], [self._arrays[1].get(name, -1) for name in names]
        of_word = counts.sum(axis=(1, 2), keepdims=True).take(labels, axis=-1)  # behind pairs seen seldom or never
        of_word += [ADDED * (1 + (name == ANY)) for name in names]
        behind, counts = of_word / of_word.sum(axis=-1, keepdims=True), counts[:, own].take(labels, axis=-1)
        table = np.log((counts + behind) / (counts.sum(axis=-1, keepdims=True) + 1))
        found = table[tags, tags[:, None], (nodes[:, None] > nodes).astype(np.int64)]
        for word, meanings in enumerate(given.meanings, 1):
            for rank, meant in enumerate(meanings):
                if meant in names:
                    found[:, word, names.index(meant)] += STAYS - rank
        return found

    def _numbers(self, upos: Sequence[str | None]) -> Int:
        """The numbers of the nodes' parts of speech, (n+1,): ROOT's, and the last for one that was not counted."""
        tags = self._arrays[0]
        return np.array([tags.get(tag, len(tags)) for tag in (ROOT, *(each or "" for each in upos))])


# What the nearest tree has most of: the fewest changes first, then the highest score.
#
# Both are one number of float64 that is never rounded: scores are counted in steps of a power of two, so small that
# trees differ by whole numbers, and a change outweighs all steps together. So sums are exact, and compared in turn.

# Whole numbers up to two to this power are float64.
_BITS = 52

# Scores are not counted in smaller steps than two to minus this power.
_FINEST = 30


class Objective(NamedTuple):
    """Scores of arcs with labels, (n+1, n+1, L), -inf forbids, and what a cost of 1, the `unit`, takes off.

    Trees that cost the same differ by less; no unit where changes are traded for nats.
    """

    scores: Float
    unit: float | None = None

    def gap(self, score: float, gap: float) -> float:
        """How much less than a tree of this score another may cost that is better by a gap at most; or the nats."""
        if self.unit is None:
            return gap
        return float(-score // self.unit - -(score + gap) // self.unit)


def objective(
    scores: Float, given: Given, names: Sequence[str], costs: Costs, worth: float, meant: Iterable[tuple[int, int]]
) -> Objective:
    """Return what the nearest tree has most of.

    Args:
        scores: log-scores (n+1, n+1, L), which forbid nothing: of trees that cost the same (if the worth is finite, of
            all) those with the fewest arcs of -inf, or masks, come first.
        worth: how many nats a cost of 1 is worth; infinite: more than all scores.
        meant: words, each with the number of the label that stands for its given one: it comes before others that cost
            the same or, if the worth is finite, costs nothing.
    """
    changes, most = given.costs(costs, names), given.n * sum(costs)
    possible = np.ones(scores.shape, dtype=np.bool_)
    possible[:, 0] = possible[np.diag_indices(given.n + 1)] = False
    root = np.array([is_root(name) for name in names])
    if root.any():  # it stands on arcs from ROOT, and no other label does
        possible[0, :, ~root] = possible[1:, :, root] = False
    for word in given.kept:  # but for what somebody meant
        if 0 <= given.heads[word - 1] <= given.n and given.heads[word - 1] != word:
            possible[:, word] |= changes[:, word] == 0
    found = np.where(possible, scores, -np.inf)
    best = found.max(axis=(0, 2), keepdims=True)
    found -= np.where(best > -np.inf, best, 0.0)  # of the same word, which does not change which trees are better
    found[found < -MOST_MASKED] = -np.inf
    lowest = found.min(axis=(0, 2), initial=0.0, where=found > -np.inf)
    apart = 1.0 - float(lowest.sum())  # more than trees differ by without arcs of -inf
    of_labels = np.maximum(found.max(axis=0), lowest[:, None])  # arcs of -inf have the order of their labels elsewhere
    kept = {word: changes[:, word] > 0 for word in given.kept}
    outweighed = 0.0 if worth == math.inf else 2 * worth * most
    np.copyto(found, of_labels - apart - outweighed, where=possible & (found == -np.inf))
    for word, label in meant:
        own = found[:, word, label].copy()
        found[:, word] -= apart if worth == math.inf else worth * costs.label
        found[:, word, label] = own
    if worth < math.inf:
        for word, others in kept.items():
            found[:, word] -= (given.n + 1) * (apart + outweighed) * others
        return Objective(found - worth * changes)
    for word, others in kept.items():
        changes[:, word] += (most + 1) * others
    most += (most + 1) * len(kept)
    lowest = float(found.min(initial=0.0, where=found > -np.inf))
    outweighing = math.ceil(math.log2(1.0 - lowest * given.n)) + 1
    changed = math.ceil(math.log2(1.0 + most))
    fraction = min(_BITS - changed - outweighing, _FINEST)
    found *= math.ldexp(1.0, fraction)
    np.rint(found, out=found)
    unit = math.ldexp(1.0, outweighing + fraction)
    changes *= unit
    found -= changes
    return Objective(found, unit)


# What decides between trees that change as little: a parser's scores, or the habits of a treebank.

# How many arrays of a sentence's scores there are at once, in bytes for an arc with a label.
_BYTES = 6 * 8

# Whether there is memory for less is not asked.
_MUCH = 1 << 28


def room_for(n: int, labels: int) -> AbstractContextManager[None]:
    """Memory for the scores of n words with this many labels, as `memory_for` has it."""
    size = _BYTES * (n + 1) ** 2 * labels
    return memory_for(size if size > _MUCH else 0, f"a sentence of {counted(n, 'word')}", "Split it")


def ties(
    habits: Habits,
    given: Given,
    upos: Sequence[str | None],
    scored: ArcFactored | None = None,
    asked: Iterable[str] = (),
) -> tuple[tuple[str, ...], Float]:
    """Return the labels that a sentence's trees may have, and log-scores of arcs with these, (n+1, n+1, L).

    Args:
        habits: they decide alone without scores, and of labels where scores know none.
        scored: the sentence's distribution, if there are scores.
        asked: labels that rules or annotators name, which need not have been seen before; if there are scores of
            labels, all are of these.

    Raises:
        DeptreeError: there is no memory for so long a sentence.
    """
    if scored is not None and scored.labels is not None:
        names = scored.labels.names
        added = tuple(dict.fromkeys(label for label in given.labels if label and label not in names))
        with room_for(given.n, len(names)):
            scores = LogScores(scored).whole
            return names + added, np.pad(scores, [(0, 0), (0, 0), (0, len(added))], constant_values=-np.inf)
    names = habits.names(given, asked)
    with room_for(given.n, len(names)):
        of_heads = LogScores(scored).whole if scored is not None else habits.arcs(upos)[..., None]
        found = habits.label_scores(upos, names, given)
        found += of_heads
        return names, found


# The nearest tree that obeys, by the search that finds the best one, and with its certificate.


class Demands(Protocol):
    """What the trees of a sentence must obey.

    `words` have the labels of trees; `forbidden` are arcs with labels, (n+1, n+1, L); `bound` finds the nogoods of
    rules that only a tree decides; `listed` tells the same one thing at a time, each under a name.
    """

    @property
    def words(self) -> Words: ...
    @property
    def forbidden(self) -> Bool: ...
    @property
    def bound(self) -> Sequence[Bound]: ...
    def listed(self) -> list[Constraint]: ...


@dataclass(frozen=True, eq=False)
class Repaired:
    """The nearest valid tree of a sentence.

    `gap` bounds how much cheaper another might be, in changes, or in nats if these are traded; 0 proves that none is.
    `opened` counts the maximum trees of the search; `given_up` are the rules that were dropped.
    """

    heads: Heads
    labels: tuple[str, ...]
    gap: float
    opened: int
    given_up: GivenUp | None = None

    @property
    def certified(self) -> bool:
        return self.gap == 0.0


class Aims(NamedTuple):
    """What is looked for: a cost of 1 is worth this many nats; below infinity, changes that gain more are made."""

    costs: Costs = ONE_EACH
    worth: float = math.inf
    budget: int = BUDGET
    relax: bool = False


USUAL = Aims()


def nearest(
    given: Given, asked: Demands, scores: Float, space: TreeSpace, aims: Aims = USUAL, sent_id: str = ""
) -> Repaired:
    """Return the tree that obeys and changes least of what was given; of several the one with the highest score.

    `scores` are log-scores (n+1, n+1, L), with labels as `asked.words.labels`; -inf is less than others.
    """
    names, budget = asked.words.labels, aims.budget
    with room_for(given.n, len(names)):
        wanted = objective(scores, given, names, aims.costs, aims.worth, _meant(given, asked))
        masked = np.where(asked.forbidden, -np.inf, wanted.scores)
        search = BranchAndBound(masked, space, asked.bound, budget, wanted.unit)
        found, given_up = search.best(), None
    if found is None:  # what is given up of rules is looked for in a distribution of costs
        costs = wanted.scores / (wanted.unit or 1.0)
        if names == ("",):
            base = ArcFactored(costs[..., 0], space=space, id=sent_id)
        else:
            base = ArcFactored(costs, space=space, labels=names, id=sent_id)
        constraints = Relaxation(base, asked.listed)
        if aims.relax:
            kept, given_up = constraints.kept(budget)
            masked = np.where(constraints.forbidden(kept), -np.inf, wanted.scores)
            found = BranchAndBound(masked, space, rules_of(kept), budget, wanted.unit).best()
        elif not search.is_infeasible:
            raise none_found(search.opened, sent_id)
        if found is None:
            raise constraints.error(budget)
    labels = tuple(names[number] for number in found.labels.tolist())
    return Repaired(found.heads, labels, wanted.gap(found.score, found.gap), found.opened, given_up)


def _meant(given: Given, asked: Demands) -> Iterator[tuple[int, int]]:
    """The words whose given labels no arc to them may have, each with the number of the label that these stand for."""
    numbers = {name: number for number, name in enumerate(asked.words.labels)}
    may_have = np.any(~asked.forbidden, axis=0)
    for word, meanings in enumerate(given.meanings, 1):
        found = [numbers[each] for each in meanings if each in numbers]
        fits = [number for number in found if may_have[word, number]]
        if fits and fits[0] != found[0]:
            yield word, fits[0]
