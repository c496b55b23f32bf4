"""Matrices of many sentences in one array, and the weights of a block of them as the kernels of batches take them."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from deptree_cli.kernels.elementary import largest
from deptree_cli.kernels.flags import kernel
from deptree_cli.kernels.shift import shift_sentence


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
        weights: float64 or float32, flat; some kernels overwrite them.
        starts: (B,), where each sentence's begin.
        lengths: (B,), the numbers of words.
        final_words: (B,), the word that elimination takes last, 0 if ROOT has no arc.
        single_root: whether trees have one ROOT arc, or one or more.
        short: up to how many words sentences go side by side (`lanes.py`).
        in_range: (B,), whether numbers of this type suffice for the sentence; kernels unset it.
    """

    weights: Any
    starts: Any
    lengths: Any
    final_words: Any
    single_root: Any
    short: Any
    in_range: Any


@kernel(allocates=True)
def sentence(numbers, start, n):
    """Return a view of the (n+1)^2 numbers from a place on as a matrix."""
    return numbers[start : start + (n + 1) * (n + 1)].reshape(n + 1, n + 1)


@kernel(allocates=True)
def matrix(matrices, b):
    """Return a view of a sentence's matrix."""
    values, starts, sizes = matrices
    return sentence(values, starts[b], sizes[b] - 1)


@kernel(allocates=True)
def shift_sentences(scores, mask, packed, constants):
    """Fill the packed weights with log-scores less a constant for each word, constants (B,) with what log Z loses.

    mask: scores down from -mask forbid, those above it are none. Fills `final_words`, and `in_range` with whether
    there are neither NaN nor scores too large, and some arc from ROOT. Elimination wants a word last that reaches all
    others: mostly that is the one that only ROOT may govern, or else the one with the best arc from ROOT.
    """
    weights, starts, lengths, final_words, single_root, _, in_range = packed
    peaks = np.empty(largest(lengths) + 1)
    for b in range(lengths.shape[0]):
        target = sentence(weights, starts[b], lengths[b])
        constants[b], final_words[b], in_range[b] = shift_sentence(matrix(scores, b), mask, single_root, peaks, target)
