"""Heads that are given: what they leave of the log-scores."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from deptree_cli.core.dtypes import Float
from deptree_cli.core.errors import DeptreeError, counted


def with_fixed_heads(log_scores: Float, heads: Sequence[int | None]) -> Float:
    """Log-scores (n+1, n+1) with every other head of some words forbidden: n heads, None where a word may take any.

    Raises:
        DeptreeError: they are not n numbers of nodes, or an arc is forbidden already.
    """
    fixed = log_scores.copy()
    for word, head in enumerate(_checked(heads, len(log_scores) - 1), 1):
        if head is not None:
            if not np.isfinite(fixed[head, word]):
                problem = f"the head of word {word} is fixed to {head or 'ROOT'}, an arc that the scores forbid"
                raise DeptreeError(problem, "Allow the arc, or put _ for this HEAD")
            fixed[:head, word] = fixed[head + 1 :, word] = -np.inf
    return fixed


def _checked(heads: Sequence[int | None], n: int) -> Sequence[int | None]:
    if len(heads) != n:
        problem = f"{counted(len(heads), 'head')} given for a sentence of {counted(n, 'word')}"
        raise DeptreeError(problem, "Give one head per word, None where it is open")
    for word, head in enumerate(heads, 1):
        sound = isinstance(head, int | np.integer) and not isinstance(head, bool) and 0 <= head <= n
        if head is not None and not sound:
            problem = f"the head of word {word} is {head!r}, not 0 to {n}"
            raise DeptreeError(problem, "Give 0 for ROOT, the number of a word, or None")
    return heads
