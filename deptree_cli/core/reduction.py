"""Trees of fewer words: without punctuation, as published studies have them, and with multiword tokens as one word."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from deptree_cli.core.dtypes import Array, Bool, Int, Integers


@dataclass(frozen=True, eq=False)
class Reduction:
    """Which words of a sentence are left out, and which of the others are one.

    Attributes:
        removed: (n,), words that go; their dependents go to their heads.
        units: (n,), the number of the unit that each word is a part of, from 0 in order; None where each is one.
    """

    removed: Bool
    units: Int | None = None

    def of(self, trees: Integers) -> Int:
        """Return k trees of the sentence, (k, n) heads, over the words that remain, (k, m)."""
        heads = without(trees.astype(np.int64), self.removed)
        if self.units is None:
            return heads
        units = self.units[~self.removed]
        return joined(heads, np.unique(units, return_inverse=True)[1])


def without(heads: Int, removed: Bool) -> Int:
    """Return trees (k, n) without some words, (k, m): the head of a word is the first above it that remains."""
    if not removed.any():
        return heads
    k = len(heads)
    gone = np.concatenate([[False], removed])
    above = np.concatenate([np.zeros((k, 1), np.int64), heads], axis=1)
    rows = np.arange(k)[:, None]
    while (lost := gone[heads]).any():
        heads = np.where(lost, above[rows, heads], heads)
    numbers = np.cumsum(~gone) - 1
    return numbers[heads[:, ~removed]]


def joined(heads: Int, units: Int) -> Int:
    """Return trees (k, n) over units of words, (k, m): the head of a unit is that of its highest word, else the first.

    The result is a tree: on the way up the depths of these words only decrease.

    Args:
        units: (n,), the number of each word's unit, 0 to m - 1 in order.
    """
    k, n = heads.shape
    m = int(units[-1]) + 1
    if m == n:
        return heads
    depth = depths(heads)
    top = np.full((k, m), n, dtype=np.int64)
    chosen: Array = np.zeros((k, m), dtype=np.int64)
    for word, unit in enumerate(units.tolist()):
        higher = depth[:, word] < top[:, unit]
        top[higher, unit] = depth[higher, word]
        chosen[higher, unit] = heads[higher, word]
    return np.concatenate([[0], units + 1])[chosen]


def depths(heads: Int) -> Int:
    """Return how many words are above each word of trees, (k, n)."""
    rows = np.arange(len(heads))[:, None]
    above = np.concatenate([np.zeros((len(heads), 1), np.int64), heads], axis=1)
    found, up = np.zeros(heads.shape, dtype=np.int64), heads
    while (up > 0).any():
        found += up > 0
        up = above[rows, up]
    return found
