"""What quantitative syntax counts in a tree, and what to expect if the order of words were random or the best.

A chunk of trees is packed: the heads of all sentences one behind the other, (words,), those of sentence s in
``heads[starts[s] : starts[s + 1]]``, numbered from 1 in each, 0 for ROOT; they have been validated. Functions of heads
and starts return a number per sentence, (sentences,), NaN if one is not defined, as the mean length of no arcs. Arcs
are those between words: an arc from ROOT has no length and no direction and crosses nothing, as in published studies.
Most are counted in one pass over a chunk, O(n + D) a sentence, where D is the sum of the lengths of its arcs; a second
quantity of a chunk costs nothing.

In another order of a tree's words, n is the number of words, m that of arcs between words, k_v the number of arcs at a
word, D the sum of their lengths and C the number of pairs that cross. Orders are *unconstrained*: all n!; *projective*:
every word and its descendants stand together; or *planar*: no arcs cross, but one may pass over a root. Several roots:
unconstrained orders are those of all words of the forest. In projective and planar ones the words of each root stand
together, so that the numbers are the sums over its trees.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial, wraps
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from deptree_cli.core.dtypes import Array, Bool, Float, Int, Integers, read_only
from deptree_cli.core.kinds import ARCS, FIRST_ROOT, Baseline, OfTree, OfTrees, OverArcs

Numbers = NDArray[Any]


def once_a_chunk(compute: Callable[[Int, Int], Numbers]) -> Callable[[Int, Int], Numbers]:
    """Return a function that keeps the numbers of its last chunk, as constants; a decorator.

    A chunk is the same if its heads and starts are equal, which is much quicker to see than what they are asked for.
    """
    kept: list[tuple[Int, Int, Numbers]] = []

    @wraps(compute)
    def of_chunk(heads: Int, starts: Int) -> Numbers:
        for known_heads, known_starts, numbers in kept[:]:
            if np.array_equal(starts, known_starts) and np.array_equal(heads, known_heads):
                return numbers
        numbers = read_only(compute(heads, starts))
        kept[:] = [(heads.copy(), starts.copy(), numbers)]
        return numbers

    return of_chunk


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
        return self.words - self.roots

    @property
    def gaps(self) -> Int:
        return np.maximum(self.words - 1, 0)


def count(heads: Int, starts: Int) -> Counts:
    return Counts(np.diff(starts), *_counted(heads, starts))


@once_a_chunk
def _counted(heads: Int, starts: Int) -> Int:
    """The columns of the kernel, (columns, sentences)."""
    from deptree_cli.kernels.orders import COUNTS, count_in_trees  # loads kernels: if there is work

    counts = np.empty((len(starts) - 1, COUNTS), np.int64)
    count_in_trees(heads, starts, counts)
    return np.ascontiguousarray(counts.T)


def ratio(above: Float | Int, below: Float | Int) -> Float:
    """Return a quotient, nan where a number is divided by 0."""
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(below == 0, np.nan, np.divide(above, below))


class Counted:
    """A function of a chunk of trees: one of their `Counts`, or the ratio of two.

    Args:
        summary: its docstring.
    """

    def __init__(self, summary: str, above: str, below: str = "") -> None:
        self.__doc__ = summary
        self._names = above, below

    def __call__(self, heads: Int, starts: Int) -> Float:
        above, below = self._names
        counts = count(heads, starts)
        found = np.asarray(getattr(counts, above), dtype=np.float64)
        return ratio(found, getattr(counts, below)) if below else found


length = Counted("The number of words, n.", "words")
roots = Counted("The number of roots: words whose head is ROOT.", "roots")
longest = Counted("The length of the longest arc, 0 if there is none.", "longest")
depth = Counted("The most arcs between a word and its root; 0 if the root has no dependents.", "depth")

# Jing and Liu 2015, *Mean hierarchical distance augmenting mean dependency distance*.
mean_depth = Counted(
    "The mean number of arcs between words and their roots, roots left out: mean hierarchical distance.",
    *("sum_depth", "arcs"),
)
arity = Counted("The most dependents of a word.", "arity")
mean_arity = Counted(
    "The mean number of dependents of words that have some; over all words it is arcs / n.", "arcs", "parents"
)
crossings = Counted(
    "The number of pairs of arcs that cross, C: one begins between the ends of the other and ends beyond it.",
    "crossings",
)
crossed_arcs = Counted("The number of arcs that cross another one.", "crossed")
flux_size = Counted("The most arcs above a gap between two words (Kahane and Yan 2019); 0 without gaps.", "flux")
flux_weight = Counted(
    "The greatest weight of a gap: the most arcs above it, no two of which share a word (Kahane et al. 2017).", "weight"
)
mean_flux_weight = Counted("The mean weight of gaps.", "sum_weight", "gaps")


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
    found: Int = np.add.reduceat(_gaps(heads, starts).astype(np.int64), starts[:-1])
    return found


def _gaps(heads: Int, starts: Int) -> Bool:
    """`have_gaps` of the words of a chunk, (words,)."""
    lengths, found = np.diff(starts), np.empty(len(heads), dtype=bool)
    for n in np.unique(lengths).tolist():
        places = starts[:-1][lengths == n][:, None] + np.arange(n)
        found[places] = have_gaps(heads[places])
    return found


def have_gaps(heads: Integers) -> Bool:
    """Return which arcs of trees (k, n) have a word between their ends that does not descend from the head, (k, n)."""
    from deptree_cli.kernels.orders import gaps  # loads kernels: if there is work

    found: Bool = gaps(np.array(heads, dtype=np.int64, order="C"))
    return found


def arc_shapes(heads: Int, starts: Int) -> tuple[Bool, Bool, Int]:
    """Return of each word's arc whether another one crosses it, and whether it is non-projective; and its depth.

    O(n + D) and the depth times n. An arc is crossed if a word between its ends has an arc to one beyond them.
    """
    crossed, words = np.zeros(len(heads), dtype=bool), np.flatnonzero(heads > 0)
    offsets = np.repeat(starts[:-1], np.diff(starts))
    ends = np.sort([words, heads[words] - 1 + offsets[words]], axis=0)
    first, last = (np.arange(len(heads)) for _ in range(2))
    np.minimum.at(first, ends[1], ends[0])
    np.maximum.at(last, ends[0], ends[1])
    if len(words):
        between = np.stack([ends[0] + 1, ends[1]], axis=1).ravel()
        beyond = (np.minimum.reduceat(first, between)[::2] < ends[0]) | (
            np.maximum.reduceat(last, between)[::2] > ends[1]
        )
        crossed[words] = beyond & (ends[1] - ends[0] > 1)
    return crossed, _gaps(heads, starts), depths(heads, starts)


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
    (n + 1) (5n + 4) / 45, (n + 1) (7n + 4) / 60 and n (n + 1) / 6. |Q| is that of `expected_crossings`.
    """
    n, m = np.diff(starts), arcs(heads, starts)
    apart = 2 * _sums(heads, starts)[0].astype(np.int64)
    beside = m * (m - 1) - apart
    rest = 4 * (5 * n + 4) * apart + 3 * (7 * n + 4) * beside + 30 * n * m - 20 * m * m * (n + 1)
    return (n + 1.0) * rest / 180


