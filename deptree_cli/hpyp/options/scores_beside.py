"""A file of scores beside the trees of parsed sentences."""

from __future__ import annotations

from typing import NamedTuple

from deptree_cli.cli.folds import Fold
from deptree_cli.cli.report import talk
from deptree_cli.core.dtypes import Float
from deptree_cli.hpyp.model.annotated import Annotated
from deptree_cli.io.scores.containers import Write


class ScoredWords(NamedTuple):
    """A sentence with scores, (n+1, n+1), and what the user must hear of these."""

    words: Annotated
    scores: Float
    notices: tuple[str, ...]


class ScoresBeside(Fold[ScoredWords]):
    """Writes the scores of sentences as these pass."""

    attribute = "beside"

    def __init__(self, write: Write, quiet: bool) -> None:
        self._write = write
        self._quiet = quiet

    def add(self, counts: ScoredWords) -> None:
        words = counts.words
        for notice in () if self._quiet else counts.notices:
            talk(f"{words.sent_id}: {notice}")
        self._write(words.sent_id, counts.scores, words.forms)
