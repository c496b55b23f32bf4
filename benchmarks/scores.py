"""Score matrices for benchmarks: as flat and as peaked as parsers' are before and after training."""

from __future__ import annotations

from copy import copy

import numpy as np

from deptree_cli.core.distribution import TreeDistribution


def uniform(n: int, seed: int = 0) -> TreeDistribution:
    """Independent uniform weights, as in Stanojevic 2022, section 6."""
    weights = np.random.default_rng(seed).random((n + 1, n + 1))
    return TreeDistribution(weights, "weight", id=f"uniform-{n}-{seed}")


def peaked(n: int, seed: int = 0) -> TreeDistribution:
    """Like a trained parser's: a random tree of short arcs, ahead of unit noise by 9 +- 3 per word, 0.5 at least."""
    rng = np.random.default_rng(seed)
    scores = rng.normal(size=(n + 1, n + 1))
    order = rng.permutation(n) + 1
    heads = [0, *(order[rng.integers(max(0, i - 4), i)] for i in range(1, n))]
    scores[0, 1:] -= 2.0
    scores[0, order[0]] += 2.0
    scores[heads, order] += np.maximum(0.5, rng.normal(9.0, 3.0, size=n))
    return TreeDistribution(scores, id=f"peaked-{n}-{seed}")


def fresh(distribution: TreeDistribution) -> TreeDistribution:
    """The same distribution with nothing worked out yet: all preparation is in the figures."""
    return copy(distribution)


KINDS = {"uniform": uniform, "peaked": peaked}


def saturated(n: int, gap: float) -> TreeDistribution:
    """Words 1 and 2, 3 and 4, ... choose each other, all other heads by a log-score that is `gap` lower in sum."""
    scores = np.full((n + 1, n + 1), -gap - np.log(max(n - 1, 1)))
    for word in range(1, n, 2):
        scores[word, word + 1] = scores[word + 1, word] = np.log1p(-np.exp(-gap))
    return TreeDistribution(scores, id=f"saturated-{n}-{gap}")


def gaussian(n: int, scale: float) -> TreeDistribution:
    """Normal log-scores times a scale."""
    return TreeDistribution(np.random.default_rng(0).normal(size=(n + 1, n + 1)) * scale, id=f"gaussian-{n}-{scale}")
