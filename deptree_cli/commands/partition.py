"""``deptree partition``."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from deptree_cli.cli.options import command, flag, use
from deptree_cli.cli.run import Job, OneRow, Run
from deptree_cli.cli.score_options import Scores
from deptree_cli.cli.write import ROWS, Out
from deptree_cli.io.encoders.base import Sheet

if TYPE_CHECKING:
    from deptree_cli.core.partition import Partition
    from deptree_cli.io.scores.batches import ScoredBatch
    from deptree_cli.io.scores.records import ScoredSentence

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
    from deptree_cli.core.partition import Summary

    job = Job("partition", scores.source(run), run, replace(out, single=summary))
    if summary:
        return job.summarise(Row(summary), OneRow(found := Summary()), Sheet(tuple(found.row()), "partition"))
    return job.write(Row(summary), sheet=Sheet(COLUMNS, "partition"))


@dataclass(frozen=True)
class Row:
    """A sentence's row, with log Z alone where nothing else is worked out; or what it counts for in that of all."""

    summary: bool

    in_batches = True

    def __call__(self, sentence: ScoredSentence, _: None) -> Any:
        trees, row = sentence.interpretation.space, {"sent_id": sentence.id, "n": sentence.n}
        if not trees.has_short_name and not self.summary:
            own = "log_z" if trees.single_root else "log_z_multi_root"
            row |= {**dict.fromkeys(SUMS), own: sentence.distribution.log_partition}
            return row | {"reason": f"{trees.trees}: no other sum is computed"}
        sums = sentence.ask(sums_of_many) or sums_of_one(sentence)
        if self.summary:
            return sentence.id, sentence.n, sums
        row |= {name: getattr(sums, name) for name in SUMS}
        if sums.log_z is None:
            row["reason"] = f"no {f'{trees.kind} '.lstrip()}single-root tree is possible"
        elif sums.samples_per_single_root_tree is None:
            row["reason"] = f"samples_per_single_root_tree is e^{sums.log_trials:.1f}"
        return row


def sums_of_one(sentence: ScoredSentence) -> Partition:
    from deptree_cli.core.partition import partition

    return partition(sentence.distribution)


def sums_of_many(sentences: ScoredBatch, _: None) -> list[Partition]:
    from deptree_cli.core.partition import partitions

    return partitions(sentences.trees)
