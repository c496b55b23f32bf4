"""Quantities of trees in the order of their words; nan if one is not defined, as the mean length of no arcs.

Heads (words,) and starts (sentences + 1,) are as in `core/measures/__init__.py`. Arcs are those between words: an arc
from ROOT has no length and crosses nothing, as in published studies. All are counted in one pass over a chunk, O(n + D)
a sentence, where D is the sum of the lengths of its arcs; a second quantity of a chunk costs nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import NamedTuple

import numpy as np

from deptree_cli.core.dtypes import Float, Int
from deptree_cli.core.measures.chunks import once_a_chunk


class Counts(NamedTuple):
    """What a pass over trees counts, (sentences,) each; from `roots` on in the order of the kernel's columns."""

    words: Int
    roots: Int
    root_place: Int
    sum_length: Int
    longest: Int
    left: Int
    depth: Int
    sum_depth: Int
    arity: Int
    parents: Int
    crossings: Int
    crossed: Int
    flux: Int
    weight: Int
    sum_weight: Int

    @property
    def arcs(self) -> Int:
        """How many arcs have two words: all words but the roots have one from a word."""
        return self.words - self.roots

    @property
    def gaps(self) -> Int:
        """How many gaps are between words."""
        return np.maximum(self.words - 1, 0)


def quantity(formula: Callable[[Counts], Float | Int]) -> Callable[[Int, Int], Float]:
    """Return a function of a chunk of trees that computes a formula from what is counted; a decorator."""

    @wraps(formula)
    def of_trees(heads: Int, starts: Int) -> Float:
        return np.asarray(formula(Counts(np.diff(starts), *count(heads, starts))), np.float64)

    del of_trees.__wrapped__  # its arguments are not those of the formula
    return of_trees


@once_a_chunk
def count(heads: Int, starts: Int) -> Int:
    """Return the columns of the kernel, (columns, sentences)."""
    from deptree_cli.kernels.trees.quantities import COLUMNS, count_in_trees  # loads kernels: if there is work

    counts = np.empty((len(starts) - 1, COLUMNS), np.int64)
    count_in_trees(heads, starts, counts)
    return np.ascontiguousarray(counts.T)


def ratio(above: Float | Int, below: Float | Int) -> Float:
    """Return a quotient, nan where a number is divided by 0."""
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(below == 0, np.nan, np.divide(above, below))


@quantity
def length(counts: Counts) -> Int:
    """The number of words, n."""
    return counts.words


@quantity
def roots(counts: Counts) -> Int:
    """The number of roots: words whose head is ROOT."""
    return counts.roots


@quantity
def root_place(counts: Counts) -> Float:
    """The place of the root, from 1; of several roots that of the first."""
    return np.where(counts.roots == 0, np.nan, counts.root_place)


@quantity
def sum_length(counts: Counts) -> Int:
    """The sum of the lengths of arcs, D = sum of |head - dependent|; neighbours are at distance 1."""
    return counts.sum_length


@quantity
def mean_length(counts: Counts) -> Float:
    """The mean length of arcs, D / arcs: the mean dependency distance (Liu 2008)."""
    return ratio(counts.sum_length, counts.arcs)


@quantity
def longest(counts: Counts) -> Int:
    """The length of the longest arc, 0 if there is none."""
    return counts.longest


@quantity
def depth(counts: Counts) -> Int:
    """The most arcs between a word and its root; 0 if the root has no dependents."""
    return counts.depth


@quantity
def mean_depth(counts: Counts) -> Float:
    """The mean number of arcs between words and their roots, roots left out: mean hierarchical distance.

    Jing and Liu 2015, *Mean hierarchical distance augmenting mean dependency distance*.
    """
    return ratio(counts.sum_depth, counts.arcs)


@quantity
def arity(counts: Counts) -> Int:
    """The most dependents of a word."""
    return counts.arity


@quantity
def mean_arity(counts: Counts) -> Float:
    """The mean number of dependents of words that have some; over all words it is arcs / n."""
    return ratio(counts.arcs, counts.parents)


@quantity
def left_arcs(counts: Counts) -> Int:
    """The number of arcs to the left: the dependent before its head."""
    return counts.left


@quantity
def right_arcs(counts: Counts) -> Int:
    """The number of arcs to the right: the dependent behind its head."""
    return counts.arcs - counts.left


@quantity
def head_final(counts: Counts) -> Float:
    """The share of arcs whose head follows, left arcs / arcs (Liu 2010)."""
    return ratio(counts.left, counts.arcs)


@quantity
def crossings(counts: Counts) -> Int:
    """The number of pairs of arcs that cross, C: one begins between the ends of the other and ends beyond it."""
    return counts.crossings


@quantity
def crossed_arcs(counts: Counts) -> Int:
    """The number of arcs that cross another one."""
    return counts.crossed


@quantity
def flux_size(counts: Counts) -> Int:
    """The most arcs above a gap between two words (Kahane and Yan 2019); 0 without gaps."""
    return counts.flux


@quantity
def flux_weight(counts: Counts) -> Int:
    """The greatest weight of a gap: the most arcs above it, no two of which share a word (Kahane et al. 2017)."""
    return counts.weight


@quantity
def mean_flux_weight(counts: Counts) -> Float:
    """The mean weight of gaps."""
    return ratio(counts.sum_weight, counts.gaps)
