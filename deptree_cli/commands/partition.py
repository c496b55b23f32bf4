"""``deptree partition``."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable
from typing import Any

import click
import numpy as np

from deptree_cli.commands.inputs import Inputs, input_options
from deptree_cli.commands.options import header_option, output_option
from deptree_cli.commands.pipeline import Pipeline
from deptree_cli.commands.writing import choose_format, write_chunks
from deptree_cli.core.feasibility import possible_roots
from deptree_cli.core.sentence import Sentence
from deptree_cli.io.jsonl import dump
from deptree_cli.io.pairing import Record
from deptree_cli.io.signature import signature

Row = dict[str, Any]

LOG_LARGEST = math.log(sys.float_info.max)


@click.command(epilog="\b\nTry: deptree partition scores.npz --from natasha | jq .single_root_mass")
@input_options
@click.option("--summary", is_flag=True, help="One object for the whole file.")
@output_option
@header_option
def partition(inputs: Inputs, summary: bool, output: str | None, header: bool | None) -> int:
    """Compute the partition functions of every sentence.

    Writes JSON Lines: log_z (over single-root trees), log_z_multi_root (over all spanning trees), single_root_mass
    (Z_D/Z_T) and expected_trials (Z_T/Z_D: how many spanning trees Wilson-Reject draws for one single-root tree). With
    --multi-root a sentence may have no single-root tree; its log_z is then null, with a reason.
    """
    form = choose_format(None, output, inputs, "jsonl")
    pipeline = Pipeline(inputs)
    rows = pipeline.map(_row)
    chunks = [dump(_summary(rows))] if summary else map(dump, rows)
    write_chunks(chunks, form, output, signature("partition", inputs.signature_fields), header, inputs.quiet)
    return pipeline.exit_code


def _row(sentence: Sentence, record: Record, _: np.random.Generator) -> Row:
    from deptree_cli.core.elimination import Elimination  # loads kernels: when there is work

    row: Row = {"sent_id": record.sent_id, "n": sentence.n}
    multi = Elimination(sentence.log_scores, single_root=False).log_z
    if not sentence.single_root and not possible_roots(np.isfinite(sentence.log_scores)).any():
        none = {"log_z": None, "log_z_multi_root": multi, "single_root_mass": 0.0, "expected_trials": None}
        return row | none | {"reason": "no single-root tree is possible"}
    log_z = Elimination(sentence.log_scores, single_root=True).log_z
    # of two nearly equal numbers the smaller may come out larger by a rounding
    mass = float(np.exp(min(log_z - multi, 0.0)))
    row |= {"log_z": log_z, "log_z_multi_root": multi, "single_root_mass": mass}
    return row | _trials(multi - log_z)


def _trials(log_trials: float) -> Row:
    if log_trials < LOG_LARGEST:
        return {"expected_trials": math.exp(max(log_trials, 0.0))}
    return {"expected_trials": None, "reason": f"expected_trials is e^{log_trials:.1f}"}


def _summary(rows: Iterable[Row]) -> Row:
    """One object for a file, from running sums: memory does not grow with the number of sentences."""
    sentences = words = below_half = 0
    log_z = mass = 0.0
    least = least_sent_id = None
    for row in rows:
        sentences += 1
        words += row["n"]
        log_z += row["log_z"] or 0.0
        mass += row["single_root_mass"]
        below_half += row["single_root_mass"] < 0.5
        if least is None or row["single_root_mass"] < least:
            least, least_sent_id = row["single_root_mass"], row["sent_id"]
    return {
        "sentences": sentences,
        "words": words,
        "log_z_sum": log_z,
        "single_root_mass_mean": mass / sentences if sentences else None,
        "single_root_mass_min": least,
        "single_root_mass_min_sent_id": least_sent_id,
        "single_root_mass_below_half": below_half,
    }
