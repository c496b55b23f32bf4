"""Sums over the non-projective trees of many sentences, by elimination in panels, and their derivatives."""

from __future__ import annotations

import math

import numpy as np

from deptree_cli.kernels.batches.packing import node_at
from deptree_cli.kernels.flags import kernel
from deptree_cli.kernels.numbers.dual import Dual
from deptree_cli.kernels.numbers.operations import SAFE_LOG
from deptree_cli.kernels.trees.blocked_elimination import WIDTH, factorise, reverse

CLOSE = 1e-9  # by how much the probabilities of a word's heads may fail to sum to 1


@kernel
def log_partitions(weights, lengths, offsets, single_root, log_z, sound):
    """Fill log_z (B,) from packed weights, which are overwritten; sound (B,): unset where float64 may not suffice."""
    pivots = np.empty(lengths.max())
    for b in range(lengths.shape[0]):
        n = lengths[b]
        A = weights[offsets[b] : offsets[b] + (n + 1) * n].reshape(n + 1, n)
        log_z[b], depth = factorise(A, pivots[:n], single_root)
        sound[b] = sound[b] and depth > SAFE_LOG


@kernel
def sums(weights, lengths, offsets, last, single_root, log_z, marginals, sound):
    """Fill log_z (B,) and marginals (B, N, N), zeros at first, from packed weights; sound as in `log_partitions`."""
    longest = lengths.max()
    factors, adjoints = np.empty((longest + 1) * longest), np.empty((longest + 1) * longest)
    pivots, shares = np.empty(longest), np.empty((longest + 1, WIDTH))
    for b in range(lengths.shape[0]):
        n = lengths[b]
        size = (n + 1) * n
        packed = weights[offsets[b] : offsets[b] + size]
        factors[:size] = packed
        A, J = factors[:size].reshape(n + 1, n), adjoints[:size].reshape(n + 1, n)
        log_z[b], depth = factorise(A, pivots[:n], single_root)
        if not (sound[b] and depth > SAFE_LOG):
            sound[b] = False
            continue
        reverse(A, pivots[:n], J, shares, single_root)
        sound[b] = put_products(packed.reshape(n + 1, n), J, last[b], marginals[b])


@kernel
def put_products(W, J, last, out):
    """Put weights times adjoints (n+1, n), where they are positive, at their nodes; return whether they sum to 1."""
    n = W.shape[1]
    totals = np.zeros(n)
    for i in range(n + 1):
        head, Wi, Ji = node_at(i, n, last), W[i], J[i]
        for j in range(n):
            product = Wi[j] * Ji[j] if Wi[j] > 0.0 else 0.0
            totals[j] += product
            out[head, node_at(j, n, last)] = max(product, 0.0)  # -1e-17 where the subtraction rounded
    usable = True
    for j in range(n):
        usable = usable and abs(totals[j] - 1.0) < CLOSE
    return usable


@kernel
def covariances(weights, lengths, offsets, last, values, single_root, out, sound):
    """Fill out (B, N, N), zeros at first, with Cov(1[arc in tree], sum of the tree's values (B, N, N)) for every arc.

    Both sweeps on dual numbers: the derivative of the marginals in the direction of the values, which do not count
    where an arc's weight is 0. sound as in `log_partitions`.
    """
    longest = lengths.max()
    room = np.empty((4, (longest + 1) * longest))
    pivots, shares = np.empty((2, longest)), np.empty((2, longest + 1, WIDTH))
    for b in range(lengths.shape[0]):
        n = lengths[b]
        size = (n + 1) * n
        W = weights[offsets[b] : offsets[b] + size].reshape(n + 1, n)
        A = Dual(room[0, :size].reshape(n + 1, n), room[1, :size].reshape(n + 1, n))
        J = Dual(room[2, :size].reshape(n + 1, n), room[3, :size].reshape(n + 1, n))
        S = Dual(pivots[0, :n], pivots[1, :n])
        fill_directions(W, values[b], last[b], A)
        depth = factorise(A, S, single_root)[1]
        if not (sound[b] and depth > SAFE_LOG):
            sound[b] = False
            continue
        reverse(A, S, J, Dual(shares[0], shares[1]), single_root)
        sound[b] = put_derivatives(W, J, values[b], last[b], out[b])


@kernel
def fill_directions(W, values, last, A):
    """Fill A with the weights (n+1, n) and, as tangents, weights times values (by node)."""
    n = W.shape[1]
    for i in range(n + 1):
        head = node_at(i, n, last)
        for j in range(n):
            weight = W[i, j]
            A.value[i, j] = weight
            A.tangent[i, j] = weight * values[head, node_at(j, n, last)] if weight > 0.0 else 0.0


@kernel
def put_derivatives(W, J, values, last, out):
    """Put the derivatives of weights times adjoints at their nodes; return whether the products sum to 1."""
    n = W.shape[1]
    usable = True
    for j in range(n):
        word, total, slope = node_at(j, n, last), 0.0, 0.0
        for i in range(n + 1):
            weight = W[i, j]
            if weight > 0.0:
                head = node_at(i, n, last)
                covariance = weight * (values[head, word] * J.value[i, j] + J.tangent[i, j])
                out[head, word] = covariance
                total += weight * J.value[i, j]
                slope += covariance
        usable = usable and abs(total - 1.0) < CLOSE and math.isfinite(slope)
    return usable
