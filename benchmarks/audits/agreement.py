"""What `deptree agree --test` finds, and how often it errs: 1,000 trees a set, 10 words."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from benchmarks.audits.power import gaussian
from benchmarks.table import Cell, Table
from benchmarks.timing import points, times
from deptree_cli.core.agreement import STATISTICS, p_values, statistics
from deptree_cli.core.distribution import TreeDistribution
from deptree_cli.core.dtypes import Float, Heads

WORDS, TREES, MOVED, ALPHA = 10, 1_000, 0.05, 0.05
SCALES = points(1, 3, 6)
PAIRS, SENTENCES, AGAIN = times(1_000, 4), times(20, 1), times(15, 2)
PERMUTATIONS = times(199, 19)

# Trees by which a distance between distributions is estimated: with a standard error of 0.0003.
LOOKED_AT = times(100_000, 1_000)


class Shift(NamedTuple):
    """A distribution and one at the distance MOVED.

    Attributes:
        known: of each tree (k, n), what a test should look at that knows how the two differ.
    """

    one: TreeDistribution
    other: TreeDistribution
    known: Float


def run() -> Iterator[Table]:
    """Level, and power beside the best test there can be, which knows what differs."""
    yield Table(f"share of p up to {ALPHA} of two sets from one distribution", ("scale", "pairs", "share"), _level())
    columns = "shift", "scale", "agree --test", *STATISTICS, "best test"
    yield Table(f"power at {MOVED} in total variation", columns, _power())


def _level() -> Iterator[list[Cell]]:
    for scale in SCALES:
        random = np.random.default_rng(scale)
        found = []
        for pair in range(PAIRS):
            same = gaussian(WORDS, scale, pair)
            found.append(_p(same.sample(TREES, random), same.sample(TREES, random), random)[-1])
        yield [scale, PAIRS, float(np.mean(np.array(found) <= ALPHA))]


def _p(first: Heads, second: Heads, random: np.random.Generator) -> list[float]:
    """P-values of each statistic, and of all."""
    once = np.ones(len(first), dtype=np.int64)
    each, p = p_values(statistics([first, second], [once, once], PERMUTATIONS, random))
    return [*each.tolist(), p]


def _power() -> Iterator[list[Cell]]:
    for name, shifted in {"one arc": _one_arc, "temperature": _tempered}.items():
        for scale in SCALES:
            random = np.random.default_rng(scale)
            found = []
            for seed in range(SENTENCES):
                shift = shifted(gaussian(WORDS, scale, seed), random)
                for _ in range(AGAIN):
                    first, second = shift.one.sample(TREES, random), shift.other.sample(TREES, random)
                    found.append([*_p(first, second, random), _best(first, second, shift)])
            *each, p, best = (np.array(found) <= ALPHA).mean(axis=0).tolist()
            yield [name, scale, p, *each, best]


def _best(first: Heads, second: Heads, shift: Shift) -> float:
    """The two-sided p-value of a difference in mean of what is known to differ: most powerful, as all else is equal."""
    from scipy.stats import ttest_ind

    words = np.arange(WORDS)
    found = [shift.known[each, words + 1].sum(axis=1) for each in (first, second)]
    return float(ttest_ind(*found).pvalue)


def _one_arc(one: TreeDistribution, random: np.random.Generator) -> Shift:
    """An arc's weight is changed until its marginal is MOVED larger, the distance then: given the arc, nothing is."""
    marginals = one.marginals()
    heads, words = np.nonzero((marginals > MOVED) & (marginals < 1 - 2 * MOVED))
    at = random.integers(len(heads))
    arc = heads[at], words[at]
    before, after = marginals[arc], marginals[arc] + MOVED
    scores, known = one.log_scores.copy(), np.zeros_like(marginals)
    scores[arc] += np.log(after / (1 - after)) - np.log(before / (1 - before))
    known[arc] = 1
    other = TreeDistribution(scores)
    assert abs(other.marginals()[arc] - after) < 1e-9
    return Shift(one, other, known)


def _tempered(one: TreeDistribution, random: np.random.Generator) -> Shift:
    """A higher temperature, found by bisection."""
    heads = one.sample(LOOKED_AT, random)
    log_probs, (low, high) = one.log_probs(heads), (1.0, 4.0)
    for _ in range(20):
        middle = (low + high) / 2
        distance = np.maximum(0, 1 - np.exp(one.tempered(middle).log_probs(heads) - log_probs)).mean()
        low, high = (middle, high) if distance < MOVED else (low, middle)
    return Shift(one, one.tempered(low), np.where(np.isfinite(one.log_scores), one.log_scores, 0.0))
