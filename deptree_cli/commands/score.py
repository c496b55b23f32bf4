"""``deptree score``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from deptree_cli.cli.options import INPUT, command, opt, use
from deptree_cli.cli.run import Job, Run, Source
from deptree_cli.cli.score_options import Scores
from deptree_cli.cli.terminal import Counted
from deptree_cli.cli.write import ROWS, Out
from deptree_cli.core.distribution import TreeDistribution
from deptree_cli.core.dtypes import Float
from deptree_cli.core.labels import Labels
from deptree_cli.io.encoders.base import Row, Sheet
from deptree_cli.io.files.streams import place_of, share_of
from deptree_cli.io.json_lines import finite
from deptree_cli.io.scores.records import ScoredSentence
from deptree_cli.io.sentence import Sentence
from deptree_cli.io.trees import read_trees
from deptree_cli.io.trees.sets import TreeSet, scored_trees

if TYPE_CHECKING:
    from deptree_cli.io.scores.batches import ScoredBatch

# Of trees, and of trees with labels.
COLUMNS = ("sent_id", "n", "prob", "log_prob", "gap")
LABELLED = ("sent_id", "n", "prob", "log_prob", "label_log_prob", "gap")


@command()
def score(
    scores: Scores = use(Scores, scores=opt(type=INPUT)),
    trees: str = opt(type=INPUT),
    out: Out = use(Out, formats=ROWS),
    run: Run = use(Run),
) -> int:
    """Compute the probabilities of given trees, CoNLL-U or JSON Lines of sent_id and heads, in their order.

    Writes JSON Lines, on a terminal a table: prob and log_prob of each tree (0 and null if it is impossible) and gap,
    the nats between the tree and the best one. X/sample_3 is a tree of X if there is no sentence of that name.

    With --labels, label_log_prob is that of the tree's labels given the tree, and gap compares with the best labelled
    tree. label_log_prob is null if the labels are impossible, or unknown to the scores; a missing label may be any.
    """
    source = scores.source(run)
    found = scored_trees(read_trees(trees, named=False), scores.side(source), place_of(trees), run.warn)
    read: Source[Sentence, ScoredSentence] = Source(
        Counted(found, share=share_of([trees])), source.prepare, source.signature_fields
    )
    job = Job("score", read, run, out, last={"given": trees})
    return job.write(Probabilities(), sheet=Sheet(LABELLED if scores.how.labels else COLUMNS))


class Probabilities:
    in_batches = True

    def __call__(self, sentence: ScoredSentence, _: None) -> Any:
        if of_many := sentence.ask(rows_of_many):
            return of_many
        given: TreeSet = sentence.record.trees
        found = sentence.distribution.log_probs(given.heads)
        if labels := sentence.distribution.labels:
            return _rows(given, found, _labelled(sentence.distribution, labels, given, found))
        best = sentence.distribution.log_prob(sentence.distribution.argmax())
        return _rows(given, found, {"gap": finite(best - found)})


def rows_of_many(sentences: ScoredBatch, _: None) -> list[list[Row]]:
    trees = sentences.trees
    log_z, given = trees.log_partition_parts(), [record.trees for record in sentences.records]
    best = trees.tree_log_probs(trees.argmax(), log_z).ravel().tolist()
    found = trees.log_probs_of([each.heads for each in given], log_z)
    rows = zip(given, found, best, strict=True)
    return [_rows(some, log_probs, {"gap": finite(top - log_probs)}) for some, log_probs, top in rows]


def _rows(given: TreeSet, found: Float, others: dict[str, Sequence[object]]) -> list[Row]:
    columns: dict[str, Sequence[object]] = {"sent_id": given.tree_names, "n": [given.n] * len(found)}
    columns |= {"prob": np.exp(found).tolist(), "log_prob": finite(found), **others}
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def _labelled(
    distribution: TreeDistribution, labels: Labels, given: TreeSet, found: Float
) -> dict[str, Sequence[object]]:
    rows = [[None if name == "_" else name for name in row] or [None] * distribution.n for row in given.labels]
    of_labels, at_best = (np.where(found > -np.inf, each, -np.inf) for each in labels.of_names(given.heads, rows))
    best = distribution.with_best_labels().argmax()
    highest = distribution.log_prob(best) + labels.of(best).max(axis=-1).sum()
    return {"label_log_prob": finite(of_labels), "gap": finite(highest - (found + at_best))}
