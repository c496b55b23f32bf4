"""What can be counted in the trees of sentences in their order: depths, dependents, lengths, crossings, flux.

Heads of all sentences are one behind the other, those of sentence s in ``heads[starts[s] : starts[s + 1]]``. Arcs from
ROOT, node 0, are not counted.
"""

from __future__ import annotations

import numpy as np

from deptree_cli.kernels.flags import kernel

# The columns that are counted.
ROOTS, ROOT_PLACE, SUM_LENGTH, LONGEST, LEFT, DEPTH, SUM_DEPTH = range(7)
ARITY, PARENTS, CROSSINGS, CROSSED, FLUX, WEIGHT, SUM_WEIGHT = range(7, 14)
COLUMNS = 14


@kernel(allocates=True)
def count_in_trees(heads, starts, counts):
    """Fill counts (sentences, COLUMNS) of the trees of all sentences. O(n + sum of the lengths of arcs) each."""
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