class OfSums:
    """A function of a chunk of trees: one of the sums over their words, divided by a number. O(n) a tree."""

    def __init__(self, column: int, divisor: float = 1) -> None:
        self._column, self._divisor = column, divisor

    def __call__(self, heads: Int, starts: Int) -> Float:
        return _sums(heads, starts)[self._column] / self._divisor


# The mean of D over projective orders, (sum over words v of n_v (2 d_v + 1) - 1) / 6, where n_v is the number of words
# of v's subtree and d_v that of its dependents. Alemany-Puig and Ferrer-i-Cancho 2022, *Linear-time calculation of the
# expected sum of edge lengths in projective linearizations of trees*.
expected_sum_length_projective = OfSums(2, 6)

# The mean of C over all orders, |Q| / 3, where Q are the pairs of arcs that share no word: |Q| = m (m - 1) / 2 - sum
# over words v of k_v (k_v - 1) / 2, and of three orders of such a pair one crosses. Ferrer-i-Cancho 2017, *Random
# crossings in dependency trees*.
expected_crossings = OfSums(0, 3)

# The variance of C over all orders, from the degrees of words and of their neighbours. Alemany-Puig and Ferrer-i-Cancho
# 2020, *Fast calculation of the variance of edge crossings in random arrangements*.
variance_crossings = OfSums(1, 180)

