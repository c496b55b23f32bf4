"""Sums over the projective trees of many sentences, by Eisner's chart, and their derivatives."""

from __future__ import annotations

import math

import numpy as np

from deptree_cli.kernels.batches.elimination import fill_tangents
from deptree_cli.kernels.batches.lanes import sentence
from deptree_cli.kernels.charts.eisner import TABLES, inside, outside
from deptree_cli.kernels.elementary import log
from deptree_cli.kernels.flags import kernel
from deptree_cli.kernels.numbers.dual import Dual
from deptree_cli.kernels.numbers.operations import tolerance


@kernel(allocates=True)
def new_chart(n):
    """Return a chart of zeros."""
    return np.zeros((TABLES, n + 1, n + 1))


@kernel(allocates=True)
def log_partitions(weights, lengths, offsets, single_root, log_z):
    """Fill log_z (B,) from packed weights."""
    for b in range(lengths.shape[0]):
        n = lengths[b]
        W = sentence(weights, offsets[b], n)
        log_z[b] = log(inside(W, single_root, new_chart(n)))


@kernel(allocates=True)
def sums(weights, lengths, offsets, single_root, log_z, marginals, sound):
    """Fill log_z (B,) and marginals (B, N, N), zeros at first, from packed weights.

    sound (B,): unset where a word's probabilities do not sum to 1.
    """
    for b in range(lengths.shape[0]):
        n = lengths[b]
        W = sentence(weights, offsets[b], n)
        chart, found = new_chart(n), np.zeros((n + 1, n + 1))  # float64, marginals may be float32
        log_z[b] = log(inside(W, single_root, chart))
        outside(W, single_root, chart, new_chart(n), found)
        marginals[b, : n + 1, 1 : n + 1] = found[:, 1:]
        for j in range(1, n + 1):
            sound[b] = sound[b] and abs(found[:, j].sum() - 1.0) < tolerance(found)


@kernel(allocates=True)
def covariances(weights, lengths, offsets, values, single_root, log_z, out, sound):
    """Fill out (B, N, N), zeros at first, with Cov(1[arc in tree], sum of the tree's values (B, N, N)) for every arc.

    Both sweeps on dual numbers. log_z, sound as in `sums`.
    """
    for b in range(lengths.shape[0]):
        n = lengths[b]
        W = sentence(weights, offsets[b], n)
        D, found = Dual(W, np.empty((n + 1, n + 1))), Dual(np.zeros((n + 1, n + 1)), out[b])
        fill_tangents(D, values[b])
        chart, adjoints = Dual(new_chart(n), new_chart(n)), Dual(new_chart(n), new_chart(n))
        log_z[b] = log(inside(D, single_root, chart).value)
        outside(D, single_root, chart, adjoints, found)
        for j in range(1, n + 1):
            total, slope = found.value[:, j].sum(), found.tangent[:, j].sum()
            sound[b] = sound[b] and abs(total - 1.0) < tolerance(found) and math.isfinite(slope)
