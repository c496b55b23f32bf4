"""The least sum of the lengths of arcs over all orders of a tree's words.

Shiloach 1979, *A minimum linear arrangement algorithm for undirected trees*, with the correction of Esteban and
Ferrer-i-Cancho 2017. A tree is free, or anchored: then it also pays for the words between its root and one side. Its
root, or of a free tree the centroid, has subtrees of sizes n_0 >= n_1 >= ... Either the largest goes to one side, both
parts anchored; or some pairs of others go to both sides, anchored, and what remains is free in the middle. The smaller
sum is the least. Trees yet to be measured wait on a stack, each in preorder, so that nothing recurses.
"""

from __future__ import annotations

import numpy as np

from deptree_cli.kernels.flags import kernel
from deptree_cli.kernels.trees.preorder import centroid, in_preorder, reroot, subtree_sizes

# What waits on the stack: a tree; the end of the first way to split one, and that of the second.
FREE, ANCHORED, OTHERWISE, LEAST = range(4)


@kernel(allocates=True)
def shortest_orders(heads, starts, found):
    """Fill in the least sum of lengths of each sentence, (sentences,). O(n^2.2) each."""
    longest = 0
    for s in range(starts.shape[0] - 1):
        longest = max(longest, starts[s + 1] - starts[s])
    rows = np.empty((6, longest + 1), np.int64)
    tasks, trees, sums = np.empty(256, np.int64), np.empty(256, np.int64), np.empty(64, np.int64)
    for s in range(starts.shape[0] - 1):
        n = starts[s + 1] - starts[s]
        tasks, trees, sums = enlarged(tasks, 0, 3 * n), enlarged(trees, 0, n), enlarged(sums, 0, 1)
        in_preorder(heads[starts[s] : starts[s + 1]], rows[0], rows[1], rows[2], trees[:n])
        waiting, sums[0], last = separate(trees[:n], tasks), 0, 0
        while waiting > 0:
            waiting -= 3
            kind, begin, n = tasks[waiting], tasks[waiting + 1], tasks[waiting + 2]
            if kind == OTHERWISE:
                last += 1
                sums[last] = n
            elif kind == LEAST:
                last -= 2
                sums[last] += min(sums[last + 1], sums[last + 2])
            else:
                tasks, trees = enlarged(tasks, waiting, 3 * n + 15), enlarged(trees, begin + n, n)
                sums = enlarged(sums, last + 1, 2)
                waiting, last = split(kind, begin, n, rows, tasks, waiting, trees, sums, last)
        found[s] = sums[0]


@kernel(allocates=True)
def enlarged(array, used, more):
    """Return an array with room for more numbers than it uses: itself, or a larger copy."""
    if used + more <= array.shape[0]:
        return array
    copy = np.empty(2 * (used + more), np.int64)
    copy[:used] = array[:used]
    return copy


@kernel
def separate(above, tasks):
    """Put the trees of all roots on the stack, heads counted from each root on, and return its height."""
    waiting, begin = 0, 0
    for place in range(1, above.shape[0] + 1):
        if place == above.shape[0] or above[place] < 0:
            for i in range(begin, place):
                above[i] = max(above[i] - begin, -1)
            waiting, begin = put(tasks, waiting, FREE, begin, place - begin), place
    return waiting


@kernel
def split(kind, begin, n, rows, tasks, waiting, trees, sums, last):
    """Put the parts of a tree on the stack, in one way or two; return its height and which sum is the last."""
    above, sizes, places, parts = rows[0][:n], rows[1], rows[2], rows[3]
    for i in range(n):
        above[i] = trees[begin + i]
    subtree_sizes(above, sizes)
    root = centroid(sizes, n) if kind == FREE else 0
    if root != 0:
        rerooted = rows[4][:n]
        reroot(above, sizes, root, places, rerooted)
        above = rerooted
        subtree_sizes(above, sizes)
    count = subtrees_by_size(sizes, n, parts)
    anchored = np.int64(kind == ANCHORED)
    if count == 0 or sizes[parts[0]] == 1:  # a star
        sums[last] += count + (count - 1 + anchored) ** 2 // 4
        return waiting, last
    pairs, cost = pairs_outside(sizes, n, parts, count, anchored)
    first = n - sizes[parts[0]] if anchored else 1
    if pairs > 0:
        waiting = put(tasks, waiting, LEAST, 0, 0)
        high = 2 * pairs - anchored
        waiting, begin = put_parts(FREE, 1, high, above, sizes, parts, places, tasks, waiting, trees, begin)
        waiting = put(tasks, waiting, OTHERWISE, 0, cost)
        last += 1
        sums[last] = first
    else:
        sums[last] += first
    remaining = FREE if anchored else ANCHORED
    waiting, begin = put_parts(remaining, 0, 0, above, sizes, parts, places, tasks, waiting, trees, begin)
    return waiting, last


@kernel
def subtrees_by_size(sizes, n, parts):
    """Fill in where the subtrees right below the root begin, the largest first; return how many."""
    count, place = 0, 1
    while place < n:
        i = count
        while i > 0 and sizes[parts[i - 1]] < sizes[place]:
            parts[i] = parts[i - 1]
            i -= 1
        parts[i] = place
        count += 1
        place += sizes[place]
    return count


@kernel
def pairs_outside(sizes, n, parts, count, anchored):
    """Return how many pairs of subtrees may go to both sides, 0 for none; and the lengths that belong to no part.

    The most p with n_t > floor((n_0 + 2) / 2) + floor((n_* + 2) / 2), t = 2p, or 2p - 1 if anchored, where n_* words
    are in none of the t + 1 largest subtrees.
    """
    largest, outside = sizes[parts[0]], n
    pairs = (count - 1 + anchored) // 2
    for i in range(2 * pairs - anchored + 1):
        outside -= sizes[parts[i]]
    while pairs > 0:
        t = 2 * pairs - anchored
        if sizes[parts[t]] > (largest + 2) // 2 + (outside + 2) // 2:
            break
        outside += sizes[parts[t]] + sizes[parts[t - 1]]
        pairs -= 1
    cost = pairs * (outside + 1 + largest) - anchored
    for i in range(1, pairs):
        cost += i * (sizes[parts[2 * i + 1 - anchored]] + sizes[parts[2 * i + 2 - anchored]])
    return pairs, cost


@kernel
def put(tasks, waiting, kind, begin, n):
    """Put a task on the stack, and return its height."""
    tasks[waiting], tasks[waiting + 1], tasks[waiting + 2] = kind, begin, n
    return waiting + 3


@kernel
def put_parts(kind, low, high, above, sizes, parts, places, tasks, waiting, trees, begin):
    """Put the subtrees from low to high on the stack, anchored, and what remains of the tree as the kind says."""
    n = above.shape[0]
    places[:n] = 0
    for i in range(low, high + 1):
        place, size = parts[i], sizes[parts[i]]
        places[place] = -1
        trees[begin] = -1
        for j in range(1, size):
            trees[begin + j] = above[place + j] - place
        waiting = put(tasks, waiting, ANCHORED, begin, size)
        begin += size
    place, size = 0, 0
    while place < n:
        if places[place] < 0:
            place += sizes[place]
        else:
            places[place] = size
            trees[begin + size] = places[above[place]] if place > 0 else -1
            size += 1
            place += 1
    return put(tasks, waiting, kind, begin, size), begin + size
