"""``deptree convert``."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import click
import numpy as np
from numpy.typing import NDArray

from deptree_cli.commands.inputs import LABEL_AXIS, Inputs, input_options, label_scores_option
from deptree_cli.commands.options import completes, output_option
from deptree_cli.commands.pipeline import Pipeline
from deptree_cli.core.sentence import Sentence
from deptree_cli.io.jsonl import dump
from deptree_cli.io.layout import CHOICES, Layout, from_head_dep
from deptree_cli.io.output import Output
from deptree_cli.io.pairing import Record
from deptree_cli.io.presets import PRESETS, layout
from deptree_cli.io.raw import Array
from deptree_cli.io.report import talk
from deptree_cli.io.score_files import CONTAINERS, container_of
from deptree_cli.io.signature import signature

Float = NDArray[np.float64]

# The layout that needs no option to be read, but for the scale.
USUAL = "synjax"


@click.command(epilog="\b\nTry: deptree convert scores.npz --from natasha --to torch-struct -o converted.npz")
@input_options
@label_scores_option
@click.option("--to", metavar="PARSER", shell_complete=completes(PRESETS), help="The layout to write, as for --from.")
@click.option("--to-orient", type=click.Choice(CHOICES["orient"]), help="As --orient, of what is written.")
@click.option("--to-root", type=click.Choice(CHOICES["root"]), help="As --root, of what is written.")
@click.option("--to-scale", type=click.Choice(CHOICES["scale"]), help="As --scale, of what is written.")
@click.option(
    "--to-labels", metavar="FILE", help="Write scores of arcs with labels, and the labels' names (JSON) here."
)
@output_option
@click.option("--header/--no-header", default=True, help="The signature as first line of JSON Lines.  [default: yes]")
def convert(
    inputs: Inputs,
    to: str | None,
    to_orient: str | None,
    to_root: str | None,
    to_scale: str | None,
    to_labels: str | None,
    output: str | None,
    header: bool,
) -> int:
    """Write scores in another container or layout, as they are understood: checked, and with --temperature and so on.

    The suffix of -o says which container: .npz, .npy (arrays one after another), .safetensors, .jsonl (also on standard
    output). Without --to the layout is (n+1, n+1), head-dep, ROOT first, on the scale read. What is written says so
    itself: the other commands need no --from for it, but for .npy. Weights of sentences that a float cannot hold are
    multiplied, column by column, by a constant, which changes log Z and no probability.
    """
    target = layout(to or USUAL, to_orient, to_root, to_scale or (None if to else inputs.layout.scale))
    target = _with_labels(target, inputs, to_labels)
    pipeline = Pipeline(inputs)
    own = {"from": to, "orient": target.orient, "rootat": target.root, "scale": target.scale}
    read = {f"read{name}": value for name, value in inputs.signature_fields.items()}
    made = signature("convert", own | read)
    lost = 0
    with ExitStack() as opened:
        names = opened.enter_context(Output(to_labels)) if to_labels else None
        write = opened.enter_context(CONTAINERS[container_of(output)](output, made, header))
        for number, done in enumerate(pipeline.map(Convert(inputs.layout.scale, target))):
            if number == 0 and not inputs.quiet:
                talk(made)
            if number == 0 and names:
                names.write(dump(done.labels))
            write(done.sent_id, done.scores, done.forms)
            lost += done.lost
    if lost:
        count = f"{lost} arcs are" if lost > 1 else "1 arc is"
        talk(f"{count} forbidden now: too small a weight for a float (--to-scale log keeps it)")
    return pipeline.exit_code


def _with_labels(target: Layout, inputs: Inputs, to_labels: str | None) -> Layout:
    """The layout to write, with an axis of labels where their names are asked for."""
    if to_labels and inputs.labels is None:
        raise click.UsageError("--to-labels needs scores of labels: --labels FILE.")
    if target.labels and not to_labels:
        raise click.UsageError(
            f"--to {target.preset} has an axis of labels: say where their names go with --to-labels."
        )
    return replace(target, labels=(target.labels or LABEL_AXIS) if to_labels else None)


class Converted(NamedTuple):
    """A sentence's scores as they are to be written, the names of its labels, and the number of arcs lost."""

    sent_id: str
    scores: Array
    forms: Sequence[str] | None
    labels: tuple[str, ...]
    lost: int


@dataclass(frozen=True)
class Convert:
    """Scores in another layout; `scale` is the one read."""

    scale: str
    target: Layout

    def __call__(self, sentence: Sentence, record: Record, _: np.random.Generator) -> Converted:
        """The work on one sentence."""
        scores = _log_scores(sentence, labelled=self.target.labels is not None)
        lost = 0
        if self.target.scale == "weight":
            scores, lost = _weights(scores)
        written = from_head_dep(
            scores, self.target, self.target.shape(sentence.n, scores.shape[2:]), self.target.forbidden
        )
        if sentence.labels is None and self.scale == self.target.scale:
            written = _as_read(written, record.scores.dtype)
        forms = record.block.column("form") if record.block else None
        labels = sentence.labels.names if sentence.labels else ()
        return Converted(record.sent_id, written, forms, labels, lost)


def _as_read(scores: Float, dtype: np.dtype[Any]) -> Array:
    """The scores in the type read, where that holds them to the last bit or nearly: large and small ones too."""
    if dtype.kind != "f" or dtype.itemsize > scores.itemsize:
        return scores
    with np.errstate(over="ignore", under="ignore"):
        cast = scores.astype(dtype)
    kept = (np.isfinite(cast) == np.isfinite(scores)).all() and ((cast == 0) == (scores == 0)).all()
    return cast if kept else scores


def _log_scores(sentence: Sentence, labelled: bool) -> Float:
    """Of arcs (n+1, n+1), or of arcs with their labels (n+1, n+1, L)."""
    if not labelled or sentence.labels is None:
        return sentence.log_scores
    possible = np.isfinite(sentence.log_scores)[..., None]
    with np.errstate(invalid="ignore"):
        return np.where(possible, sentence.log_scores[..., None] + sentence.labels.log_probs, -np.inf)


def _weights(log_scores: Float) -> tuple[Float, int]:
    """Weights, and how many arcs have become impossible; columns are shifted only where their range makes it needed."""
    possible = np.isfinite(log_scores)
    with np.errstate(over="ignore"):
        weights = np.exp(log_scores)
    if not (np.isfinite(weights).all() and (weights[possible] > 0).all()):
        highest = log_scores.max(axis=(0, *range(2, log_scores.ndim)), keepdims=True)
        weights = np.exp(log_scores - np.where(np.isfinite(highest), highest, 0.0))
    return weights, int((possible & (weights == 0)).any(axis=tuple(range(2, log_scores.ndim))).sum())
