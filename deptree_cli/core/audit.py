"""Is a sampler biased? Its trees tested against the exact distribution.

Null hypothesis: the trees are independent draws from the sentence's distribution. Small sentences are enumerated and
    tested by chi-square; longer ones by exact binomial tests of every root and arc frequency against the exact
    marginals, corrected for their number by Holm's procedure, of which a verdict on the whole needs the first step
    only: the smallest p-value times the number of tests.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import numpy as np
from scipy import stats

from deptree_cli.core.arc_factored import ArcFactored
from deptree_cli.core.dtypes import Float, Int, Integers
from deptree_cli.core.oracle import Oracle

# Up to 7^5 = 16,807 trees are enumerated, a fraction of a second; one word more would be sixteen times as many.
ENUMERATED_N = 6

# Rare trees are pooled until a cell of the chi-square test is expected this often.
EXPECTED = 5.0

# Where a z-score would leave the range of float64's normal distribution.
SMALLEST_P = 1e-300

UNBIASED, BIASED, UNDECIDED = "no bias found", "biased", "undecided"


@dataclass(frozen=True)
class Audit:
    """What the trees drawn for one sentence tell.

    Attributes:
        method: ``enumeration`` or ``marginals``.
        size: number of trees.
        statistic: chi-square; or the z-score whose two-sided p-value is the smallest of the arcs', 37 at most.
        dof: degrees of freedom; or the number of arcs tested.
        p_value: of the null hypothesis; 0 if a tree of probability 0 was drawn.
        tv_distance: total variation distance of the observed from the exact distribution: of trees (enumeration), or
            the
            mean over words of that of their heads (marginals).
        tv_expected_by_chance: what an unbiased sampler shows on average at this size.
        impossible: number of trees that have probability 0 or are no trees under the sentence's root constraint.
    """

    method: str
    size: int
    statistic: float
    dof: int
    p_value: float
    tv_distance: float
    tv_expected_by_chance: float
    impossible: int

    def verdict(self, level: float) -> str:
        """Biased if the null hypothesis is rejected at this level; undecided without any trees."""
        if self.size == 0:
            return UNDECIDED
        return BIASED if self.p_value < level else UNBIASED


class Tally:
    """Counts of drawn trees, as far as an audit needs them: all trees of a small sentence, else arcs only.

    Attributes:
        distribution: whose trees they should be.
        size: number of trees counted.
        impossible: how many of them have probability 0 or are no trees under the sentence's root constraint.
    """

    def __init__(self, distribution: ArcFactored) -> None:
        self.distribution = distribution
        self._trees: Counter[tuple[int, ...]] = Counter()
        self._arcs = np.zeros((distribution.n + 1, distribution.n + 1), dtype=np.int64)
        self.size = 0
        self.impossible = 0

    def add(self, heads: Integers, times: Integers | None = None) -> None:
        """Count trees (k, n), each once or times (k,) times."""
        times = np.ones(len(heads), dtype=np.int64) if times is None else times
        self.size += int(times.sum())
        possible = self.distribution.space.contains(heads)
        possible[possible] = self.distribution.log_weights(heads[possible]) > -np.inf
        self.impossible += int(times[~possible].sum())
        if self.distribution.n <= ENUMERATED_N:
            for tree, count in zip(heads[possible].tolist(), times[possible].tolist(), strict=True):
                self._trees[tuple(tree)] += count
        else:
            np.add.at(self._arcs, (heads[possible], np.arange(1, self.distribution.n + 1)), times[possible, None])

    def audit(self) -> Audit:
        """Test the counts against the exact distribution."""
        if self.distribution.n <= ENUMERATED_N:
            return self._by_enumeration()
        return self._by_marginals()

    def _by_enumeration(self) -> Audit:
        oracle = Oracle(self.distribution)
        probs = np.exp(oracle.log_probs)
        counts = np.array([self._trees[tuple(tree)] for tree in oracle.trees.tolist()])
        statistic, dof, p_value = chi_square(counts, probs)
        distance = 0.5 * float(np.abs(counts / max(self.size, 1) - probs).sum() + self.impossible / max(self.size, 1))
        by_chance = 0.5 * float(mean_deviation(probs, self.size).sum())
        return self._result("enumeration", statistic, dof, p_value, distance, by_chance)

    def _by_marginals(self) -> Audit:
        n, size = self.distribution.n, max(self.size, 1)
        probs = np.minimum(self.distribution.marginals()[:, 1:], 1.0)
        counts = self._arcs[:, 1:]
        tested = np.isfinite(self.distribution.log_scores[:, 1:])
        p_values = binomial_p_values(counts[tested], self.size, probs[tested])
        smallest = float(p_values.min(initial=1.0))
        statistic = float(stats.norm.isf(max(smallest, SMALLEST_P) / 2))
        dof = int(tested.sum())
        distance = 0.5 * float(np.abs(counts / size - probs).sum() + self.impossible * n / size) / n
        by_chance = 0.5 * float(mean_deviation(probs, self.size).sum()) / n
        p_value = min(1.0, dof * smallest)
        return self._result("marginals", statistic, dof, p_value, distance, by_chance)

    def _result(
        self, method: str, statistic: float, dof: int, p_value: float, distance: float, by_chance: float
    ) -> Audit:
        p_value = 0.0 if self.impossible else p_value
        return Audit(method, self.size, statistic, dof, p_value, distance, by_chance, self.impossible)


def chi_square(counts: Int, probs: Float) -> tuple[float, int, float]:
    """Pearson's test of counts against probs, rare cells pooled: (statistic, degrees of freedom, p-value).

    When all but one cell are rare even together, the exact binomial test of the pool takes the place of chi-square.
    """
    size = int(counts.sum())
    order = np.argsort(probs)
    pooled = int(np.searchsorted(np.cumsum(probs[order]) * size, EXPECTED)) + 1
    rare, frequent = order[:pooled], order[pooled:]
    while frequent.size and probs[frequent[0]] * size < EXPECTED:
        rare, frequent = np.append(rare, frequent[0]), frequent[1:]
    if not frequent.size:
        return _rare_pool(counts, probs)
    observed = np.append(counts[frequent], counts[rare].sum()).astype(float)
    expected = np.append(probs[frequent], probs[rare].sum()) * size
    statistic = float(((observed - expected) ** 2 / expected).sum())
    return statistic, frequent.size, float(stats.chi2.sf(statistic, frequent.size))


def _rare_pool(counts: Int, probs: Float) -> tuple[float, int, float]:
    """All but the most likely tree together, by the exact binomial test."""
    if counts.sum() == 0 or len(probs) == 1:
        return 0.0, 0, 1.0
    best = int(np.argmax(probs))
    others = float(np.delete(probs, best).sum())
    drawn = int(counts.sum() - counts[best])
    p_value = binomial_p_values(np.array([drawn]), int(counts.sum()), np.array([others]))[0]
    expected = others * counts.sum()
    return float((drawn - expected) ** 2 / max(expected, 1e-300)), 1, float(p_value)


def binomial_p_values(counts: Int, size: int, probs: Float) -> Float:
    """Two-sided exact p-values: twice the smaller tail, at most 1."""
    lower = stats.binom.cdf(counts, size, probs)
    upper = stats.binom.sf(counts - 1, size, probs)
    return np.minimum(1.0, 2.0 * np.minimum(lower, upper))


def mean_deviation(probs: Float, size: int) -> Float:
    """E|X/size - p| for X ~ Binomial(size, p): 2 p (1-p) P(Binomial(size-1, p) = floor(size p)) (de Moivre)."""
    if size == 0:
        return np.zeros_like(probs)
    return 2.0 * probs * (1.0 - probs) * stats.binom.pmf(np.floor(size * probs), size - 1, probs)


def holm(p_values: list[float], alpha: float) -> list[float]:
    """The level at which each of several tests is judged so that all together err with probability alpha (Holm 1979).

    The smallest p-value meets alpha / m, the next alpha / (m - 1), ...; after the first that is not below its level, no
    other is rejected, which a level of 0 expresses.
    """
    levels = [0.0] * len(p_values)
    for rank, index in enumerate(np.argsort(p_values, kind="stable").tolist()):
        level = alpha / (len(p_values) - rank)
        if p_values[index] >= level:
            break
        levels[index] = level
    return levels
