"""What the nearest tree has most of: the fewest changes first, then the highest score.

Both are one number of float64 that is never rounded: scores are counted in steps of a power of two, so small that
trees differ by whole numbers, and a change outweighs all steps together. So sums are exact, and compared in turn.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from deptree_cli.core.dtypes import Float
from deptree_cli.core.labels import is_root
from deptree_cli.core.repair.given import Costs, Given

# Whole numbers up to two to this power are float64.
_BITS = 52

# Scores are not counted in smaller steps than two to minus this power.
_FINEST = 30


class Objective(NamedTuple):
    """Scores of arcs with labels, and what a cost of 1 takes off.

    Attributes:
        scores: (n+1, n+1, L), ``[head, dependent, label]``; -inf forbids.
        unit: a cost of 1; trees that cost the same differ by less. None where changes are traded for nats.
    """

    scores: Float
    unit: float | None = None

    def gap(self, score: float, gap: float) -> float:
        """How much less than a tree of this score another may cost that is better by a gap at most; or the nats."""
        if self.unit is None:
            return gap
        return float(-score // self.unit - -(score + gap) // self.unit)


def objective(scores: Float, given: Given, names: Sequence[str], costs: Costs, worth: float = math.inf) -> Objective:
    """Return what the nearest tree has most of.

    Args:
        scores: log-scores of arcs with labels, (n+1, n+1, L).
        given: the tree as it was given.
        names: of labels.
        costs: what changes cost.
        worth: how many nats a cost of 1 is worth; infinite: more than all scores. Then what is given is possible, even
            if the scores forbid it.
    """
    found = _of_trees(scores, names)
    changes = given.costs(costs, names)
    if worth < math.inf:
        return Objective(found - worth * changes)
    _add_given(found, given, names)
    _subtract_best(found)
    lowest = float(found[found > -np.inf].min(initial=0.0))
    outweighing = math.ceil(math.log2(1.0 - lowest * given.n)) + 1
    changed = math.ceil(math.log2(1.0 + given.n * max(costs)))
    fraction = min(_BITS - changed - outweighing, _FINEST)
    found *= math.ldexp(1.0, fraction)
    np.rint(found, out=found)
    unit = math.ldexp(1.0, outweighing + fraction)
    found -= unit * changes
    return Objective(found, unit)


def _of_trees(scores: Float, names: Sequence[str]) -> Float:
    """A copy without arcs that no tree has: `root` stands on arcs from ROOT, and no other label does."""
    found = scores.copy()
    found[:, 0] = -np.inf
    found[np.diag_indices(len(found))] = -np.inf
    root = np.array([is_root(name) for name in names])
    if root.any():
        found[0, :, ~root] = -np.inf
        found[1:, :, root] = -np.inf
    return found


def _add_given(scores: Float, given: Given, names: Sequence[str]) -> None:
    """Make what was given possible, no more probable than the least probable arc of the word."""
    numbers = {name: number for number, name in enumerate(names)}
    root = np.array([is_root(name) for name in names])
    for head, word in given.arcs():
        number, own = numbers.get(given.labels[word - 1]), scores[head, word]
        if number is not None and own[number] > -np.inf:
            continue
        added = root == (head == 0) if own.max() == -np.inf else np.zeros(len(names), dtype=np.bool_)
        if number is not None:
            added[number] = True
        if added.any():
            column = scores[:, word]
            least = column[column > -np.inf].min(initial=np.inf)
            own[added] = least if least < np.inf else 0.0


def _subtract_best(scores: Float) -> None:
    """Count scores from the best of the same word, which does not change which trees are better."""
    best = scores.max(axis=(0, 2), keepdims=True)
    scores -= np.where(best > -np.inf, best, 0.0)
