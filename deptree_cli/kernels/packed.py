"""Matrices of many sentences one after another."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from deptree_cli.kernels.elementary import largest
from deptree_cli.kernels.flags import kernel
from deptree_cli.kernels.operations import operation, view
from deptree_cli.kernels.shift import shift_sentence
from deptree_cli.kernels.trees import tree_log_probs as log_probs_of_trees

# Matrices of many sentences in one array, and the weights of a block of them as the kernels of batches take them.


# Up to this many words sums in float32 keep marginals within 5e-6; of 200 words some were 9e-6 off.
LONG = 100


class Matrices(NamedTuple):
    """A square matrix of each sentence, ``[head, dependent]``: of its nodes, or with padding behind them.

    Attributes:
        values: the numbers of all, flat.
        starts: (B,), where each begins.
        sizes: (B,), how many rows it has.
    """

    values: Any
    starts: Any
    sizes: Any


class Packed(NamedTuple):
    """The weights of some sentences, (n+1, n+1) one after another; those of a sentence are at most 1.

    Attributes:
        weights: float64, float32 or wide, flat.
        starts: (B,), where each sentence's begin.
        lengths: (B,), the numbers of words.
        final_words: (B,), the word that elimination takes last, 0 if ROOT has no arc.
        single_root: whether trees have one ROOT arc, or one or more.
        short: up to how many words sentences go side by side (`questions.py`).
        in_range: (B,), whether numbers of this type suffice for the sentence; kernels unset it.
    """

    weights: Any
    starts: Any
    lengths: Any
    final_words: Any
    single_root: Any
    short: Any
    in_range: Any


@operation
def sentence(numbers, start, n):
    """Return a view of the (n+1)^2 numbers from a place on as a matrix."""
    return view(numbers, start, (n + 1) * (n + 1), (n + 1, n + 1))


@operation
def matrix(matrices, b):
    """Return a view of a sentence's matrix."""
    values, starts, sizes = matrices
    return sentence(values, starts[b], sizes[b] - 1)


@kernel(allocates=True)
def shift_sentences(scores, mask, packed, constants):
    """Fill the packed weights with log-scores less a constant for each word, constants (B,) with what log Z loses.

    mask: scores down from -mask forbid, those above it are none. Fills `starts`, `final_words`, and `in_range` with
    whether there are neither NaN nor scores too large, and some arc from ROOT; returns where the weights end.
    Elimination wants a word last that reaches all others: mostly that is the one that only ROOT may govern, or else the
    one with the best arc from ROOT.
    """
    weights, starts, lengths, final_words, single_root, _, in_range = packed
    peaks, end = np.empty(largest(lengths) + 1), 0
    for b in range(lengths.shape[0]):
        starts[b] = end
        end += (lengths[b] + 1) ** 2
        target = sentence(weights, starts[b], lengths[b])
        constants[b], final_words[b], in_range[b] = shift_sentence(matrix(scores, b), mask, single_root, peaks, target)
        if weights.itemsize == 4 and lengths[b] > LONG:
            in_range[b] = False
    return end


# Matrices of many sentences laid out as ``[head, dependent]`` with ROOT first, one after another, and back.


# Where ROOT stands.
FIRST, LAST, DIAGONAL = 0, 1, 2


@kernel
def lay_out(source, target, shapes, starts, dep_head, root, lengths, offsets, back):
    """Copy the numbers of arcs from matrices as they were read to such of sentences of lengths (B,), or back.

    As read: a matrix of shapes (B, 2) from each of starts (B,) on; dep_head (B,): whether its rows are dependents. Of
    sentences: (n+1, n+1) from each of offsets (B,) on. What belongs to no arc is left as it is.
    """
    for b in range(lengths.shape[0]):
        n, rows, columns = lengths[b], shapes[b, 0], shapes[b, 1]
        for i in range(rows):
            for j in range(columns):
                head, word, dependents = (j, i, rows) if dep_head[b] else (i, j, columns)
                if root == DIAGONAL:
                    head, word = 0 if head == word else head + 1, word + 1
                else:
                    shift = 0 if root == FIRST else 1
                    head, word = head + shift, word + (shift if dependents > n else 1)
                    head, word = head if head <= n else 0, word if word <= n else 0
                if word > 0 and head != word:
                    read, own = starts[b] + i * columns + j, offsets[b] + head * (n + 1) + word
                    if back:
                        target[read] = source[own]
                    else:
                        target[own] = source[read]


@kernel
def clear_no_arcs(values, sizes, offsets, empty):
    """Overwrite column 0 and the diagonal of square matrices of sizes (B,), one after another, by `empty`."""
    for b in range(sizes.shape[0]):
        for i in range(sizes[b]):
            values[offsets[b] + i * sizes[b]] = empty
            values[offsets[b] + i * (sizes[b] + 1)] = empty


@kernel(allocates=True)
def find_plain(scores, lengths, starts, most, plain):
    """Fill plain (B,) with whether all scores of arcs are numbers nearer to 0 than `most`."""
    for b in range(lengths.shape[0]):
        scores_of_one, outside = sentence(scores, starts[b], lengths[b]), 0
        for i in range(scores_of_one.shape[0]):
            for j in range(1, scores_of_one.shape[0]):
                outside += not (abs(scores_of_one[i, j]) < most or i == j)
        plain[b] = outside == 0


# Log-probabilities of trees of many sentences.


@kernel(allocates=True)
def tree_log_probs(log_weights, lengths, log_z, heads, starts, out):
    """Fill out (B, K) with the log-probabilities of K trees of each sentence, heads (K, n) from its start (B,) on.

    log_weights: matrices of shifted scores, one after another; log_z: (B,), of these.
    """
    size = out.shape[1]
    for b in range(lengths.shape[0]):
        n = lengths[b]
        trees = heads[starts[b] : starts[b] + size * n].reshape(size, n)
        log_probs_of_trees(matrix(log_weights, b), log_z[b], trees, out[b])
