"""``deptree partition``."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from deptree_cli.cli.flat import Flat, flat_options, write_rows
from deptree_cli.cli.options import header_option
from deptree_cli.cli.pipeline import Pipeline
from deptree_cli.cli.run_options import RunOptions, run_options
from deptree_cli.cli.score_options import ScoreOptions, label_scores_option, score_options
from deptree_cli.cli.sections import command, option
from deptree_cli.core.partition import Partition, Summary
from deptree_cli.core.partition import partition as partition_of
from deptree_cli.io.scores.records import ScoredSentence
from deptree_cli.io.signature import signature

Found = tuple[str, int, Partition]

COLUMNS = ("sent_id", "n", "log_z", "log_z_multi_root", "single_root_mass", "expected_trials", "reason")


@command(epilog="\b\nTry: deptree partition scores.npz --from natasha | jq .single_root_mass")
@score_options
@label_scores_option
@option("--summary", is_flag=True, help="One row for all sentences together.")
@flat_options
@header_option
@run_options
def partition(scores: ScoreOptions, run: RunOptions, summary: bool, flat: Flat, header: bool | None) -> int:
    """Compute the partition functions of every sentence.

    Writes JSON Lines, on a terminal a table: log_z (over single-root trees), log_z_multi_root (over all spanning
    trees), single_root_mass (Z_D/Z_T) and expected_trials (Z_T/Z_D: how many spanning trees Wilson-Reject draws for one
    single-root tree). With --multi-root a sentence may have no single-root tree; its log_z is then null, with a reason.
    """
    fmt = flat.form(run.output, single=summary)
    pipeline = Pipeline(scores.records(), scores.interpretation, run)
    found = pipeline.map(_found)
    rows = _summary(found) if summary else map(_row, found)
    fields = {**scores.signature_fields, **run.signature_fields}
    columns = tuple(Summary().row()) if summary else COLUMNS
    write_rows(rows, columns, fmt, signature("partition", fields), header, run, "partition")
    return pipeline.exit_code


def _found(sentence: ScoredSentence, _: np.random.Generator) -> Found:
    """The work on one sentence."""
    return sentence.id, sentence.distribution.n, partition_of(sentence.distribution)


def _row(found: Found) -> dict[str, Any]:
    sent_id, n, sums = found
    row = {
        "sent_id": sent_id,
        "n": n,
        "log_z": sums.log_z,
        "log_z_multi_root": sums.log_z_multi_root,
        "single_root_mass": sums.single_root_mass,
        "expected_trials": sums.expected_trials,
    }
    if sums.log_z is None:
        return row | {"reason": "no single-root tree is possible"}
    return row if sums.expected_trials else row | {"reason": f"expected_trials is e^{sums.log_trials:.1f}"}


def _summary(found: Iterator[Found]) -> Iterator[dict[str, Any]]:
    summary = Summary()
    for each in found:
        summary.add(*each)
    yield summary.row()
