"""Sentences whose trees are looked at and, if something is wrong with them, repaired; and what is told of that."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import inf
from typing import TYPE_CHECKING

from deptree_cli.cli.repaired import Kept, Mended
from deptree_cli.core.distribution import TreeDistribution
from deptree_cli.core.errors import DeptreeError
from deptree_cli.core.repair.given import FREE, Costs, Given
from deptree_cli.core.repair.nearest import Repaired, nearest
from deptree_cli.core.repair.ties import Ties
from deptree_cli.core.spaces import TreeSpace
from deptree_cli.io.conllu.mending import NOTHING
from deptree_cli.io.scores.record import Record
from deptree_cli.io.scores.records import Interpretation
from deptree_cli.io.trees.written import Written

if TYPE_CHECKING:
    from deptree_cli.core.constraints.checking import Violation
    from deptree_cli.io.rules.constraints import Constraints, SentenceConstraints


@dataclass(frozen=True, eq=False)
class GivenSentence:
    """A sentence with the tree that it was given, and what that should be."""

    written: Written
    asked: SentenceConstraints
    space: TreeSpace

    @cached_property
    def given(self) -> Given:
        """The tree: a head that is no number is a number of no word, which somebody meant to be one."""
        block = self.written.block
        beyond = block.n + 1
        heads = (FREE if head is None else beyond if head < 0 else head for head in block.heads)
        return Given(tuple(heads), self._labels)

    @cached_property
    def _labels(self) -> tuple[str, ...]:
        return tuple("" if label in NOTHING else label for label in self.written.block.deprels)

    @cached_property
    def broken(self) -> list[Violation]:
        """The places where it is none, or breaks a rule."""
        heads = [FREE if head is None else head for head in self.written.block.heads]
        return self.asked.broken(heads, self._labels, self.space)

    @property
    def is_suspect(self) -> bool:
        """Whether there is something to repair: it is no tree, breaks a rule, or lacks the labels of some words."""
        return bool(self.broken) or ("" in self._labels and any(self._labels))


@dataclass(frozen=True)
class Asked:
    """What trees should be; it travels to worker processes.

    Attributes:
        constraints: what they should obey.
        space: of which they should be.
    """

    constraints: Constraints
    space: TreeSpace

    def of(self, written: Written) -> GivenSentence:
        """A sentence with it.

        Raises:
            DeptreeError: it is malformed.
        """
        block = written.block
        return GivenSentence(written, self.constraints.of(written.name, block, block.n, None), self.space)

    def __call__(self, written: Written) -> Written | GivenSentence:
        """The same of those that have to be looked at."""
        return written if written.suspect is False else self.of(written)


@dataclass(frozen=True, eq=False)
class WrittenScores:
    """A sentence as it is written, with its scores; see `deptree_cli.cli.source.Item`."""

    written: Written
    record: Record

    @property
    def sent_id(self) -> str:
        """Its name, else its number."""
        return self.record.sent_id

    @property
    def place(self) -> str:
        """Where it was read."""
        return self.written.place

    @property
    def notice(self) -> str:
        """What the user must hear of how scores were read."""
        return self.record.notice

    @property
    def weight(self) -> int:
        """How many numbers it has."""
        return self.record.weight


@dataclass(frozen=True, eq=False)
class ScoredTree:
    """A sentence with the tree that it was given, and the distribution over its trees."""

    sentence: GivenSentence
    distribution: TreeDistribution


@dataclass(frozen=True)
class AskedBesideScores:
    """What trees should be, and how scores become distributions."""

    asked: Asked
    how: Interpretation

    def __call__(self, item: WrittenScores) -> ScoredTree:
        """A sentence with both."""
        instead = "repair without --scores"
        return ScoredTree(self.asked.of(item.written), self.how(item.record).by_arcs(instead))


@dataclass(frozen=True)
class Looked:
    """What is found of a sentence before any is repaired.

    Attributes:
        suspect: whether something is wrong with it, or nobody can read it.
        rules: how often each is broken.
        tree: parts of speech, heads and labels of a tree with which nothing is wrong.
    """

    suspect: bool
    rules: Counter[str]
    tree: tuple[Sequence[str | None], Sequence[int], Sequence[str]] | None = None


@dataclass(frozen=True)
class Look:
    """Looks at a sentence's tree; `skip`: one that is malformed is only called suspect, and told of later."""

    asked: Asked
    skip: bool

    def __call__(self, written: Written, _: None) -> Looked:
        """The work on one sentence."""
        try:
            sentence = self.asked.of(written)
            if sentence.is_suspect:
                return Looked(True, Counter(each.rule for each in sentence.broken))
        except DeptreeError as error:
            if self.skip:
                return Looked(True, Counter())
            raise _placed(error, written) from None
        given = sentence.given
        return Looked(False, Counter(), (sentence.asked.words.upos, given.heads, given.labels))


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
        costs: of changes.
        worth: how many nats a change must gain for each unit of its cost; from infinity the fewest changes are made.
        budget: how many maximum trees a sentence may cost.
        relax: whether rules are given up if no tree obeys.
        counted: whether the broken rules of sentences were counted before.
        told: whether changes are told word by word.
    """

    ties: Ties
    costs: Costs
    worth: float
    budget: int
    relax: bool
    counted: bool = False
    told: bool = False

    def __call__(self, item: Written | GivenSentence | ScoredTree, _: None) -> Kept | Mended:
        """The work on one sentence."""
        if isinstance(item, Written):
            return Kept(item)
        sentence, scored = (item.sentence, item.distribution) if isinstance(item, ScoredTree) else (item, None)
        written = sentence.written
        if self.worth == inf and not written.suspect and not sentence.is_suspect:
            return Kept(written)
        try:
            found = self._nearest(sentence, scored)
        except DeptreeError as error:
            raise _placed(error, written) from None
        broken = sentence.broken if self.told or not self.counted else ()
        return Mended(written, found, broken, self.relax, self.told, not self.counted)

    def _nearest(self, sentence: GivenSentence, scored: TreeDistribution | None) -> Repaired:
        given, words = sentence.given, sentence.asked.words
        labels, scores = self.ties.of(given, words.upos, scored)
        asked = sentence.asked.with_labels(labels)
        how = self.costs, self.worth
        return nearest(given, asked, scores, sentence.space, *how, budget=self.budget, relax=self.relax)
