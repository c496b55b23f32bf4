"""torch-struct's layout of arc scores: ROOT's on the diagonal."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]


def with_root_on_diagonal(log_scores: Array) -> Array:
    """From (b, n+1, n+1), ``[head, dependent]``, to (b, n, n)."""
    scores, words = log_scores[:, 1:, 1:].copy(), np.arange(log_scores.shape[1] - 1)
    scores[:, words, words] = log_scores[:, 0, 1:]
    return scores


def with_root_row(arcs: Array) -> Array:
    """Back from (b, n, n) to (b, n+1, n+1), 0 where no arc is."""
    b, n, _ = arcs.shape
    both, words = np.zeros((b, n + 1, n + 1)), np.arange(1, n + 1)
    both[:, 1:, 1:], both[:, 0, 1:] = arcs, arcs[:, words - 1, words - 1]
    both[:, words, words] = 0.0
    return both
