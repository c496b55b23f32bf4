"""``deptree partition``."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from deptree_cli.cli.options import command, option
from deptree_cli.cli.run import Job, OneRow, RunOptions, run_options
from deptree_cli.cli.score_options import ScoreOptions, score_options
from deptree_cli.cli.write import ROWS, Writing, format_options
from deptree_cli.core.partition import Partition, Summary, partitions
from deptree_cli.core.partition import partition as partition_of
from deptree_cli.io.encoders.base import Sheet
from deptree_cli.io.scores.records import ScoredSentence

if TYPE_CHECKING:
    from deptree_cli.io.scores.batches import ScoredBatch

SUMS = ("log_z", "log_z_multi_root", "single_root_mass", "samples_per_single_root_tree", "projective_mass")
COLUMNS = ("sent_id", "n", *SUMS, "reason")


@command()
def partition(
    scores: Scores = use(Scores),
    summary: bool = flag("--summary", help="Write one row for all sentences together."),
    out: Out = use(Out, formats=ROWS),
    run: Run = use(Run),
) -> int:
    """Compute the partition functions of every sentence.

    Writes JSON Lines, on a terminal a table: log_z (over single-root trees), log_z_multi_root (over trees with one root
    or more), single_root_mass (the share of the former in the latter), samples_per_single_root_tree (1 divided by that
    share, as Wilson-Reject samples until a tree has a single root) and projective_mass (the share of trees without
    crossing arcs, among all single-root trees; among all trees with --multi-root). All are exact. With --projective
    the other columns are about such trees only. With --multi-root a sentence may have no single-root tree; its log_z is
    then null, with a reason.
    """
    job = Job("partition", scores.source(run), run, replace(out, single=summary))
    if summary:
        return job.summarise(Row(summary), OneRow(found := Summary()), Sheet(tuple(found.row()), "partition"))
    return job.write(Row(summary), sheet=Sheet(COLUMNS, "partition"))


@dataclass(frozen=True)
class Row:
    """A sentence's row, with log Z alone where nothing else is worked out; or what it counts for in that of all."""

    summary: bool

    in_batches = True

    def one(self, sentence: ScoredSentence, _: None) -> dict[str, Any]:
        distribution, trees = sentence.distribution, sentence.interpretation.space
        if trees.has_short_name:
            return _row(sentence.id, distribution.n, partition_of(distribution), trees)
        own = "log_z" if trees.single_root else "log_z_multi_root"
        row = {"sent_id": sentence.id, "n": distribution.n, **dict.fromkeys(SUMS), own: distribution.log_partition}
        return row | {"reason": f"{trees.trees}: no other sum is computed"}

    def batch(self, sentences: ScoredBatch, _: None) -> list[dict[str, Any]]:
        found = zip(sentences.sent_ids, sentences.trees.lengths.tolist(), partitions(sentences.trees), strict=True)
        return [_row(sent_id, n, sums, sentences.space) for sent_id, n, sums in found]


def sums_of_many(sentences: ScoredBatch, _: None) -> list[Partition]:
    return partitions(sentences.trees)
