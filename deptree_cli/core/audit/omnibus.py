"""All cells of a multinomial together: what deviates a little everywhere, and nowhere enough.

Cells are halved again and again into a binary tree. Given the counts of all divisions before, the left half of a
division gets a binomial part of its cell's n draws, of which n KL(observed share || exact share) = G says how far it is
off. With c(n) = E[exp(r G)], an exact sum over the binomial distribution, the product of exp(r G) / c(n) over all
divisions has mean 1, and so has the mean of these products over several rates r: by Markov's inequality its reciprocal
is a p-value. (Twice the sum of the G is the likelihood ratio statistic, near which chi-square tests are.)
"""

from __future__ import annotations

import numpy as np
from scipy import special

from deptree_cli.core.audit.findings import TOGETHER, Finding
from deptree_cli.core.dtypes import Float, Int

# A cell is divided while both halves are expected this often.
EXPECTED = 1.0

# Fewer divisions than this add nothing to the tests of single cells.
FEWEST_DIVISIONS = 4

# The best rate against M divisions whose G add up to S is 1 - M / (2 S): small where many are a little off.
RATES = (0.1, 0.2, 0.4, 0.7)

# The exact sums are of this many terms at most. Divisions of more draws are left out, which is known before they are
# looked at; single cells tell enough there.
MOST_DRAWS = 30_000

# Relative error of the result, generously: 2^14 sums of logarithms of factorials below e^300,000.
ROUNDING = 1e-5


def omnibus(counts: Float, size: int, probs: Float, slack: float) -> Finding | None:
    """The test of counts (m,) of cells sorted by probability; None where too few can be divided.

    What is divided depends on the probabilities and the number of draws only.
    """
    mass, drawn = (np.concatenate(([0.0], np.cumsum(values))) for values in (probs, counts))
    lows, middles, highs = _divisions(mass, size)
    if len(lows) < FEWEST_DIVISIONS:
        return None
    whole, of = mass[highs] - mass[lows], np.rint(drawn[highs] - drawn[lows]).astype(np.int64)
    share, left = (mass[middles] - mass[lows]) / whole, np.rint(drawn[middles] - drawn[lows]).astype(np.int64)
    used = of <= MOST_DRAWS
    if not used.any():
        return Finding(TOGETHER, 1.0, 1)
    evidence = _log_evidence(left[used], of[used], share[used], 2.0 * slack / whole[used])
    return Finding(TOGETHER, min(1.0, (1.0 + ROUNDING) * float(np.exp(-evidence))), 1)


def _log_evidence(left: Int, of: Int, share: Float, slack: Float) -> float:
    """The logarithm of the mean over rates of the product over divisions (d,) of exp(r G) / c.

    Where the true share differs from the given one by slack, probabilities of counts differ by the factor
    exp(of * slack / min(share, 1 - share)) at most.
    """
    table = special.xlogy(numbers := np.arange(int(of.max()) + 1), numbers)
    factorials = special.gammaln(numbers + 1.0)
    which = np.repeat(np.arange(len(of)), of + 1)
    starts = np.concatenate(([0], np.cumsum(of + 1)[:-1]))
    x, n = np.arange(len(which)) - starts[which], of[which]
    log_likelihood = special.xlogy(x, share[which]) + special.xlogy(n - x, 1.0 - share[which])
    log_prob = factorials[n] - factorials[x] - factorials[n - x] + log_likelihood
    excess = np.maximum(table[x] + table[n - x] - table[n] - log_likelihood, 0.0)
    observed = excess[starts + left]
    off = float((of * slack / np.minimum(share, 1.0 - share)).sum())
    products = []
    for rate in RATES:
        norms = np.add.reduceat(np.exp(log_prob + rate * excess), starts)
        products.append(float((rate * observed - np.log(norms)).sum()) - off)
    return float(np.logaddexp.reduce(products) - np.log(len(RATES)))


def _divisions(mass: Float, size: int) -> tuple[Int, Int, Int]:
    """Where cells are divided, level by level: (low, middle, high) in the cumulated probabilities (m+1,)."""
    lows, highs = np.array([0]), np.array([len(mass) - 1])
    found = []
    while len(lows):
        middles = np.searchsorted(mass, (mass[lows] + mass[highs]) / 2.0)
        middles = np.clip(middles, lows + 1, np.maximum(highs - 1, lows + 1))
        smaller = np.minimum(mass[middles] - mass[lows], mass[np.maximum(highs, middles)] - mass[middles])
        divided = (highs - lows >= 2) & (smaller * size >= EXPECTED)
        lows, middles, highs = lows[divided], middles[divided], highs[divided]
        found.append((lows, middles, highs))
        lows, highs = np.concatenate((lows, middles)), np.concatenate((middles, highs))
    low, middle, high = (np.concatenate(column) for column in zip(*found, strict=True))
    return low, middle, high
