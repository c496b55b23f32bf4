"""Inversion transduction grammars of branching 3 in O(p^4 q^4), as Bouchard-Cote, Petrov and Klein (2009) ran them.

Every rule of three children is summed over both its cuts on both sides at once. This is here to repeat the paper's
timings. The package's grammar has two children, which build the same alignments, and each of them once: here what has a
probability is a derivation, and an unlinked word can join its neighbours in several ways.

Weights are exp of the scores in float64, so that sums of scores must stay between -700 and 700.
"""

from __future__ import annotations

import numpy as np

from benchmarks.pruning.ternary.draws import draw
from benchmarks.pruning.ternary.loops import Chart, Mask, Ranges, clear, find_ranges, list_kept, sum_inside, sum_outside
from deptree_cli.core.dtypes import Bool, Float, Integers
from deptree_cli.core.streams import kernel_state
from deptree_cli.pruning.program import Program

# Link probabilities of both directions, multiplied, of a link that is pinned.
CONFIDENCE = 0.5


class DirectTernary(Program[Mask, Mask, Integers]):
    """Alignments of p source words and q target words; variable i * q + j is the link (i, j).

    Args:
        scores: log-scores of links, (p, q).
        source_nulls, target_nulls: log-scores of words that are not linked, (p,) and (q,).
        bispans: log-weights of bispans, (p+1, p+1, q+1, q+1).
        heuristic: the scores (p, q) by which links are confident; the model's own if not given.
    """

    def __init__(
        self,
        scores: Float,
        source_nulls: Float,
        target_nulls: Float,
        bispans: Float | None = None,
        heuristic: Float | None = None,
    ) -> None:
        p, q = self.shape = scores.shape
        cells = (p + 1, p + 1, q + 1, q + 1)
        self._log_nulls = source_nulls, target_nulls
        self._links, self._nulls = np.exp(scores), (np.exp(source_nulls), np.exp(target_nulls))
        self._factors = np.ones(cells) if bispans is None else np.exp(bispans)
        self._heuristic = scores if heuristic is None else heuristic
        self._sums, self._slopes = (Chart(*np.zeros((4, *cells))) for _ in range(2))
        self._ranges = Ranges(*(np.zeros((p + 1, p + 1, q + 1, 2), dtype=np.uint64) for _ in range(2)))
        self._room = np.empty(((p + 1) * (p + 2) * (q + 1) * (q + 2) // 4, 4), dtype=np.int64)

    def variables(self) -> int:
        """Return p * q."""
        return self._links.size

    def confident(self) -> Integers:
        """Return the links of which both directions of a model that links words one by one are sure.

        Where the product of two probabilities is above one half, so are both, and the link is its words' best.
        """
        scores, (source, target) = self._heuristic, self._log_nulls
        by_source = scores - np.logaddexp(np.logaddexp.reduce(scores, axis=1), source)[:, None]
        by_target = scores - np.logaddexp(np.logaddexp.reduce(scores, axis=0), target)
        return np.flatnonzero(by_source + by_target > np.log(CONFIDENCE))

    def compile(self, selected: Bool, assigned: Bool) -> Mask:
        """Return the mask of the alignments in which all selected links are as assigned."""
        positive, negative = (np.argwhere((selected & each).reshape(self.shape)) for each in (assigned, ~assigned))
        links = self._links.copy()
        links[negative[:, 0], negative[:, 1]] = 0.0
        return Mask(self._room[: list_kept(*self.shape, positive, self._room)].copy(), links)

    def inside(self, mask: Mask) -> tuple[float, Mask]:
        """Run the sums under a mask; return log Z and the mask, for what they leave stays here."""
        find_ranges(mask.kept, self._ranges)
        sum_inside(mask, self._nulls, self._factors, self._sums, self._ranges)
        p, q = self.shape
        z = self._sums.t[0, p, 0, q]
        return float(np.log(z)) if z > 0.0 else -np.inf, mask

    def outside(self, chart: Mask) -> Float:
        """Return the probabilities of links, (p * q,)."""
        probs = np.zeros(self.shape)
        clear(self._slopes, chart.kept)
        sum_outside(chart, self._factors, self._sums, self._ranges, self._slopes, probs)
        return probs.ravel()

    def sample(self, chart: Mask, rng: np.random.Generator) -> Integers:
        """Draw an alignment: the target word of every source word, -1 for none, (p,)."""
        targets = np.full(self.shape[0], -1, dtype=np.int32)
        draw(chart, self._nulls, self._factors, self._sums, self._ranges, kernel_state(rng), targets)
        return targets

    def assign(self, structure: Integers) -> Bool:
        """Return which links an alignment has, (p * q,)."""
        return (structure[:, None] == np.arange(self.shape[1])).ravel()
