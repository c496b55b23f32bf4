"""Answers about the projective trees of many sentences, by Eisner's chart: sums, derivatives, samples, best trees."""

from __future__ import annotations

import math

import numpy as np

from deptree_cli.kernels.batches import fill_tangents
from deptree_cli.kernels.charts import LONGEST, TABLES, Eisner, best_tree, inside, log_partition, outside, sample_trees
from deptree_cli.kernels.flags import kernel
from deptree_cli.kernels.numbers import Dual
from deptree_cli.kernels.packed import matrix, sentence


@kernel(allocates=True)
def new_chart(n):
    """Return a chart of zeros."""
    return np.zeros((TABLES, n + 1, n + 1))


@kernel(allocates=True)
def sums(packed, log_z, marginals):
    """Fill log_z (B,) and, unless None, the matrices of marginals, zeros at first, from packed weights."""
    weights, starts, lengths, _, single_root, _, in_range = packed
    for b in range(lengths.shape[0]):
        n = lengths[b]
        in_range[b] = in_range[b] and n <= LONGEST
        if not in_range[b]:
            continue
        W, chart = sentence(weights, starts[b], n), new_chart(n)
        log_z[b], is_in_range = log_partition(inside(W, single_root, chart), n)
        in_range[b] = in_range[b] and is_in_range
        if marginals is not None:
            found, out = np.zeros((n + 1, n + 1)), matrix(marginals, b)  # float64, the marginals may be float32
            in_range[b] = outside(W, single_root, chart, new_chart(n), found) and in_range[b]
            out[: n + 1, 1 : n + 1] = found[:, 1:]


@kernel(allocates=True)
def covariances(packed, log_z, values, out):
    """Fill out, zeros at first, with Cov(1[arc in tree], sum of the tree's values) for every arc.

    Both sweeps on dual numbers. values, out: matrices of each sentence; log_z (B,).
    """
    weights, starts, lengths, _, single_root, _, in_range = packed
    for b in range(lengths.shape[0]):
        n = lengths[b]
        W = sentence(weights, starts[b], n)
        D, found = Dual(W, np.empty((n + 1, n + 1))), Dual(np.zeros((n + 1, n + 1)), matrix(out, b))
        fill_tangents(D, matrix(values, b))
        chart, adjoints = Dual(new_chart(n), new_chart(n)), Dual(new_chart(n), new_chart(n))
        log_z[b], is_in_range = log_partition(inside(D, single_root, chart), n)
        in_range[b] = (
            in_range[b]
            and is_in_range
            and outside(D, single_root, chart, adjoints, found)
            and math.isfinite(found.tangent[: n + 1, 1 : n + 1].sum())
        )


@kernel(allocates=True)
def sample(packed, log_z, states, size, heads, places):
    """Fill log_z (B,), and heads with `size` independent trees of each sentence, (size, n) from its place (B,) on.

    states: (B, 4) of `xoshiro.py`.
    """
    weights, starts, lengths, _, single_root, _, in_range = packed
    for b in range(lengths.shape[0]):
        n = lengths[b]
        in_range[b] = in_range[b] and n <= LONGEST
        if not in_range[b]:
            continue
        chart = new_chart(n)
        log_z[b], is_in_range = log_partition(inside(sentence(weights, starts[b], n), single_root, chart), n)
        in_range[b] = in_range[b] and is_in_range
        if in_range[b]:
            trees = heads[places[b] : places[b] + size * n].reshape(size, n)
            sample_trees(Eisner(single_root, chart), states[b], trees)


@kernel(allocates=True)
def best_trees(scores, lengths, least, single_root, heads, places, in_range):
    """Fill heads with the tree of the largest sum of scores of each sentence, (n,) from its place (B,) on.

    scores: matrices without padding. in_range (B,): set to whether that sum is above `least`.
    """
    for b in range(lengths.shape[0]):
        n = lengths[b]
        in_range[b] = best_tree(matrix(scores, b), single_root, heads[places[b] : places[b] + n]) > least
