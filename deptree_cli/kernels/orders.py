"""Orders and shapes of trees: what is measured of them."""

from __future__ import annotations

import numpy as np

from deptree_cli.kernels.flags import kernel

# Trees with their words in preorder: each behind its head, with all that descend from it right behind it.
#
# `above` (n,) has the place of each word's head in that order, -1 for a root. Words have lost their places in the
# sentence; a subtree is a slice.


@kernel
def in_preorder(heads, first, following, places, above):
    """Fill in above (n,) of heads (n,); the trees of several roots come one behind the other.

    first, following, places: (n+1,), room.
    """
    n = heads.shape[0]
    first[: n + 1] = 0
    for word in range(n, 0, -1):
        following[word] = first[heads[word - 1]]
        first[heads[word - 1]] = word
    places[0] = -1
    word, place = first[0], 0
    while word != 0:
        places[word] = place
        above[place] = places[heads[word - 1]]
        place += 1
        if first[word] != 0:
            word = first[word]
        else:
            while word != 0 and following[word] == 0:
                word = heads[word - 1]
            word = following[word] if word != 0 else 0


@kernel
def subtree_sizes(above, sizes):
    """Fill in how many words each subtree has, (n,)."""
    n = above.shape[0]
    sizes[:n] = 1
    for place in range(n - 1, -1, -1):
        if above[place] >= 0:
            sizes[above[place]] += sizes[place]


@kernel
def centroid(sizes, n):
    """Return a word of a tree of n words without which no part has more than half of them.

    The last whose subtree has more: such words follow each other down from the root.
    """
    found = 0
    for place in range(n):
        if 2 * sizes[place] > n:
            found = place
    return found


@kernel
def reroot(above, sizes, root, places, rerooted):
    """Fill in the same tree below another root, (n,); and the new places of words, (n,)."""
    done, below, word = 0, -1, root
    while word >= 0:
        places[word] = done
        rerooted[done] = places[below] if below >= 0 else -1
        done += 1
        place, end = word + 1, word + sizes[word]
        while place < end:
            if place == below:
                place += sizes[below]
            else:
                places[place] = done
                rerooted[done] = places[above[place]]
                done += 1
                place += 1
        below, word = word, above[word]


# Sums over a tree's words that give means, variances and least values over the orders of its words.
#
# Formulas and sources are in `core/measures.py`. Heads are those of all sentences, as below.


# The columns that are summed.
PAIRS, VARIANCE, PROJECTIVE, LEAST_PROJECTIVE, LEAST_PLANAR = range(5)
SUMS = 5


@kernel(allocates=True)
def sum_over_words(heads, starts, sums):
    """Fill sums (sentences, SUMS), float64, of the trees of all sentences. O(n) each."""
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


# The least sum of the lengths of arcs over all orders of a tree's words.
#
# Shiloach 1979, *A minimum linear arrangement algorithm for undirected trees*, with the correction of Esteban and
# Ferrer-i-Cancho 2017. A tree is free, or anchored: then it also pays for the words between its root and one side.
# Its root, or of a free tree the centroid, has subtrees of sizes n_0 >= n_1 >= ... Either the largest goes to one
# side, both parts anchored; or some pairs of others go to both sides, anchored, and what remains is free in the
# middle. The smaller sum is the least. Trees yet to be measured wait on a stack, each in preorder, so that nothing
# recurses.


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


# What can be counted in the trees of sentences in their order: depths, dependents, lengths, crossings, flux.
#
# Heads of all sentences are one behind the other, those of sentence s in ``heads[starts[s] : starts[s + 1]]``. Arcs
# from ROOT, node 0, are not counted.


# The columns that are counted.
ROOTS, ROOT_PLACE, SUM_LENGTH, LONGEST, LEFT, DEPTH, SUM_DEPTH = range(7)
ARITY, PARENTS, CROSSINGS, CROSSED, FLUX, WEIGHT, SUM_WEIGHT = range(7, 14)
COUNTS = 14


@kernel(allocates=True)
def count_in_trees(heads, starts, counts):
    """Fill counts (sentences, COUNTS) of the trees of all sentences. O(n + sum of the lengths of arcs) each."""
    longest = 0
    for s in range(starts.shape[0] - 1):
        longest = max(longest, starts[s + 1] - starts[s])
    rows = np.empty((7, longest + 2), np.int64)
    for s in range(starts.shape[0] - 1):
        tree, counted = heads[starts[s] : starts[s + 1]], counts[s]
        counted[:] = 0
        count_arcs(tree, counted, rows[0])
        count_depths(tree, counted, rows[0])
        begin_arcs(tree, rows[0], rows[1])
        sweep(tree.shape[0], counted, rows)


@kernel
def count_arcs(heads, counted, dependents):
    """Count roots, lengths, directions and the dependents of words."""
    n = heads.shape[0]
    dependents[: n + 1] = 0
    for word in range(n, 0, -1):
        head = heads[word - 1]
        dependents[head] += 1
        if head == 0:
            counted[ROOT_PLACE] = word
        else:
            counted[SUM_LENGTH] += abs(head - word)
            counted[LONGEST] = max(counted[LONGEST], abs(head - word))
            counted[LEFT] += word < head
    counted[ROOTS] = dependents[0]
    for word in range(1, n + 1):
        counted[ARITY] = max(counted[ARITY], dependents[word])
        counted[PARENTS] += dependents[word] > 0


