"""What the nearest tree has most of: the fewest changes first, then the highest score.

Both are one number of float64 that is never rounded: scores are counted in steps of a power of two, so small that
trees differ by whole numbers, and a change outweighs all steps together. So sums are exact, and compared in turn.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from deptree_cli.core.dtypes import Bool, Float
from deptree_cli.core.labels import is_root
from deptree_cli.core.masks import MOST
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

    @property
    def scale(self) -> float:
        """By what losses of words are measured where a conflict is chosen: half a cost, or a nat."""
        return 1.0 if self.unit is None else self.unit / 2

    def gap(self, score: float, gap: float) -> float:
        """How much less than a tree of this score another may cost that is better by a gap at most; or the nats."""
        if self.unit is None:
            return gap
        return float(-score // self.unit - -(score + gap) // self.unit)


def objective(
    scores: Float, given: Given, names: Sequence[str], costs: Costs, worth: float, meant: Iterable[tuple[int, int]]
) -> Objective:
    """Return what the nearest tree has most of.

    Args:
        scores: log-scores of arcs with labels, (n+1, n+1, L). They forbid nothing: of the trees that cost the same (if
            the worth is finite, of all) those with the fewest arcs of -inf, or masks, come first.
        given: the tree as it was given.
        names: of labels.
        costs: what changes cost.
        worth: how many nats a cost of 1 is worth; infinite: more than all scores.
        meant: words, each with the number of the label that stands for its given one: it comes before others that cost
            the same or, if the worth is finite, costs nothing.
    """
    changes, most = given.costs(costs, names), given.n * sum(costs)
    found, apart = _of_trees(scores, names, 0.0 if worth == math.inf else 2 * worth * most)
    for word, label in meant:
        own = found[:, word, label].copy()
        found[:, word] -= apart if worth == math.inf else worth * costs.label
        found[:, word, label] = own
    if worth < math.inf:
        return Objective(found - worth * changes)
    lowest = float(found[found > -np.inf].min(initial=0.0))
    outweighing = math.ceil(math.log2(1.0 - lowest * given.n)) + 1
    changed = math.ceil(math.log2(1.0 + most))
    fraction = min(_BITS - changed - outweighing, _FINEST)
    found *= math.ldexp(1.0, fraction)
    np.rint(found, out=found)
    unit = math.ldexp(1.0, outweighing + fraction)
    found -= unit * changes
    return Objective(found, unit)


def _of_trees(scores: Float, names: Sequence[str], outweighed: float) -> tuple[Float, float]:
    """The scores that trees may have, each counted from the best of the same word, and by how much trees differ at most
    without forbidden arcs; these lose that much and `outweighed`, and have the order of their labels elsewhere."""
    possible = _possible(len(scores) - 1, names)
    found = np.where(possible, scores, -np.inf)
    best = found.max(axis=(0, 2), keepdims=True)
    found -= np.where(best > -np.inf, best, 0.0)  # which does not change which trees are better
    found[found < -MOST] = -np.inf
    lowest = np.where(found > -np.inf, found, 0.0).min(axis=(0, 2))
    apart = 1.0 - float(lowest.sum())
    of_labels = np.maximum(found.max(axis=0), lowest[:, None])
    return np.where(possible & (found == -np.inf), of_labels - apart - outweighed, found), apart


def _possible(n: int, names: Sequence[str]) -> Bool:
    """The arcs with labels that some tree has: `root` stands on arcs from ROOT, and no other label does."""
    found = np.ones((n + 1, n + 1, len(names)), dtype=np.bool_)
    found[:, 0] = found[np.diag_indices(n + 1)] = False
    root = np.array([is_root(name) for name in names])
    if root.any():
        found[0, :, ~root] = found[1:, :, root] = False
    return found
