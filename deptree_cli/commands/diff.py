"""``deptree diff``."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import isfinite
from typing import Any

import click
import numpy as np

from deptree_cli.commands.inputs import Inputs, input_options
from deptree_cli.commands.options import header_option, output_option, seed_option, size_option
from deptree_cli.commands.pipeline import Pipeline, to_other_sentence
from deptree_cli.commands.writing import choose_format, write_chunks
from deptree_cli.core.comparison import jensen_shannon, moved_arcs
from deptree_cli.core.expectations import kl
from deptree_cli.core.sentence import Sentence
from deptree_cli.io.jsonl import dump
from deptree_cli.io.pairing import Record
from deptree_cli.io.signature import signature


@click.command(epilog="\b\nTry: deptree diff scores.npz scores.npz --from natasha")
@input_options
@click.argument("other")
@size_option(1000, "Trees drawn from each side for the Jensen-Shannon divergence.")
@click.option("--arcs", "count", type=click.IntRange(0), default=5, help="How many moved arcs to show.  [default: 5]")
@seed_option
@output_option
@header_option
def diff(inputs: Inputs, other: str, size: int, count: int, seed: int, output: str | None, header: bool | None) -> int:
    """Compare two score files of the same sentences, laid out alike.

    Writes JSON Lines: kl (of SCORES from OTHER) and kl_reverse in nats, null where infinite; jensen_shannon, estimated
    by sampling, with its standard error; and the arcs whose marginals moved most: head, dependent, before, after.
    """
    inputs = replace(inputs, other=other)
    form = choose_format(None, output, inputs, "jsonl")
    pipeline = Pipeline(inputs)
    rows = pipeline.map(Diff(inputs, size, count), seed)
    made = signature("diff", {**inputs.signature_fields, "size": size, "seed": seed})
    write_chunks(map(dump, rows), form, output, made, header, inputs.quiet)
    return pipeline.exit_code


@dataclass(frozen=True)
class Diff:
    """One sentence's comparison as an object for JSON."""

    inputs: Inputs
    size: int
    count: int

    def __call__(self, sentence: Sentence, record: Record, rng: np.random.Generator) -> dict[str, Any]:
        """The work on one sentence."""
        other = to_other_sentence(record, self.inputs)
        forth, back = kl(sentence, other), kl(other, sentence)
        middle, error = jensen_shannon(sentence, other, self.size, rng)
        return {
            "sent_id": record.sent_id,
            "n": sentence.n,
            "kl": forth if isfinite(forth) else None,
            "kl_reverse": back if isfinite(back) else None,
            "jensen_shannon": middle,
            "jensen_shannon_error": error if isfinite(error) else None,
            "arcs": moved_arcs(sentence, other, self.count),
        }
