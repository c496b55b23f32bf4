"""Quantities of trees: what quantitative syntax counts, and what to expect in a random order of words or the best.

All are listed in `core/quantities.py`, with those of a distribution. A chunk of trees is packed: the heads of all
sentences one behind the other, (words,), those of sentence s in ``heads[starts[s] : starts[s + 1]]``, numbered from 1
in each, 0 for ROOT; they have been validated. Functions of heads and starts return a number per sentence, (sentences,),
NaN if one is not defined, as the mean length of no arcs. Arcs are those between words: an arc from ROOT has no length
and no direction and crosses nothing, as in published studies. Most are counted in one pass over a chunk, O(n + D) a
sentence, where D is the sum of the lengths of its arcs; a second quantity of a chunk costs nothing.

In another order of a tree's words, n is the number of words, m that of arcs between words, k_v the number of arcs at a
word, D the sum of their lengths and C the number of pairs that cross. Orders are *unconstrained*: all n!; *projective*:
every word and its descendants stand together; or *planar*: no arcs cross, but one may pass over a root. Several roots:
unconstrained orders are those of all words of the forest. In projective and planar ones the words of each root stand
together, so that the numbers are the sums over its trees.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial, wraps
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from deptree_cli.core.dtypes import Array, Bool, Float, Int, Integers, ratio, read_only

if TYPE_CHECKING:
    from deptree_cli.core.spaces import TreeSpace

# A number of each tree of a chunk: heads (words,), starts (sentences + 1,) -> (sentences,).
OfTrees = Callable[[Int, Int], Array]

# What a quantity is a mean over, instead of a sum over all arcs: those between words, or that to the first root alone.
ARCS, FIRST_ROOT = "arcs", "first root"


@dataclass(frozen=True)
class Quantity:
    """An entry of the register.

    Attributes:
        value: a function, whose docstring begins with a line for users; of what, the subclass says.
        scalar: whether the value is one number.
    """

    name: str
    value: Callable[..., Any]
    scalar: bool = field(default=True, kw_only=True)
    kind: ClassVar[str] = ""

    @property
    def summary(self) -> str:
        return (self.value.__doc__ or "").splitlines()[0]


@dataclass(frozen=True)
class Baseline:
    """What a quantity would be if something of the tree were left to chance, or were the best: exact numbers.

    Attributes:
        mean: its expectation, or the best value.
        variance: of that expectation's distribution; None where nobody knows, or there is none.
    """

    mean: OfTrees
    variance: OfTrees | None = None


@dataclass(frozen=True)
class OfTree(Quantity):
    """A number of a tree, whatever its sentence: ``value(heads, starts)`` of a chunk, (sentences,); NaN is undefined.

    Attributes:
        baselines: what to compare it with, by name.
        whole: whether it is a whole number.
    """

    baselines: Mapping[str, Baseline] = field(default_factory=dict, kw_only=True, hash=False)
    whole: bool = field(default=False, kw_only=True)
    kind: ClassVar[str] = "a tree"

    def of_trees(self, heads: Int, starts: Int) -> Array:
        """Compute it for each tree of a chunk, (sentences,)."""
        return self.value(heads, starts)

    def of_sentence(self, trees: Integers) -> Array:
        """Compute it for each of k trees of one sentence, (k, n) heads -> (k, ...); 0 where it is not defined."""
        k, n = trees.shape
        found = np.asarray(self.of_trees(trees.reshape(-1).astype(np.int64), np.arange(k + 1) * n), dtype=np.float64)
        return np.where(np.isnan(found), 0.0, found)

    def arc_values(self, n: int, space: TreeSpace) -> Float | None:
        """Return what each arc adds to it in trees of n words, (n+1, n+1); None if it is not a sum over arcs there."""
        return None


@dataclass(frozen=True)
class OverArcs(OfTree):
    """A sum over the arcs of a tree: ``value(heads, words)`` of arcs, arrays alike, 0 for what does not count.

    So it has an exact expectation under every distribution. Arcs from ROOT have the head 0.

    Attributes:
        over: `ARCS`, of which trees with a single root have n - 1, or `FIRST_ROOT`; empty for the sum itself.
    """

    over: str = field(default="", kw_only=True)
    kind: ClassVar[str] = "a tree, a sum over arcs"

    def of_trees(self, heads: Int, starts: Int) -> Array:
        values = np.asarray(self.value(heads, words_of(starts))) + 0  # truth values are numbers to be added
        if self.over == FIRST_ROOT:
            roots = np.flatnonzero(heads == 0)
            return values[roots[np.searchsorted(roots, starts[:-1])]]
        sums = np.add.reduceat(values, starts[:-1])
        return ratio(sums, arcs(heads, starts)) if self.over else sums

    def arc_values(self, n: int, space: TreeSpace) -> Float | None:
        if self.over and not space.single_root:
            return None  # the number of roots is not the same in all trees
        values = np.array(self.value(*np.indices((n + 1, n + 1))), dtype=np.float64)
        values[:, 0] = 0.0
        return values / max(n - 1, 1) if self.over == ARCS else values


def words_of(starts: Int) -> Int:
    """Return the numbers of words, 1 to n of each sentence, (words,)."""
    return np.arange(1, starts[-1] + 1) - np.repeat(starts[:-1], np.diff(starts))


def arcs(heads: Int, starts: Int) -> Int:
    before = np.concatenate([[0], np.cumsum(heads != 0)])
    return before[starts[1:]] - before[starts[:-1]]


def once_a_chunk(compute: OfTrees) -> OfTrees:
    """Return a function that keeps the numbers of its last chunk, as constants; a decorator.

    A chunk is the same if its heads and starts are equal, which is much quicker to see than what they are asked for.
    """
    kept: list[tuple[Int, Int, Array]] = []

    @wraps(compute)
    def of_chunk(heads: Int, starts: Int) -> Array:
        for known_heads, known_starts, numbers in kept[:]:
            if np.array_equal(starts, known_starts) and np.array_equal(heads, known_heads):
                return numbers
        numbers = read_only(compute(heads, starts))
        kept[:] = [(heads.copy(), starts.copy(), numbers)]
        return numbers

    return of_chunk


# Quantities of trees that are counted in one pass.

# The columns of the kernel; further ones are worked out of these.
COUNTED = (
    *("roots", "root_place", "sum_length", "longest", "left", "depth", "sum_depth", "arity", "parents"),
    *("crossings", "crossed_arcs", "flux_size", "flux_weight", "sum_weight"),
)


def count(name: str, heads: Int, starts: Int) -> Int:
    """Return one of `COUNTED`, or the number of words, of arcs, or of gaps between words, (sentences,)."""
    if name in COUNTED:
        return _counted(heads, starts)[COUNTED.index(name)]
    words = np.diff(starts)
    return {"length": words, "arcs": arcs(heads, starts), "gaps": np.maximum(words - 1, 0)}[name]


@once_a_chunk
def _counted(heads: Int, starts: Int) -> Int:
    from deptree_cli.kernels.orders import COUNTS, count_in_trees  # loads kernels: if there is work

    counts = np.empty((len(starts) - 1, COUNTS), np.int64)
    count_in_trees(heads, starts, counts)
    return np.ascontiguousarray(counts.T)


def counted(name: str, summary: str, above: str = "", below: str = "", **how: Any) -> OfTree:
    """Return a quantity that is `count` of its name, or the ratio of two; summary: the line for users."""
    value = partial(_ratio_of, above or name, below)
    value.__doc__ = summary
    return OfTree(name, value, whole=not below, **how)


def _ratio_of(above: str, below: str, heads: Int, starts: Int) -> Float:
    found = count(above, heads, starts).astype(np.float64)
    return ratio(found, count(below, heads, starts)) if below else found


# Quantities of arcs, to be summed over a tree's or averaged: of heads and words, arrays alike.


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


def each_arc(heads: Int, starts: Int) -> Float:
    """Each arc: its expectation is its marginal probability.

    Of k trees of one sentence, (k, n+1, n+1), ``[head, dependent]``, 1 where a tree has the arc.
    """
    k, n = len(starts) - 1, int(starts[1])
    values = np.zeros((k, n + 1, n + 1))
    values[np.arange(k)[:, None], heads.reshape(k, n), np.arange(1, n + 1)] = 1.0
    return values


def non_projective_arcs(heads: Int, starts: Int) -> Int:
    """Arcs with a word between their ends that does not descend from the head (Kuhlmann and Nivre 2006)."""
    found: Int = np.add.reduceat(gaps(heads, starts).astype(np.int64), starts[:-1])
    return found


def gaps(heads: Integers, starts: Int) -> Bool:
    """Return which words of a chunk have a word between them and their head that is not below that head, (words,)."""
    from deptree_cli.kernels import orders  # loads kernels: if there is work

    return _by_length(orders.gaps, heads, starts)


def _by_length(of_trees: Callable[[Int], Array], heads: Integers, starts: Int) -> Bool:
    """Return whether a function of trees of one length, (k, n) -> (k, n), finds something of each word, (words,)."""
    lengths, found = np.diff(starts), np.empty(len(heads), dtype=bool)
    for n in np.unique(lengths).tolist():
        places = starts[:-1][lengths == n][:, None] + np.arange(n)
        found[places] = of_trees(np.ascontiguousarray(heads[places], dtype=np.int64))
    return found


def arc_shapes(heads: Int, starts: Int) -> tuple[Bool, Bool, Int]:
    """Return of each word's arc whether another one crosses it, and whether it is non-projective; and its depth."""
    from deptree_cli.core.factorisation import crossings

    between_words = np.where(heads > 0, heads, words_of(starts))  # a root's arc to itself crosses nothing
    return _by_length(crossings, between_words, starts), gaps(heads, starts), depths(heads, starts)


