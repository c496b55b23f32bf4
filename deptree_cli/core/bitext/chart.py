"""The chart of an inversion transduction grammar, filled under one mask after another; and its best derivation.

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
from deptree_cli.kernels.itg.chart import Weights, clear, inside, outside
from deptree_cli.kernels.itg.masks import forget, nothing_kept
from deptree_cli.kernels.itg.rules import TABLES
from deptree_cli.kernels.itg.sampler import sample_links
from deptree_cli.kernels.itg.spans import spans_of
from deptree_cli.kernels.numbers.tropical import Tropical

# No pair of p and q words has more derivations than 60^(p + q): binary trees over at most p + q leaves (4 to that
# power) of three kinds, with at most five kinds of inner nodes (two orders, or the half of one of six; a pair or not).
LOG_GROWTH = math.log(60.0)


class Chart:
    """The items of one sentence pair in one kind of numbers, cleared only where they were filled.

    Attributes:
        log_z: the logarithm of the partition function under the last mask; -inf where there is no derivation.
    """

    def __init__(self, shifted: Shifted, branching: int, kind: Kind) -> None:
        self._shifted, self._kind = shifted, kind
        self._p, self._q = p, q = shifted.size
        shape = TABLES[branching], spans_of(p), spans_of(q)
        with _room_for(p, q):
            self._items, self._adjoints = kind.zeros(shape), kind.zeros(shape)
            self._kept = nothing_kept(p, q, shape[1] * shape[2])
        self._unmasked = self._weights = _weights(shifted, kind.exp)
        self._total: Any = None
        self.log_z = -math.inf

    def fill(self, mask: Mask) -> None:
        """Sum over the derivations under a mask; what an earlier one left is gone."""
        clear(self._kept, self._p, self._q, self._items)
        forget(self._kept, self._p)
        mask.list_kept(self._p, self._kept)
        self._weights = mask.weigh(self._unmasked, self._kind)
        self._total = inside(self._weights, self._kept, self._items)
        self.log_z = math.fsum((*log_pair(self._total, self._kind), self._shifted.constant))

    @property
    def is_in_range(self) -> bool:
        """Whether float64 held every item that is a part of Z.

        An item and what surrounds it have at most as many derivations as there are, each of a limited weight.
        """
        words = self._p + self._q
        highest = math.log(self._weights.bispans.max(initial=1.0))
        return np.isfinite(self._total) and math.log(max(self._total, math.ulp(0.0))) > (
            LOG_SMALLEST - LOG_LOST + words * (LOG_GROWTH + 2 * highest)
        )

    def marginals(self) -> Float:
        """P(link) under the mask, (p, q)."""
        found = self._kind.zeros((self._p, self._q))
        outside(self._weights, self._kept, self._items, self._adjoints, found)
        clear(self._kept, self._p, self._q, self._adjoints)
        marginals: Float = self._kind.floats(found)
        return marginals

    def sample(self, size: int, rng: np.random.Generator) -> Heads:
        """Independent exact derivations under the mask, (size, p): every source word's target word, -1 for none."""
        targets = np.empty((size, self._p), dtype=np.int32)
        sample_links(self._weights, self._kept, self._items, kernel_state(rng), targets)
        return targets


class Charts:
    """The chart in float64, and in wide numbers once a mask needs them."""

    def __init__(self, shifted: Shifted, branching: int) -> None:
        self._of = shifted, branching
        self._real = Chart(*self._of, REAL)
        self._wide: Chart | None = None

    def filled(self, mask: Mask) -> Chart:
        """The chart under a mask, valid until the next one."""
        self._real.fill(mask)
        if self._real.is_in_range:
            return self._real
        self._wide = self._wide or Chart(*self._of, WIDE)
        self._wide.fill(mask)
        return self._wide


@contextmanager
def _room_for(p: int, q: int) -> Iterator[None]:
    """Turn a lack of memory for the chart of such a pair into a DeptreeError."""
    try:
        yield
    except MemoryError:
        problem = f"there is not enough memory for the chart of {p} by {q} words"
        raise DeptreeError(problem, "Leave the pair out, or align parts of it") from None


def _weights(shifted: Shifted, exp: Callable[[Float], Any]) -> Weights:
    """The weights of a pair's parts as numbers of some kind, none of pairs; bispans may be beyond float64."""
    with np.errstate(over="ignore"):
        parts = shifted.links, shifted.source_nulls, shifted.target_nulls, shifted.bispans, NO_TABLE
        return Weights(*map(exp, parts))


def best_links(shifted: Shifted, branching: int) -> Heads | None:
    """The links of the derivation of the largest weight, (p,); None where there is none. As costly as log Z."""
    p, q = shifted.size
    with _room_for(p, q):
        kept = nothing_kept(p, q, spans_of(p) * spans_of(q))
        items = Tropical(np.full((TABLES[branching], spans_of(p), spans_of(q)), -np.inf))
    nothing_pinned(p, q).list_kept(p, kept)
    weights = _weights(shifted, Tropical)
    if inside(weights, kept, items).log == -np.inf:
        return None
    targets = np.empty(p, dtype=np.int32)
    follow(weights, kept, items, targets)
    return targets
