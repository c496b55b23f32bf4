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
from deptree_cli.kernels.elimination.root_arcs import root_products
from deptree_cli.kernels.flags import kernel
from deptree_cli.kernels.shift import shift_sentence
from deptree_cli.kernels.trees import best_tree as best
from deptree_cli.kernels.trees import tree_scores
from deptree_cli.kernels.walks.wilson import walk_without_tables


@kernel(allocates=True)
def shift(log_scores, lengths, offsets, mask, single_root, log_weights, last, constants):
    """Fill log_weights with shifted scores, last (B,) with the likeliest root of each sentence, and constants (B,)."""
    peaks = np.empty(largest(lengths) + 1)
    for b in range(lengths.shape[0]):
        n = lengths[b]
        given, shifted = sentence(log_scores, offsets[b], n), sentence(log_weights, offsets[b], n)
        constants[b], _, _ = shift_sentence(given, mask, single_root, peaks[: n + 1], shifted)
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
def walk(
    weights, lengths, offsets, places, words, last, single_root, factors, pivots, states, budgets, spare, heads, sound
):
    """Fill heads with K independent trees a sentence, heads (K, n) from K times its words on, by Wilson's walk.

    states: (B, 4) of `xoshiro.py`. budgets, spare: (B,), see `walk_without_tables`. Sentences that are not sound (B,)
    are passed over; those of which a walk is given up become so.
    """
    nodes, size = largest(lengths) + 1, heads.shape[0] // (words[-1] + lengths[-1])
    copy, roots, left = np.empty(nodes * nodes), np.empty(size, np.int64), np.empty(1, np.int64)
    abandoned, probs = np.empty(size, np.bool_), np.empty(nodes)
    for b in range(lengths.shape[0]):
        if not sound[b]:
            continue
        n = lengths[b]
        W, A, S = sentence(copy, 0, n), sentence(factors, offsets[b], n), pivots[places[b] : places[b] + n + 1]
        fill_walked(W, sentence(weights, offsets[b], n), last[b], A, S, single_root, probs[: n + 1])
        left[0] = spare[b]
        trees = heads[size * words[b] : size * (words[b] + n)].reshape(size, n)
        walk_without_tables(W, single_root, states[b], budgets[b], left, trees, roots, abandoned)
        for i in range(size):
            sound[b] = sound[b] and not abandoned[i]


@kernel
def fill_walked(W, weights, last, A, S, single_root, probs):
    """Fill W with weights (n+1, n+1), and its column 0 with the probability that a word is the root, or 0.

    probs (n+1,): to compute in.
    """
    for i in range(W.shape[0]):
        probs[i] = 0.0
        for j in range(W.shape[0]):
            W[i, j] = weights[i, j]
    if single_root:
        root_products(W, last, A, S, probs)
    for i in range(W.shape[0]):
        W[i, 0] = probs[i]


@kernel(allocates=True)
def best_trees(log_scores, lengths, offsets, words, single_root, heads):
    """Fill heads with the tree of the largest sum of scores of each sentence."""
    for b in range(lengths.shape[0]):
        n = lengths[b]
        best.best_tree(sentence(log_scores, offsets[b], n), single_root, heads[words[b] : words[b] + n])


@kernel(allocates=True)
def tree_log_probs(log_weights, lengths, offsets, words, log_z, heads, out):
    """Fill out (B, K) with the log-probabilities of K trees of each sentence; log_z: (B,) of the shifted scores."""
    size = out.shape[1]
    for b in range(lengths.shape[0]):
        n = lengths[b]
        trees = heads[size * words[b] : size * (words[b] + n)].reshape(size, n)
        tree_scores.tree_log_probs(sentence(log_weights, offsets[b], n), log_z[b], trees, out[b])
