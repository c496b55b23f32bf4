"""What the nearest tree has most of: the fewest changes first, then the highest score.

Both are one number of float64 that is never rounded: scores are counted in steps of a power of two, so small that
trees differ by whole numbers, and a change outweighs all steps together. So sums are exact, and compared in turn.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from deptree_cli.core.dtypes import Bool, Float
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
    changes = given.costs(costs, names)
    possible = _possible(scores, names)
    if worth < math.inf:
        return Objective(np.where(possible, scores - worth * changes, -np.inf))
    possible, scores = _with_given(possible, scores, given, names)
    below, spread = _below_best(np.where(possible, scores, -np.inf))
    changed = float(np.max(changes, axis=(0, 2))[1:].sum()) + 1.0
    fraction = min(_BITS - math.ceil(math.log2(changed)) - math.ceil(math.log2(spread)) - 1, _FINEST)
    unit = math.ldexp(1.0, math.ceil(math.log2(spread)) + 1 + fraction)
    counted = np.rint(np.ldexp(np.where(possible, below, 0.0), fraction)) - unit * changes
    return Objective(np.where(possible, counted, -np.inf), unit)


def _possible(scores: Float, names: Sequence[str]) -> Bool:
    """The arcs with labels that trees may have: `root` stands on arcs from ROOT, and no other label does."""
    found = scores > -np.inf
    found[:, 0] = False
    found[np.diag_indices(len(found))] = False
    root = np.array([is_root(name) for name in names])
    if root.any():
        found[0] &= root
        found[1:] &= ~root
    return found


def _with_given(possible: Bool, scores: Float, given: Given, names: Sequence[str]) -> tuple[Bool, Float]:
    """The same with what was given: no more probable than the least probable arc of the word."""
    possible, scores = possible.copy(), scores.copy()
    for head, word in given.arcs():
        label = given.labels[word - 1]
        added = np.zeros(len(names), dtype=np.bool_)
        if not possible[head, word].any():
            added |= np.array([is_root(name) == (head == 0) or name == "" for name in names])
        if label:
            added[names.index(label)] |= not possible[head, word, names.index(label)]
        if added.any():
            least = scores[:, word][possible[:, word]].min(initial=np.inf)
            scores[head, word, added] = least if least < np.inf else 0.0
            possible[head, word] |= added
    return possible, scores


def _below_best(scores: Float) -> tuple[Float, float]:
    """By how much arcs score less than the best of the same word, (n+1, n+1, L), and more than trees may differ by."""
    best = scores.max(axis=(0, 2), keepdims=True)
    below = scores - np.where(best > -np.inf, best, 0.0)
    worst = np.where(below > -np.inf, below, 0.0).min(axis=(0, 2))
    return below, 1.0 - float(worst.sum())
