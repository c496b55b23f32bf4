"""What commands read and how: SCORES, the options that say how to interpret it, and the object that they become."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import wraps
from math import isfinite
from typing import Any, TypeVar

import click

from deptree_cli.cli.sections import apply, files, reading_option
from deptree_cli.core.errors import DeptreeError
from deptree_cli.io.scores.labels import LABEL_AXIS, LabelScores, read_labels
from deptree_cli.io.scores.layout import CHOICES, Layout
from deptree_cli.io.scores.pairing import read_both, read_records
from deptree_cli.io.scores.presets import PRESETS, layout
from deptree_cli.io.scores.record import Record
from deptree_cli.io.scores.records import Interpretation
from deptree_cli.io.scores.source import ScoreSource
from deptree_cli.io.streams import STDIN

Function = TypeVar("Function", bound=Callable[..., Any])


@dataclass(frozen=True)
class ScoreOptions:
    """What is read, and how it is interpreted.

    Attributes:
        source: the scores.
        conllu, lengths: paths; may be None.
        layout: orientation, place of ROOT and scale of the matrices.
        single_root, temperature, nan_forbids: how a matrix becomes a `TreeDistribution`.
        fix_heads: the HEADs of the CoNLL-U are constraints.
        other: a second score file of the same sentences, for commands that compare.
        labels: the names of labels, if the scores tell them, from the file labels_path.
        label_scores: path of a file with scores of labels; without it labels and arcs are scored together.
    """

    source: ScoreSource
    conllu: str | None
    lengths: str | None
    layout: Layout
    single_root: bool
    temperature: float
    nan_forbids: bool
    fix_heads: bool
    labels: tuple[str, ...] | None = None
    labels_path: str | None = None
    label_scores: str | None = None
    other: ScoreSource | None = None

    @property
    def label_layout(self) -> Layout:
        """How arrays with an axis of labels are laid out, as read and as written."""
        return replace(self.layout, labels=self.layout.labels or LABEL_AXIS)

    @property
    def interpretation(self) -> Interpretation:
        """How records become distributions: all that workers have to know."""
        return Interpretation(
            self.layout,
            self.label_layout,
            self.labels,
            self.other.path if self.other else "",
            self.single_root,
            self.temperature,
            self.nan_forbids,
            self.fix_heads,
        )

    def records(self) -> Iterator[Record | DeptreeError]:
        """The sentences as they are read; to be called once."""
        if self.conllu:
            from deptree_cli.kernels.flags import start_quickly

            start_quickly()  # sentences are scanned by kernels
        if self.other is not None:
            return read_both(self.source, self.other, self.layout, self.conllu, self.lengths)
        labels = LabelScores(self.label_scores, self.label_layout) if self.label_scores else None
        return read_records(self.source, self.layout, self.conllu, self.lengths, labels)

    @property
    def signature_fields(self) -> dict[str, object]:
        """What of these a run must repeat to give the same result."""
        read = self.layout
        usual = PRESETS.get(read.name) if read.name else Layout()
        return {
            "from": read.name or None,
            "orient": None if read.orient == usual.orient else read.orient,
            "rootat": None if read.root == usual.root else read.root,
            "scale": None if read.name and read.scale == usual.scale else read.scale,
            "root": "single" if self.single_root else "multi",
            "temperature": None if self.temperature == 1 else repr(self.temperature),
            "nan": "forbids" if self.nan_forbids else None,
            "heads": "fixed" if self.fix_heads else None,
            "other": self.other.path if self.other else None,
            "labels": self.labels_path,
            "labelscores": self.label_scores,
        }


def _positive(context: click.Context, parameter: click.Parameter, number: float) -> float:
    if not (number > 0 and isfinite(number)):
        raise click.BadParameter(f"{number:g} is not a positive number.")
    return number


_OPTIONS = [
    click.argument("scores", shell_complete=files),
    reading_option("--conllu", metavar="FILE", help="The sentences that the scores belong to, in CoNLL-U."),
    reading_option(
        "--from",
        "preset",
        metavar="PARSER",
        shell_complete=PRESETS.complete,
        names=lambda: PRESETS.names,
        help="How the parser lays out scores",
    ),
    reading_option("--orient", type=click.Choice(CHOICES["orient"]), help="Rows are heads, or rows are dependents."),
    reading_option("--root", "root", type=click.Choice(CHOICES["root"]), help="Where ROOT stands."),
    reading_option(
        "--scale",
        type=click.Choice(CHOICES["scale"]),
        help="Weights (0 forbids), or log-scores such as logits (-inf forbids; so does -1e15 and below).",
    ),
    reading_option(
        "--labels", metavar="FILE", help="Names of labels (JSON or a line each): the last axis of the scores is labels."
    ),
    reading_option(
        "--lengths", metavar="FILE", help="Words per sentence of a padded batch, one number a line or .npy."
    ),
    reading_option("--multi-root", is_flag=True, help="Allow several ROOT arcs (spanning trees)."),
    reading_option(
        "--temperature", type=float, default=1.0, callback=_positive, help="Divide log-scores by this.  [default: 1]"
    ),
    reading_option("--fix-heads", is_flag=True, help="Keep the HEADs that --conllu has (not _): condition on them."),
    reading_option("--nan-forbids", is_flag=True, help="Read NaN as a forbidden arc."),
]

label_scores_option = reading_option(
    "--label-scores",
    metavar="FILE",
    help="Scores of labels given the arc, (n, n+1, L) or as the scores of arcs are laid out, for --labels.",
)


def _with_label_axis(read: Layout, labels: str | None, label_scores: str | None) -> Layout:
    """The layout of the scores: with an axis of labels where there are labels but no scores of their own."""
    if label_scores:
        if labels is None:
            raise click.UsageError("--label-scores needs the names of the labels: --labels FILE.")
        return replace(read, labels=None)
    if labels:
        return replace(read, labels=read.labels or LABEL_AXIS)
    if read.labels:
        raise click.UsageError(f"--from {read.name} has an axis of labels: name them with --labels FILE.")
    return read


def score_options(function: Function) -> Function:
    """Give a command SCORES and the options of reading; it receives them as one `scores: ScoreOptions`."""

    @wraps(function)
    def with_scores(
        *,
        scores: str,
        conllu: str | None,
        preset: str | None,
        orient: str | None,
        root: str | None,
        scale: str | None,
        labels: str | None,
        lengths: str | None,
        multi_root: bool,
        temperature: float,
        nan_forbids: bool,
        fix_heads: bool,
        label_scores: str | None = None,
        **others: Any,
    ) -> Any:
        if fix_heads and conllu is None:
            raise click.UsageError("--fix-heads needs the sentences: --conllu FILE.")
        if [scores, conllu, lengths, label_scores].count(STDIN) > 1:
            raise DeptreeError("standard input (-) can be read only once", "Name a file for all but one of the inputs")
        source = ScoreSource(scores)
        given = preset or orient or root or scale
        read = layout(preset, orient, root, scale) if given else source.own_layout or Layout()
        options = ScoreOptions(
            source=source,
            conllu=conllu,
            lengths=lengths,
            layout=_with_label_axis(read, labels, label_scores),
            single_root=not multi_root,
            temperature=temperature,
            nan_forbids=nan_forbids,
            fix_heads=fix_heads,
            labels=read_labels(labels) if labels else None,
            labels_path=labels,
            label_scores=label_scores,
        )
        return function(scores=options, **others)

    decorated: Function = apply(_OPTIONS, with_scores)
    return decorated
