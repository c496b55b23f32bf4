"""A program of a user's own: segmentations of a string of n letters, with a score of every segment.

Variables are boundaries between letters, n - 1 of them; structures say of each whether it is there.
"""

from __future__ import annotations

from itertools import pairwise, product

import numpy as np

from deptree_cli.core.dtypes import Bool, Float
from deptree_cli.pruning.program import Program

Chart = tuple[Float, Float]  # the weights of segments (n+1, n+1), and sums of the segmentations of beginnings (n+1,)


class Segmentations(Program[Bool, Chart, Bool]):
    """Segments start..end-1 weigh exp(scores[start, end]), (n+1, n+1)."""

    def __init__(self, scores, confident):
        self._weights, self._confident = np.triu(np.exp(scores), 1), confident

    def variables(self):
        return len(self._weights) - 2

    def confident(self):
        return self._confident

    def compile(self, selected, assigned):
        kept = np.ones(self._weights.shape, dtype=np.bool_)
        for place in np.flatnonzero(selected) + 1:
            if assigned[place - 1]:
                kept[:place, place + 1 :] = False
            else:
                kept[place] = kept[:, place] = False
        return kept

    def inside(self, mask):
        weights, sums = self._weights * mask, np.eye(1, len(mask))[0]
        for end in range(1, len(mask)):
            sums[end] = sums[:end] @ weights[:end, end]
        with np.errstate(divide="ignore"):
            return float(np.log(sums[-1])), (weights, sums)

    def outside(self, chart):
        weights, sums = chart
        rest = np.eye(1, len(sums), len(sums) - 1)[0]
        for start in range(len(sums) - 2, -1, -1):
            rest[start] = weights[start, start + 1 :] @ rest[start + 1 :]
        return (sums * rest)[1:-1] / sums[-1]

    def sample(self, chart, rng):
        weights, sums = chart
        found, end = np.zeros(len(sums), dtype=np.bool_), len(sums) - 1
        while end > 0:
            ways = (sums[:end] * weights[:end, end]).cumsum()
            end = int(np.searchsorted(ways, rng.random() * ways[-1], side="right"))
            found[end] = True
        return found[1:-1]

    def assign(self, structure):
        return structure


def random_segmentations(n, confident, seed=0, scale=1.0):
    """Gaussian scores; the first few boundaries are pinned."""
    scores = scale * np.random.default_rng([seed, n]).normal(size=(n + 1, n + 1))
    return Segmentations(scores, np.arange(confident))


def all_or_none(n=3, better=0.5):
    """Two segmentations: all boundaries, with e^better of the weight of the other one, or none; all are pinned."""
    scores = np.full((n + 1, n + 1), -np.inf)
    scores[0, n] = 0.0
    scores[np.arange(n), np.arange(1, n + 1)] = better / n
    return Segmentations(scores, np.arange(n - 1))


def enumerated(program):
    """Every segmentation's probability, and the marginals of boundaries."""
    weights = {}
    for structure in product((False, True), repeat=program.variables()):
        places = [0, *(np.flatnonzero(structure) + 1), program.variables() + 1]
        weights[structure] = float(np.prod([program._weights[a, b] for a, b in pairwise(places)]))
    total = sum(weights.values())
    probs = {structure: weight / total for structure, weight in weights.items() if weight > 0}
    return probs, np.sum([probability * np.array(structure) for structure, probability in probs.items()], axis=0)
