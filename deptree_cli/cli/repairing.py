"""Sentences whose trees are looked at and, if something is wrong with them, repaired; and what is told of that."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import inf
from typing import NamedTuple

from deptree_cli.cli.broken_rules import Counts
from deptree_cli.cli.given_trees import Asked, GivenTree
from deptree_cli.cli.repaired import NOTHING_DONE, Done, Kept, Mended
from deptree_cli.core.errors import DeptreeError
from deptree_cli.core.repair.given import FREE, Given
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


def given_of(tree: GivenTree) -> Given:
    """Return what is given: a head that is no number is a number of no word, which somebody meant to be one."""
    beyond = tree.block.n + 1
    return Given([FREE if head is None else beyond if head < 0 else head for head in tree.block.heads], tree.labels)


def _counts(tree: GivenTree) -> Counts:
    """What it counts for before it is repaired."""
    return Counts.of(tree, tree.broken, 0 if tree.read.has_other_tags else len(tree.wrong_tags))


class Looked(NamedTuple):
    """What is found of a sentence before any is repaired.

    Attributes:
        suspect: whether something is wrong with it, or nobody can read it.
        counts: what it counts for; None where nobody can read it.
        tree: parts of speech, heads and labels of a tree with which nothing is wrong.
    """

    suspect: bool
    counts: Counts | None = None
    tree: tuple[Sequence[str | None], Sequence[int], Sequence[str]] | None = None


@dataclass(frozen=True)
class Look:
    """Looks at a sentence's tree; `skip`: one that is malformed is only called suspect, and told of later."""

    asked: Asked
    skip: bool

    def __call__(self, written: Written, _: None) -> Looked:
        """The work on one sentence."""
        try:
            tree = self.asked(written)
            suspect, counts = tree.is_suspect, _counts(tree)
        except DeptreeError as error:
            if self.skip:
                return Looked(suspect=True)
            raise _placed(error, written) from None
        given = given_of(tree)
        return Looked(suspect, counts, None if suspect else (tree.words.upos, given.heads, given.labels))


def _placed(error: DeptreeError, written: Written) -> DeptreeError:
    """The error with the sentence's place and own name, if it has one."""
    try:
        return error.at(written.block.place, written.name)
    except DeptreeError:
        return error.at(written.place, written.sent_id)


@dataclass(frozen=True)
class Repair:
    """Repairs a sentence, if something is wrong with it.

    Attributes:
        ties: what decides between trees that change as few words.
        aims: what changes cost, and so on.
        counted: whether the broken rules of sentences were counted before.
        told: whether changes are told word by word.
    """

    ties: Ties
    aims: Aims
    counted: bool = False
    told: bool = False

    def __call__(self, tree: Written | GivenTree, _: None) -> Kept | Mended:
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
        labels, scores = self.ties.of(given, tree.words.upos, tree.distribution, tree.asked.named)
        return nearest(given, tree.asked.with_labels(labels), scores, tree.space, self.aims)
