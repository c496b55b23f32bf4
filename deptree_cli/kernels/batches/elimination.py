"""Sums over the non-projective trees of many sentences, by elimination in panels, and their derivatives."""

from __future__ import annotations

import math

import numpy as np

from deptree_cli.kernels.batches.packing import swap_words
from deptree_cli.kernels.flags import kernel
from deptree_cli.kernels.numbers.dual import Dual
from deptree_cli.kernels.numbers.operations import SAFE_LOG
from deptree_cli.kernels.trees.blocked_elimination import WIDTH, factorise, reverse
from deptree_cli.kernels.xoshiro import U64

CLOSE = 1e-9  # by how much the probabilities of a word's heads may fail to sum to 1


@kernel
def log_partitions(weights, lengths, offsets, single_root, log_z, sound):
    """Fill log_z (B,) from packed weights, which are overwritten; sound (B,): unset where float64 may not suffice."""
    longest = lengths.max()
    pivots, room = np.empty(longest), np.empty((3, WIDTH, longest + 1))
    for b in range(lengths.shape[0]):
        n = lengths[b]
        A = weights[offsets[b] : offsets[b] + (n + 1) * n].reshape(n + 1, n)
        log_z[b], depth = factorise(A, pivots[:n], room, single_root)
        sound[b] = sound[b] and depth > SAFE_LOG


@kernel
def sums(weights, lengths, offsets, last, single_root, log_z, marginals, sound):
    """Fill log_z (B,) and marginals (B, N, N), zeros at first, from packed weights; sound as in `log_partitions`."""
    longest = lengths.max()
    factors, adjoints = np.empty((longest + 1) * longest), np.empty((longest + 1) * longest)
    pivots, room = np.empty(longest), np.empty((3, WIDTH, longest + 1))
    for b in range(lengths.shape[0]):
        n = lengths[b]
        size = (n + 1) * n
        packed = weights[offsets[b] : offsets[b] + size]
        factors[:size] = packed
        A, J = factors[:size].reshape(n + 1, n), adjoints[:size].reshape(n + 1, n)
        log_z[b], depth = factorise(A, pivots[:n], room, single_root)
        if not (sound[b] and depth > SAFE_LOG):
            sound[b] = False
            continue
        reverse(A, pivots[:n], J, room, single_root)
        sound[b] = put_products(packed.reshape(n + 1, n), J, last[b], marginals[b])


@kernel
def put_products(W, J, last, out):
    """Put weights times adjoints (n+1, n), where they are positive, at their nodes; return whether they sum to 1."""
    n = W.shape[1]
    totals = np.zeros(n)
    for i in range(n + 1):
        put_row(W[i], J[i], n, totals, out[i + 1 if i < n else 0])
    swap_words(out, last, n)
    usable = True
    for j in range(n):
        usable = usable and abs(totals[j] - 1.0) < CLOSE
    return usable


@kernel(forceinline=True)
def put_row(weights, adjoints, n, totals, out):
    """Put a row's products behind column 0, and add them to the totals (n,)."""
    for j in range(U64(n)):
        product = weights[j] * adjoints[j] if weights[j] > 0.0 else 0.0
        totals[j] += product
        out[j + U64(1)] = product if product > 0.0 else 0.0  # -1e-17 where the subtraction rounded


@kernel
def covariances(weights, lengths, offsets, last, values, single_root, out, sound):
    """Fill out (B, N, N), zeros at first, with Cov(1[arc in tree], sum of the tree's values (B, N, N)) for every arc.

    Both sweeps on dual numbers: the derivative of the marginals in the direction of the values, which do not count
    where an arc's weight is 0. sound as in `log_partitions`.
    """
    longest = lengths.max()
    matrices, pivots = np.empty((5, (longest + 1) * longest)), np.empty((2, longest))
    room = Dual(np.empty((3, WIDTH, longest + 1)), np.empty((3, WIDTH, longest + 1)))
    for b in range(lengths.shape[0]):
        n = lengths[b]
        size = (n + 1) * n
        W = weights[offsets[b] : offsets[b] + size].reshape(n + 1, n)
        A = Dual(matrices[0, :size].reshape(n + 1, n), matrices[1, :size].reshape(n + 1, n))
        J = Dual(matrices[2, :size].reshape(n + 1, n), matrices[3, :size].reshape(n + 1, n))
        directions = matrices[4, :size].reshape(n + 1, n)
        S = Dual(pivots[0, :n], pivots[1, :n])
        fill_directions(values[b], last[b], W, directions, A)
        depth = factorise(A, S, room, single_root)[1]
        if not (sound[b] and depth > SAFE_LOG):
            sound[b] = False
            continue
        reverse(A, S, J, room, single_root)
        sound[b] = put_derivatives(W, directions, J, last[b], out[b])


@kernel
def fill_directions(values, last, W, directions, A):
    """Fill directions (n+1, n) with values (N, N) by position, and A with weights and their derivatives."""
    n = W.shape[1]
    for i in range(n + 1):
        own, given = directions[i], values[i + 1 if i < n else 0]
        for j in range(n):
            own[j] = given[j + 1]
    swap_words(directions, last - 1, n - 1)
    for i in range(n + 1):
        for j in range(n):
            A.value[i, j] = W[i, j]
            A.tangent[i, j] = W[i, j] * directions[i, j] if W[i, j] > 0.0 else 0.0


@kernel
def put_derivatives(W, directions, J, last, out):
    """Put the derivatives of weights times adjoints at their nodes; return whether the products sum to 1."""
    n = W.shape[1]
    totals, slopes = np.zeros(n), np.zeros(n)
    for i in range(n + 1):
        target = out[i + 1 if i < n else 0]
        for j in range(n):
            weight = W[i, j]
            slope = weight * (directions[i, j] * J.value[i, j] + J.tangent[i, j]) if weight > 0.0 else 0.0
            target[j + 1] = slope
            totals[j] += weight * J.value[i, j] if weight > 0.0 else 0.0
            slopes[j] += slope
    swap_words(out, last, n)
    usable = True
    for j in range(n):
        usable = usable and abs(totals[j] - 1.0) < CLOSE and math.isfinite(slopes[j])
    return usable
