"""``deptree partition``."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from deptree_cli.cli.options import header_option
from deptree_cli.cli.pipeline import Pipeline
from deptree_cli.cli.rows import RowFormat, row_options, write_rows
from deptree_cli.cli.run_options import RunOptions, run_options
from deptree_cli.cli.score_options import ScoreOptions, label_scores_option, score_options
from deptree_cli.cli.sections import command, option
from deptree_cli.core.partition import Partition, Summary
from deptree_cli.core.partition import partition as partition_of
from deptree_cli.core.second_order import SecondOrder
from deptree_cli.core.spaces import TreeSpace
from deptree_cli.io.scores.records import ScoredSentence
from deptree_cli.io.signature import signature

Found = tuple[str, int, Partition]

# The same, where there are second-order scores with log Z alone.
Sums = tuple[str, int, Partition | float]

SUMS = ("log_z", "log_z_multi_root", "single_root_mass", "expected_trials", "projective_mass")
COLUMNS = ("sent_id", "n", *SUMS, "reason")

ITS_OWN_ONLY = "{}: no other sum is worked out"


@command(epilog="\b\nTry: deptree partition scores.npz --from natasha | jq .single_root_mass")
@score_options
@label_scores_option
@option("--summary", is_flag=True, help="One row for all sentences together.")
@row_options
@header_option
@run_options
def partition(scores: ScoreOptions, run: RunOptions, summary: bool, row_format: RowFormat, header: bool | None) -> int:
    """Compute the partition functions of every sentence.

    Writes JSON Lines, on a terminal a table: log_z (over single-root trees), log_z_multi_root (over all spanning
    trees), single_root_mass (Z_D/Z_T), expected_trials (Z_T/Z_D: how many spanning trees Wilson-Reject draws for one
    single-root tree) and projective_mass: the share of trees without crossing arcs among all single-root trees (among
    all spanning trees with --multi-root), exact. With --projective the other columns are of such trees only.
    With --multi-root a sentence may have no single-root tree; its log_z is then null, with a reason.
    """
    fmt = row_format.form(run.output, single=summary)
    pipeline = Pipeline(scores.records(), scores.interpretation, run)
    rows = _summary(pipeline.map(_found)) if summary else (_row(each, scores.how.space) for each in pipeline.map(_sums))
    fields = {**scores.signature_fields, **run.signature_fields}
    columns = tuple(Summary().row()) if summary else COLUMNS
    write_rows(rows, columns, fmt, signature("partition", fields), header, run, "partition")
    return pipeline.exit_code


def _found(sentence: ScoredSentence, _: None) -> Found:
    """The work on one sentence."""
    distribution = sentence.by_arcs("leave out --summary")
    return sentence.id, distribution.n, partition_of(distribution)


def _sums(sentence: ScoredSentence, _: None) -> Sums:
    """The work on one sentence, whichever scores it has."""
    scored = sentence.scored
    if isinstance(scored, SecondOrder) or not scored.space.has_short_name:
        return sentence.id, scored.n, scored.log_partition
    return _found(sentence, None)


def _row(found: Sums, trees: TreeSpace) -> dict[str, Any]:
    sent_id, n, sums = found
    if isinstance(sums, float):
        own = "log_z" if trees.single_root else "log_z_multi_root"
        reason = ITS_OWN_ONLY.format("second-order scores" if trees.has_short_name else trees.trees)
        return {"sent_id": sent_id, "n": n, **dict.fromkeys(SUMS), own: sums, "reason": reason}
    row = {"sent_id": sent_id, "n": n, **{name: getattr(sums, name) for name in SUMS}}
    if sums.log_z is None:
        return row | {"reason": f"no {f'{trees.kind} '.lstrip()}single-root tree is possible"}
    return row if sums.expected_trials else row | {"reason": f"expected_trials is e^{sums.log_trials:.1f}"}


def _summary(found: Iterator[Found]) -> Iterator[dict[str, Any]]:
    summary = Summary()
    for each in found:
        summary.add(*each)
    yield summary.row()
