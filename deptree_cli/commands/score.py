"""``deptree score``."""

from __future__ import annotations

import click
import numpy as np

from deptree_cli.cli.job import Job
from deptree_cli.cli.params import INPUT
from deptree_cli.cli.run_options import RunOptions, run_options
from deptree_cli.cli.score_options import ScoreOptions, one_score_options
from deptree_cli.cli.sections import command
from deptree_cli.cli.writing import Writing, row_options
from deptree_cli.io.encoders.base import Row, Sheet
from deptree_cli.io.json_lines import finite
from deptree_cli.io.scores.records import ScoredSentence
from deptree_cli.io.trees.beside import RecordTrees

COLUMNS = ("sent_id", "n", "prob", "log_prob", "gap")


@command(epilog="\b\nTry: deptree score scores.npz gold.conllu --from natasha")
@one_score_options
@click.argument("trees", type=INPUT)
@row_options
@run_options
def score(scores: ScoreOptions, trees: str, writing: Writing, run: RunOptions) -> int:
    """Compute the probabilities of given trees, CoNLL-U or JSON Lines of sent_id and heads, in their order.

    Writes JSON Lines, on a terminal a table: prob and log_prob of each (0 and null for a tree that is impossible) and
    gap: by how many nats the best tree is ahead. X/sample_3 is a tree of X if there is no sentence of that name.
    """
    return Job("score", scores.of_trees(trees), run, writing, last={"given": trees}).write(_rows, sheet=Sheet(COLUMNS))


def _rows(prepared: tuple[ScoredSentence, RecordTrees], _: None) -> list[Row]:
    scored, given = prepared[0].scored, prepared[1]
    best, found = np.split(scored.log_probs(np.vstack([scored.argmax(), given.heads])), [1])
    columns = given.names, [scored.n] * len(found), np.exp(found).tolist(), finite(found), finite(best - found)
    return [dict(zip(COLUMNS, row, strict=True)) for row in zip(*columns, strict=True)]
