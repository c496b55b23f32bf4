"""``deptree expect``."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import isfinite
from typing import Any

import click
import numpy as np

from deptree_cli.commands.options import Inputs, header_option, input_options, output_option
from deptree_cli.commands.pipeline import Pipeline, to_other_sentence
from deptree_cli.commands.writing import choose_format, write_chunks
from deptree_cli.core.expectations import QUANTITIES, Quantity, other_gradient, quantity
from deptree_cli.core.sentence import Sentence
from deptree_cli.io.jsonl import dump
from deptree_cli.io.layout import from_head_dep
from deptree_cli.io.pairing import Record
from deptree_cli.io.signature import signature

HELP = """Compute an expectation under every sentence's distribution (entropies in nats).

Writes JSON Lines: sent_id, n, the quantity by its name and, with --grad, its gradient with respect to the log-scores,
in the shape and orientation read (0 for forbidden arcs). kl and cross-entropy compare with --other FILE, laid out alike
(and --grad also gives gradient_other); risk and attachment with the HEADs in --conllu.

Quantities:

"""

LISTING = "\n\n".join(
    f"\b\n{line.name}:\n  {(line.value.__doc__ or '').splitlines()[0]}" for line in QUANTITIES.values()
)


@click.command(help=HELP + LISTING, epilog="\b\nTry: deptree expect entropy scores.npz --from natasha")
@click.argument("name", metavar="QUANTITY")
@input_options
@click.option("--other", metavar="FILE", help="The scores to compare with, for kl and cross-entropy.")
@click.option("--alpha", type=click.FloatRange(0, min_open=True), help="The order, for renyi.")
@click.option("--grad", is_flag=True, help="Write the gradient too.")
@output_option
@header_option
def expect(
    inputs: Inputs,
    name: str,
    other: str | None,
    alpha: float | None,
    grad: bool,
    output: str | None,
    header: bool | None,
) -> int:
    """Compute an expectation under every sentence's distribution."""
    line = quantity(name)
    _check_given(line, {"other": other, "alpha": alpha, "gold": inputs.conllu})
    inputs = replace(inputs, other=other)
    form = choose_format(None, output, inputs, "jsonl")
    pipeline = Pipeline(inputs)
    rows = pipeline.map(Expect(line, inputs, alpha, grad))
    made = signature("expect", {"quantity": name, "alpha": alpha, **inputs.signature_fields})
    write_chunks(map(dump, rows), form, output, made, header, inputs.quiet)
    return pipeline.exit_code


OPTION = {"other": "--other FILE", "alpha": "--alpha A", "gold": "--conllu FILE, with HEADs"}


def _check_given(line: Quantity, given: dict[str, object]) -> None:
    """What the quantity needs is there, and nothing that only others do."""
    if line.needed and given[line.needed] is None:
        raise click.UsageError(f"{line.name} needs {OPTION[line.needed]}.")
    for unused in ("other", "alpha"):
        if given[unused] is not None and line.needed != unused:
            raise click.UsageError(f"{line.name} has no use for {OPTION[unused]}.")


INFINITE = "infinite: the other scores forbid an arc that is possible here"


@dataclass(frozen=True)
class Expect:
    """The quantity of one sentence as an object for JSON."""

    line: Quantity
    inputs: Inputs
    alpha: float | None
    grad: bool

    def __call__(self, sentence: Sentence, record: Record, _: np.random.Generator) -> dict[str, Any]:
        """The work on one sentence."""
        other = to_other_sentence(record, self.inputs) if self.inputs.other else None
        heads = record.block.heads if record.block else []
        gold = np.array([-1 if head is None else head for head in heads], dtype=np.int32)
        needed = self.line.given(alpha=self.alpha, other=other, gold=gold)
        value = self.line.value(sentence, *needed)
        row: dict[str, Any] = {"sent_id": record.sent_id, "n": sentence.n, self.line.name: value}
        if not isfinite(value):
            return row | {
                self.line.name: None,
                "reason": INFINITE,
            }
        if self.grad:
            gradients = {"gradient": self.line.gradient(sentence, *needed)}
            if other:
                gradients["gradient_other"] = other_gradient(sentence, other)
            for key, gradient in gradients.items():
                row[key] = from_head_dep(gradient, self.inputs.layout, record.scores.shape).tolist()
        return row
