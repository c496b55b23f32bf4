"""Do two samples of trees come from one distribution? A permutation test, which keeps its level whatever that is.

Under the hypothesis any division of all trees into two samples of these sizes is as likely as the one observed, so a
statistic of the observed one is an even draw among those of permuted ones (Fisher 1935; Davison and Hinkley 1997, eq.
4.11). Four statistics look for what may differ, and the smallest of their p-values, weighted, is judged by its own
permutation distribution, over the same permutations (Westfall and Young 1993).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from deptree_cli.core.dtypes import Float, Heads, Int
from deptree_cli.core.errors import DeptreeError, counted

# What each column of statistics looks at.
STATISTICS = ("arcs", "largest", "peakedness", "trees")

# How much of the level each may spend: most for what samplers usually get wrong, an arc or the temperature.
_WEIGHTS = np.array([0.1, 0.45, 0.35, 0.1])

# Counts in memory at a time: of distinct trees or arcs by permutations.
_ROOM = 4_000_000

# What numpy's hypergeometric draws take.
_MOST = 10**9 - 1

# Digits in which statistics that are the same in exact arithmetic agree.
_DIGITS = 10


class TwoSamples(NamedTuple):
    """The distinct trees of two samples.

    Attributes:
        heads: (d, n).
        first, second: (d,), how often each is in the samples.
    """

    heads: Heads
    first: Int
    second: Int


def two_samples(heads: Sequence[Heads], times: Sequence[Int]) -> TwoSamples:
    """Two samples as distinct trees, from trees (k, n) of each and how often they are there, (k,)."""
    distinct, at = np.unique(np.vstack(heads), axis=0, return_inverse=True)
    found = np.zeros((2, len(distinct)), dtype=np.int64)
    sample = np.repeat([0, 1], [len(each) for each in times])
    np.add.at(found, (sample, at.ravel()), np.concatenate(times))
    return TwoSamples(distinct, *found)


def statistics(samples: TwoSamples, permutations: int, rng: np.random.Generator) -> Float:
    """The statistics of two samples, observed ones first, and of permuted ones: (1 + permutations, len(STATISTICS)).

    O(permutations * distinct trees * words)

    Raises:
        DeptreeError: there are more trees than can be permuted.
    """
    pooled, size = samples.first + samples.second, int(samples.first.sum())
    if (total := int(pooled.sum())) > _MOST:
        raise DeptreeError(f"{counted(total, 'tree')} cannot be permuted", f"Give {_MOST} at most")
    measure = _Measure(samples.heads, pooled, size)
    rows = [measure(samples.first[None])]
    step = max(1, _ROOM // max(len(pooled), measure.arcs))
    for start in range(0, permutations, step):
        drawn = min(step, permutations - start)
        rows.append(measure(rng.multivariate_hypergeometric(pooled, size, drawn, method="marginals")))
    return np.vstack(rows)


class _Measure:
    """The statistics of divisions of pooled trees into two samples.

    Args:
        heads: (d, n), distinct trees.
        pooled: (d,), how often each is there.
        size: how many trees are in the first sample.

    Attributes:
        arcs: how many there are that some trees have and others do not.
    """

    def __init__(self, heads: Heads, pooled: Int, size: int) -> None:
        from scipy.sparse import csr_array  # a tenth of a second, where there is something to test

        d, n = heads.shape
        self._pooled, self._size, self._total = pooled, size, int(pooled.sum())
        arcs, columns = np.unique(np.arange(n) * (n + 1) + heads, return_inverse=True)
        found = csr_array((np.ones(d * n), columns.ravel(), np.arange(d + 1) * n), (d, len(arcs)))
        share = (found.T @ pooled) / self._total
        varies = share < 1
        self._trees_by_arc = found[:, varies].T.tocsr()
        self._share = share[varies]
        self._often = pooled > 1
        self._typical = found @ np.log(share)  # of each tree: large if its arcs are those that most trees have
        self.arcs = int(varies.sum())

    def __call__(self, counts: Int) -> Float:
        """The statistics, (r, len(STATISTICS)), for counts (r, d) of trees in the first sample."""
        # How far the first sample is from the share that it has of all trees; the second is as far the other way.
        excess = counts - self._size / self._total * self._pooled
        arcs = (self._trees_by_arc @ excess.T).T ** 2 / (self._share * (1 - self._share))
        largest = arcs.max(axis=1, initial=0.0)
        often = (excess[:, self._often] ** 2 / self._pooled[self._often]).sum(axis=1)
        once = excess[:, ~self._often].sum(axis=1) ** 2 / max(1, int((~self._often).sum()))
        scale = max(self._size * (self._total - self._size) / self._total, 1.0)  # then squares are near chi-square
        peakedness = self._peakedness(excess) * np.sqrt(scale)
        trees = self._total * (often + once)
        return np.column_stack([arcs.sum(axis=1), largest, peakedness, trees]) / scale

    def _peakedness(self, excess: Float) -> Float:
        """How much more typical the trees of the first sample are, with its sign: so sentences can point one way."""
        mean = self._typical @ self._pooled / self._total
        spread = float((self._typical - mean) ** 2 @ self._pooled) / self._total
        return excess @ (self._typical - mean) / np.sqrt(spread) if spread > 0 else np.zeros(len(excess))


class Tested(NamedTuple):
    """P-values: of each statistic by itself, (len(STATISTICS),), and of all together."""

    each: Float
    p: float


def p_values(found: Float) -> Tested:
    """P-values of the first of exchangeable rows of statistics, (1 + permutations, len(STATISTICS))."""
    found = np.abs(found)
    largest = found.max(axis=0)
    rounded = np.round(found / np.where(largest > 0, largest, 1.0), _DIGITS)
    each = np.column_stack([_at_least(column) for column in rounded.T])
    smallest = (each / _WEIGHTS).min(axis=1)
    return Tested(each[0], float((smallest <= smallest[0]).mean()))


def _at_least(column: Float) -> Float:
    """For each number the share of all that are as large."""
    return (len(column) - np.searchsorted(np.sort(column), column, side="left")) / len(column)
