"""Orders and shapes of trees: what is measured of them.

Heads of all sentences are one behind the other, those of sentence s in ``heads[starts[s] : starts[s + 1]]``.
"""

from __future__ import annotations

import numpy as np

from deptree_cli.kernels.flags import kernel

# Trees as the sizes of all subtrees in preorder: each word behind its head, with all that descend from it right behind.
#
# Words have lost their places in the sentence. A subtree is a slice, and a tree by itself; trees of several roots stand
# one behind the other.


@kernel
def in_preorder(heads, first, following, places, sizes):
    """Fill in the sizes of the subtrees of heads (n,), (n,) or more; first, following, places: (n+1,), room."""
    n = heads.shape[0]
    first[: n + 1] = 0
    for word in range(n, 0, -1):
        following[word] = first[heads[word - 1]]
        first[heads[word - 1]] = word
    node, place = 0, 0
    while node != 0 or first[0] != 0:
        below = first[node]
        if below != 0:
            first[node] = following[below]
            places[below] = place
            node, place = below, place + 1
        else:
            sizes[places[node]] = place - places[node]
            node = heads[node - 1]


@kernel
def centroid(sizes):
    """Return a word of a tree without which no part has more than half of the words.

    The last whose subtree has more: such words follow each other down from the root.
    """
    found = 0
    for place in range(sizes.shape[0]):
        if 2 * sizes[place] > sizes[0]:
            found = place
    return found


@kernel
def reroot(sizes, root, rerooted):
    """Fill in the same tree below another root, (n,): that and the words above it, each with what is below it alone."""
    done, inner, cut = 0, root + 1, 0
    for word in range(root, -1, -1):
        if word + sizes[word] > root:
            rerooted[done] = sizes[0] - cut
            done += 1
            for place in range(word + 1, inner):
                rerooted[done] = sizes[place]
                done += 1
            for place in range(inner + cut, word + sizes[word]):
                rerooted[done] = sizes[place]
                done += 1
            inner, cut = word, sizes[word]


@kernel
def subtrees_by_size(sizes, parts):
    """Fill in where the subtrees right below the root begin, the largest first; return how many."""
    count, place = 0, 1
    while place < sizes.shape[0]:
        i = count
        while i > 0 and sizes[parts[i - 1]] < sizes[place]:
            parts[i] = parts[i - 1]
            i -= 1
        parts[i] = place
        count += 1
        place += sizes[place]
    return count


# Sums over a tree's words that give means, variances and least values over the orders of its words.
#
# Formulas and sources are in `core/measures.py`.


# The columns that are summed.
PAIRS, VARIANCE, PROJECTIVE, LEAST_PROJECTIVE, LEAST_PLANAR = range(5)
SUMS = 5


@kernel(allocates=True)
def sum_over_words(heads, starts, sums):
    """Fill sums (sentences, SUMS), float64, of the trees of all sentences. O(n) each."""
    rows = np.empty((5, heads.shape[0] + 1), np.int64)
    for s in range(starts.shape[0] - 1):
        tree, begin = heads[starts[s] : starts[s + 1]], 0
        sums[s] = 0
        pairs_of_arcs(tree, rows[0], rows[1], sums[s])
        in_preorder(tree, rows[1], rows[2], rows[3], rows[0])
        while begin < tree.shape[0]:  # the trees of all roots
            n = rows[0, begin]
            sizes, rerooted = rows[0, begin : begin + n], rows[1, :n]
            mean, least = projective_lengths(sizes, rows[2])
            reroot(sizes, centroid(sizes), rerooted)
            sums[s, PROJECTIVE] += mean
            sums[s, LEAST_PROJECTIVE] += least
            sums[s, LEAST_PLANAR] += projective_lengths(rerooted, rows[2])[1]
            begin += n


