"""Distributions of what was read: what commands work on, and what `read` gives to Python users."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypedDict, Unpack, cast

import numpy as np
from numpy.typing import ArrayLike

from deptree_cli.core.constraints.conflicts import Finder
from deptree_cli.core.distribution import TreeDistribution
from deptree_cli.core.dtypes import Array, Heads, Integers
from deptree_cli.core.errors import DeptreeError
from deptree_cli.core.second_order import SecondOrder
from deptree_cli.core.spaces import PROJECTIVE, PROJECTIVE_MULTI, SINGLE_ROOT, TreeSpace, space
from deptree_cli.io.conllu.blocks import Block
from deptree_cli.io.conllu.splicing import Deprels, with_trees
from deptree_cli.io.conllu.tokens import applied, tokens_of
from deptree_cli.io.conllu.trees import Note, Trees, deprels_of
from deptree_cli.io.prepared import prepared
from deptree_cli.io.rules.obliged import Obligations, Obliged
from deptree_cli.io.scores.labels import LABEL_AXIS, LabelScores, read_labels
from deptree_cli.io.scores.layout import Layout, to_head_dep
from deptree_cli.io.scores.meta import space_of
from deptree_cli.io.scores.pairing import read_records
from deptree_cli.io.scores.presets import layout
from deptree_cli.io.scores.record import Record
from deptree_cli.io.scores.second_order import parts_to_head_dep, refusal
from deptree_cli.io.scores.source import ScoreSource

if TYPE_CHECKING:
    from conllu.models import TokenList

    from deptree_cli.io.scores.batches import ScoredBatch


@dataclass(frozen=True)
class Interpretation:
    """How a record becomes a distribution.

    Attributes:
        layout: orientation, place of ROOT and scale of the matrices.
        label_layout: the same with an axis of labels.
        labels: the names of labels, where the scores tell them.
        other_place: what messages call the file of a record's other scores.
        space, temperature, nan_forbids: as for `TreeDistribution`.
        fix_heads: whether the HEADs and DEPRELs of the CoNLL-U are conditions.
        obligations: what trees must obey, None where nothing.
    """

    layout: Layout
    label_layout: Layout
    labels: tuple[str, ...] | None = None
    other_place: str = ""
    space: TreeSpace = SINGLE_ROOT
    temperature: float = 1.0
    nan_forbids: bool = False
    fix_heads: bool = False
    obligations: Obligations | None = None

    def __call__(self, record: Record) -> ScoredSentence:
        """The sentence of a record.

        Raises:
            DeptreeError: its scores make no distribution; the remedy says what else may be behind it.
        """
        served = not (self.labels or self.obligations) and self.space in (PROJECTIVE, PROJECTIVE_MULTI)
        if record.parts is not None and not served:
            raise refusal(record.parts, record.place, record.sent_id)
        try:
            return ScoredSentence(record, self._scored(record), self)
        except DeptreeError as error:
            error.remedy = self._with_hints(error.remedy, record)
            raise error.at(record.place, record.sent_id) from None

    def batch(self, records: Sequence[Record]) -> ScoredBatch | None:
        """Those of the records that can be worked on together, None where there are none."""
        if self.labels is not None or self.layout.labels or self.fix_heads or self.obligations:
            return None
        from deptree_cli.io.scores.batches import batch_of  # loads kernels: when there is work

        return batch_of(records, self.layout, self.space, self.temperature)

    def distribution(self, scores: Array, record: Record, layout: Layout) -> TreeDistribution:
        """The distribution by scores that belong to a record, laid out so."""
        options, labels = self._options(layout), self.labels if layout.labels else None
        head_dep = to_head_dep(scores, layout)
        found = TreeDistribution(head_dep, space=self.space, labels=labels, id=record.sent_id, **options)
        if record.labels is not None and self.labels is not None:
            found = found.labelled(self.labels, to_head_dep(record.labels, self.label_layout), **options)
        found = found if (given := self.given(record)) is None else found.given(given.heads, given.labels)
        obliged = self.obliged(record, found)
        return found if obliged is None else found.without_forbidden(obliged.forbidden)

    def obliged(self, record: Record, scored: TreeDistribution | SecondOrder) -> Obliged | None:
        """What the trees of a record must obey, None where nothing."""
        if self.obligations is None:
            return None
        return self.obligations.of(record.sent_id, record.block, scored.n, scored.labels)

    def _scored(self, record: Record) -> TreeDistribution | SecondOrder:
        """The distribution by a record's scores of arcs, and by those of parts where there are some."""
        if record.parts is None:
            return self.distribution(record.scores, record, self.layout)
        options = self._options(self.layout) | parts_to_head_dep(record.parts, record.scores.shape, self.layout)
        arcs = to_head_dep(record.scores, self.layout)
        found = SecondOrder(arcs, single_root=self.space.single_root, id=record.sent_id, **options)
        return found if (given := self.given(record)) is None else found.given(given.heads, given.labels)

    def given(self, record: Record) -> Block | None:
        """The sentence whose heads and labels are conditions, None where there are no conditions."""
        return record.block if self.fix_heads else None

    def _options(self, layout: Layout) -> dict[str, Any]:
        """How numbers of this layout become log-scores."""
        return {"scale": layout.scale, "temperature": self.temperature, "nan_forbids": self.nan_forbids}

    def _with_hints(self, remedy: str, record: Record) -> str:
        read, wider = self.layout, space(self.space.single_root)
        for change in self.space.change_to(wider):
            if change not in remedy and replace(self, space=wider)._fits(record, read):
                return f"{remedy}, or {change}"
        if record.padded:
            remedy += ". If this is a padded batch, give --lengths or --conllu"
        if read.is_assumed(record.scores.shape):
            return remedy + ". The rows were taken for heads: if they are dependents, pass --orient dep-head"
        rows, columns = read.arcs(record.scores.shape)
        turned = replace(read, orient="head-dep" if read.orient == "dep-head" else "dep-head")
        if rows == columns and self._fits(record, turned):
            remedy += f". Read with --orient {turned.orient} the sentence has a tree: is that meant?"
        return remedy

    def _fits(self, record: Record, layout: Layout) -> bool:
        """Whether a record makes a distribution, laid out so."""
        try:
            replace(self, layout=layout)._scored(record)
        except DeptreeError:
            return False
        return True


