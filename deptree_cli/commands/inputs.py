"""What commands read and how: SCORES, the options that say how to understand it, and the object that they become."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import wraps
from math import isfinite
from typing import Any

import click

from deptree_cli.commands.options import Command, apply, completes
from deptree_cli.core.engines import ENGINES, Workers
from deptree_cli.io.labels import LabelScores, read_labels
from deptree_cli.io.layout import CHOICES, Layout
from deptree_cli.io.origin import own_layout
from deptree_cli.io.presets import PRESETS, layout


@dataclass(frozen=True)
class Inputs:
    """What is read, how it is understood and how the work is done.

    Attributes:
        scores, conllu, lengths: paths; the last two may be None.
        layout: orientation, place of ROOT and scale of the matrices.
        single_root, temperature, nan_forbids: how a matrix becomes a `Sentence`.
        engine, workers: who does the work; no engine means this process.
        shard: (i, N): the sentences i, i + N, i + 2 N, ... only.
        fix_heads: the HEADs of the CoNLL-U are constraints.
        other: path of a second score file of the same sentences, for commands that compare.
        labels: the names of labels, if the scores tell them, from the file labels_path.
        label_scores: path of a file with scores of labels; without it labels and arcs are scored together.
        skip_errors: go on after a sentence that cannot be used.
        quiet: say nothing on stderr but errors.
    """

    scores: str
    conllu: str | None
    lengths: str | None
    layout: Layout
    single_root: bool
    temperature: float
    nan_forbids: bool
    fix_heads: bool
    engine: str | None
    workers: Workers
    shard: tuple[int, int]
    skip_errors: bool
    quiet: bool
    other: str | None = None
    labels: tuple[str, ...] | None = None
    labels_path: str | None = None
    label_scores: str | None = None

    @property
    def label_layout(self) -> Layout:
        """How arrays with an axis of labels are laid out, as read and as written."""
        return replace(self.layout, labels=self.layout.labels or LABEL_AXIS)

    @property
    def label_file(self) -> LabelScores | None:
        """The file with scores of labels, if there is one."""
        return LabelScores(self.label_scores, self.label_layout) if self.label_scores else None

    @property
    def signature_fields(self) -> dict[str, object]:
        """What of these a run must repeat to give the same result."""
        read, usual = self.layout, PRESETS.get(self.layout.preset, Layout())
        return {
            "from": read.preset or None,
            "orient": None if read.orient == usual.orient else read.orient,
            "rootat": None if read.root == usual.root else read.root,
            "scale": None if read.preset and read.scale == usual.scale else read.scale,
            "root": "single" if self.single_root else "multi",
            "temperature": None if self.temperature == 1 else repr(self.temperature),
            "nan": "forbids" if self.nan_forbids else None,
            "heads": "fixed" if self.fix_heads else None,
            "other": self.other,
            "labels": self.labels_path,
            "labelscores": self.label_scores,
            "shard": None if self.shard == (1, 1) else "{}/{}".format(*self.shard),
        }


def _shard(context: click.Context, parameter: click.Parameter, text: str | None) -> tuple[int, int]:
    """``I/N`` as two numbers; without it all sentences are the one shard of one."""
    match = re.fullmatch(r"([1-9]\d*)/([1-9]\d*)", text or "1/1")
    if not match or int(match[1]) > int(match[2]):
        raise click.BadParameter(f"{text!r} is not I/N with I from 1 to N, such as 1/8.")
    return int(match[1]), int(match[2])


def _positive(context: click.Context, parameter: click.Parameter, number: float) -> float:
    if not (number > 0 and isfinite(number)):
        raise click.BadParameter(f"{number:g} is not a positive number.")
    return number


_INPUT_OPTIONS = [
    click.argument("scores"),
    click.option("--conllu", metavar="FILE", help="The sentences that the scores belong to, in CoNLL-U."),
    click.option(
        "--from",
        "preset",
        metavar="PARSER",
        shell_complete=completes(PRESETS),
        help=f"How the parser lays out scores: {', '.join(PRESETS)}.",
    ),
    click.option("--orient", type=click.Choice(CHOICES["orient"]), help="Rows are heads, or rows are dependents."),
    click.option("--root", "root", type=click.Choice(CHOICES["root"]), help="Where ROOT stands."),
    click.option(
        "--scale",
        type=click.Choice(CHOICES["scale"]),
        help="Weights (0 forbids), or log-scores such as logits (-inf forbids; so does -1e15 and below).",
    ),
    click.option(
        "--labels", metavar="FILE", help="Names of labels (JSON or a line each): the last axis of the scores is labels."
    ),
    click.option("--lengths", metavar="FILE", help="Words per sentence of a padded batch, one number a line or .npy."),
    click.option("--multi-root", is_flag=True, help="Allow several ROOT arcs (spanning trees)."),
    click.option(
        "--temperature", type=float, default=1.0, callback=_positive, help="Divide log-scores by this.  [default: 1]"
    ),
    click.option("--fix-heads", is_flag=True, help="Keep the HEADs that --conllu has (not _): condition on them."),
    click.option("--nan-forbids", is_flag=True, help="Read NaN as a forbidden arc."),
    click.option("--jobs", type=click.IntRange(1), default=1, metavar="N", help="Workers.  [default: 1]"),
    click.option(
        "--engine",
        type=click.Choice(list(ENGINES)),
        help="What workers are. dask: a cluster, local unless --scheduler.  [default: processes, from 2 jobs on]",
    ),
    click.option("--scheduler", metavar="ADDRESS", help="Of a dask.distributed cluster, for --engine dask."),
    click.option("--shard", metavar="I/N", callback=_shard, help="Only sentences I, I+N, I+2N, ... (for job arrays)."),
    click.option(
        "--on-error",
        type=click.Choice(["fail", "skip"]),
        default="fail",
        help="Stop at a sentence that cannot be used, or skip, name and count it.  [default: fail]",
    ),
    click.option("--quiet", "-q", is_flag=True, help="Nothing on stderr but errors."),
]


# Where labels stand unless the preset knows better.
LABEL_AXIS = "last"


def _with_label_axis(read: Layout, labels: str | None, label_scores: str | None) -> Layout:
    """The layout of the scores: with an axis of labels where there are labels but no scores of their own."""
    if label_scores:
        if labels is None:
            raise click.UsageError("--label-scores needs the names of the labels: --labels FILE.")
        return replace(read, labels=None)
    if labels:
        return replace(read, labels=read.labels or LABEL_AXIS)
    if read.labels:
        raise click.UsageError(f"--from {read.preset} has an axis of labels: name them with --labels FILE.")
    return read


label_scores_option = click.option(
    "--label-scores",
    metavar="FILE",
    help="Scores of labels given the arc, (n, n+1, L) or as the scores of arcs are laid out, for --labels.",
)


def input_options(command: Command) -> Command:
    """Give a command SCORES and the options of reading; it receives them as one `inputs: Inputs`."""

    @wraps(command)
    def with_inputs(
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
        jobs: int,
        engine: str | None,
        scheduler: str | None,
        shard: tuple[int, int],
        on_error: str,
        quiet: bool,
        label_scores: str | None = None,
        **others: Any,
    ) -> Any:
        said = preset or orient or root or scale
        read = layout(preset, orient, root, scale) if said else own_layout(scores) or Layout()
        read = _with_label_axis(read, labels, label_scores)
        skip = on_error == "skip"
        if scheduler and engine != "dask":
            raise click.UsageError("--scheduler is for --engine dask.")
        if fix_heads and conllu is None:
            raise click.UsageError("--fix-heads needs the sentences: --conllu FILE.")
        inputs = Inputs(
            scores=scores,
            conllu=conllu,
            lengths=lengths,
            layout=read,
            single_root=not multi_root,
            temperature=temperature,
            nan_forbids=nan_forbids,
            fix_heads=fix_heads,
            engine=engine or ("processes" if jobs > 1 else None),
            workers=Workers(jobs, scheduler),
            shard=shard,
            skip_errors=skip,
            quiet=quiet,
            labels=read_labels(labels) if labels else None,
            labels_path=labels,
            label_scores=label_scores,
        )
        return command(inputs=inputs, **others)

    decorated: Command = apply(_INPUT_OPTIONS, with_inputs)
    return decorated