@kernel
def count_depths(heads, counted, depths):
    """Count the arcs between words and their roots; depths is room for one number for each node."""
    n = heads.shape[0]
    depths[: n + 1] = -1
    for word in range(1, n + 1):
        node, steps = word, 0
        while node != 0 and depths[node] < 0:
            node = heads[node - 1]
            steps += 1
        depth = depths[node] + steps
        node = word
        while node != 0 and depths[node] < 0:
            depths[node] = depth
            counted[SUM_DEPTH] += depth
            counted[DEPTH] = max(counted[DEPTH], depth)
            depth -= 1
            node = heads[node - 1]


@kernel
def begin_arcs(heads, firsts, ends):
    """Fill in where arcs end, (arcs,), by where they begin: those from word i on are ``firsts[i] : firsts[i + 1]``."""
    n = heads.shape[0]
    firsts[: n + 2] = 0
    for word in range(1, n + 1):
        if heads[word - 1] != 0:
            firsts[min(word, heads[word - 1])] += 1
    for node in range(1, n + 2):
        firsts[node] += firsts[node - 1]
    for word in range(1, n + 1):
        if heads[word - 1] != 0:
            first = min(word, heads[word - 1])
            firsts[first] -= 1
            ends[firsts[first]] = max(word, heads[word - 1])


@kernel
def sweep(n, counted, rows):
    """Count crossings and flux, from gap to gap between words with the list of arcs above it, in the order they begin.

    rows: room; the first two as `begin_arcs` fills them.
    """
    firsts, ends, lefts, rights, crossed = rows[0], rows[1], rows[2], rows[3], rows[4]
    degrees, others = rows[5], rows[6]
    degrees[: n + 1] = 0
    others[: n + 1] = 0
    size = 0
    for word in range(1, n):
        size = close(word, size, lefts, rights, crossed, counted)
        for arc in range(firsts[word], firsts[word + 1]):
            lefts[size], rights[size], crossed[size] = word, ends[arc], 0
            size += 1
        weight = disjoint(size, lefts, rights, degrees, others)
        counted[FLUX] = max(counted[FLUX], size)
        counted[WEIGHT] = max(counted[WEIGHT], weight)
        counted[SUM_WEIGHT] += weight
    close(n, size, lefts, rights, crossed, counted)


@kernel
def close(word, size, lefts, rights, crossed, counted):
    """Count crossings with the arcs that end at a word, take these off the list, and return how many remain on it.

    They cross what began after them and does not end here.
    """
    beyond, with_same, last, first = 0, 0, 0, word
    for i in range(size - 1, -1, -1):
        if lefts[i] != last:
            last, with_same = lefts[i], 0
        if rights[i] == word:
            first = last
            counted[CROSSINGS] += beyond - with_same
            if beyond > with_same:
                crossed[i] = 1
        else:
            beyond += 1
            with_same += 1
    kept = 0
    for i in range(size):
        if rights[i] == word:
            counted[CROSSED] += crossed[i]
        else:
            lefts[kept], rights[kept], crossed[kept] = lefts[i], rights[i], crossed[i] or lefts[i] > first
            kept += 1
    return kept


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
        found[t] = n > 0 and is_tree(heads[t], seen_from)
    return found


@kernel
def is_tree(heads, seen_from):
    """Return whether every word of heads (n,) climbs to ROOT; seen_from (n+1,) is room for one mark for each node."""
    n = heads.shape[0]
    for i in range(n):
        if heads[i] < 0 or heads[i] > n:
            return False
    seen_from[:] = 0
    for word in range(1, n + 1):
        node = word
        while node != 0 and seen_from[node] == 0:
            seen_from[node] = word
            node = heads[node - 1]
        if node != 0 and seen_from[node] == word:
            return False
    return True


@kernel(allocates=True)
def crossings(heads):
    """Return for each word the first between the ends of its arc whose own arc crosses that, (k, n).

    If there is none, the first beyond the ends; 0 if no arc crosses. Heads need be no trees, but in range.
    O(sum of the lengths of arcs), and O(n) for each arc that only arcs from beyond cross.
    """
    k, n = heads.shape
    found = np.empty((k, n), np.int64)
    lowest, highest = np.empty(n + 1, np.int64), np.empty(n + 1, np.int64)
    for t in range(k):
        outermost_dependents(heads[t], lowest, highest)
        for i in range(n):
            found[t, i] = first_crossing(heads[t], lowest, highest, i)
    return found


@kernel
def outermost_dependents(heads, lowest, highest):
    """Fill in the first and the last dependent of each node, (n+1,) each; itself if that is farther out."""
    for node in range(lowest.shape[0]):
        lowest[node] = highest[node] = node
    for i in range(heads.shape[0]):
        lowest[heads[i]] = min(lowest[heads[i]], i + 1)
        highest[heads[i]] = max(highest[heads[i]], i + 1)


@kernel
def first_crossing(heads, lowest, highest, i):
    """Return the first word whose arc crosses that of word i (from 0), one between its ends if possible; 0 for none."""
    first, last = min(i + 1, heads[i]), max(i + 1, heads[i])
    some_enter = False
    for node in range(first + 1, last):
        if heads[node - 1] < first or heads[node - 1] > last:
            return node
        some_enter = some_enter or lowest[node] < first or highest[node] > last
    if some_enter:
        for word in range(1, heads.shape[0] + 1):
            if first < heads[word - 1] < last and not first <= word <= last:
                return word
    return 0


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
