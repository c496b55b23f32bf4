"""What to expect of a tree if its words stood in another order: at random, or in the order with the shortest arcs.

Heads (words,) and starts (sentences + 1,) are as in `core/measures/__init__.py`; the order that they are in does not
matter here. n is the number of words, m that of arcs between words, k_v the number of arcs at a word, D the sum of
their lengths and C the number of pairs that cross.

Orders are *unconstrained*: all n!; *projective*: every word and its descendants stand together; or *planar*: no arcs
cross, but one may pass over a root. Several roots: unconstrained orders are those of all words of the forest. In
projective and planar ones the words of each root stand together, so that the numbers are the sums over its trees.
"""

from __future__ import annotations

import numpy as np

from deptree_cli.core.dtypes import Float, Int
from deptree_cli.core.measures.chunks import once_a_chunk
from deptree_cli.core.measures.quantities import ratio, sum_length


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


def expected_sum_length_projective(heads: Int, starts: Int) -> Float:
    """The mean of D over projective orders, (sum over words v of n_v (2 d_v + 1) - 1) / 6. O(n).

    n_v is the number of words of v's subtree and d_v that of its dependents. Alemany-Puig and Ferrer-i-Cancho 2022,
    *Linear-time calculation of the expected sum of edge lengths in projective linearizations of trees*.
    """
    return _sums(heads, starts)[2] / 6


def expected_crossings(heads: Int, starts: Int) -> Float:
    """The mean of C over all orders, |Q| / 3, where Q are the pairs of arcs that share no word. O(n).

    |Q| = m (m - 1) / 2 - sum over words v of k_v (k_v - 1) / 2, and of three orders of such a pair one crosses.
    Ferrer-i-Cancho 2017, *Random crossings in dependency trees*.
    """
    return _sums(heads, starts)[0] / 3


def variance_crossings(heads: Int, starts: Int) -> Float:
    """The variance of C over all orders, from the degrees of words and of their neighbours. O(n).

    Alemany-Puig and Ferrer-i-Cancho 2020, *Fast calculation of the variance of edge crossings in random arrangements*.
    """
    return _sums(heads, starts)[1] / 180


@once_a_chunk
def smallest_sum_length(heads: Int, starts: Int) -> Float:
    """The least D of all orders, D_min. O(n^2.2).

    Shiloach 1979, *A minimum linear arrangement algorithm for undirected trees*; Esteban and Ferrer-i-Cancho 2017, *A
    correction on Shiloach's algorithm*.
    """
    from deptree_cli.kernels.trees.shortest_order import shortest_orders  # loads kernels: if there is work

    found = np.empty(len(starts) - 1)
    shortest_orders(heads, starts, found)
    return found


def smallest_sum_length_projective(heads: Int, starts: Int) -> Float:
    """The least D of projective orders. O(n).

    Alemany-Puig, Esteban and Ferrer-i-Cancho 2022, *Minimum projective linearizations of trees in linear time*. Of the
    subtrees below a word, largest first, each stands outside those behind it in its row, on both sides in turn.
    """
    return _sums(heads, starts)[3]


def smallest_sum_length_planar(heads: Int, starts: Int) -> Float:
    """The least D of planar orders: that of projective ones if the tree has its root in its centroid. O(n).

    Hochberg and Stallmann 2003, *Optimal one-page tree embeddings in linear time*.
    """
    return _sums(heads, starts)[4]


def optimality(heads: Int, starts: Int) -> Float:
    """The score of optimality, (E[D] - D) / (E[D] - D_min): 1 in the shortest order, 0 as in random ones; nan if n < 3.

    Omega in Ferrer-i-Cancho, Gomez-Rodriguez, Esteban and Alemany-Puig 2022, *Optimality of
    syntactic dependency distances*.
    """
    expected = arcs(heads, starts) * (np.diff(starts) + 1)  # three times as much: integers are exact
    found, least = sum_length(heads, starts), smallest_sum_length(heads, starts)
    return ratio(expected - 3 * found, expected - 3 * least)


def arcs(heads: Int, starts: Int) -> Int:
    """How many arcs each sentence has between words."""
    before = np.concatenate([[0], np.cumsum(heads != 0)])
    return before[starts[1:]] - before[starts[:-1]]


@once_a_chunk
def _sums(heads: Int, starts: Int) -> Float:
    """What `sum_over_words` sums up, (columns, sentences)."""
    from deptree_cli.kernels.trees.orders import COLUMNS, sum_over_words  # loads kernels: if there is work

    sums = np.empty((len(starts) - 1, COLUMNS))
    sum_over_words(heads, starts, sums)
    return np.ascontiguousarray(sums.T)
