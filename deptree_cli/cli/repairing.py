"""Sentences whose trees are looked at and, if something is wrong with them, repaired; and what is told of that."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import inf

from deptree_cli.cli.broken_rules import Counts
from deptree_cli.cli.given_trees import Asked, GivenTree
from deptree_cli.cli.repaired import NOTHING_DONE, Done, Kept, Mended
from deptree_cli.core.constraints.checking import wrong_tags
from deptree_cli.core.distribution import TreeDistribution
from deptree_cli.core.errors import DeptreeError
from deptree_cli.core.repair.given import FREE, Given
from deptree_cli.core.repair.nearest import Aims, Repaired, nearest
from deptree_cli.core.repair.ties import Ties
from deptree_cli.io.scores.records import Interpretation
from deptree_cli.io.sentence import Sentence
from deptree_cli.io.trees.written import Written


@dataclass(frozen=True, eq=False)
class GivenSentence:
    """A sentence as it is written, its tree with what that should be, and the distribution by its scores, if any."""

    written: Written
    tree: GivenTree
    distribution: TreeDistribution | None = None

    @cached_property
    def given(self) -> Given:
        """The tree: a head that is no number is a number of no word, which somebody meant to be one."""
        beyond = self.tree.block.n + 1
        heads = [FREE if head is None else beyond if head < 0 else head for head in self.tree.block.heads]
        return Given(heads, self.tree.labels)

    @property
    def is_suspect(self) -> bool:
        """Whether there is something to repair: it is no tree, breaks a rule, or lacks the labels of some words."""
        return bool(self.tree.broken) or ("" in self.tree.labels and any(self.tree.labels))

    @property
    def counts(self) -> Counts:
        """What it counts for before it is repaired."""
        asked = self.tree.asked
        other_tags = 0 if self.written.has_other_tags else len(wrong_tags(asked.rules, asked.words))
        return Counts.of(self.tree, self.tree.broken, other_tags)


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

    def of(self, written: Written) -> GivenSentence:
        """A sentence with its tree.

        Raises:
            DeptreeError: it is malformed.
        """
        return GivenSentence(written, self.asked(written))

    def __call__(self, item: Written | Sentence) -> Written | GivenSentence:
        """The same, with its distribution if it has scores; unless there is nothing to look at."""
        if isinstance(item, Written):
            return item if item.suspect is False else self.of(item)
        assert self.how is not None  # there are scores
        return replace(self.of(item.companions[WRITTEN]), distribution=self.how(item).distribution)


@dataclass(frozen=True)
class Looked:
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

    trees: Prepared
    skip: bool

    def __call__(self, written: Written, _: None) -> Looked:
        """The work on one sentence."""
        try:
            sentence = self.trees.of(written)
            suspect, counts = sentence.is_suspect, sentence.counts
        except DeptreeError as error:
            if self.skip:
                return Looked(suspect=True)
            raise _placed(error, written) from None
        given = sentence.given
        tree = None if suspect else (sentence.tree.words.upos, given.heads, given.labels)
        return Looked(suspect, counts, tree)


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

    def __call__(self, sentence: Written | GivenSentence, _: None) -> Kept | Mended:
        """The work on one sentence."""
        if isinstance(sentence, Written):
            return Kept(sentence, NOTHING_DONE)
        written, before = sentence.written, None
        try:
            before = None if self.counted else sentence.counts
            if self.aims.worth == inf and not written.suspect and not sentence.is_suspect:
                return Kept(written, Done(before))
            found = self._nearest(sentence)
        except DeptreeError as error:
            raise _placed(error, written) from None
        return Mended(written, found, sentence.tree.broken if self.told else (), self.aims.relax, self.told, before)

    def _nearest(self, sentence: GivenSentence) -> Repaired:
        given, tree = sentence.given, sentence.tree
        labels, scores = self.ties.of(given, tree.words.upos, sentence.distribution, tree.asked.named)
        return nearest(given, tree.asked.with_labels(labels), scores, tree.space, self.aims)