@dataclass(frozen=True)
class ScoredSentence:
    """A sentence with its distribution.

    Attributes:
        record: the sentence as it was read.
        scored: the distribution over its trees, by all of its scores, whichever these are.
        interpretation: how the one became the other.
    """

    record: Record
    scored: TreeDistribution | SecondOrder
    interpretation: Interpretation

    @property
    def distribution(self) -> TreeDistribution:
        """The distribution over its trees, by its scores of arcs.

        Raises:
            DeptreeError: it has second-order scores too, which would be dropped.
        """
        return self.by_arcs("use partition, marginals, sample or decode")

    def by_arcs(self, instead: str) -> TreeDistribution:
        """The same; `instead`: what to do, in an error, to have second-order scores taken into account."""
        if self.record.parts is not None:
            raise refusal(self.record.parts, self.record.place, self.id, instead)
        return cast(TreeDistribution, self.scored)

    @cached_property
    def finders(self) -> list[Finder]:
        """What finds conflicts of its trees with what they must obey."""
        obliged = self.interpretation.obliged(self.record, self.scored)
        return obliged.finders if obliged else []

    @cached_property
    def entropy(self) -> float | None:
        """Shannon's entropy in nats; None for second-order scores, of which it is not worked out."""
        return self.distribution.entropy() if self.record.parts is None else None

    @property
    def id(self) -> str:
        """Its name: the CoNLL-U's sent_id, else the key of the scores, else its running number."""
        return self.record.sent_id

    @cached_property
    def other(self) -> TreeDistribution | None:
        """The distribution by the same sentence's scores in the other file, if there is one."""
        record, how = self.record, self.interpretation
        if record.other is None:
            return None
        try:
            return how.distribution(record.other, record, how.layout)
        except DeptreeError as error:
            error.problem += f" (in {how.other_place})"
            raise

    def as_trees(self, heads: Integers, labels: Heads | None, notes: Sequence[Note], **others: Any) -> Trees:
        """Trees, (k, n) heads, of the sentence, with numbers of its labels (k, n) if they are known, to be written.

        Args:
            others: closing, ranked, misc, as of `Trees`.
        """
        deprels, given = deprels_of(self.scored, labels), self.deprels(None, len(heads))
        return Trees(self.id, self.record.block, heads, notes, deprels=deprels, given=given, **others)

    def deprels(self, labels: Heads | None, trees: int) -> Deprels | None:
        """Labels of so many trees: by numbers (k, n) of the sentence's, else those that were given."""
        given = self.interpretation.given(self.record)
        return deprels_of(self.scored, labels) or (Deprels.given(given.labels, trees) if given else None)

    @property
    def tokens(self) -> TokenList:
        """The CoNLL-U sentence as the conllu library has it.

        Raises:
            DeptreeError: there is none.
        """
        return tokens_of(self.record.sentence)

    def apply(self, heads: ArrayLike, labels: ArrayLike | None = None) -> TokenList:
        """Return the sentence's tokens with a tree, (n,) heads, and its labels, (n,) numbers of the distribution's."""
        deprels = self.deprels(None if labels is None else np.asarray([labels], dtype=np.int32), 1)
        names = [None if number < 0 else deprels.names[number] for number in deprels.index[0]] if deprels else None
        return applied(self.tokens, np.asarray(heads), names)

    def to_conllu(self, trees: ArrayLike, labels: ArrayLike | None = None, sent_ids: Sequence[str] = ()) -> str:
        """Return the sentence as CoNLL-U, byte for byte as it was read but for its tree.

        Args:
            trees: (n,) heads, or (k, n), of which each gets a copy of the sentence.
            labels: numbers of the distribution's labels, of the same shape.
            sent_ids: a name for each tree; without them one keeps the sentence's, and k are `X/sample_1`, ...
        """
        heads = np.atleast_2d(np.asarray(trees, dtype=np.int32))
        single = np.ndim(trees) == 1
        names = list(sent_ids) or [self.id if single else f"{self.id}/sample_{k}" for k in range(1, len(heads) + 1)]
        numbers = None if labels is None else np.atleast_2d(np.asarray(labels, dtype=np.int32))
        deprels = self.deprels(numbers, len(heads))
        return with_trees(self.record.sentence.fresh(), heads, names, deprels=deprels).decode()

    def _repr_svg_(self) -> str | None:
        from deptree_cli.io.pictures.notebook import draw

        return draw(self.distribution, self.record.block)