# The least D of projective orders: of the subtrees below a word, largest first, each stands outside those behind it in
# its row, on both sides in turn. Alemany-Puig, Esteban and Ferrer-i-Cancho 2022, *Minimum projective linearizations of
# trees in linear time*.
smallest_sum_length_projective = OfSums(3)

# The least D of planar orders: that of projective ones if the tree has its root in its centroid. Hochberg and
# Stallmann 2003, *Optimal one-page tree embeddings in linear time*.
smallest_sum_length_planar = OfSums(4)


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
    found, least = count(heads, starts).sum_length, smallest_sum_length(heads, starts)
    return ratio(expected - 3 * found, expected - 3 * least)


def arcs(heads: Int, starts: Int) -> Int:
    before = np.concatenate([[0], np.cumsum(heads != 0)])
    return before[starts[1:]] - before[starts[:-1]]


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


def _half_of_arcs(heads: Int, starts: Int) -> Array:
    return arcs(heads, starts) / 2.0


def _first_root(heads: Int, starts: Int) -> Array:
    return (length(heads, starts) + 1.0) / (roots(heads, starts) + 1.0)


def _averaged(baselines: Mapping[str, Baseline]) -> dict[str, Baseline]:
    return {
        name: Baseline(partial(_per_arc, each.mean, 1), each.variance and partial(_per_arc, each.variance, 2))
        for name, each in baselines.items()
    }


_OF_LENGTH = {
    RANDOM_ORDER: Baseline(expected_sum_length, variance_sum_length),
    RANDOM_PROJECTIVE_ORDER: Baseline(expected_sum_length_projective),
    SMALLEST_PROJECTIVE: Baseline(smallest_sum_length_projective),
    SMALLEST_PLANAR: Baseline(smallest_sum_length_planar),
    SMALLEST: Baseline(smallest_sum_length),
}
_OF_CROSSINGS = {RANDOM_ORDER: Baseline(expected_crossings, variance_crossings)}
_OF_DIRECTION = {RANDOM_ORDER: Baseline(_half_of_arcs)}

MEASURES: tuple[OfTree, ...] = (
    OfTree("length", length, whole=True),
    OverArcs("sum_length", sum_length, baselines=_OF_LENGTH, whole=True),
    OverArcs("mean_length", mean_length, over=ARCS, baselines=_averaged(_OF_LENGTH)),
    OfTree("longest", longest, whole=True),
    OfTree("optimality", optimality),
    OverArcs("root_place", root_place, over=FIRST_ROOT, baselines={RANDOM_ORDER: Baseline(_first_root)}),
    OverArcs("left_arcs", left_arcs, baselines=_OF_DIRECTION, whole=True),
    OverArcs("right_arcs", right_arcs, baselines=_OF_DIRECTION, whole=True),
    OverArcs("head_final", head_final, over=ARCS, baselines=_averaged(_OF_DIRECTION)),
    OfTree("depth", depth, whole=True),
    OfTree("mean_depth", mean_depth),
    OfTree("arity", arity, whole=True),
    OfTree("mean_arity", mean_arity),
    OfTree("crossings", crossings, baselines=_OF_CROSSINGS, whole=True),
    OfTree("crossed_arcs", crossed_arcs, whole=True),
    OfTree("non_projective_arcs", non_projective_arcs, whole=True),
    OfTree("flux_size", flux_size, whole=True),
    OfTree("flux_weight", flux_weight, whole=True),
    OfTree("mean_flux_weight", mean_flux_weight),
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
    top = np.full((k, m), n, dtype=np.int64)
    chosen: Array = np.zeros((k, m), dtype=np.int64)
    for word, unit in enumerate(units.tolist()):
        higher = depth[:, word] < top[:, unit]
        top[higher, unit] = depth[higher, word]
        chosen[higher, unit] = heads[higher, word]
    return np.concatenate([[0], units + 1])[chosen]
