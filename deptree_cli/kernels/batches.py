"""Sums, samples and best trees of many sentences at once."""

from __future__ import annotations

import math

import numpy as np

from deptree_cli.kernels.elementary import largest
from deptree_cli.kernels.elimination import (
    WIDTH,
    arc_marginals,
    eliminate_backward,
    eliminate_words,
    factorise,
    sample_trees,
    swap_words,
    transpose,
)
from deptree_cli.kernels.flags import Index, kernel
from deptree_cli.kernels.kept import LINE
from deptree_cli.kernels.numbers import Dual, Lanes
from deptree_cli.kernels.operations import reaches, tolerance
from deptree_cli.kernels.packed import matrix, sentence
from deptree_cli.kernels.trees import best_tree

# Sums over the trees of short sentences, side by side in lanes: the sweeps of elimination, run on numbers of several.
#
# A group is as many sentences as there are lanes, of neighbouring lengths. It is filled up by words that govern none
# and hang on the first word with weight 1: such a word's pivot is 1 and it adds 0 to all others, so that no digit of
# a sentence depends on the group that it is in. Arrays of a group have shape (N, N, lanes), N nodes in its longest.


# Bytes of a row of words, 50 float64 or 100 float32, up to which sentences go side by side: a full group takes less
# than half of what its sentences would take one by one. A sentence without neighbours takes several times as much as
# by itself; but which way it goes must depend on nothing but its length.
SHORT = 400


@kernel(allocates=True)
def sums_side_by_side(packed, log_z, marginals):
    """Do what `sums` does, for short sentences; no marginals if None."""
    weights, starts, lengths, final_words, single_root, short, in_range = packed
    order, lanes, dtype = short_sentences(lengths, short), LINE // weights.itemsize, weights.dtype
    nodes = lengths[order[-1]] + 1 if len(order) > 0 else 0
    numbers, totals = np.empty((2, nodes * nodes * lanes), dtype), np.empty(nodes, dtype)
    pivots, workspace = np.empty((nodes, lanes), dtype), np.empty((3, WIDTH, nodes, lanes), dtype)
    for start in range(0, len(order), lanes):
        group = order[start : start + lanes]
        shape = lengths[group[-1]] + 1, lengths[group[-1]] + 1, lanes
        size, S = shape[0] * shape[1] * lanes, pivots[: shape[0]]
        A, J = numbers[0, :size].reshape(shape), numbers[1, :size].reshape(shape)
        fill_group(A, group, weights, lengths, starts, final_words)
        eliminate_words(Lanes(A), Lanes(S), Lanes(workspace), single_root)
        for lane, b in enumerate(group):
            log_z[b], depth = log_of_pivots(S, lane, lengths[b])
            in_range[b] = in_range[b] and reaches(weights, depth)
        if marginals is not None:
            eliminate_backward(Lanes(A), Lanes(S), Lanes(J), Lanes(workspace), single_root)
            for lane, b in enumerate(group):
                W, out = sentence(weights, starts[b], lengths[b]), matrix(marginals, b)
                in_range[b] = in_range[b] and put_lane(W, J, lane, max(1, final_words[b]), totals, out)


@kernel(allocates=True)
def short_sentences(lengths, longest):
    """Return the numbers of the sentences of so many words at most, shortest first."""
    order, found = np.empty(lengths.shape[0], np.int64), 0
    for n in range(1, min(longest, largest(lengths)) + 1):
        for b in range(lengths.shape[0]):
            if lengths[b] == n:
                order[found] = b
                found += 1
    return order[:found]


@kernel(allocates=True)
def fill_group(A, group, weights, lengths, starts, final_words):
    """Fill the arcs of a group (N, N, lanes) with its sentences' weights; lanes that are left have no words."""
    for lane in range(A.shape[2]):
        n = 0
        A[0, 0, lane] = 0.0
        if lane < len(group):
            b = group[lane]
            n = lengths[b]
            fill_lane(A, lane, sentence(weights, starts[b], n), max(1, final_words[b]))
        for m in range(n + 1, A.shape[0]):
            for i in range(A.shape[0]):
                A[i, m, lane] = A[m, i, lane] = 0.0
            A[1 if m > 1 else 0, m, lane] = 1.0


@kernel
def fill_lane(A, lane, W, final_word):
    """Fill a lane with the weights W (n+1, n+1) of a sentence; its final word and word 1 change places."""
    for i in range(Index(W.shape[0])):
        target, given = A[place(i, final_word)], W[i]
        for j in range(Index(W.shape[0])):
            target[place(j, final_word), lane] = given[j]


@kernel
def place(i, final_word):
    """Return where node i stands."""
    return Index(final_word) if i == 1 else Index(1) if i == Index(final_word) else Index(i)


@kernel
def log_of_pivots(S, lane, n):
    """Return what `log_of_product` of `elimination.py` does, of the pivots in a lane."""
    log_z = depth = 0.0
    for m in range(n, 0, -1):
        pivot = np.float64(S[m, lane])
        if not pivot > 0.0:
            return -math.inf, -math.inf
        log_z += math.log(pivot)
        depth += min(0.0, math.log(pivot))
    return log_z, depth


@kernel
def put_lane(W, adjoints, lane, final_word, totals, out):
    """Do what `put_products` of `elimination.py` does, of the adjoints in a lane, for words in their own order."""
    nodes, none = Index(W.shape[0]), W.dtype.type(0.0)
    for j in range(nodes):
        totals[j] = none
    for i in range(nodes):
        given = adjoints[place(i, final_word)]
        for j in range(Index(1), nodes):
            x = W[i, j] * given[place(j, final_word), lane] if W[i, j] > none else none
            totals[j] += x
            out[i, j] = x if x > none else none
    in_range = True
    for j in range(Index(1), nodes):
        in_range = in_range and abs(totals[j] - 1.0) < tolerance(totals)
    return in_range


# Answers about the non-projective trees of many sentences, by elimination: sums, derivatives, samples, best trees.


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
