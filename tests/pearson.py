"""Pearson's chi-square with rare cells pooled: for tests of laws at moderate levels, not for audits.

Its tail is an approximation. At expected counts near 5 it rejects about twice too often at a level of 1e-3 and dozens
of times too often at 1e-5, which is why no verdict rests on it.
"""

from __future__ import annotations

import numpy as np
from scipy import stats

from deptree_cli.core.binomials import binomial_p_values

# Rare cells are pooled until the pool, and every other cell, is expected this often.
EXPECTED = 5.0


def chi_square(counts, probs):
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


def _rare_pool(counts, probs):
    """All but the most likely tree together, by the exact binomial test."""
    if counts.sum() == 0 or len(probs) == 1:
        return 0.0, 0, 1.0
    best = int(np.argmax(probs))
    others = float(np.delete(probs, best).sum())
    drawn = int(counts.sum() - counts[best])
    p_value = binomial_p_values(np.array([drawn]), int(counts.sum()), np.array([others]))[0]
    expected = others * counts.sum()
    return float((drawn - expected) ** 2 / max(expected, 1e-300)), 1, float(p_value)
