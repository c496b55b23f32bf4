"""The chart of an inversion transduction grammar, filled under one mask after another; and its best alignment.

Numbers are summed in float64 where its range suffices, else in wide numbers (`kernels/numbers/wide.py`).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

import numpy as np

from deptree_cli.bitext.kernels.alignments import follow, sample_links
from deptree_cli.bitext.kernels.chart import TABLES, Weights, inside, outside
from deptree_cli.bitext.kernels.masks import new_ranges
from deptree_cli.bitext.kernels.spans import spans_of
from deptree_cli.bitext.model.costs import chart_size, pieces
from deptree_cli.bitext.model.masks import Mask, nothing_pinned
from deptree_cli.bitext.model.shifted import Shifted
from deptree_cli.core.dtypes import Float, Heads
from deptree_cli.core.memory import memory_for
from deptree_cli.core.numbers import REAL, WIDE, Kind
from deptree_cli.core.spaces.factorisation import SweepFactorisation
from deptree_cli.core.streams import kernel_state
from deptree_cli.kernels.charts.eisner import LOG_LOST, LOG_SMALLEST
from deptree_cli.kernels.numbers.operations import is_positive, logarithm
from deptree_cli.kernels.numbers.tropical import Tropical

# Large Schroeder numbers, which count the permutations that can be built, grow by this factor at most.
LOG_SCHROEDER = math.log(3 + 2 * math.sqrt(2))


class ItgChart(SweepFactorisation):
    """The items of one sentence pair in one kind of numbers; what an earlier mask left is never looked at.

    Args:
        is_turned: whether the chart within is that of the pair turned round; what comes in and out is not.

    Attributes:
        kind, in_range: see `SweepFactorisation`.
        log_z: the logarithm of the partition function under the last mask; -inf where there is no alignment.
    """

    def __init__(self, shifted: Shifted, kind: Kind = REAL, is_turned: bool = False) -> None:
        self._shifted, self.kind, self._is_turned = shifted, kind, is_turned
        own = shifted.turned if is_turned else shifted
        self._p, self._q = p, q = own.size
        shape = TABLES, spans_of(p), spans_of(q)
        with _memory_for(*shifted.size, charts=4 if kind is WIDE else 2):
            self._items, self._adjoints = kind.zeros(shape), kind.zeros(shape)
        self._kept, self._log_alignments = new_ranges(p, q), log_alignments(p, q)
        self._unmasked = self._weights = _weights(own, kind.exp)
        self._total: Any = None
        self.log_z = -math.inf

    def _in(self, kind: Kind) -> ItgChart:
        return ItgChart(self._shifted, kind, self._is_turned)

    def filled(self, mask: Mask) -> ItgChart:
        """Sum over the alignments under a mask: the chart itself or one in wide numbers, valid until the next mask."""
        return self.answer(lambda own: own._filled(mask))

    def _filled(self, mask: Mask) -> tuple[ItgChart, bool]:
        mask = mask.turned if self._is_turned else mask
        mask.keep(self._kept)
        self._weights = mask.weigh(self._unmasked, self.kind)
        for begin, end in pieces(self._p, self._q, f"sums of {_words(self._shifted)}"):
            self._total = inside(self._weights, self._kept, self._items, begin, end)
        log_z = logarithm(self._total) if is_positive(self._total) else -math.inf
        self.log_z, self.in_range = log_z + self._shifted.constant, self.is_wide or self._holds(log_z)
        return self, self.in_range

    def _holds(self, log_z: float) -> bool:
        """Whether float64 held every item that is a part of Z.

        What surrounds an item has at most as many alignments as there are, each of a limited weight: of links and
        unlinked words at most 1, of parts, of which there are fewer than two a link, that of the best bispan.
        """
        highest = math.log(self._weights.bispans.max(initial=1.0))
        surroundings = self._log_alignments + 2 * min(self._p, self._q) * highest
        return log_z < math.inf and log_z > LOG_SMALLEST - LOG_LOST + surroundings

    def marginals(self) -> Float:
        """P(link) under the mask, (p, q)."""
        found = self.kind.zeros((self._p, self._q))
        given = self._weights, self._kept, self._items, self._total, self._adjoints, found
        for begin, end in pieces(self._p, self._q, f"probabilities of {_words(self._shifted)}", backwards=True):
            outside(*given, begin, end)
        marginals: Float = self.kind.floats(found)
        return marginals.T.copy() if self._is_turned else marginals

    def sample(self, size: int, rng: np.random.Generator) -> Heads:
        """Independent exact alignments under the mask, (size, p): every source word's target word, -1 for none."""
        targets = np.empty((size, self._p), dtype=np.int32)
        sample_links(self._weights, self._kept, self._items, self._total, kernel_state(rng), targets)
        return _turned(targets, self._q) if self._is_turned else targets


def _turned(links: Heads, n: int) -> Heads:
    """From the word that each word is linked with, -1 for none, to the same of the n words of the other side."""
    found = np.full((len(links), n), -1, dtype=links.dtype)
    rows, words = np.nonzero(links >= 0)
    found[rows, links[rows, words]] = words
    return found


def _memory_for(p: int, q: int, charts: int) -> AbstractContextManager[None]:
    """Memory for so many charts of float64."""
    what = f"the chart of {p} by {q} words"
    return memory_for(charts * chart_size(p, q), what, "Remove the pair, or align parts of it")


def _words(shifted: Shifted) -> str:
    p, q = shifted.size
    return f"{p:,} by {q:,} words"


def log_alignments(p: int, q: int) -> float:
    """An upper bound of the logarithm of the number of alignments: any k words of either side, in some order."""
    logs = [log_choices(p, k) + log_choices(q, k) + k * LOG_SCHROEDER for k in range(min(p, q) + 1)]
    return max(logs) + math.log(len(logs))


def log_choices(n: int, k: int) -> float:
    """The logarithm of n choose k."""
    return math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)


def _weights(shifted: Shifted, exp: Callable[[Float], Any]) -> Weights:
    """The weights of a pair's parts as numbers of some kind; bispans may be beyond float64."""
    p, q = shifted.size
    runs = np.zeros((p + 1, p + 1)), np.zeros((q + 1, q + 1))
    with np.errstate(over="ignore"):
        return Weights(*map(exp, (shifted.links, shifted.source_nulls, shifted.target_nulls, shifted.bispans, *runs)))


def best_links(shifted: Shifted) -> Heads | None:
    """The links of the alignment of the largest weight, (p,); None where there is none. As costly as log Z."""
    with _memory_for(*shifted.size, charts=1):
        own = shifted.turned if shifted.pays_turned else shifted
        p, q = own.size
        items, kept = Tropical(np.empty((TABLES, spans_of(p), spans_of(q)))), new_ranges(p, q)
    nothing_pinned(p, q).keep(kept)
    weights = _weights(own, Tropical)
    for begin, end in pieces(p, q, f"best links of {_words(shifted)}"):
        total = inside(weights, kept, items, begin, end)
    if total.log == -np.inf:
        return None
    targets = np.empty(p, dtype=np.int32)
    follow(weights, kept, items, targets)
    return _turned(targets[None], q)[0] if shifted.pays_turned else targets
