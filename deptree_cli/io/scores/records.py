"""Distributions of what was read: what commands work on, and what `read` gives to Python users."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, cast

from deptree_cli.core.constraints.branch_and_bound import BUDGET
from deptree_cli.core.constraints.constrained import Constrained
from deptree_cli.core.constraints.relaxation import GivenUp
from deptree_cli.core.distribution import TreeDistribution
from deptree_cli.core.dtypes import Array, Heads, Integers
from deptree_cli.core.errors import DeptreeError
from deptree_cli.core.spaces import SINGLE_ROOT, TreeSpace, space
from deptree_cli.io.conllu.blocks import Block
from deptree_cli.io.conllu.splicing import Deprels
from deptree_cli.io.conllu.trees import Note, Trees, deprels_of
from deptree_cli.io.rules.constraints import Constraints
from deptree_cli.io.scores.layout import Layout, to_head_dep
from deptree_cli.io.scores.presets import text_of
from deptree_cli.io.scores.sentence import SentenceAsRead
from deptree_cli.io.scores.temperatures import UNCHANGED, Temperature
from deptree_cli.io.sentence import Sentence

if TYPE_CHECKING:
    from deptree_cli.io.scores.batches import ScoredBatch


@dataclass(frozen=True)
class Interpretation:
    """How a record becomes a distribution.

    Attributes:
        layout: orientation, place of ROOT and scale of the matrices.
        labels: the names of labels, where the scores tell them.
        other_place: what messages call the file of a record's other scores.
        space: as for `TreeDistribution`.
        temperature: of arcs and labels.
        fix_heads: whether the HEADs and DEPRELs of the CoNLL-U are conditions.
        constraints: what trees must obey; None: nothing.
        relax: whether the fewest rules are given up if no tree obeys; None: no, and nobody can ask for it.
        budget: how many maximum trees a sentence may cost for that.
    """

    layout: Layout
    labels: tuple[str, ...] | None = None
    other_place: str = ""
    space: TreeSpace = SINGLE_ROOT
    temperature: Temperature = UNCHANGED
    fix_heads: bool = False
    constraints: Constraints | None = None
    relax: bool | None = None
    budget: int = BUDGET

    def __call__(self, record: Sentence) -> ScoredSentence:
        """The sentence of a record.

        Raises:
            DeptreeError: its scores make no distribution; the remedy says what else may be behind it.
        """
        try:
            base = self._by_scores(record.scores, record, self.layout)
        except DeptreeError as error:
            if not error.place:  # else it is about what is asked of words, wherever that stands
                self._advise(error, record)
            raise error.at(record.place, record.sent_id) from None
        try:
            obeying = self._constrained(record, base)
        except DeptreeError as error:
            self._advise_wider_space(error, record)
            raise error.at(record.place, record.sent_id) from None
        return ScoredSentence(record, base if obeying is None else _of_trees(obeying), self, obeying)

    def batch(self, records: Sequence[Sentence]) -> ScoredBatch | None:
        """Those of the records that can be worked on together, None where there are none."""
        if self.labels is not None or self.layout.labels or self.fix_heads or self.constraints:
            return None
        from deptree_cli.io.scores.batches import batch_of  # loads kernels: when there is work

        return batch_of(records, self.layout, self.space, self.temperature.arcs)

    def distribution(self, scores: Array, record: Sentence, layout: Layout) -> TreeDistribution:
        """The distribution by scores that belong to a record, laid out so, without arcs that constraints forbid."""
        base = self._by_scores(scores, record, layout)
        obeying = self._constrained(record, base)
        return base if obeying is None else _of_trees(obeying)

    def _by_scores(self, scores: Array, record: Sentence, layout: Layout) -> TreeDistribution:
        """The same without constraints."""
        options, labels = self._options(layout), self.labels if layout.labels else None
        head_dep = to_head_dep(scores, layout)
        found = TreeDistribution(head_dep, space=self.space, labels=labels, id=record.sent_id, **options)
        if record.labels is not None and self.labels is not None:
            found = found.labelled(self.labels, to_head_dep(record.labels, self.layout.labelled), **options)
        if self._apart is not None:
            found = found.tempered(self.temperature.arcs, self._apart)
        return found if (given := self.given(record)) is None else found.given(given.heads, given.labels)

    def _constrained(self, record: Sentence, base: TreeDistribution) -> Constrained | None:
        """A record's distribution under what its trees must obey, None where that is nothing."""
        if self.constraints is None:
            return None
        constraints = self.constraints.of(record.sent_id, record.block, base.n, base.labels)
        return constraints.on(base, self.relax, self.budget)

    def given(self, record: Sentence) -> Block | None:
        """The sentence whose heads and labels are conditions, None where there are no conditions."""
        return record.block if self.fix_heads else None

    @property
    def _apart(self) -> float | None:
        """The temperature of labels where these have one of their own; arcs are tempered when labels are summed."""
        return None if self.labels is None else self.temperature.labels

    def _options(self, layout: Layout) -> dict[str, Any]:
        """How numbers of this layout become log-scores."""
        temperature = self.temperature.arcs if self._apart is None else 1.0
        return {"scale": layout.complete.scale, "temperature": temperature}

    def _advise_wider_space(self, error: DeptreeError, record: Sentence) -> bool:
        """Add the other remedy that more trees would be, if one of these obeys; whether that is so."""
        wider = space(self.space.single_root)
        for change, setting in self.space.change_to(wider).items():
            if change not in error.remedy and replace(self, space=wider)._fits(record, self.layout):
                error.remedy += f", or {change}"
                error.options += (setting,)
                return True
        return False

    def _advise(self, error: DeptreeError, record: Sentence) -> None:
        """Add what else may be behind it."""
        if self._advise_wider_space(error, record):
            return
        read = self.layout
        if record.padded:
            error.remedy += ". If this is a padded batch, pass --lengths FILE or --conllu FILE"
        turned = replace(read, orient="head-dep" if read.orient == "dep-head" else "dep-head")
        if read.is_square(record.scores.shape) and self._fits(record, turned):
            error.remedy += f". Read with --from {text_of(turned)} the sentence has a tree: is that meant?"

    def _fits(self, record: Sentence, layout: Layout) -> bool:
        """Whether a record makes a distribution, laid out so."""
        how = replace(self, layout=layout)
        try:
            how._constrained(record, how._by_scores(record.scores, record, layout))
        except DeptreeError:
            return False
        return True


