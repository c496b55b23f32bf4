"""Sentences whose trees are looked at and, if something is wrong with them, repaired; and what is told of that."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import repeat
from math import inf
from typing import NamedTuple

from deptree_cli.cli.broken_rules import Counts
from deptree_cli.cli.given_trees import Asked, GivenTree, GivenTrees
from deptree_cli.cli.repaired import NOTHING_DONE, Done, Kept, Mended
from deptree_cli.cli.work import Work
from deptree_cli.core.errors import DeptreeError
from deptree_cli.core.repair.given import FREE, Given
from deptree_cli.core.repair.habits import Habits
from deptree_cli.core.repair.nearest import Aims, Repaired, nearest
from deptree_cli.core.repair.ties import Ties
from deptree_cli.io.scores.records import Interpretation
from deptree_cli.io.sentence import Sentence
from deptree_cli.io.trees.written import Written

# The role of the sentence as it is written beside its scores.
WRITTEN = "written"


@dataclass(frozen=True)
class Prepared:
    """Looks into the sentences that have to be looked at; it travels to worker processes.

    Attributes:
        asked: what trees should be.
        how: how scores become distributions, if there are some.
    """

    asked: Asked
    how: Interpretation | None = None

    def __call__(self, item: Written | Sentence) -> Written | GivenTree:
        """A sentence with its tree, and its distribution if it has scores; unless there is nothing to look at."""
        if isinstance(item, Written):
            return item if item.suspect is False else self.asked(item)
        assert self.how is not None  # there are scores
        return replace(self.asked(item.companions[WRITTEN]), distribution=self.how(item).distribution)

    def batch(self, items: Sequence[Written | Sentence]) -> AsTheyAre | GivenTrees | None:
        """Those at which there is nothing to look; where nobody has looked at any, those without mistakes."""
        if self.how is not None:
            return None
        written = [item for item in items if isinstance(item, Written)]
        if all(item.suspect is None for item in written):
            trees = self.asked.batch(written)
            return trees.without(trees.are_suspect) if trees and not all(trees.are_suspect) else None
        places = [place for place, item in enumerate(written) if item.suspect is False]
        return AsTheyAre(places, [written[place] for place in places]) if places else None


class AsTheyAre(NamedTuple):
    """Sentences with which nothing is wrong; `places`: the number of each among all."""

    places: list[int]
    written: list[Written]


@dataclass(frozen=True)
class Unseen:
    """Leaves to the work who looks into sentences: one that is malformed may be no error yet."""

    asked: Asked

    def __call__(self, item: Written) -> Written:
        """The sentence itself."""
        return item

    def batch(self, items: Sequence[Written]) -> GivenTrees | None:
        """Those that have trees."""
        return self.asked.batch(items)


def given_of(tree: GivenTree) -> Given:
    """Return what is given: a head that is no number is a number of no word, which somebody meant to be one."""
    beyond = tree.block.n + 1
    return Given([FREE if head is None else beyond if head < 0 else head for head in tree.block.heads], tree.labels)


def _counts(tree: GivenTree) -> Counts:
    """What it counts for before it is repaired."""
    return Counts.of(tree, tree.broken, 0 if tree.read.has_other_tags else len(tree.wrong_tags))


def _counts_of_many(trees: GivenTrees) -> Iterator[Counts]:
    """Those of many sentences."""
    pairs = zip(trees.read, trees.wrong_tags, strict=True)
    others = [0 if read.has_other_tags else len(wrong) for read, wrong in pairs]
    return Counts.of_many(trees, trees.broken, others)


class Looked(NamedTuple):
    """What is found of a sentence before any is repaired.

    Attributes:
        suspect: whether something is wrong with it, or nobody can read it.
        counts: what it counts for; None where nobody can read it.
        habits: how words attach in it, if it breaks no rule; of many sentences the first tells of all.
    """

    suspect: bool
    counts: Counts | None = None
    habits: Habits | None = None


@dataclass(frozen=True)
class Look(Work[Looked]):
    """Looks at a sentence's tree; `skip`: one that is malformed is only called suspect, and told of later."""

    asked: Asked
    skip: bool

    @property
    def in_batches(self) -> bool:
        """Whether many trees are looked at at once."""
        return True

    def one(self, written: Written, _: None) -> Looked:
        """The work on one sentence."""
        try:
            tree = self.asked(written)
            suspect, counts = tree.is_suspect, _counts(tree)
        except DeptreeError as error:
            if self.skip:
                return Looked(suspect=True)
            raise _placed(error, written) from None
        habits = Habits()
        if not tree.broken:
            given = given_of(tree)
            habits.add(tree.asked.words.all_tags, given.heads, given.labels)
        return Looked(suspect, counts, habits)

    def batch(self, trees: GivenTrees, _: None) -> list[Looked]:
        """The work on many sentences."""
        habits, are_broken = Habits(), [bool(each) for each in trees.broken]
        if not all(are_broken):
            habits.add_many(trees.without(are_broken).many.trees)
        found = list(map(Looked, trees.are_suspect, _counts_of_many(trees)))
        found[0] = found[0]._replace(habits=habits)
        return found


def _placed(error: DeptreeError, written: Written) -> DeptreeError:
    """The error with the sentence's place and own name, if it has one."""
    try:
        return error.at(written.block.place, written.name)
    except DeptreeError:
        return error.at(written.place, written.sent_id)


@dataclass(frozen=True)
class Repair(Work["Kept | Mended"]):
    """Repairs a sentence, if something is wrong with it.

    Attributes:
        ties: what decides between trees that change as little.
        aims: what changes cost, and so on.
        counted: whether the broken rules of sentences were counted before.
        told: whether changes are told word by word.
    """

    ties: Ties
    aims: Aims
    counted: bool = False
    told: bool = False

    @property
    def in_batches(self) -> bool:
        """Whether sentences with which nothing is wrong are passed on many at once."""
        return True

    def batch(self, found: AsTheyAre | GivenTrees, _: None) -> list[Kept | None]:
        """The work on many sentences with which nothing is wrong."""
        if isinstance(found, AsTheyAre):
            return [Kept(each, NOTHING_DONE) for each in found.written]
        if self.aims.worth < inf:
            return [None] * len(found.read)
        counts = repeat(None) if self.counted else _counts_of_many(found)
        return [Kept(written, Done(before)) for written, before in zip(found.read, counts, strict=False)]

    def one(self, tree: Written | GivenTree, _: None) -> Kept | Mended:
        """The work on one sentence."""
        if isinstance(tree, Written):
            return Kept(tree, NOTHING_DONE)
        written: Written = tree.read
        try:
            before = None if self.counted else _counts(tree)
            if self.aims.worth == inf and not written.suspect and not tree.is_suspect:
                return Kept(written, Done(before))
            found = self._nearest(tree)
        except DeptreeError as error:
            raise _placed(error, written) from None
        return Mended(written, found, tree.broken if self.told else (), self.aims.relax, self.told, before)

    def _nearest(self, tree: GivenTree) -> Repaired:
        given = given_of(tree)
        tags = tree.asked.words.all_tags
        labels, scores = self.ties.of(given, tags, tree.distribution, tree.asked_labels)
        return nearest(given, tree.asked.with_labels(labels), scores, tree.space, self.aims)
