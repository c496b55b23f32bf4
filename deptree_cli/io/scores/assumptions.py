"""What is assumed of scores that say nothing of themselves, for one line to the user."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

import numpy as np

from deptree_cli.core.dtypes import Array
from deptree_cli.core.errors import DeptreeError
from deptree_cli.core.scores import MASK
from deptree_cli.io.scores.layout import Layout, to_head_dep
from deptree_cli.io.scores.meta import Meta
from deptree_cli.io.scores.source import ScoreSource
from deptree_cli.io.sentence import Sentence

_ANSWERS = {
    ("scale", "weight"): "as weights",
    ("scale", "log"): "as log-scores",
    ("orient", "head-dep"): "heads in rows",
    ("orient", "dep-head"): "dependents in rows",
    ("root", "first"): "ROOT first",
    ("root", "last"): "ROOT last",
    ("root", "diagonal"): "ROOT on the diagonal",
}

PROBABILITIES = "these are probabilities of arcs, as deptree marginals wrote them: reading them as weights"

# Tells the user a line, once for each key.
Warn = Callable[[str, str], None]


def unheard(key: str, line: str) -> None:
    """Tell nobody."""


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
            assumed = line_of(self._layout, self._layout.assumed(square), scores)
            self._lines[square] = PROBABILITIES if self._meta.are_probabilities else assumed
        return self._lines[square]


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


def line_of(layout: Layout, assumed: Sequence[str], scores: Array) -> str:
    """Return what to tell of these assumed answers, and whether such scores look like others."""
    if not assumed:
        return ""
    names = ("scale", "orient", "root")
    options = [*(f"--{name}" for name in names if name in assumed), "--from"]
    answers = [_ANSWERS[name, getattr(layout, name) or "head-dep"] for name in names if name in assumed]
    if "scale" in assumed and look_like_logits(scores, layout):
        answers[0] += " (they look like logits: if so, pass --scale log)"
    given = f"{', '.join(options[:-1])} or {options[-1]}"
    return f"no {given} given: reading {', '.join(answers)}; `deptree inspect` shows more"


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
