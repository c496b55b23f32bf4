"""Matrices of many sentences in one array, and the weights of a block of them as the kernels of batches take them."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from deptree_cli.kernels.elementary import largest
from deptree_cli.kernels.flags import kernel
from deptree_cli.kernels.shift import shift_sentence


class Matrices(NamedTuple):
    """A matrix (n+1, n+1) of each sentence, ``[head, dependent]``, padded or one after another.

    Attributes:
        values: the numbers of all, (size,).
        starts: (B,), where each matrix begins.
        widths: (B,), how many numbers lie between the beginnings of its rows, n+1 or more.
    """

    values: Any
    starts: Any
    widths: Any


class Packed(NamedTuple):
    """The weights of some sentences, one matrix after another; those of a sentence are at most 1.

    Attributes:
        weights: float64 or float32; some kernels overwrite them.
        starts: (B,), where each matrix begins.
        lengths: (B,), the numbers of words.
        last: (B,), the word that elimination takes last, 0 if ROOT has no arc.
        single_root: whether trees have one ROOT arc, or one or more.
        short: up to how many words sentences go side by side (`lanes.py`).
        in_range: (B,), whether numbers of this type suffice for the sentence; kernels unset it.
    """

    weights: Any
    starts: Any
    lengths: Any
    last: Any
    single_root: Any
    short: Any
    in_range: Any


@kernel(allocates=True)
def sentence(numbers, start, n):
    """Return a view of the (n+1)^2 numbers from a place on as a matrix."""
    return numbers[start : start + (n + 1) * (n + 1)].reshape(n + 1, n + 1)


@kernel(allocates=True)
def matrix(matrices, b, n):
    """Return a view of the rows of a sentence's matrix, (n+1, width)."""
    start, width = matrices.starts[b], matrices.widths[b]
    return matrices.values[start : start + (n + 1) * width].reshape(n + 1, width)


@kernel(allocates=True)
def shift_sentences(scores, mask, packed, constants):
    """Fill the packed weights with log-scores less a constant for each word, constants (B,) with what log Z loses.

    mask: scores down from -mask forbid, those above it are none. Fills `last`, and `in_range` with whether there are
    neither NaN nor scores too large, and some arc from ROOT. Elimination wants a word last that reaches all others:
    mostly that is the one that only ROOT may govern, or else the one with the best arc from ROOT.
    """
    peaks = np.empty(largest(packed.lengths) + 1)
    for b in range(packed.lengths.shape[0]):
        n = packed.lengths[b]
        target, given = sentence(packed.weights, packed.starts[b], n), matrix(scores, b, n)
        found = shift_sentence(given, mask, packed.single_root, peaks, target)
        constants[b], packed.last[b], packed.in_range[b] = found