def depths(heads: Int, starts: Int) -> Int:
    """Return how many words are above each word of a chunk, (words,)."""
    above = np.where(heads > 0, heads - 1 + np.repeat(starts[:-1], np.diff(starts)), -1)
    found, up = np.zeros(len(heads), dtype=np.int64), above
    while (up >= 0).any():
        found += up >= 0
        up = np.where(up >= 0, above[up], -1)
    return found


# What to expect where the words of a tree stand in another order.


def expected_sum_length(heads: Int, starts: Int) -> Float:
    """The mean of D over all orders, m (n + 1) / 3; (n^2 - 1) / 3 with one root. O(n).

    Ferrer-i-Cancho 2004, *Euclidean distance between syntactically linked words*.
    """
    words = np.diff(starts)
    return arcs(heads, starts) * (words + 1) / 3


def variance_sum_length(heads: Int, starts: Int) -> Float:
    """The variance of D over all orders. O(n).

    Ferrer-i-Cancho 2019, *The sum of edge lengths in random linear arrangements*: E[D^2] sums over pairs of arcs, of
    which 2|Q| share no word, m (m - 1) - 2|Q| one, and m are the same; the products of their lengths have means
    (n + 1) (5n + 4) / 45, (n + 1) (7n + 4) / 60 and n (n + 1) / 6. |Q| is that of `_OF_CROSSINGS`.
    """
    n, m = np.diff(starts), arcs(heads, starts)
    apart = 2 * _sums(heads, starts)[0].astype(np.int64)
    beside = m * (m - 1) - apart
    rest = 4 * (5 * n + 4) * apart + 3 * (7 * n + 4) * beside + 30 * n * m - 20 * m * m * (n + 1)
    return (n + 1.0) * rest / 180


