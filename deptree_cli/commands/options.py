"""Options that commands share, and the objects that they become."""

from __future__ import annotations

import re
import secrets
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import wraps
from math import isfinite
from typing import Any, TypeVar

import click

from deptree_cli.core.engines import ENGINES, Workers
from deptree_cli.io.conllu import DEPS
from deptree_cli.io.labels import LabelScores, read_labels
from deptree_cli.io.layout import CHOICES, Layout
from deptree_cli.io.origin import own_layout
from deptree_cli.io.presets import PRESETS, layout
from deptree_cli.io.trees import USUAL, Style

Command = TypeVar("Command", bound=Callable[..., Any])


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


def completes(names: Iterable[str]) -> Callable[[click.Context, click.Parameter, str], list[str]]:
    """What a shell offers for a value that is one of these names."""
    return lambda context, parameter, incomplete: [name for name in names if name.startswith(incomplete)]


def _apply(options: list[Callable[[Any], Any]], function: Any) -> Any:
    for option in reversed(options):
        function = option(function)
    return function


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

    decorated: Command = _apply(_INPUT_OPTIONS, with_inputs)
    return decorated


def _fresh_seed(context: click.Context, parameter: click.Parameter, seed: int | None) -> int:
    """The seed given, or a fresh one; either way the signature shows it."""
    return secrets.randbits(32) if seed is None else seed


# What an int32 counts; no sentence's trees fit into memory before that.
MOST_TREES = 2**31 - 1

seed_option = click.option(
    "--seed",
    type=click.IntRange(0),
    callback=_fresh_seed,
    metavar="N",
    help="Same seed, same bytes, for any --jobs and any subset of the file.  [default: a fresh one, shown on stderr]",
)

output_option = click.option("--output", "-o", metavar="FILE", help="Where to write; renamed into place when whole.")


def size_option(default: int | None, text: str, said: str | None = None) -> Callable[[Command], Command]:
    """``-k N``; `said` is how help calls a default that the command works out."""
    help_text = f"{text}  [default: {said or default}]"
    return click.option(
        "-k", "--size", "size", type=click.IntRange(1, MOST_TREES), default=default, metavar="N", help=help_text
    )


def format_option(*names: str) -> Callable[[Command], Command]:
    """``--format``; without it the suffix of -o and --conllu decide."""
    return click.option("--format", "form", type=click.Choice(names), help="Output format; see above for the default.")


header_option = click.option(
    "--header/--no-header",
    default=None,
    help="The signature as first comment (CoNLL-U; default yes) or first line (JSON Lines; default no).",
)


def _sent_id_format(context: click.Context, parameter: click.Parameter, text: str) -> str:
    try:
        names = [text.format(id="a", k=rank) for rank in (1, 2)]
    except (KeyError, IndexError, ValueError, AttributeError):
        names = []
    if len({*names, text.format(id="b", k=1) if names else ""}) < 3 or not text.isprintable():
        raise click.BadParameter(f"{text!r} is not a name with {{id}} and {{k}}, such as '{{id}}-sample_{{k}}'.")
    return text


_STYLE_OPTIONS = [
    click.option(
        "--deps",
        type=click.Choice(DEPS),
        default=USUAL.deps,
        help="DEPS in CoNLL-U: underscores and no empty nodes, the tree's own arcs, or as they were.  [default: drop]",
    ),
    click.option(
        "--sent-id-format",
        callback=_sent_id_format,
        default=USUAL.sent_id_format,
        metavar="TEXT",
        help=f"The sent_id of a sentence's k-th tree in CoNLL-U.  [default: {USUAL.sent_id_format}]",
    ),
]


def style_options(command: Command) -> Command:
    """Give a command the options of writing trees as CoNLL-U; it receives them as one `style: Style`."""

    @wraps(command)
    def with_style(*, deps: str, sent_id_format: str, **others: Any) -> Any:
        return command(style=Style(deps, sent_id_format), **others)

    decorated: Command = _apply(_STYLE_OPTIONS, with_style)
    return decorated


def style_fields(style: Style) -> dict[str, object]:
    """What of it a run must repeat to give the same result."""
    return {
        "deps": None if style.deps == USUAL.deps else style.deps,
        "sentid": None if style.sent_id_format == USUAL.sent_id_format else style.sent_id_format,
    }
