"""How often arcs and labels are in trees that were drawn: estimates of their probabilities."""

from __future__ import annotations

from math import prod

import numpy as np

from deptree_cli.core.dtypes import Heads
from deptree_cli.core.monte_carlo import MonteCarloEstimate


def shares(heads: Heads, labels: Heads | None = None, names: int = 1) -> MonteCarloEstimate:
    """The shares of k independent trees that have each arc, (n+1, n+1), ``[head, dependent]``, with standard errors.

    Standard errors are 0 where all trees agree, and None of a single tree.

    Args:
        heads: (k, n).
        labels: (k, n), numbers of labels: shares are then of arcs with each label, (n+1, n+1, names).
        names: how many labels there are.
    """
    size, n = heads.shape
    shape: tuple[int, ...] = (n + 1, n + 1)
    places = heads.astype(np.int64) * (n + 1) + np.arange(1, n + 1)
    if labels is not None:
        shape, places = (*shape, names), places * names + labels
    found = np.bincount(places.ravel(), minlength=prod(shape)).reshape(shape) / size
    errors = np.sqrt(found * (1 - found) / (size - 1)) if size > 1 else None
    return MonteCarloEstimate(found, errors, iterations=size)
