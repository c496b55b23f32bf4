"""Sums over the non-projective trees of many sentences, by elimination, and their derivatives."""

from __future__ import annotations

import math

import numpy as np

from deptree_cli.kernels.batches.lanes import longest_short, sentence, sums_side_by_side
from deptree_cli.kernels.elementary import largest
from deptree_cli.kernels.elimination.marginals import arc_marginals, factorise, swap_words
from deptree_cli.kernels.elimination.panels import WIDTH
from deptree_cli.kernels.elimination.sweeps import eliminate
from deptree_cli.kernels.flags import kernel
from deptree_cli.kernels.numbers.dual import Dual
from deptree_cli.kernels.numbers.operations import SAFE_LOG, reaches
from deptree_cli.kernels.portable import LINE


@kernel(allocates=True)
def log_partitions(weights, lengths, offsets, last, single_root, log_z, sound):
    """Fill log_z (B,) from packed weights, float64 or float32, which are overwritten.

    sound (B,): unset where such numbers may not suffice.
    """
    sums_side_by_side(weights, lengths, offsets, last, single_root, log_z, None, sound)
    nodes = largest(lengths) + 1
    pivots, workspace = np.empty(nodes, weights.dtype), np.empty((3, WIDTH, nodes), weights.dtype)
    for b in range(lengths.shape[0]):
        if lengths[b] > longest_short(weights):
            W = sentence(weights, offsets[b], lengths[b])
            swap_words(W, max(1, last[b]), 1)
            log_z[b], depth = eliminate(W, pivots[: lengths[b] + 1], workspace, single_root)
            sound[b] = sound[b] and reaches(weights, depth)


@kernel
def aligned(nodes, size):
    """Return how many numbers apart rows are to begin: as many as fill cache lines, which saves a tenth of the time."""
    return (nodes * size + LINE - 1) // LINE * (LINE // size)


@kernel(allocates=True)
def sums(weights, lengths, offsets, last, single_root, log_z, marginals, sound):
    """Fill log_z (B,) and marginals (B, N, N), zeros at first, from packed weights; sound as in `log_partitions`."""
    sums_side_by_side(weights, lengths, offsets, last, single_root, log_z, marginals, sound)
    nodes = largest(lengths) + 1
    if nodes - 1 <= longest_short(weights):
        return
    factors = np.empty(nodes * aligned(nodes, weights.itemsize), weights.dtype)
    adjoints = np.empty_like(factors)
    pivots, workspace = np.empty(nodes, weights.dtype), np.empty((3, WIDTH, nodes), weights.dtype)
    for b in range(lengths.shape[0]):
        n, first = lengths[b], max(1, last[b])
        if n > longest_short(weights):
            W, S, shape = sentence(weights, offsets[b], n), pivots[: n + 1], (n + 1, aligned(n + 1, weights.itemsize))
            A, J = factors[: shape[0] * shape[1]].reshape(shape), adjoints[: shape[0] * shape[1]].reshape(shape)
            log_z[b], depth = factorise(W, first, A, S, workspace, single_root)
            sound[b] = (
                sound[b]
                and reaches(weights, depth)
                and arc_marginals(W, first, A, S, J, workspace, single_root, marginals[b])
            )


@kernel(allocates=True)
def covariances(weights, lengths, offsets, last, values, single_root, out, sound):
    """Fill out (B, N, N), zeros at first, with Cov(1[arc in tree], sum of the tree's values (B, N, N)) for every arc.

    Both sweeps on dual numbers: the derivative of the marginals in the direction of the values, which do not count
    where an arc's weight is 0. sound as in `log_partitions`.
    """
    nodes = largest(lengths) + 1
    matrices, pivots = np.empty((6, nodes * nodes)), np.empty((2, nodes))
    workspace = Dual(np.empty((3, WIDTH, nodes)), np.empty((3, WIDTH, nodes)))
    for b in range(lengths.shape[0]):
        n, first = lengths[b], max(1, last[b])
        W = Dual(sentence(weights, offsets[b], n), sentence(matrices[0], 0, n))
        A = Dual(sentence(matrices[1], 0, n), sentence(matrices[2], 0, n))
        J = Dual(sentence(matrices[3], 0, n), sentence(matrices[4], 0, n))
        S, found = Dual(pivots[0, : n + 1], pivots[1, : n + 1]), Dual(sentence(matrices[5], 0, n), out[b])
        fill_tangents(W, values[b])
        depth = factorise(W, first, A, S, workspace, single_root)[1]
        sound[b] = (
            sound[b]
            and depth > SAFE_LOG
            and arc_marginals(W, first, A, S, J, workspace, single_root, found)
            and math.isfinite(workspace.tangent[0, 0, 1 : n + 1].sum())
        )


@kernel
def fill_tangents(W, values):
    """Fill the tangents of weights (n+1, n+1) with weights times values (N, N), 0 where a weight is 0."""
    for i in range(W.value.shape[0]):
        for j in range(W.value.shape[0]):
            W.tangent[i, j] = W.value[i, j] * values[i, j] if W.value[i, j] > 0.0 else 0.0
