"""A file of scores beside the trees of parsed sentences."""

from __future__ import annotations

from typing import NamedTuple

from deptree_cli.cli.folds import Fold
from deptree_cli.cli.run_options import RunOptions
from deptree_cli.core.dtypes import Float
from deptree_cli.hpyp.model.annotated import Annotated
from deptree_cli.io.encoders.arrays import SentenceScores
from deptree_cli.io.encoders.base import Write


class ScoredWords(NamedTuple):
    """A sentence with scores, (n+1, n+1), and what the user must hear of these."""

    words: Annotated
    scores: Float
    notices: tuple[str, ...]


class ScoresBeside(Fold[ScoredWords]):
    """Writes the scores of sentences as these pass."""

    attribute = "beside"

    def __init__(self, write: Write, run: RunOptions) -> None:
        self._write, self._run = write, run

    def add(self, counts: ScoredWords) -> None:
        words = counts.words
        for notice in counts.notices:
            line = f"{words.sent_id}: {notice}"
            self._run.warn(line, line)
        self._write(SentenceScores(words.sent_id, counts.scores, words.forms))