def _of_sums(column: int, divisor: float, heads: Int, starts: Int) -> Float:
    """One of the sums over the words of trees, divided by a number. O(n) a tree."""
    return _sums(heads, starts)[column] / divisor


@once_a_chunk
def smallest_sum_length(heads: Int, starts: Int) -> Float:
    """The least D of all orders, D_min. O(n^2.2).

    Shiloach 1979, *A minimum linear arrangement algorithm for undirected trees*; Esteban and Ferrer-i-Cancho 2017, *A
    correction on Shiloach's algorithm*.
    """
    from deptree_cli.kernels.orders import shortest_orders  # loads kernels: if there is work

    found = np.empty(len(starts) - 1)
    shortest_orders(heads, starts, found)
    return found


def optimality(heads: Int, starts: Int) -> Float:
    """The score of optimality, (E[D] - D) / (E[D] - D_min): 1 in the shortest order, 0 as in random ones; nan if n < 3.

    Omega in Ferrer-i-Cancho, Gomez-Rodriguez, Esteban and Alemany-Puig 2022, *Optimality of
    syntactic dependency distances*.
    """
    expected = arcs(heads, starts) * (np.diff(starts) + 1)  # three times as much: integers are exact
    found, least = count("sum_length", heads, starts), smallest_sum_length(heads, starts)
    return ratio(expected - 3 * found, expected - 3 * least)


@once_a_chunk
def _sums(heads: Int, starts: Int) -> Float:
    """What `sum_over_words` sums up, (columns, sentences)."""
    from deptree_cli.kernels.orders import SUMS, sum_over_words  # loads kernels: if there is work

    sums = np.empty((len(starts) - 1, SUMS))
    sum_over_words(heads, starts, sums)
    return np.ascontiguousarray(sums.T)


RANDOM_ORDER, RANDOM_PROJECTIVE_ORDER = "random_order", "random_projective_order"
SMALLEST_PROJECTIVE, SMALLEST_PLANAR, SMALLEST = "smallest_projective", "smallest_planar", "smallest"


def _per_arc(of_trees: OfTrees, power: int, heads: Int, starts: Int) -> Array:
    return ratio(of_trees(heads, starts), arcs(heads, starts) ** power)


def _first_root(heads: Int, starts: Int) -> Array:
    return (count("length", heads, starts) + 1.0) / (count("roots", heads, starts) + 1.0)


def _averaged(baselines: Mapping[str, Baseline]) -> dict[str, Baseline]:
    return {
        name: Baseline(partial(_per_arc, each.mean, 1), each.variance and partial(_per_arc, each.variance, 2))
        for name, each in baselines.items()
    }


