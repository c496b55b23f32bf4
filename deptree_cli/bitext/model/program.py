"""The dynamic program over the alignments of a sentence pair, as randomized pruning and its rivals want it."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from deptree_cli.bitext.model.chart import ItgChart
from deptree_cli.bitext.model.masks import KeptStates, Mask, pinned
from deptree_cli.bitext.model.merits import bispan_merits, confidences
from deptree_cli.bitext.model.scores import LinkScores
from deptree_cli.bitext.model.shifted import Shifted, no_alignment
from deptree_cli.core.dtypes import Bool, Float, Heads, Int
from deptree_cli.core.errors import DeptreeError
from deptree_cli.pruning.program import CellProgram

# Links are pinned that both directions of the simpler model find more likely than this: above 1/2 no two share a word,
# and links that are hardly more likely than not make chains slower by more than they save.
CONFIDENT = 0.6


class LinkProgram(CellProgram[Mask, ItgChart, Heads]):
    """The alignments of a sentence pair; its variables are links (source word, target word), row by row.

    A link that is pinned prunes all bispans that hold one of its words without the other, the words' other links, and
    their being unlinked. The states of a cell, a source span, are its target spans. Structures are arrays (p,): the
    target word of every source word, -1 for none.

    Args:
        shifted: the scores of the pair.
        heuristic: the scores that confidence and merits go by, of the same words.
    """

    def __init__(self, shifted: Shifted, heuristic: LinkScores) -> None:
        self._shifted, self._shape = shifted, shifted.size
        self._heuristic = heuristic

    def variables(self) -> int:
        """See `Program`."""
        p, q = self._shape
        return p * q

    def confident(self) -> Int:
        """Return the links of which both directions of the simpler model are sure."""
        return np.flatnonzero(confidences(self._heuristic) > CONFIDENT)

    def compile(self, selected: Bool, assigned: Bool) -> Mask:
        """See `Program`."""
        return pinned((selected & assigned).reshape(self._shape), (selected & ~assigned).reshape(self._shape))

    def inside(self, mask: Mask) -> tuple[float, ItgChart]:
        """See `Program`; the chart is valid until the next call. O(p^3 q^3) where nothing is pruned."""
        turns = self._shifted.pays_turned and mask.can_be_turned
        chart = (self._turned if turns else self._as_it_is).filled(mask)
        return chart.log_z, chart

    @cached_property
    def _as_it_is(self) -> ItgChart:
        return ItgChart(self._shifted)

    @cached_property
    def _turned(self) -> ItgChart:
        return ItgChart(self._shifted, is_turned=True)

    def outside(self, chart: ItgChart) -> Float:
        """Return P(link) under the mask, (p, q)."""
        return chart.marginals()

    def sample(self, chart: ItgChart, rng: np.random.Generator) -> Heads:
        """See `Program`."""
        found: Heads = chart.sample(1, rng)[0]
        return found

    def assign(self, structure: Heads) -> Bool:
        """See `Program`."""
        return self._are_linked(structure).ravel()

    def features(self, structure: Heads) -> Float:
        """Return 1 for links that are there, (p, q)."""
        return self._are_linked(structure).astype(np.float64)

    def _are_linked(self, targets: Heads) -> Bool:
        found: Bool = targets[:, None] == np.arange(self._shape[1])
        return found

    def no_structure(self) -> DeptreeError:
        """See `Program`."""
        return no_alignment(self._shifted)

    def merits(self) -> Float:
        """See `CellProgram`. Links by themselves are no question, nor is what reaches the ends of both sides."""
        merits = bispan_merits(self._heuristic)
        (s, t), (u, v) = (np.triu_indices(n + 1, 1) for n in self._shape)
        merits[((t - s) == 1)[:, None] & ((v - u) == 1)] = np.inf
        merits[(t == t[-1])[:, None] & (v == v[-1])] = np.inf
        return merits

    def keep(self, kept: Bool, log_weights: Float | None = None) -> Mask:
        """See `CellProgram`."""
        return KeptStates(kept, log_weights)
