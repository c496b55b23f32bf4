"""How a matrix as read becomes log-scores of links, and of words that have none.

Rows are source words, columns are target words. With NULL there is a row and a column more, first or last: entry
[i, NULL] is the score of leaving source word i unlinked, [NULL, j] that of target word j; the corner means nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from deptree_cli.bitext.model.scores import LinkScores, checked_links, checked_nulls
from deptree_cli.core.dtypes import Array
from deptree_cli.core.errors import DeptreeError, Setting, one_of
from deptree_cli.core.scores import SCALES

NULLS = ("first", "last")


@dataclass(frozen=True, slots=True)
class PairLayout:
    """How to read a matrix of scores of links.

    Attributes:
        scale: ``log`` or ``weight``.
        null: where NULL stands among the words, ``first`` or ``last``; None if it has no row and no column.
        null_score: without these, the score on this scale of leaving a word unlinked, whichever word it is; None for a
            log-score of 0, a weight of 1.
        assumed: the options that nobody passed, whose answers are assumed.

    Raises:
        DeptreeError: there is no such scale or no such place.
    """

    scale: str = "log"
    null: str | None = None
    null_score: float | None = None
    assumed: tuple[str, ...] = field(default=(), compare=False)

    def __post_init__(self) -> None:
        if self.scale not in SCALES:
            raise DeptreeError(f"unknown scale {self.scale!r}", one_of(SCALES))
        if self.null not in (None, *NULLS):
            raise DeptreeError(f"unknown position {self.null!r} of NULL", one_of(NULLS))

    def assumption(self, scores: Array) -> str:
        """Return what to tell of the answers that are assumed, by the scores of a pair; empty if there are none."""
        if not self.assumed:
            return ""
        answers = {"--scale": "as log-scores", "--null": "without NULL"}
        if "--scale" in self.assumed and (scores >= 0).all() and (scores <= 1).all():
            answers["--scale"] += " (they are from 0 to 1: if they are weights, pass --scale weight)"
        return f"no {' or '.join(self.assumed)} given: reading {', '.join(answers[each] for each in self.assumed)}"

    @property
    def forbidden(self) -> float:
        """The score of a link that cannot be."""
        return 0.0 if self.scale == "weight" else -np.inf

    def lengths(self, shape: tuple[int, ...]) -> tuple[int, int]:
        """Return p and q of a matrix of this shape.

        Raises:
            DeptreeError: it is no matrix, or has no place for NULL.
        """
        nulls = int(self.null is not None)
        if len(shape) != 2:
            problem = f"the scores have shape {shape}, but a sentence pair needs a matrix"
            raise DeptreeError(problem, "Give a row per source word and a column per target word")
        if min(shape) < nulls:
            problem = f"the scores have shape {shape}, without a row and a column for NULL"
            raise DeptreeError(problem, f"Give p + 1 rows and q + 1 columns, or remove --null {self.null}")
        return shape[0] - nulls, shape[1] - nulls

    def cut(self, scores: Array, p: int, q: int) -> Array:
        """Return a padded matrix without what is behind its first p source words and q target words, NULL kept.

        Raises:
            DeptreeError: NULL stands behind the padding.
        """
        if self.lengths(scores.shape) == (p, q):
            return scores
        if self.null == "last":
            problem = "--null last does not work with padded matrices: the position of NULL is unknown"
            raise DeptreeError(problem, "Save one matrix per sentence pair, unpadded")
        nulls = int(self.null is not None)
        return scores[: p + nulls, : q + nulls]

    def link_scores(self, scores: Array) -> LinkScores:
        """Return the log-scores of a matrix as read, (p, q), or (p + 1, q + 1) with NULL.

        Raises:
            DeptreeError: there are no words on one side, or what is no score.
        """
        p, q = self.lengths(scores.shape)
        links, of_source, of_target = self._parted(scores)
        try:
            return LinkScores(
                checked_links(links, self.scale, 1.0),
                checked_nulls("source", of_source, p, self.scale, 1.0),
                checked_nulls("target", of_target, q, self.scale, 1.0),
            )
        except DeptreeError as error:
            error.options = (Setting("scale", "log"),)  # here the scale is an option of its own
            raise

    def _parted(self, scores: Array) -> tuple[Array, ArrayLike, ArrayLike]:
        """The scores of links, and of leaving source and target words unlinked: for each, or one number for all."""
        if self.null is None:
            usual = 1.0 if self.scale == "weight" else 0.0
            score = usual if self.null_score is None else self.null_score
            return scores, score, score
        null, words = (0, slice(1, None)) if self.null == "first" else (-1, slice(-1))
        return scores[words, words], scores[words, null], scores[null, words]


def averaged(one: LinkScores, other: LinkScores) -> LinkScores:
    """Return the mean of two directions' log-scores, of links and nulls; what either forbids is forbidden."""
    links, source_nulls, target_nulls = ((first + second) / 2 for first, second in zip(one, other, strict=True))
    return LinkScores(links, source_nulls, target_nulls)
