"""What is asked of the trees of many sentences, one after another: each as its own `TreeDistribution` answers it.

Matrices (n+1, n+1) stand one after another from their offsets on, what belongs to nodes (n+1,) from `places` on, heads
(k, n) from k times `words` on. Loops in place of array operations compile several times faster.
"""

from __future__ import annotations

import numpy as np

from deptree_cli.kernels.batches.lanes import sentence
from deptree_cli.kernels.elementary import largest
from deptree_cli.kernels.elimination import marginals as arcs
from deptree_cli.kernels.elimination.panels import WIDTH
from deptree_cli.kernels.elimination.sampler import sample_trees, transpose
from deptree_cli.kernels.flags import kernel
from deptree_cli.kernels.numbers.pairs import pair_add
from deptree_cli.kernels.shift import shift_sentence
from deptree_cli.kernels.trees import best_tree as best
from deptree_cli.kernels.trees import tree_scores


@kernel(allocates=True)
def shift(log_scores, lengths, offsets, mask, single_root, high, low, last, constants):
    """Fill high and low with shifted scores, last (B,) with the likeliest root of each sentence, constants (B, 2)."""
    peaks = np.empty(largest(lengths) + 1)
    for b in range(lengths.shape[0]):
        n = lengths[b]
        shifted = sentence(high, offsets[b], n)
        given, rest = sentence(log_scores, offsets[b], n), sentence(low, offsets[b], n)
        constant, _, _ = shift_sentence(given, mask, single_root, peaks[: n + 1], shifted, rest)
        constants[b, 0], constants[b, 1] = constant
        last[b] = 0
        for j in range(1, n + 1):
            if shifted[0, j] > shifted[0, last[b]]:
                last[b] = j


@kernel(allocates=True)
def factorise(weights, lengths, offsets, places, last, single_root, factors, pivots, log_z, depth):
    """Fill factors, pivots, log_z (B,) and depth (B,): how far above 0 float64 held every pivot."""
    workspace = np.empty((3, WIDTH, largest(lengths) + 1))
    for b in range(lengths.shape[0]):
        n = lengths[b]
        W, A = sentence(weights, offsets[b], n), sentence(factors, offsets[b], n)
        S = pivots[places[b] : places[b] + n + 1]
        log_z[b], depth[b] = arcs.factorise(W, last[b], A, S, workspace, single_root)


@kernel
def add_constants(log_z, constants, sums):
    """Fill sums (B, 2) with pairs: log_z (B,) plus constants (B, 2)."""
    for b in range(log_z.shape[0]):
        sums[b, 0], sums[b, 1] = pair_add((log_z[b], 0.0), (constants[b, 0], constants[b, 1]))


@kernel(allocates=True)
def marginals(weights, lengths, offsets, places, last, single_root, factors, pivots, out, sound):
    """Fill out with marginals; unset sound (B,) where those of a word's heads do not sum to 1."""
    nodes = largest(lengths) + 1
    workspace, adjoints = np.empty((3, WIDTH, nodes)), np.empty(nodes * nodes)
    for b in range(lengths.shape[0]):
        n = lengths[b]
        W, A = sentence(weights, offsets[b], n), sentence(factors, offsets[b], n)
        S, J = pivots[places[b] : places[b] + n + 1], sentence(adjoints, 0, n)
        usable = arcs.arc_marginals(W, last[b], A, S, J, workspace, single_root, sentence(out, offsets[b], n))
        sound[b] = sound[b] and usable


@kernel(allocates=True)
def sample(weights, lengths, offsets, places, words, last, single_root, factors, pivots, states, size, wanted, heads):
    """Fill heads with `size` independent trees a sentence, from size times its words on, by elimination.

    states: (B, 4) of `xoshiro.py`. Only of sentences that are wanted (B,).
    """
    nodes = largest(lengths) + 1
    copy, columns, roots = np.empty(nodes * nodes), np.empty(nodes * nodes), np.zeros(size, np.int64)
    for b in range(lengths.shape[0]):
        if wanted[b]:
            n = lengths[b]
            W, A, across = sentence(copy, 0, n), sentence(factors, offsets[b], n), sentence(columns, 0, n)
            S = pivots[places[b] : places[b] + n + 1]
            W[:] = sentence(weights, offsets[b], n)
            arcs.swap_words(W, last[b], 1)
            transpose(A, across, n + 1)
            trees = heads[size * words[b] : size * (words[b] + n)].reshape(size, n)
            sample_trees(A, S, across, W, last[b], single_root, roots, states[b], trees)


@kernel(allocates=True)
def best_trees(log_scores, lengths, offsets, words, single_root, heads):
    """Fill heads with the tree of the largest sum of scores of each sentence."""
    for b in range(lengths.shape[0]):
        n = lengths[b]
        best.best_tree(sentence(log_scores, offsets[b], n), single_root, heads[words[b] : words[b] + n])


@kernel(allocates=True)
def tree_log_probs(high, low, lengths, offsets, words, log_z, heads, out):
    """Fill out (B, K) with the log-probabilities of K trees of each sentence; log_z: (B,) of the shifted scores."""
    size = out.shape[1]
    for b in range(lengths.shape[0]):
        n = lengths[b]
        trees = heads[size * words[b] : size * (words[b] + n)].reshape(size, n)
        scores = sentence(high, offsets[b], n), sentence(low, offsets[b], n)
        tree_scores.tree_log_probs(scores[0], scores[1], (log_z[b], 0.0), trees, out[b])
