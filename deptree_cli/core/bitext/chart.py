"""The chart of an inversion transduction grammar, filled under one mask after another; and its best alignment.

Numbers are summed in float64 where its range suffices, else in wide numbers (`kernels/numbers/wide.py`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from deptree_cli.core.bitext.masks import Mask, nothing_pinned
from deptree_cli.core.bitext.shifted import NO_TABLE, Shifted
from deptree_cli.core.dtypes import Float, Heads
from deptree_cli.core.errors import DeptreeError
from deptree_cli.core.numbers import REAL, WIDE, Kind
from deptree_cli.core.spaces.eisner import LOG_LOST, LOG_SMALLEST, log_pair
from deptree_cli.core.streams import kernel_state
from deptree_cli.kernels.itg.best_links import follow
from deptree_cli.kernels.itg.chart import TABLES, Weights, inside, outside
from deptree_cli.kernels.itg.masks import room_for_ranges
from deptree_cli.kernels.itg.sampler import sample_links
from deptree_cli.kernels.itg.spans import spans_of
from deptree_cli.kernels.numbers.tropical import Tropical

# Large Schroeder numbers, which count the permutations that can be built, grow by this factor at most.
SCHROEDER = 3 + 2 * math.sqrt(2)


class Chart:
    """The items of one sentence pair in one kind of numbers; what an earlier mask left is never looked at.

    Attributes:
        log_z: the logarithm of the partition function under the last mask; -inf where there is no alignment.
    """

    def __init__(self, shifted: Shifted, kind: Kind) -> None:
        self._shifted, self._kind = shifted, kind
        self._p, self._q = p, q = shifted.size
        self._items = kind.zeros((TABLES, spans_of(p), spans_of(q)))
        self._adjoints: Any = None
        self._kept, self._log_alignments = room_for_ranges(p, q), log_alignments(p, q)
        self._unmasked = self._weights = _weights(shifted, kind.exp)
        self._total: Any = None
        self.log_z = -math.inf

    def fill(self, mask: Mask) -> None:
        """Sum over the alignments under a mask."""
        mask.keep(self._kept)
        self._weights = mask.weigh(self._unmasked, self._kind)
        self._total = inside(self._weights, self._kept, self._items, 1, self._p + 1)
        self.log_z = math.fsum((*log_pair(self._total, self._kind), self._shifted.constant))

    @property
    def is_in_range(self) -> bool:
        """Whether float64 held every item that is a part of Z.

        What surrounds an item has at most as many alignments as there are, each of a limited weight: of links and
        unlinked words at most 1, of parts, of which there are fewer than two a link, that of the best bispan.
        """
        highest = math.log(self._weights.bispans.max(initial=1.0))
        surroundings = self._log_alignments + 2 * min(self._p, self._q) * highest
        total = max(self._total, math.ulp(0.0))
        return np.isfinite(self._total) and math.log(total) > LOG_SMALLEST - LOG_LOST + surroundings

    def marginals(self) -> Float:
        """P(link) under the mask, (p, q)."""
        if self._adjoints is None:
            self._adjoints = self._kind.zeros((TABLES, spans_of(self._p), spans_of(self._q)))
        found = self._kind.zeros((self._p, self._q))
        given = self._weights, self._kept, self._items, self._total, self._adjoints, found
        outside(*given, 1, self._p + 1)
        marginals: Float = self._kind.floats(found)
        return marginals

    def sample(self, size: int, rng: np.random.Generator) -> Heads:
        """Independent exact alignments under the mask, (size, p): every source word's target word, -1 for none."""
        targets = np.empty((size, self._p), dtype=np.int32)
        sample_links(self._weights, self._kept, self._items, self._total, kernel_state(rng), targets)
        return targets


class Charts:
    """The chart in float64, and in wide numbers once a mask needs them."""

    def __init__(self, shifted: Shifted) -> None:
        self._shifted = shifted
        self._real = Chart(shifted, REAL)
        self._wide: Chart | None = None

    def filled(self, mask: Mask) -> Chart:
        """The chart under a mask, valid until the next one."""
        self._real.fill(mask)
        if self._real.is_in_range:
            return self._real
        self._wide = self._wide or Chart(self._shifted, WIDE)
        self._wide.fill(mask)
        return self._wide


def log_alignments(p: int, q: int) -> float:
    """An upper bound of the logarithm of the number of alignments of p and q words."""
    lgamma, least = math.lgamma, p + q - max(p, q)
    logs = [
        lgamma(p + 1)
        + lgamma(q + 1)
        - lgamma(p - k + 1)
        - lgamma(q - k + 1)
        - 2 * lgamma(k + 1)
        + k * math.log(SCHROEDER)
        for k in range(least + 1)
    ]
    return max(logs) + math.log(len(logs))


def _weights(shifted: Shifted, exp: Callable[[Float], Any]) -> Weights:
    """The weights of a pair's parts as numbers of some kind; bispans may be beyond float64."""
    p, q = shifted.size
    runs = np.zeros((p + 1, p + 1)), np.zeros((q + 1, q + 1))
    with np.errstate(over="ignore"):
        return Weights(*map(exp, (shifted.links, shifted.source_nulls, shifted.target_nulls, shifted.bispans, *runs)))


def best_links(shifted: Shifted) -> Heads | None:
    """The links of the alignment of the largest weight, (p,); None where there is none. As costly as log Z."""
    p, q = shifted.size
    items, kept = Tropical(np.empty((TABLES, spans_of(p), spans_of(q)))), room_for_ranges(p, q)
    nothing_pinned(p, q).keep(kept)
    weights = _weights(shifted, Tropical)
    if inside(weights, kept, items, 1, p + 1).log == -np.inf:
        return None
    targets = np.empty(p, dtype=np.int32)
    follow(weights, kept, items, targets)
    return targets