_OF_LENGTH = {
    RANDOM_ORDER: Baseline(expected_sum_length, variance_sum_length),
    # The mean of D over projective orders, (sum over words v of n_v (2 d_v + 1) - 1) / 6, where n_v is the number of
    # words of v's subtree and d_v that of its dependents. Alemany-Puig and Ferrer-i-Cancho 2022, *Linear-time
    # calculation of the expected sum of edge lengths in projective linearizations of trees*.
    RANDOM_PROJECTIVE_ORDER: Baseline(partial(_of_sums, 2, 6)),
    # Of the subtrees below a word, largest first, each stands outside those behind it in its row, on both sides in
    # turn. Alemany-Puig, Esteban and Ferrer-i-Cancho 2022, *Minimum projective linearizations of trees in linear time*.
    SMALLEST_PROJECTIVE: Baseline(partial(_of_sums, 3, 1)),
    # The least D of projective orders if the tree has its root in its centroid. Hochberg and Stallmann 2003, *Optimal
    # one-page tree embeddings in linear time*.
    SMALLEST_PLANAR: Baseline(partial(_of_sums, 4, 1)),
    SMALLEST: Baseline(smallest_sum_length),
}
# The mean of C over all orders is |Q| / 3, where Q are the pairs of arcs that share no word: |Q| = m (m - 1) / 2 - sum
# over words v of k_v (k_v - 1) / 2, and of three orders of such a pair one crosses. Ferrer-i-Cancho 2017, *Random
# crossings in dependency trees*. The variance is from the degrees of words and of their neighbours. Alemany-Puig and
# Ferrer-i-Cancho 2020, *Fast calculation of the variance of edge crossings in random arrangements*.
_OF_CROSSINGS = {RANDOM_ORDER: Baseline(partial(_of_sums, 0, 3), partial(_of_sums, 1, 180))}
_OF_DIRECTION = {RANDOM_ORDER: Baseline(lambda heads, starts: arcs(heads, starts) / 2.0)}

# Mean hierarchical distance: Jing and Liu 2015, *Mean hierarchical distance augmenting mean dependency distance*.
MEASURES: tuple[OfTree, ...] = (
    counted("length", "The number of words, n."),
    OverArcs("sum_length", sum_length, baselines=_OF_LENGTH, whole=True),
    OverArcs("mean_length", mean_length, over=ARCS, baselines=_averaged(_OF_LENGTH)),
    counted("longest", "The length of the longest arc, 0 if there is none."),
    OfTree("optimality", optimality),
    OverArcs("root_place", root_place, over=FIRST_ROOT, baselines={RANDOM_ORDER: Baseline(_first_root)}),
    OverArcs("left_arcs", left_arcs, baselines=_OF_DIRECTION, whole=True),
    OverArcs("right_arcs", right_arcs, baselines=_OF_DIRECTION, whole=True),
    OverArcs("head_final", head_final, over=ARCS, baselines=_averaged(_OF_DIRECTION)),
    counted("depth", "The most arcs between a word and its root; 0 if the root has no dependents."),
    counted(
        "mean_depth",
        "The mean number of arcs between words and their roots, roots left out: mean hierarchical distance.",
        *("sum_depth", "arcs"),
    ),
    counted("arity", "The most dependents of a word."),
    counted(
        "mean_arity",
        "The mean number of dependents of words that have some; over all words it is arcs / n.",
        *("arcs", "parents"),
    ),
    counted(
        "crossings",
        "The number of pairs of arcs that cross, C: one begins between the ends of the other and ends beyond it.",
        baselines=_OF_CROSSINGS,
    ),
    counted("crossed_arcs", "The number of arcs that cross another one."),
    OfTree("non_projective_arcs", non_projective_arcs, whole=True),
    counted("flux_size", "The most arcs above a gap between two words (Kahane and Yan 2019); 0 without gaps."),
    counted(
        "flux_weight",
        "The greatest weight of a gap: the most arcs above it, no two of which share a word (Kahane et al. 2017).",
    ),
    counted("mean_flux_weight", "The mean weight of gaps.", "sum_weight", "gaps"),
    OfTree("arcs", each_arc, scalar=False),
)


@dataclass(frozen=True, eq=False)
class Reduction:
    """Which words (n,) of a sentence are left out, and which of the others are one.

    The dependents of removed words go to their heads. `units` are numbers from 0 in order; None where each word is one.
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

    The result is a tree: on the way up the depths of these words only decrease. `units` are (n,), 0 to m - 1 in order.
    """
    k, n = heads.shape
    m = int(units[-1]) + 1
    if m == n:
        return heads
    depth = depths(heads.ravel(), np.arange(k + 1) * n).reshape(k, n)
    highest = np.argsort(units * n + depth, axis=1, kind="stable")[:, np.searchsorted(units, np.arange(m))]
    return np.concatenate([[0], units + 1])[np.take_along_axis(heads, highest, axis=1)]
