"""Sentences with the distributions over their trees: how scores become these, and how trees are written again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import ArrayLike

from deptree_cli.core.counts import BUDGET
from deptree_cli.core.dtypes import Array, Heads, Integers
from deptree_cli.core.errors import DeptreeError, counted
from deptree_cli.core.spaces import SINGLE_ROOT, TreeSpace, space
from deptree_cli.io.scores.layout import Layout, text_of, to_head_dep
from deptree_cli.io.sentence import OTHER, Chunk, Many, Row, Sentence

if TYPE_CHECKING:
    from conllu.models import TokenList

    from deptree_cli.core.constrained import Constrained
    from deptree_cli.core.distribution import TreeDistribution
    from deptree_cli.core.rule_search import GivenUp
    from deptree_cli.io.conllu.blocks import Block
    from deptree_cli.io.conllu.splicing import Deprels
    from deptree_cli.io.conllu.trees import Note, Trees
    from deptree_cli.io.rules.constraints import Constraints
    from deptree_cli.io.scores.batches import ScoredBatch


@dataclass(frozen=True)
class SentenceAsRead:
    """A sentence that has scores, and may have words: the `record` that was read."""

    record: Sentence

    @property
    def id(self) -> str:
        """The sentence id: sent_id in CoNLL-U, else the key of the scores, else the number of the sentence."""
        return self.record.sent_id

    @property
    def tokens(self) -> TokenList:
        """The CoNLL-U sentence as a `TokenList` of the conllu library; DeptreeError if no CoNLL-U was read."""
        from deptree_cli.io.conllu.blocks import tokens_of

        return tokens_of(self.record.sentence)

    def deprels(self, labels: Heads | None, trees: int) -> Deprels | None:
        """Return the labels of some trees, (k, n) numbers; None: words keep theirs where their heads are the same."""
        return None

    def apply(self, heads: ArrayLike, labels: ArrayLike | None = None) -> TokenList:
        """Return the tokens with a tree, (n,) heads, and labels, (n,) numbers of the distribution's labels."""
        from deptree_cli.io.conllu.blocks import Block, tokens_of
        from deptree_cli.io.conllu.splicing import with_trees

        block, tree = self.record.sentence, np.asarray([heads], dtype=np.int32)
        if tree.shape[1] != block.n:
            problem = f"{counted(tree.shape[1], 'head')} given for a sentence of {counted(block.n, 'word')}"
            raise DeptreeError(problem, "Give one head per word")
        deprels = self.deprels(None if labels is None else np.asarray([labels], dtype=np.int32), 1)
        data = with_trees(block.fresh(), tree, [block.sent_id], deprels=deprels).data
        return tokens_of(Block(block.chunk._replace(data=data), block.file, any_heads=True))

    def to_conllu(self, trees: ArrayLike, labels: ArrayLike | None = None, sent_ids: Sequence[str] = ()) -> str:
        """Return the sentence as CoNLL-U, byte for byte as read except for its tree.

        Args:
            trees: (n,) heads, or (k, n): each tree gets a copy of the sentence.
            labels: numbers of the distribution's labels, of the same shape.
            sent_ids: a sentence id for each tree; by default one tree keeps X, and k trees have `X/sample_1`, ...
        """
        from deptree_cli.io.conllu.splicing import with_trees

        heads, one = np.atleast_2d(np.asarray(trees, dtype=np.int32)), np.ndim(trees) == 1
        names = list(sent_ids) or [self.id if one else f"{self.id}/sample_{k}" for k in range(1, len(heads) + 1)]
        deprels = self.deprels(None if labels is None else np.atleast_2d(np.asarray(labels, np.int32)), len(heads))
        return with_trees(self.record.sentence.fresh(), heads, names, deprels=deprels).data.decode()