@kernel
def pairs_of_arcs(heads, degrees, around, sums):
    """Count the pairs of arcs that share no word, and 180 times the variance of how many cross.

    Alemany-Puig and Ferrer-i-Cancho 2020: seven sums over the arcs st of a forest, with the degrees of their ends, and
    the degrees around these. degrees, around: (n+1,), room.
    """
    n = heads.shape[0]
    degrees[: n + 1] = 0
    around[: n + 1] = 0
    for word in range(1, n + 1):
        if heads[word - 1] != 0:
            degrees[word] += 1
            degrees[heads[word - 1]] += 1
    squares, cubes, arcs = 0, 0, 0
    for word in range(1, n + 1):
        k, head = degrees[word], heads[word - 1]
        squares += k * k
        cubes += k * k * k
        arcs += head != 0
        if head != 0:
            around[word] += degrees[head]
            around[head] += k
    paths4, paths5, products, phi1, phi2, lambda1, lambda2 = 0, 0, 0, 0, 0, 0, 0
    for word in range(1, n + 1):
        head = heads[word - 1]
        if head != 0:
            s, t, xs, xt = degrees[word], degrees[head], around[word], around[head]
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
def projective_lengths(sizes, parts):
    """Return 6 times the mean sum of lengths of a tree's projective orders, and the least.

    In that larger subtrees stand farther out, on both sides in turn. An arc passes over the subtrees nearer to its head
    on its side; that from a word's own head over all on one side.
    """
    mean, least = -1, sizes.shape[0] - 1
    for place in range(sizes.shape[0]):
        own = sizes[place : place + sizes[place]]
        count = subtrees_by_size(own, parts)
        mean += own[0] * (2 * count + 1)
        for i in range(count):
            least += own[parts[i]] * ((i + (place > 0)) // 2)
    return mean, least


# The least sum of the lengths of arcs over all orders of a tree's words.
#
# Shiloach 1979, *A minimum linear arrangement algorithm for undirected trees*, with the correction of Esteban and
# Ferrer-i-Cancho 2017. A tree is free, or anchored: then it also pays for the words between its root and one side.
# Its root, or of a free tree the centroid, has subtrees of sizes n_0 >= n_1 >= ... Either the largest goes to one
# side, both parts anchored; or some pairs of others go to both sides, anchored, and what remains is free in the
# middle. The smaller sum is the least. Trees yet to be measured wait on a stack, so that nothing recurses.


# What waits on the stack, with a number: a tree, where it begins; the end of the first way to split one, what the
# second costs beside its parts; the end of both.
FREE, ANCHORED, OTHERWISE, LEAST = range(4)


@kernel(allocates=True)
def shortest_orders(heads, starts, found):
    """Fill in the least sum of lengths of each sentence, (sentences,). O(n^2.2) each."""
    rows = np.empty((3, heads.shape[0] + 1), np.int64)
    tasks, trees, sums = np.empty(256, np.int64), np.empty(256, np.int64), np.empty(64, np.int64)
    for s in range(starts.shape[0] - 1):
        n, waiting, last, begin = starts[s + 1] - starts[s], 0, 0, 0
        tasks, trees = enlarged(tasks, 0, 2 * n), enlarged(trees, 0, n)
        in_preorder(heads[starts[s] : starts[s + 1]], rows[0], rows[1], rows[2], trees)
        while begin < n:
            waiting = put(tasks, waiting, FREE, begin)
            begin += trees[begin]
        sums[0] = 0
        while waiting > 0:
            waiting -= 2
            kind, begin = tasks[waiting], tasks[waiting + 1]
            if kind == OTHERWISE:
                last += 1
                sums[last] = begin
                continue
            if kind == LEAST:
                last -= 2
                sums[last] += min(sums[last + 1], sums[last + 2])
                continue
            n, anchored = trees[begin], kind
            tasks, trees = enlarged(tasks, waiting, 2 * n + 8), enlarged(trees, begin + n, n)
            given, tree, parts = trees[begin : begin + n], rows[0, :n], rows[1]
            reroot(given, 0 if anchored else centroid(given), tree)
            count = subtrees_by_size(tree, parts)
            if count == 0 or tree[parts[0]] == 1:  # a star
                sums[last] += count + (count - 1 + anchored) ** 2 // 4
                continue
            pairs, cost = pairs_outside(tree, parts, count, anchored)
            if pairs > 0:
                waiting = put(tasks, waiting, LEAST, 0)
                low, high = 1, 2 * pairs - anchored
                waiting, begin = put_parts(low, high, FREE, tree, parts, count, tasks, waiting, trees, begin)
                waiting = put(tasks, waiting, OTHERWISE, cost)
                sums, last = enlarged(sums, last + 1, 2), last + 1
                sums[last] = 0
            sums[last] += n - tree[parts[0]] if anchored else 1
            waiting, _ = put_parts(0, 0, 1 - anchored, tree, parts, count, tasks, waiting, trees, begin)
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
def put(tasks, waiting, kind, number):
    """Put a task on the stack, and return its height."""
    tasks[waiting], tasks[waiting + 1] = kind, number
    return waiting + 2


@kernel
def pairs_outside(sizes, parts, count, anchored):
    """Return how many pairs of subtrees may go to both sides, 0 for none; and the lengths that belong to no part.

    The most p with n_t > floor((n_0 + 2) / 2) + floor((n_* + 2) / 2), t = 2p, or 2p - 1 if anchored, where n_* words
    are in none of the t + 1 largest subtrees.
    """
    largest, outside = sizes[parts[0]], sizes[0]
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
def put_parts(low, high, kind, sizes, parts, count, tasks, waiting, trees, begin):
    """Put the subtrees from low to high on the stack, anchored, and what remains of the tree as the kind says.

    Returns the height of the stack, and where free memory for trees begins.
    """
    for i in range(low, high + 1):
        waiting = put(tasks, waiting, ANCHORED, begin)
        begin = copy_subtree(sizes, parts[i], trees, begin)
    waiting = put(tasks, waiting, kind, begin)
    root, begin = begin, begin + 1
    for i in range(count):
        if i < low or i > high:
            begin = copy_subtree(sizes, parts[i], trees, begin)
    trees[root] = begin - root
    return waiting, begin


@kernel
def copy_subtree(sizes, place, trees, begin):
    """Copy a subtree to a place among trees; return where that ends."""
    for i in range(sizes[place]):
        trees[begin + i] = sizes[place + i]
    return begin + sizes[place]


# What can be counted in the trees of sentences in their order: depths, dependents, lengths, crossings, flux.
#
# Arcs from ROOT, node 0, are not counted.


# The columns that are counted.
ROOTS, ROOT_PLACE, SUM_LENGTH, LONGEST, LEFT, DEPTH, SUM_DEPTH = range(7)
ARITY, PARENTS, CROSSINGS, CROSSED, FLUX, WEIGHT, SUM_WEIGHT = range(7, 14)
COUNTS = 14


@kernel(allocates=True)
def count_in_trees(heads, starts, counts):
    """Fill counts (sentences, COUNTS) of the trees of all sentences. O(n + sum of lengths + sum of depths) each."""
    rows = np.empty((7, heads.shape[0] + 1), np.int64)
    for s in range(starts.shape[0] - 1):
        tree, counted, dependents = heads[starts[s] : starts[s + 1]], counts[s], rows[0]
        counted[:] = 0
        dependents[: tree.shape[0] + 1] = 0
        for word in range(tree.shape[0], 0, -1):
            node, depth = tree[word - 1], 0
            if node == 0:
                counted[ROOTS] += 1
                counted[ROOT_PLACE] = word
                continue
            dependents[node] += 1
            counted[PARENTS] += dependents[node] == 1
            counted[ARITY] = max(counted[ARITY], dependents[node])
            counted[SUM_LENGTH] += abs(node - word)
            counted[LONGEST] = max(counted[LONGEST], abs(node - word))
            counted[LEFT] += word < node
            while node != 0:
                node = tree[node - 1]
                depth += 1
            counted[SUM_DEPTH] += depth
            counted[DEPTH] = max(counted[DEPTH], depth)
        sweep(tree, counted, rows)


@kernel
def sweep(heads, counted, rows):
    """Count crossings and flux, from gap to gap between words with the list of arcs above it, in the order they begin.

    rows: room.
    """
    n, size, first, following, lefts, rights, crossed = heads.shape[0], 0, rows[0], rows[1], rows[2], rows[3], rows[4]
    first[: n + 1] = 0
    rows[5:7, : n + 1] = 0
    for word in range(1, n + 1):  # lists of arcs by where they begin
        if heads[word - 1] != 0:
            left = min(word, heads[word - 1])
            following[word] = first[left]
            first[left] = word
    for word in range(1, n + 1):
        for i in range(size):  # what ends here crosses what began behind it and goes on
            for j in range(i + 1, size if rights[i] == word else 0):
                if lefts[i] < lefts[j] and rights[j] != word:
                    counted[CROSSINGS] += 1
                    crossed[i] = crossed[j] = 1
        above, size = size, 0
        for i in range(above):
            if rights[i] == word:
                counted[CROSSED] += crossed[i]
            else:
                lefts[size], rights[size], crossed[size] = lefts[i], rights[i], crossed[i]
                size += 1
        arc = first[word]
        while arc != 0:
            lefts[size], rights[size], crossed[size] = word, max(arc, heads[arc - 1]), 0
            size += 1
            arc = following[arc]
        weight = disjoint(size, lefts, rights, rows[5], rows[6])
        counted[FLUX] = max(counted[FLUX], size)
        counted[WEIGHT] = max(counted[WEIGHT], weight)
        counted[SUM_WEIGHT] += weight


@kernel
def disjoint(size, lefts, rights, degrees, others):
    """Return the most of some arcs of a tree of which no two share a word: from leaves inwards, whatever is free.

    degrees, others: (n+1,), zeros, as they are left: how many arcs a word has, and their other ends (exclusive or).
    """
    for i in range(size):
        a, b = lefts[i], rights[i]
        degrees[a] += 1
        degrees[b] += 1
        others[a] ^= b
        others[b] ^= a
    found = 0
    for i in range(2 * size):
        leaf = lefts[i] if i < size else rights[i - size]
        while abs(degrees[leaf]) == 1:
            inner = others[leaf]
            others[inner] ^= leaf
            others[leaf] = 0
            if degrees[leaf] > 0 and degrees[inner] > 0:  # negative: taken
                found += 1
                degrees[inner] = -degrees[inner]
            degrees[leaf] = 0
            degrees[inner] -= 1 if degrees[inner] > 0 else -1
            leaf = inner
    return found


# Which heads are trees, which arcs of a tree cross, and which have a gap: the three questions about a tree's shape.
#
# Heads are (k, n), those of k trees over n words, which stand in a row behind ROOT, node 0.


@kernel(allocates=True)
def are_trees(heads):
    """Return whether heads are arborescences, (k,): ROOT is above every word, and there is one. O(n) each."""
    k, n = heads.shape
    found, seen_from = np.empty(k, np.bool_), np.empty(n + 1, np.int64)
    for t in range(k):
        own, is_tree = heads[t], n > 0
        for i in range(n):
            is_tree &= 0 <= own[i] <= n
        seen_from[:] = 0
        for word in range(1, n + 1 if is_tree else 1):
            node = word
            while node != 0 and seen_from[node] == 0:
                seen_from[node] = word
                node = own[node - 1]
            is_tree &= node == 0 or seen_from[node] != word
        found[t] = is_tree
    return found


@kernel(allocates=True)
def crossings(heads):
    """Return for each word the first between the ends of its arc whose own arc crosses that, (k, n).

    If there is none, the first beyond the ends; 0 if no arc crosses. Heads need be no trees, but in range.
    O(sum of the lengths of arcs), and O(n) for each arc that only arcs from beyond cross.
    """
    k, n = heads.shape
    found, lowest, highest = np.empty((k, n), np.int64), np.empty(n + 1, np.int64), np.empty(n + 1, np.int64)
    for t in range(k):
        own = heads[t]
        for node in range(n + 1):  # the outermost dependents of each node, itself if that is farther out
            lowest[node] = highest[node] = node
        for i in range(n):
            lowest[own[i]] = min(lowest[own[i]], i + 1)
            highest[own[i]] = max(highest[own[i]], i + 1)
        for i in range(n):
            first, last = min(i + 1, own[i]), max(i + 1, own[i])
            across, some_enter = 0, False
            for node in range(first + 1, last):
                if own[node - 1] < first or own[node - 1] > last:
                    across = node
                    break
                some_enter = some_enter or lowest[node] < first or highest[node] > last
            if across == 0 and some_enter:
                across = 1
                while not first < own[across - 1] < last or first <= across <= last:
                    across += 1
            found[t, i] = across
    return found


@kernel(allocates=True)
def gaps(heads):
    """Return whether each arc of trees has a gap, (k, n): a word between its ends that does not descend from its head.

    A tree is projective if none has (Kuhlmann and Nivre 2006); but of two arcs that cross one may have none.
    """
    found = np.empty(heads.shape, np.bool_)
    for t in range(heads.shape[0]):
        for i in range(heads.shape[1]):
            found[t, i] = has_gap(heads[t], i)
    return found


@kernel
def has_gap(heads, i):
    """Return whether some word between word i (from 0) of a tree and its head does not descend from that head."""
    head = heads[i]
    first, last = min(head, i + 1), max(head, i + 1)
    for between in range(first + 1, last):
        above = heads[between - 1]
        if above < first or above > last:  # ways up from other words lead to the two, or pass such a word
            while above != 0 and above != head:
                above = heads[above - 1]
            if above != head:
                return True
    return False
