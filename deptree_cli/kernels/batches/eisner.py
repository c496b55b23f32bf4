"""Sums over the projective trees of many sentences, by Eisner's chart, and their derivatives."""

from __future__ import annotations

import math

import numpy as np

from deptree_cli.kernels.elimination.marginals import CLOSE
from deptree_cli.kernels.flags import kernel
from deptree_cli.kernels.numbers.dual import Dual
from deptree_cli.kernels.trees.eisner import Chart, inside, outside


@kernel
def new_chart(n):
    """Return a chart of zeros."""
    items = np.zeros((7, n + 1, n + 1))
    return Chart(items[0], items[1], items[2], items[3], items[4], items[5], items[6])


@kernel
def log_partitions(weights, lengths, offsets, single_root, log_z):
    """Fill log_z (B,) from packed weights."""
    for b in range(lengths.shape[0]):
        n = lengths[b]
        W = weights[offsets[b] : offsets[b] + (n + 1) * (n + 1)].reshape(n + 1, n + 1)
        log_z[b] = np.log(inside(W, single_root, new_chart(n)))


@kernel
def sums(weights, lengths, offsets, single_root, log_z, marginals, sound):
    """Fill log_z (B,) and marginals (B, N, N), zeros at first, from packed weights.

    sound (B,): unset where a word's probabilities do not sum to 1.
    """
    for b in range(lengths.shape[0]):
        n = lengths[b]
        W = weights[offsets[b] : offsets[b] + (n + 1) * (n + 1)].reshape(n + 1, n + 1)
        chart, found = new_chart(n), np.zeros((n + 1, n + 1))
        log_z[b] = np.log(inside(W, single_root, chart))
        outside(W, single_root, chart, new_chart(n), found)
        for i in range(n + 1):
            for j in range(1, n + 1):
                marginals[b, i, j] = found[i, j]
        for j in range(1, n + 1):
            sound[b] = sound[b] and abs(found[:, j].sum() - 1.0) < CLOSE


@kernel
def covariances(weights, lengths, offsets, values, single_root, log_z, out, sound):
    """Fill out (B, N, N), zeros at first, with Cov(1[arc in tree], sum of the tree's values (B, N, N)) for every arc.

    Both sweeps on dual numbers. log_z, sound as in `sums`.
    """
    for b in range(lengths.shape[0]):
        n = lengths[b]
        W = weights[offsets[b] : offsets[b] + (n + 1) * (n + 1)].reshape(n + 1, n + 1)
        tangents = np.zeros((n + 1, n + 1))
        for i in range(n + 1):
            for j in range(1, n + 1):
                if W[i, j] > 0.0:
                    tangents[i, j] = W[i, j] * values[b, i, j]
        D, found = Dual(W, tangents), Dual(np.zeros((n + 1, n + 1)), np.zeros((n + 1, n + 1)))
        chart = dual_chart(n)
        log_z[b] = np.log(inside(D, single_root, chart).value)
        outside(D, single_root, chart, dual_chart(n), found)
        for j in range(1, n + 1):
            for i in range(n + 1):
                out[b, i, j] = found.tangent[i, j]
            total, slope = found.value[:, j].sum(), found.tangent[:, j].sum()
            sound[b] = sound[b] and abs(total - 1.0) < CLOSE and math.isfinite(slope)


@kernel
def dual_chart(n):
    """Return a chart of dual zeros."""
    v, t = new_chart(n), new_chart(n)
    return Chart(
        Dual(v.right, t.right),
        Dual(v.right_by_end, t.right_by_end),
        Dual(v.left, t.left),
        Dual(v.left_by_end, t.left_by_end),
        Dual(v.right_arc, t.right_arc),
        Dual(v.left_arc, t.left_arc),
        Dual(v.between, t.between),
    )