@dataclass(frozen=True)
class ScoredSentence(SentenceAsRead):
    """A sentence of a score file, with the distribution over its trees.

    Attributes:
        distribution: the distribution over its trees, without arcs that constraints forbid.
        interpretation: the layout, tree space and temperature with which scores were read.
        obeying: the distribution over valid trees, of which rules and other constraints hold; None without any.
    """

    distribution: TreeDistribution
    interpretation: Interpretation
    obeying: Constrained | None = None

    @property
    def needs_trees(self) -> bool:
        """Whether some constraints, of this sentence or of all, can only be checked on whole trees."""
        constraints = self.interpretation.constraints
        return constraints is not None and (constraints.need_trees or bool(self.constrained.finders))

    @cached_property
    def constrained(self) -> Constrained:
        """The distribution with constraints on whole trees; those on arcs are in `distribution` already."""
        return self.obeying or Constrained(self.distribution, [])

    @property
    def given_up(self) -> GivenUp | None:
        """The constraints that `relax` dropped because no tree satisfies all; None if none was dropped."""
        return self.obeying.given_up if self.obeying else None

    @cached_property
    def other(self) -> TreeDistribution | None:
        """The distribution of the same sentence by the scores of a second file; None without such a file."""
        record, how = self.record, self.interpretation
        if record.other is None:
            return None
        try:
            return how.distribution(record.other, record, how.layout)
        except DeptreeError as error:
            error.problem += f" (in {how.other_place})"
            raise

    def as_trees(self, heads: Integers, labels: Heads | None, notes: Sequence[Note], **others: Any) -> Trees:
        """Return `Trees` for a writer, from (k, n) heads and, if known, (k, n) numbers of labels.

        Args:
            others: closing, ranked, misc, as of `Trees`.
        """
        deprels, given = deprels_of(self.distribution, labels), self.deprels(None, len(heads))
        return Trees(self.id, self.record.block, heads, notes, deprels=deprels, given=given, **others)

    def deprels(self, labels: Heads | None, trees: int) -> Deprels | None:
        """Return the labels of some trees: from (k, n) numbers of labels, else the fixed ones of the sentence."""
        given = self.interpretation.given(self.record)
        return deprels_of(self.distribution, labels) or (Deprels.given(given.labels, trees) if given else None)

    def _repr_svg_(self) -> str | None:
        from deptree_cli.io.pictures.notebook import draw

        return draw(self.distribution, self.record.block)


def _of_trees(obeying: Constrained) -> TreeDistribution:
    """The distribution without arcs that constraints forbid."""
    return cast(TreeDistribution, obeying.distribution)