@dataclass(frozen=True)
class Temperature:
    """A temperature of arcs, and that of labels given the arc: None for the same, 1 of a calibration without labels.

    `thresholds`: of sets of heads (`core/calibration.py`), by coverage; `place` names the calibration in messages.
    """

    arcs: float = 1.0
    labels: float | None = None
    thresholds: Mapping[float, float] = field(default_factory=dict)
    place: str = ""

    def signature_fields(self, labels: bool) -> dict[str, object]:
        """What of this a run must repeat to give the same result, with `labels` or without."""
        numbers = {"temperature": self.arcs, "labeltemperature": self.labels if labels else None}
        return {name: None if number in (None, 1) else repr(number) for name, number in numbers.items()}


UNCHANGED = Temperature()


@dataclass(frozen=True)
class Interpretation:
    """How a record becomes a distribution.

    `other_place` is what messages call the file of a record's other scores. With `fix_heads` the HEADs and DEPRELs of
    the CoNLL-U are conditions. `relax`: the fewest rules are given up if no tree obeys, which may cost a sentence
    `budget` maximum trees; None: no, and nobody can ask for it.
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
        sentence = ScoredSentence(record, self)
        sentence.obeying  # noqa: B018  # what is wrong with it is told here
        return sentence

    def row(self, chunk: Chunk, at: int) -> ScoredSentence:
        return ScoredSentence(chunk.tasks[at][0], self, Row(chunk, at))

    def batch(self, records: Sequence[Sentence]) -> ScoredBatch | None:
        """Those of the records that can be worked on together, None where there are none."""
        if self.labels is not None or self.layout.labels or self.fix_heads or self.constraints:
            return None
        from deptree_cli.io.scores.batches import batch_of  # loads kernels: when there is work

        return batch_of(records, self.layout, self.space, self.temperature.arcs)

    def both(self, record: Sentence) -> tuple[TreeDistribution, Constrained | None]:
        """The distribution over all trees without forbidden arcs, and under what trees must obey, None for nothing."""
        base = None
        try:
            base = self._by_scores(record.scores, record, self.layout)
            return self._constrained(record, base)
        except DeptreeError as error:
            of_words = base is None and error.place  # anywhere
            if not of_words and not self._advise_wider_space(error, record) and base is None:
                self._advise_layout(error, record)
            raise error.at(record.place, record.sent_id) from None

    def distribution(self, scores: Array, record: Sentence, layout: Layout) -> TreeDistribution:
        """The distribution by scores that belong to a record, laid out so, without arcs that constraints forbid."""
        return self._constrained(record, self._by_scores(scores, record, layout))[0]

    def _by_scores(self, scores: Array, record: Sentence, layout: Layout) -> TreeDistribution:
        """The same without constraints. A temperature of labels is theirs given the arc; else both are tempered."""
        from deptree_cli.core.distribution import TreeDistribution  # of most sentences many are asked at once

        apart = None if self.labels is None else self.temperature.labels
        together = self.temperature.arcs if apart is None else 1.0
        options: dict[str, Any] = {"scale": layout.complete.scale, "temperature": together}
        labels, head_dep = self.labels if layout.labels else None, to_head_dep(scores, layout)
        found = TreeDistribution(head_dep, space=self.space, labels=labels, id=record.sent_id, **options)
        if record.labels is not None and self.labels is not None:
            found = found.labelled(self.labels, to_head_dep(record.labels, self.layout.labelled), **options)
        if apart is not None:
            found = found.tempered(self.temperature.arcs, apart)
        return found if (given := self.given(record)) is None else found.given(given.heads, given.labels)

    def _constrained(self, record: Sentence, base: TreeDistribution) -> tuple[TreeDistribution, Constrained | None]:
        if self.constraints is None:
            return base, None
        constraints = self.constraints.of(record.sent_id, record.block, base.n, base.labels)
        found = constraints.on(base, self.relax, self.budget)
        return base if found is None else cast("TreeDistribution", found.distribution), found

    def given(self, record: Sentence) -> Block | None:
        """The sentence whose heads and labels are conditions, None where there are no conditions."""
        return record.block if self.fix_heads else None

    def _advise_wider_space(self, error: DeptreeError, record: Sentence) -> bool:
        """Add the other remedy that more trees would be, if one of these obeys; whether that is so."""
        wider = replace(self, space=space(self.space.single_root))
        for change, setting in self.space.change_to(wider.space).items():
            if change not in error.remedy and wider._fits(record, self.layout):
                error.remedy += f", or {change}"
                error.options += (setting,)
                return True
        return False

    def _advise_layout(self, error: DeptreeError, record: Sentence) -> None:
        read = self.layout
        if record.padded:
            error.remedy += ". If this is a padded batch, pass --lengths FILE or --conllu FILE"
        turned = replace(read, orient="head-dep" if read.orient == "dep-head" else "dep-head")
        if read.is_square(record.scores.shape) and self._fits(record, turned):
            error.remedy += f". Read with --from {text_of(turned)} the sentence has a tree. Is that the layout?"

    def _fits(self, record: Sentence, layout: Layout) -> bool:
        with suppress(DeptreeError):
            replace(self, layout=layout).distribution(record.scores, record, layout)
            return True
        return False


@dataclass(frozen=True)
class ScoredSentence(SentenceAsRead):
    """A sentence of a score file, with the distribution over its trees.

    Attributes:
        distribution: the distribution over its trees, without arcs that constraints forbid.
        interpretation: the layout, tree space and temperature with which scores were read.
        obeying: the distribution over valid trees, of which rules and other constraints hold; None without any.
    """

    interpretation: Interpretation
    _row: Row | None = None

    @property
    def n(self) -> int:
        return self.record.n

    def ask(self, many: Many) -> Any:
        """What `many` finds of the sentence, in a batch with others; None if that must be found for it alone."""
        return self._row and self._row.ask(many)

    @cached_property
    def _both(self) -> tuple[TreeDistribution, Constrained | None]:
        return self.interpretation.both(self.record)

    @property
    def distribution(self) -> TreeDistribution:
        return self._both[0]

    @property
    def obeying(self) -> Constrained | None:
        return self._both[1]

    @property
    def needs_trees(self) -> bool:
        """Whether some constraints, of this sentence or of all, can only be checked on whole trees."""
        constraints = self.interpretation.constraints
        return constraints is not None and (constraints.need_trees or bool(self.constrained.rules))

    @cached_property
    def constrained(self) -> Constrained:
        """The distribution with constraints on whole trees; those on arcs are in `distribution` already."""
        if self.obeying is not None:
            return self.obeying
        from deptree_cli.core.constrained import Constrained  # few runs have rules

        return Constrained(self.distribution, [])

    @property
    def given_up(self) -> GivenUp | None:
        """The constraints that `relax` dropped because no tree satisfies all; None if none was dropped."""
        return self.obeying.given_up if self.obeying else None

    @cached_property
    def other(self) -> TreeDistribution | None:
        """The distribution of the same sentence by the scores of a second file; None without such a file."""
        how, scores = self.interpretation, self.record.companions.get(OTHER)
        try:
            return None if scores is None else how.distribution(scores, self.record, how.layout)
        except DeptreeError as error:
            error.problem += f" (in {how.other_place})"
            raise

    def as_trees(self, heads: Integers, labels: Heads | None, notes: Sequence[Note], **others: Any) -> Trees:
        """Return `Trees`, with `others` of its parts, from (k, n) heads and, if known, (k, n) numbers of labels."""
        from deptree_cli.io.conllu.trees import Trees, deprels_of

        deprels, given = deprels_of(self.distribution, labels), self.deprels(None, len(heads))
        return Trees(self.id, self.record.block, heads, notes, deprels=deprels, given=given, **others)

    def deprels(self, labels: Heads | None, trees: int) -> Deprels | None:
        """Return the labels of some trees: from (k, n) numbers of labels, else the fixed ones of the sentence."""
        from deptree_cli.io.conllu.splicing import Deprels
        from deptree_cli.io.conllu.trees import deprels_of

        given = self.interpretation.given(self.record)
        return deprels_of(self.distribution, labels) or (Deprels.given(given.labels, trees) if given else None)

    def _repr_svg_(self) -> str | None:
        from deptree_cli.io.pictures.notebook import draw

        return draw(self.distribution, self.record.block)
