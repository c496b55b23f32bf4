"""Answers about the non-projective trees of many sentences, by elimination: sums, derivatives, samples, best trees."""

from __future__ import annotations

import math

import numpy as np

from deptree_cli.kernels.batches.lanes import sums_side_by_side
from deptree_cli.kernels.batches.packed import matrix, sentence
from deptree_cli.kernels.elementary import largest
from deptree_cli.kernels.elimination.marginals import arc_marginals, factorise, swap_words
from deptree_cli.kernels.elimination.panels import WIDTH
from deptree_cli.kernels.elimination.sampler import sample_trees, transpose
from deptree_cli.kernels.flags import kernel
from deptree_cli.kernels.numbers.dual import Dual
from deptree_cli.kernels.portable import LINE
from deptree_cli.kernels.trees.best_tree import best_tree


@kernel
def aligned(nodes, size):
    """Return how many numbers apart rows are to begin: as many as fill cache lines, which saves a tenth of the time."""
    return (nodes * size + LINE - 1) // LINE * (LINE // size)


@kernel(allocates=True)
def sums(packed, log_z, marginals):
    """Fill log_z (B,) and, unless None, the matrices of marginals, zeros at first, from weights float64 or float32."""
    weights, starts, lengths, final_words, single_root, short, in_range = packed
    sums_side_by_side(packed, log_z, marginals)
    nodes, dtype, size = largest(lengths) + 1, weights.dtype, weights.itemsize
    if nodes - 1 <= short:
        return
    factors = np.empty(nodes * aligned(nodes, size), dtype)
    adjoints, pivots = np.empty_like(factors), np.empty(nodes, dtype)
    workspace = np.empty((3, WIDTH, nodes), dtype)
    for b in range(lengths.shape[0]):
        n, first = lengths[b], max(1, final_words[b])
        if n > short:
            W, S, width = sentence(weights, starts[b], n), pivots[: n + 1], aligned(n + 1, size)
            A = factors[: (n + 1) * width].reshape(n + 1, width)
            J = adjoints[: (n + 1) * width].reshape(n + 1, width)
            log_z[b], is_in_range = factorise(W, first, A, S, workspace, single_root)
            in_range[b] = in_range[b] and is_in_range
            if marginals is not None:
                out = matrix(marginals, b)
                in_range[b] = in_range[b] and arc_marginals(W, first, A, S, J, workspace, single_root, out)


@kernel(allocates=True)
def covariances(packed, log_z, values, out):
    """Fill out, zeros at first, with Cov(1[arc in tree], sum of the tree's values) for every arc.

    Both sweeps on dual numbers: the derivative of the marginals in the direction of the values, which do not count
    where an arc's weight is 0. values, out: matrices of each sentence.
    """
    weights, starts, lengths, final_words, single_root, _, in_range = packed
    nodes = largest(lengths) + 1
    matrices, pivots = np.empty((6, nodes * nodes)), np.empty((2, nodes))
    workspace = Dual(np.empty((3, WIDTH, nodes)), np.empty((3, WIDTH, nodes)))
    for b in range(lengths.shape[0]):
        n, first = lengths[b], max(1, final_words[b])
        W = Dual(sentence(weights, starts[b], n), sentence(matrices[0], 0, n))
        A = Dual(sentence(matrices[1], 0, n), sentence(matrices[2], 0, n))
        J = Dual(sentence(matrices[3], 0, n), sentence(matrices[4], 0, n))
        S, found = Dual(pivots[0, : n + 1], pivots[1, : n + 1]), Dual(sentence(matrices[5], 0, n), matrix(out, b))
        fill_tangents(W, matrix(values, b))
        log_z[b], is_in_range = factorise(W, first, A, S, workspace, single_root)
        in_range[b] = (
            in_range[b]
            and is_in_range
            and arc_marginals(W, first, A, S, J, workspace, single_root, found)
            and math.isfinite(workspace.tangent[0, 0, 1 : n + 1].sum())
        )


@kernel
def fill_tangents(W, values):
    """Fill the tangents of weights (n+1, n+1) with weights times values (n+1, width), 0 where a weight is 0."""
    for i in range(W.value.shape[0]):
        for j in range(W.value.shape[0]):
            W.tangent[i, j] = W.value[i, j] * values[i, j] if W.value[i, j] > 0.0 else 0.0


@kernel(allocates=True)
def sample(packed, log_z, states, size, heads, places):
    """Fill log_z (B,), and heads with `size` independent trees of each sentence, (size, n) from its place (B,) on.

    states: (B, 4) of `xoshiro.py`. Packed weights are overwritten.
    """
    weights, starts, lengths, final_words, single_root, _, in_range = packed
    nodes = largest(lengths) + 1
    factors, across, pivots = np.empty(nodes * nodes), np.empty(nodes * nodes), np.empty(nodes)
    workspace, roots = np.empty((3, WIDTH, nodes)), np.zeros(size, np.int64)
    for b in range(lengths.shape[0]):
        n, first = lengths[b], max(1, final_words[b])
        W, S = sentence(weights, starts[b], n), pivots[: n + 1]
        A, across_A = sentence(factors, 0, n), sentence(across, 0, n)
        log_z[b], is_in_range = factorise(W, first, A, S, workspace, single_root)
        in_range[b] = in_range[b] and is_in_range
        if in_range[b]:
            swap_words(W, first, 1)
            transpose(A, across_A, n + 1)
            trees = heads[places[b] : places[b] + size * n].reshape(size, n)
            sample_trees(A, S, across_A, W, first, single_root, roots, states[b], trees)


@kernel(allocates=True)
def best_trees(scores, lengths, least, single_root, heads, places, in_range):
    """Fill heads with the tree of the largest sum of scores of each sentence, (n,) from its place (B,) on.

    scores: matrices without padding. in_range (B,): set to whether that sum is above `least`.
    """
    for b in range(lengths.shape[0]):
        n = lengths[b]
        in_range[b] = best_tree(matrix(scores, b), single_root, heads[places[b] : places[b] + n]) > least