# What of `ReadOptions` says how a matrix becomes a distribution, under the same names.
CHOSEN = ("temperature", "nan_forbids", "fix_heads")


class ReadOptions(TypedDict, total=False):
    """How `read` reads, each as the option of that name on the command line.

    preset: the parser whose layout it is (--from); without it and the next three the file's own layout, if it says one.
    orient, root, scale: single answers beside the preset. labels, label_scores, lengths: paths. space, single_root,
    projective: as of `TreeDistribution`; projective always if the file says so. temperature, nan_forbids, fix_heads: as
    there.
    """

    preset: str
    orient: str
    root: str
    scale: str
    labels: str
    label_scores: str
    lengths: str
    space: str
    single_root: bool
    projective: bool
    temperature: float
    nan_forbids: bool
    fix_heads: bool


def read(
    scores: str,
    conllu: str | None = None,
    *,
    on_error: Callable[[DeptreeError], None] | None = None,
    **options: Unpack[ReadOptions],
) -> Iterator[ScoredSentence]:
    """Read the sentences of a score file, one at a time, as the commands do.

    Args:
        scores: path of a file in any container; `-` is standard input.
        conllu: path of the sentences that the scores belong to.
        on_error: called with what is wrong with a sentence that cannot be used, which is then left out.
        options: preset, orient, root, scale, labels, label_scores, lengths, space, single_root, projective,
            temperature, nan_forbids and fix_heads, as on the command line (`ReadOptions`).

    Raises:
        DeptreeError: a file cannot be read, or (without `on_error`) a sentence cannot be used.
    """
    names, label_scores = options.get("labels"), options.get("label_scores")
    if label_scores and not names:
        raise DeptreeError("label_scores needs the names of the labels", "Name their file with labels")
    if options.get("fix_heads") and not conllu:
        raise DeptreeError("fix_heads needs the sentences", "Name them with conllu")
    source = ScoreSource(scores)
    answers = [cast(str | None, options.get(name)) for name in ("preset", "orient", "root", "scale")]
    found = layout(*answers) if any(answers) else source.meta.layout or Layout()
    with_labels = replace(found, labels=found.labels or LABEL_AXIS)
    arcs = with_labels if names and not label_scores else replace(found, labels=None)
    chosen: dict[str, Any] = {name: value for name, value in options.items() if name in CHOSEN}
    which = options.get("space"), options.get("single_root"), options.get("projective")
    chosen["space"] = space_of(source.meta.trees, *which)
    how = Interpretation(arcs, with_labels, read_labels(names) if names else None, **chosen)
    label_file = LabelScores(label_scores, with_labels) if label_scores else None
    return prepared(read_records(source, arcs, conllu, options.get("lengths"), label_file), how, on_error)
