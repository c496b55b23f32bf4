"""Sums over a tree's words that give means, variances and least values over the orders of its words.

Formulas and sources are in `core/measures.py`. Heads are those of all sentences, as in `quantities.py`.
"""

from __future__ import annotations

import numpy as np

from deptree_cli.kernels.flags import kernel
from deptree_cli.kernels.trees.preorder import centroid, in_preorder, reroot, subtree_sizes

# The columns that are summed.
PAIRS, VARIANCE, PROJECTIVE, LEAST_PROJECTIVE, LEAST_PLANAR = range(5)
COLUMNS = 5


@kernel(allocates=True)
def sum_over_words(heads, starts, sums):
    """Fill sums (sentences, COLUMNS), float64, of the trees of all sentences. O(n) each."""
    longest = 0
    for s in range(starts.shape[0] - 1):
        longest = max(longest, starts[s + 1] - starts[s])
    rows = np.empty((8, longest + 2), np.int64)
    for s in range(starts.shape[0] - 1):
        tree, n = heads[starts[s] : starts[s + 1]], starts[s + 1] - starts[s]
        sums[s] = 0
        above, degrees = rows[0][:n], rows[1][:n]
        in_preorder(tree, rows[2], rows[3], rows[4], above)
        count_neighbours(above, degrees, rows[2])
        pairs_of_arcs(above, degrees, rows[2], sums[s])
        begin = 0
        for place in range(1, n + 1):
            if place == n or above[place] < 0:
                for i in range(begin, place):
                    above[i] = max(above[i] - begin, -1)
                of_one_root(above[begin:place], degrees[begin:place], rows[2:], sums[s])
                begin = place


@kernel
def count_neighbours(above, degrees, around):
    """Fill in the degree k of each word, (n,), and the sum of the degrees of its neighbours."""
    degrees[:] = 0
    around[: above.shape[0]] = 0
    for i in range(above.shape[0]):
        if above[i] >= 0:
            degrees[i] += 1
            degrees[above[i]] += 1
    for i in range(above.shape[0]):
        if above[i] >= 0:
            around[i] += degrees[above[i]]
            around[above[i]] += degrees[i]


@kernel
def pairs_of_arcs(above, degrees, around, sums):
    """Count the pairs of arcs that share no word, and 180 times the variance of how many cross.

    Alemany-Puig and Ferrer-i-Cancho 2020: seven sums over the arcs st of a forest, with the degrees of their ends, and
    the degrees around these.
    """
    squares, cubes, arcs = 0, 0, 0
    for k in degrees:
        squares += k * k
        cubes += k * k * k
        arcs += k
    arcs //= 2
    paths4, paths5, products, phi1, phi2, lambda1, lambda2 = 0, 0, 0, 0, 0, 0, 0
    for place in range(above.shape[0]):
        if above[place] >= 0:
            s, t = degrees[place], degrees[above[place]]
            xs, xt = around[place], around[above[place]]
            products += s * t
            paths4 += (s - 1) * (t - 1)
            paths5 += (t - 1) * (xs - t - s + 1) + (s - 1) * (xt - t - s + 1)
            lambda1 += (s - 1) * (xt - s) + (t - 1) * (xs - t)
            lambda2 += (s - 1) * (t - 1) * (s + t)
            phi1 += s * t * (arcs + 1 - s - t)
            phi2 += (s + t) * (squares - xs - xt - t * (t - 1) - s * (s - 1))
    pairs = (arcs * (arcs + 1) - squares) // 2
    degrees_of_pairs = (arcs + 1) * squares - cubes - 2 * products
    sums[PAIRS] = pairs
    sums[VARIANCE] = (8 * (arcs + 2) * pairs - (2 * arcs + 7) * paths4 - paths5 // 2 + 2 * degrees_of_pairs) + (
        lambda2 - 2 * lambda1 + phi2 // 2 - 2 * phi1
    )


@kernel
def of_one_root(above, degrees, rows, sums):
    """Add what the tree of one root contributes to projective and planar orders; rows: room."""
    n = above.shape[0]
    sizes = rows[0]
    subtree_sizes(above, sizes)
    projective = -1
    for i in range(n):
        dependents = degrees[i] - (above[i] >= 0)
        projective += sizes[i] * (2 * dependents + 1)
    sums[PROJECTIVE] += projective
    sums[LEAST_PROJECTIVE] += least_projective(above, sizes, rows[2], rows[3], rows[4])
    rerooted = rows[1][:n]
    reroot(above, sizes, centroid(sizes, n), rows[2], rerooted)
    subtree_sizes(rerooted, sizes)
    sums[LEAST_PLANAR] += least_projective(rerooted, sizes, rows[2], rows[3], rows[4])


@kernel
def least_projective(above, sizes, firsts, following, before):
    """Return the least sum of lengths in projective orders: larger subtrees stand farther out, on both sides in turn.

    An arc passes over the subtrees nearer to its head on its side; that from a word's own head over all on one side.
    """
    n = above.shape[0]
    firsts[:n] = -1
    before[:n] = 0
    for place in range(1, n):
        following[place] = firsts[sizes[place]]
        firsts[sizes[place]] = place
    total = n - 1
    for size in range(n - 1, 0, -1):
        place = firsts[size]
        while place >= 0:
            head = above[place]
            total += size * ((before[head] + (head > 0)) // 2)
            before[head] += 1
            place = following[place]
    return total
