"""``deptree partition``."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from deptree_cli.cli.options import command, flag, use
from deptree_cli.cli.run import Job, OneRow, Run, Work
from deptree_cli.cli.score_options import Scores
from deptree_cli.cli.write import ROWS, Out
from deptree_cli.core.partition import Partition, Summary, partitions
from deptree_cli.core.partition import partition as partition_of
from deptree_cli.core.spaces import TreeSpace
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
        return job.summarise(counted, OneRow(found := Summary()), Sheet(tuple(found.row()), "partition"))
    return job.write(Rows(), sheet=Sheet(COLUMNS, "partition"))


def counted(sentence: ScoredSentence, _: None) -> tuple[str, int, Partition]:
    return sentence.id, sentence.distribution.n, partition_of(sentence.distribution)


class Rows(Work[Any]):
    """A sentence's row, with log Z alone where nothing else is worked out."""

    in_batches = True

    def one(self, sentence: ScoredSentence, _: None) -> dict[str, Any]:
        distribution, trees = sentence.distribution, sentence.interpretation.space
        if trees.has_short_name:
            return _row(sentence.id, distribution.n, partition_of(distribution), trees)
        own = "log_z" if trees.single_root else "log_z_multi_root"
        row = {"sent_id": sentence.id, "n": distribution.n, **dict.fromkeys(SUMS), own: distribution.log_partition}
        return row | {"reason": f"{trees.trees}: no other sum is worked out"}

    def batch(self, sentences: ScoredBatch, _: None) -> list[dict[str, Any]]:
        found = zip(sentences.sent_ids, sentences.trees.lengths.tolist(), partitions(sentences.trees), strict=True)
        return [_row(sent_id, n, sums, sentences.space) for sent_id, n, sums in found]


def _row(sent_id: str, n: int, sums: Partition, trees: TreeSpace) -> dict[str, Any]:
    row = {"sent_id": sent_id, "n": n, **{name: getattr(sums, name) for name in SUMS}}
    if sums.log_z is None:
        return row | {"reason": f"no {f'{trees.kind} '.lstrip()}single-root tree is possible"}
    if row["samples_per_single_root_tree"] is None:
        row["reason"] = f"samples_per_single_root_tree is e^{sums.log_trials:.1f}"
    return row
