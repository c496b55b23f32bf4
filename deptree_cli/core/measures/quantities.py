"""Quantities of trees in the order of their words; nan if one is not defined, as the mean length of no arcs.

Heads (words,) and starts (sentences + 1,) are as in `core/measures/__init__.py`. Arcs are those between words: an arc
from ROOT has no length and crosses nothing, as in published studies. Every function counts all quantities in one pass,
O(n + D) a sentence, where D is the sum of the lengths of its arcs; `table` returns them all.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import NamedTuple

import numpy as np

from deptree_cli.core.dtypes import Float, Int
from deptree_cli.core.measures.once import once_for_chunk


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


FORMULAS: dict[str, Callable[[Counts], Float | Int]] = {}


def quantity(formula: Callable[[Counts], Float | Int]) -> Callable[[Int, Int], Float]:
    """Return a function of a chunk of trees that computes a formula from what is counted; a decorator."""
    FORMULAS[formula.__name__] = formula

    @wraps(formula)
    def of_trees(heads: Int, starts: Int) -> Float:
        return np.asarray(formula(count(heads, starts)), np.float64)

    del of_trees.__wrapped__  # its arguments are not those of the formula
    return of_trees


@once_for_chunk
def count(heads: Int, starts: Int) -> Counts:
    """Return what all quantities are computed from."""
    from deptree_cli.kernels.trees.quantities import COLUMNS, count_in_trees  # loads kernels: if there is work

    counts = np.empty((len(starts) - 1, COLUMNS), np.int64)
    count_in_trees(heads, starts, counts)
    return Counts(np.diff(starts), *counts.T)


def table(heads: Int, starts: Int) -> dict[str, Float]:
    """Return all quantities of a chunk of trees by their names."""
    counts = count(heads, starts)
    return {name: np.asarray(formula(counts), np.float64) for name, formula in FORMULAS.items()}


def ratio(above: Float | Int, below: Float | Int) -> Float:
    """Return a quotient, nan where a number is divided by 0."""
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(below == 0, np.nan, np.divide(above, below))


@quantity
def length(counts: Counts) -> Int:
    """Return n, the number of words."""
    return counts.words


@quantity
def roots(counts: Counts) -> Int:
    """Return the number of roots: words whose head is ROOT."""
    return counts.roots


@quantity
def root_place(counts: Counts) -> Int:
    """Return the place of the root, from 1; of several roots that of the first."""
    return counts.root_place


@quantity
def sum_length(counts: Counts) -> Int:
    """Return D = sum of |head - dependent| over arcs between words; neighbours are at distance 1."""
    return counts.sum_length


@quantity
def mean_length(counts: Counts) -> Float:
    """Return D / (arcs between words), the mean dependency distance (Liu 2008, *Dependency distance*, eq. 1)."""
    return ratio(counts.sum_length, counts.arcs)


@quantity
def longest(counts: Counts) -> Int:
    """Return the length of the longest arc, 0 if there is none."""
    return counts.longest


@quantity
def depth(counts: Counts) -> Int:
    """Return the greatest number of arcs between a word and its root: 0 for a sentence of a word."""
    return counts.depth


@quantity
def mean_depth(counts: Counts) -> Float:
    """Return the mean number of arcs to the root over words but roots: mean hierarchical distance (Jing, Liu 2015)."""
    return ratio(counts.sum_depth, counts.arcs)


@quantity
def arity(counts: Counts) -> Int:
    """Return the most dependents of a word."""
    return counts.arity


@quantity
def mean_arity(counts: Counts) -> Float:
    """Return the mean number of dependents of words that have some; over all words it is arcs / n."""
    return ratio(counts.arcs, counts.parents)


@quantity
def left_arcs(counts: Counts) -> Int:
    """Return how many arcs lead to the left: the dependent before its head."""
    return counts.left


@quantity
def right_arcs(counts: Counts) -> Int:
    """Return how many arcs lead to the right: the dependent behind its head."""
    return counts.arcs - counts.left


@quantity
def head_final(counts: Counts) -> Float:
    """Return the share of arcs whose head follows (Liu 2010, *Dependency direction*)."""
    return ratio(counts.left, counts.arcs)


@quantity
def crossings(counts: Counts) -> Int:
    """Return C, how many pairs of arcs cross: one begins between the ends of the other and ends beyond it."""
    return counts.crossings


@quantity
def crossed_arcs(counts: Counts) -> Int:
    """Return how many arcs cross at least one."""
    return counts.crossed


@quantity
def flux_size(counts: Counts) -> Int:
    """Return the most arcs above a gap between two words (Kahane, Yan 2019); 0 without gaps."""
    return counts.flux


@quantity
def mean_flux_size(counts: Counts) -> Float:
    """Return the mean number of arcs above gaps, D / (n - 1): an arc is above as many gaps as it is long."""
    return ratio(counts.sum_length, counts.words - 1)


@quantity
def flux_weight(counts: Counts) -> Int:
    """Return the greatest weight of a gap: the most arcs above it, no two of which share a word (Kahane, Yan 2019)."""
    return counts.weight


@quantity
def mean_flux_weight(counts: Counts) -> Float:
    """Return the mean weight of gaps."""
    return ratio(counts.sum_weight, counts.words - 1)
