"""Quantities of arcs, to be summed over a tree's or averaged: of heads and words, arrays alike.

The arc from ROOT, head 0, is none of them: it has no length and no direction.
"""

from __future__ import annotations

import numpy as np

from deptree_cli.core.dtypes import Array, Int


def sum_length(heads: Int, words: Int) -> Array:
    """Distances of words from their heads, added up: D, the sum of |head - word|; ROOT's arcs have no length."""
    return np.abs(heads - words) * (heads > 0)


def mean_length(heads: Int, words: Int) -> Array:
    """The mean distance of words from their heads, D / (n - 1); ROOT's arcs do not count."""
    return sum_length(heads, words)


def left_arcs(heads: Int, words: Int) -> Array:
    """Arcs whose dependent precedes its head: the number of head > word."""
    return (heads > words).astype(np.int64)


def right_arcs(heads: Int, words: Int) -> Array:
    """Arcs whose dependent follows its head: the number of 0 < head < word."""
    return ((heads > 0) & (heads < words)).astype(np.int64)


def head_final(heads: Int, words: Int) -> Array:
    """The share of arcs whose dependent precedes its head: left arcs / (n - 1)."""
    return left_arcs(heads, words)


def root_place(heads: Int, words: Int) -> Array:
    """The place of the root in the sentence, from 1; of several roots that of the first."""
    return words * (heads == 0)
