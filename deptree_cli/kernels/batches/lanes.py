"""Sums over the trees of short sentences, side by side in lanes: the sweeps of elimination on `numbers/lanes.py`.

A group is as many sentences as there are lanes, of neighbouring lengths. It is filled up by words that govern none and
hang on the first word with weight 1: such a word's pivot is 1 and it adds 0 to all others, so that no digit of a
sentence depends on the group that it is in. Arrays of a group have shape (N, N, lanes), N nodes in its longest.
"""

from __future__ import annotations

import math

import numpy as np

from deptree_cli.kernels.batches.packed import matrix, sentence
from deptree_cli.kernels.elementary import largest
from deptree_cli.kernels.elimination.panels import WIDTH
from deptree_cli.kernels.elimination.sweeps import eliminate_backward, eliminate_words
from deptree_cli.kernels.flags import Index, kernel
from deptree_cli.kernels.numbers.lanes import Lanes
from deptree_cli.kernels.numbers.operations import reaches, tolerance
from deptree_cli.kernels.portable import LINE

# Bytes of a row of words, 50 float64 or 100 float32, up to which sentences go side by side: a full group takes less
# than half of what its sentences would take one by one. A sentence without neighbours takes several times as much as
# by itself; but which way it goes must depend on nothing but its length.
SHORT = 400


@kernel(allocates=True)
def sums_side_by_side(packed, log_z, marginals):
    """Do what `sums` of `batches/elimination.py` does for short sentences; no marginals if None."""
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
    """Return what `log_of_product` of `sweeps.py` does, of the pivots in a lane."""
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
    """Do what `put_products` of `marginals.py` does, of the adjoints in a lane, for words in their own order."""
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
