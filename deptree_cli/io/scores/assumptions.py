"""What is assumed of scores that say nothing of themselves, for one line to the user."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from deptree_cli.core.dtypes import Array
from deptree_cli.core.errors import DeptreeError
from deptree_cli.core.scores import MASK
from deptree_cli.io.companion import Warn
from deptree_cli.io.scores.layout import Layout, to_head_dep
from deptree_cli.io.scores.meta import Meta
from deptree_cli.io.scores.source import ScoreSource
from deptree_cli.io.sentence import Sentence

# What is assumed where nobody answers.
_ASSUMED = {"scale": "as weights", "orient": "heads in rows", "root": "ROOT first"}

PROBABILITIES = "these are probabilities of arcs, as deptree marginals wrote them: reading them as weights"

# From here on the sum of a word's weights is not that of probabilities.
FAR = 0.1

# Weights are exponentials of logits, which differ by more than logits do.
SPREAD = 100.0


class Assumptions:
    """The line about the sentences of a file that are read so.

    Args:
        meta: what the file says of itself.
        layout: how it is read.
    """

    def __init__(self, meta: Meta, layout: Layout) -> None:
        self._meta = meta
        self._layout = layout
        self._lines: dict[bool, str] = {}

    def line(self, scores: Array) -> str:
        """Return it, empty if nothing is assumed; the first matrix decides what the numbers look like."""
        square = self._layout.is_square(scores.shape)
        if square not in self._lines:
            self._lines[square] = PROBABILITIES if self._meta.are_probabilities else self._assumed(square, scores)
        return self._lines[square]

    def _assumed(self, square: bool, scores: Array) -> str:
        assumed = self._layout.assumed(square)
        if not assumed:
            return ""
        said = {name: words for name, words in _ASSUMED.items() if name in assumed}
        options = ", ".join(f"--{name}" for name in said)
        if "scale" in said and look_like_logits(scores, self._layout):
            said["scale"] += " (they look like logits: if so, pass --scale log)"
        return f"no {options} or --from given: reading {', '.join(said.values())}; `deptree inspect` shows more"


def with_assumptions(
    records: Iterable[Sentence | DeptreeError], scores: ScoreSource, layout: Layout, warn: Warn
) -> Iterator[Sentence | DeptreeError]:
    """The sentences of these scores, as they are; what is assumed of them is told."""
    assumptions = Assumptions(scores.meta, layout)
    for record in records:
        if isinstance(record, Sentence):
            line = assumptions.line(record.scores)
            warn(line, line)
        yield record


def look_like_logits(scores: Array, layout: Layout) -> bool:
    """Whether weights would be odd ones: sums over heads far from 1 for most words, and numbers close together.

    Args:
        scores: of one sentence, as read, which may be no scores at all.
    """
    try:
        matrix = to_head_dep(scores, layout)
    except DeptreeError:
        return False  # raised where the sentence is made
    matrix = matrix.reshape(*matrix.shape[:2], -1).sum(axis=2)
    numbers = matrix[np.isfinite(matrix) & (np.abs(matrix) < MASK) & (matrix != 0)]
    sums = matrix[:, 1:].sum(axis=0), matrix[1:, :].sum(axis=1)  # rows too: the orientation may be assumed
    far = all(np.abs(np.median(each) - 1) > FAR for each in sums)
    return bool(far and numbers.size > 1 and 0 < np.ptp(numbers) < SPREAD)
