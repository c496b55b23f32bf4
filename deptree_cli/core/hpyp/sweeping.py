"""Events looked up and swept over, with room made before: sums must not depend on how much there happened to be."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from deptree_cli.core.dtypes import Int
from deptree_cli.core.hpyp.process import Events32, Paths, Process

# Sentences that room is made for at once.
PIECE = 500


def index(process: Process, contexts: Events32, dishes: Events32) -> Paths:
    """Look up the paths of events, however few (`Process.index`, which would wait for ever for room for their bins)."""
    process.make_room(bins=2 * process.levels)
    return process.index(contexts, dishes)


def sweep(process: Process, paths: Paths, cuts: Int, order: Int, seated: bool, state: NDArray[np.uint64]) -> float:
    """Seat the events of sentences anew, in this order (`Process.sweep`); return their log-probability.

    A sum of floats depends on where it is interrupted. Training that goes on has other room than training that was
    never interrupted, and must come to the same numbers: so there is room for every piece before it begins.
    """
    log_prob = 0.0
    for start in range(0, len(order), PIECE):
        piece = order[start : start + PIECE]
        events = int((cuts[piece + 1] - cuts[piece]).sum())
        process.make_room(bins=2 * process.levels * events)
        log_prob += process.sweep(paths, cuts, piece, seated, state)
    return log_prob
