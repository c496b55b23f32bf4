"""``deptree expect``."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import click
import numpy as np
from numpy.typing import NDArray

from deptree_cli.commands.inputs import Inputs, input_options
from deptree_cli.commands.options import completes, header_option, output_option
from deptree_cli.commands.pipeline import Pipeline, to_other_sentence
from deptree_cli.commands.writing import choose_format, write_chunks
from deptree_cli.core.errors import DeptreeError
from deptree_cli.core.expectations import QUANTITIES, Quantity, other_gradient, quantity
from deptree_cli.core.sentence import Sentence
from deptree_cli.io.features import features_of, vector
from deptree_cli.io.jsonl import dump
from deptree_cli.io.layout import from_head_dep
from deptree_cli.io.pairing import Record
from deptree_cli.io.signature import signature

HELP = """Compute an expectation under every sentence's distribution (entropies in nats).

Writes JSON Lines: sent_id, n, the quantity by its name and, with --grad, its gradient with respect to the log-scores,
in the shape and orientation read (0 for forbidden arcs). kl and cross-entropy compare with --other FILE, laid out alike
(and --grad also gives gradient_other); risk and attachment with the HEADs in --conllu.
features, covariance and ge take --features: sums of arcs' features over a tree, their means, their covariances, and the
generalised expectation objective (minus half the squared distance of the means from --target).

Quantities:

"""

LISTING = "\n\n".join(
    f"\b\n{line.name}:\n  {(line.value.__doc__ or '').splitlines()[0]}" for line in QUANTITIES.values()
)


@click.command(help=HELP + LISTING, epilog="\b\nTry: deptree expect entropy scores.npz --from natasha")
@click.argument("name", metavar="QUANTITY", shell_complete=completes(QUANTITIES))
@input_options
@click.option("--other", metavar="FILE", help="The scores to compare with, for kl and cross-entropy.")
@click.option("--alpha", type=click.FloatRange(0, min_open=True), help="The order, for renyi.")
@click.option("--features", metavar="NPZ", help="Arrays like the scores with one more axis: of features.")
@click.option("--target", metavar="FILE", help="Expectations to meet, one number per feature, for ge.")
@click.option("--grad", is_flag=True, help="Write the gradient too.")
@output_option
@header_option
def expect(
    inputs: Inputs,
    name: str,
    other: str | None,
    alpha: float | None,
    features: str | None,
    target: str | None,
    grad: bool,
    output: str | None,
    header: bool | None,
) -> int:
    """Compute an expectation under every sentence's distribution."""
    line = quantity(name)
    _check_given(line, {"other": other, "alpha": alpha, "gold": inputs.conllu, "features": features, "target": target})
    if grad and not line.gradient:
        raise click.UsageError(f"{name} has no --grad.")
    inputs = replace(inputs, other=other)
    form = choose_format(None, output, inputs, "jsonl")
    pipeline = Pipeline(inputs)
    rows = pipeline.map(Expect(line, inputs, alpha, features, vector(target) if target else None, grad))
    made = signature("expect", {"quantity": name, "alpha": alpha, **inputs.signature_fields})
    write_chunks(map(dump, rows), form, output, made, header, inputs.quiet)
    return pipeline.exit_code


Float = NDArray[np.float64]

OPTION = {
    "other": "--other FILE",
    "alpha": "--alpha A",
    "gold": "--conllu FILE, with HEADs",
    "features": "--features NPZ",
    "target": "--target FILE",
}


def _check_given(line: Quantity, given: dict[str, object]) -> None:
    """What the quantity needs is there, and nothing that only others do."""
    for name, option in OPTION.items():
        if name in line.needed and given[name] is None:
            raise click.UsageError(f"{line.name} needs {option}.")
        if name not in line.needed and given[name] is not None and name != "gold":
            raise click.UsageError(f"{line.name} has no use for {option}.")


INFINITE = "infinite: the other scores forbid an arc that is possible here"


@dataclass(frozen=True)
class Expect:
    """The quantity of one sentence as an object for JSON."""

    line: Quantity
    inputs: Inputs
    alpha: float | None
    features: str | None
    target: Float | None
    grad: bool

    def __call__(self, sentence: Sentence, record: Record, _: np.random.Generator) -> dict[str, Any]:
        """The work on one sentence."""
        other = to_other_sentence(record, self.inputs) if self.inputs.other else None
        heads = record.block.heads if record.block else []
        gold = np.array([-1 if head is None else head for head in heads], dtype=np.int32)
        features = features_of(self.features, record, self.inputs.layout) if self.features else None
        if features is not None and self.target is not None and len(self.target) != features.shape[2]:
            problem = f"there are {features.shape[2]} features and {len(self.target)} targets"
            raise DeptreeError(problem, "Give a target for each feature")
        needed = self.line.given(alpha=self.alpha, other=other, gold=gold, features=features, target=self.target)
        value = self.line.value(sentence, *needed)
        row: dict[str, Any] = {"sent_id": record.sent_id, "n": sentence.n, self.line.name: np.asarray(value).tolist()}
        if not np.isfinite(value).all():
            return row | {
                self.line.name: None,
                "reason": INFINITE,
            }
        if self.grad and self.line.gradient:
            gradients = {"gradient": self.line.gradient(sentence, *needed)}
            if other:
                gradients["gradient_other"] = other_gradient(sentence, other)
            for key, gradient in gradients.items():
                row[key] = self._as_read(gradient, record).tolist()
        return row

    def _as_read(self, gradient: Float, record: Record) -> Float:
        """In the shape and orientation of the scores; of several features each."""
        layout, shape = self.inputs.layout, record.scores.shape
        if gradient.ndim == 2:
            return from_head_dep(gradient, layout, shape)
        return np.stack([from_head_dep(one, layout, shape) for one in gradient])
