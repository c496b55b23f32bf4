"""Trees drawn one head after another: contracted graphs, the path of heads that are known, and what is left."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from deptree_cli.kernels.categorical import pick
from deptree_cli.kernels.elementary import fill
from deptree_cli.kernels.elimination import add_product
from deptree_cli.kernels.flags import kernel
from deptree_cli.kernels.operations import (
    add,
    divide,
    get,
    is_less,
    is_positive,
    logarithm,
    multiply,
    one,
    part,
    put,
    reaches,
    row,
    scale,
    zero,
)
from deptree_cli.kernels.xoshiro import uniform

# A sentence given some heads is a smaller graph: every free word with the tree that hangs on it, and the root's tree.
#
# Its nodes are positions: 0 for the root's tree, 1..m for those of the free words.


FREE = -1  # the head of a word that has none yet, and of the root
NONE = -1


@kernel
def find_tops(root, heads, free, first, at_root, tops):
    """Fill tops (n+1,) with the position of the tree that each node is in; NONE for ROOT if a word is the root.

    heads: (n+1,) by node; free: (m,) the free words, whose positions are `first` and those behind it; at_root: that of
    the root.
    """
    fill(tops, NONE)
    for x in range(free.shape[0]):
        tops[free[x]] = first + x
    tops[root] = at_root
    for u in range(1, heads.shape[0]):
        top = u
        while top != root and heads[top] != FREE:
            top = heads[top]
        tops[u] = tops[top]


@kernel
def gather_arcs(weights, free, tops, target):
    """Fill target (m+1, m+1) with the total weights of the arcs from each tree to each free word."""
    count = free.shape[0]
    for y in range(count):
        for x in range(count):
            put(target, (y, x), zero(target))
    for h in range(tops.shape[0]):
        y = tops[h]
        if y != NONE:
            arcs, given = row(target, y), row(weights, h)
            for x in range(1, count):
                if x != y:
                    put(arcs, x, add(get(arcs, x), get(given, free[x])))


# The head distributions of all free words along one tree, each given the heads of the words before: O(m^3) in all.
#
# One elimination per word would take m^4 / 12. This recursion eliminates the second half of the words, takes the
# heads of the first half one after another, and goes on to the second half. Where the papers on ancestral sampling
# update an inverse (Zmigrod et al. 2021a, Fig. 5; Stanojevic 2022, Alg. 7 and 8) and subtract nearly equal numbers on
# peaked weights, nothing is subtracted here.
#
# Positions 0..m-1 are those of the words in their order, m stands for the root. Level l of the recursion describes the
# walk "go to your head" as seen from an interval [low, high): H[x, v] is the weight of reaching v in the interval from
# x, and R[x] that of reaching the root, all other words without a head being left out.


# Products of positive float64 numbers above this have all their digits.
SMALLEST = 1e-290

LEVELS = 64  # more than any sentence needs
LOW, HIGH, VISITS, COLUMN, OWNER = range(5)


class PathTables(NamedTuple):
    """Numbers to compute in: H (n, 3 n + LEVELS), the levels side by side, and R (2 + log2(n) or more, n)."""

    H: object
    R: object


class Path(NamedTuple):
    """Where a walk through the recursion is; all int64 but `depth`.

    words: (m,) the free words in their order. tops: (n+1,) for each node the position of the tree that it is in.
    levels: (5, LEVELS) for each level the ends of its interval (LOW, HIGH), how many of its halves were entered
    (VISITS), where the column of position 0 would be in H (COLUMN), and in which of several paths' tables it is
    (OWNER). depth: (LEVELS,) float64, the sum of the negative ones among the logarithms of pivots. state: (2,) the
    level, and whether a product may have underflowed.
    """

    words: object
    tops: object
    levels: object
    depth: object
    state: object


@kernel(allocates=True)
def start_path(weights, root, heads, words, in_range, tables):
    """Return the `Path` of the free words (m,), given the heads (n+1,) of all others but the root.

    weights: numbers (n+1, n+1), ``[head, dependent]``. heads: by node, negative where not given. in_range: whether no
    positive weight lost digits when it became a number.
    """
    nodes, count = heads.shape[0], words.shape[0]
    tops, state = np.empty(nodes, np.int64), np.zeros(2, np.int64)
    find_tops(root, heads, words, 0, count, tops)
    state[1] = 0 if in_range else 1
    path = Path(words, tops, np.zeros((5, LEVELS), np.int64), np.zeros(LEVELS), state)
    path.levels[HIGH, 0] = count
    H, R = tables.H, row(tables.R, 0)
    for y in range(count):
        Hy = row(H, y)
        for v in range(count):
            put(Hy, v, zero(R))
        put(R, y, zero(R))
    for h in range(nodes):
        given, top = row(weights, h), tops[h]
        for y in range(count):
            if top == count:
                put(R, y, add(get(R, y), get(given, words[y])))
            elif top != y and top != NONE:
                Hy = row(H, y)
                put(Hy, top, add(get(Hy, top), get(given, words[y])))
    return path


@kernel
def find_open(path):
    """Return the lowest level of which a half, or the only word, has its turn still to come."""
    level = path.state[0]
    while path.levels[VISITS, level] == 2:
        level -= 1
    return level


@kernel
def next_heads(path, weights, given, tables, out):
    """Fill out (n+1,) with P(head -> word) for the next word of the path, given all heads before; 0 where impossible.

    given: the tables that the level is in that `find_open` returns; those below it come into `tables`. Before the next
    call `set_head` says which head the word has. Returns the sum of the negative ones among the logarithms of the
    pivots and of the total, for `path_in_range`.
    """
    level, count = find_open(path), path.words.shape[0]
    while path.levels[HIGH, level] - path.levels[LOW, level] > 1:
        enter_half(path, level, given, tables)
        level, given = level + 1, tables
    path.levels[VISITS, level] = 2
    path.state[0] = level
    d, reach = path.levels[LOW, level], row(tables.R, level)
    total, tiny = zero(reach), scale(one(reach), SMALLEST)
    for h in range(path.tops.shape[0]):
        x, top = zero(reach), path.tops[h]
        if top != d and top != NONE:
            x = get(row(weights, h), path.words[d])
            if top < count and is_positive(x):
                y = get(reach, top)
                x = multiply(x, y)
                if is_positive(y) and is_less(x, tiny):
                    path.state[1] = 1
        put(out, h, x)
        total = add(total, x)
    if not is_positive(total):
        return -math.inf
    for h in range(path.tops.shape[0]):
        put(out, h, divide(get(out, h), total))
    return path.depth[level] + min(0.0, logarithm(total))


@kernel
def path_in_range(weights, path, depth, lowest):
    """Return whether the numbers that `next_heads` found, with this depth, were in range: always so of wide ones.

    In float64 they were if no product underflowed, or if those that did are below e^lowest and do not matter: with the
    depth they are for sums, with -inf nothing is, and probabilities have all their digits however small they are.
    """
    return reaches(weights, lowest) or (path.state[1] == 0 and depth > -math.inf)


@kernel
def set_head(path, head):
    """Give the word whose head distribution came last a head, a node."""
    d, top = path.levels[LOW, path.state[0]], path.tops[head]
    for u in range(path.tops.shape[0]):
        if path.tops[u] == d:
            path.tops[u] = top


@kernel
def enter_half(path, level, above, tables):
    """Fill the next level for the half of an interval [a, b) whose turn it is, leaving the other half out.

    above: the tables that the level is in; tables: those for the next.
    """
    a, b, count = path.levels[LOW, level], path.levels[HIGH, level], path.words.shape[0]
    middle, second, below = (a + b) >> 1, path.levels[VISITS, level] == 1, level + 1
    given = path.levels[COLUMN, level] + a
    new = path.levels[COLUMN, level] + (path.levels[HIGH, level - 1] if level > 0 else count)
    path.levels[VISITS, level] += 1
    path.levels[LOW, below], path.levels[HIGH, below] = (middle, b) if second else (a, middle)
    path.levels[VISITS, below], path.levels[COLUMN, below] = 0, new - a
    path.depth[below] = path.depth[level]
    R, R_next = row(above.R, level), row(tables.R, below)
    for x in range(middle if second else a, count):
        copy(part(row(tables.H, x), new, new + b - a), part(row(above.H, x), given, given + b - a), b - a)
        put(R_next, x, get(R, x))
    if second:
        for x in range(a, middle):
            substitute_known_head(path, below, tables, x, middle, b)
    else:
        for x in range(b - 1, middle - 1, -1):
            eliminate_word(path, below, tables, x, a, x, a)


@kernel
def copy(target, source, count):
    """Copy `count` numbers."""
    for j in range(count):
        put(target, j, get(source, j))


@kernel
def substitute_known_head(path, level, tables, x, middle, b):
    """Leave out position x, a word with a head, at a level of which the positions from `middle` on are needed."""
    H, R, column, count = tables.H, row(tables.R, level), path.levels[COLUMN, level], path.words.shape[0]
    top = path.tops[path.words[x]]
    if top >= b and top < count:  # left out at a level above: x goes where its top goes
        copy(part(row(H, x), column + x + 1, column + b), part(row(H, top), column + x + 1, column + b), b - x - 1)
        put(R, x, get(R, top))
        eliminate_word(path, level, tables, x, x + 1, b, middle)
        return
    for y in range(middle, count):
        Hy = row(H, y)
        if top == count:
            put(R, y, add(get(R, y), get(Hy, column + x)))
        else:
            put(Hy, column + top, add(get(Hy, column + top), get(Hy, column + x)))


@kernel
def eliminate_word(path, level, tables, x, start, stop, first_row):
    """Eliminate position x from columns start..stop-1 and rows first_row..m-1 of a level."""
    H, R, column = tables.H, row(tables.R, level), path.levels[COLUMN, level]
    arcs = part(row(H, x), column + start, column + stop)
    pivot = get(R, x)
    least = pivot
    for v in range(stop - start):
        weight = get(arcs, v)
        pivot = add(pivot, weight)
        if is_positive(weight) and (is_less(weight, least) or not is_positive(least)):
            least = weight
    if not is_positive(pivot):
        path.depth[level] = -math.inf
        return
    path.depth[level] += min(0.0, logarithm(pivot))
    put(R, x, divide(get(R, x), pivot))
    for v in range(stop - start):
        put(arcs, v, divide(get(arcs, v), pivot))
    least, tiny = divide(least, pivot), scale(one(R), SMALLEST)
    for y in range(first_row, path.words.shape[0]):
        Hy = row(H, y)
        factor = get(Hy, column + x)
        if y != x and is_positive(factor):
            add_product(part(Hy, column + start, column + stop), factor, arcs, stop - start)
            put(R, y, add(get(R, y), multiply(factor, get(R, x))))
            if is_less(multiply(factor, least), tiny):
                path.state[1] = 1


# Trees word by word, each head given those before it: by the recursion above, O(n^3) a tree.
#
# One tree is drawn at a time; or many grow in lockstep, where several may go on from what was left out for one.


@kernel
def take_logarithms(path, weights, depth, probs, out):
    """Fill out (n+1,), float64, with the logarithms of probabilities, -inf for 0; return whether these are in range."""
    for h in range(out.shape[0]):
        x = get(probs, h)
        out[h] = logarithm(x) if is_positive(x) else -math.inf
    return path_in_range(weights, path, depth, -math.inf)


@kernel(allocates=True)
def log_heads_along(weights, root, heads, words, tables, uniforms, probs, chosen, out):
    """Draw heads of the free words (m,) one after another: chosen, by the random numbers uniforms, both as long as out.

    Fills out (m or less, n+1), float64, with the logarithms of the distributions that they were drawn from, unless it
    is None; probs: (n+1,) to compute in; the rest as of `start_path`. Returns whether all of these were in range,
    however small.
    """
    path = start_path(weights, root, heads, words, True, tables)
    for x in range(chosen.shape[0]):
        depth = next_heads(path, weights, tables, tables, probs)
        if out is not None and not take_logarithms(path, weights, depth, probs, out[x]):
            return False
        chosen[x] = pick(probs, 0, heads.shape[0], scale(one(probs), uniforms[x]))
        set_head(path, chosen[x])
    return True


@kernel(allocates=True)
def log_head_probs_of_each(weights, roots, heads, words, tables, probs, out, found):
    """Fill out (b, n+1), float64, with the logarithms of the head distributions of each sentence's first free word.

    roots (b,), heads (b, n+1), words (b, m): the free words; of each as of `start_path`. found: (b,) which rows are
    filled: others only are, and are marked unless float64 lost digits of theirs. probs: (n+1,) to compute in.
    """
    uniforms, chosen = np.zeros(1), np.empty(1, np.int64)
    for i in range(out.shape[0]):
        if not found[i]:
            root, own = roots[i], out[i : i + 1]
            found[i] = log_heads_along(weights, root, heads[i], words[i], tables, uniforms, probs, chosen, own)


@kernel(allocates=True)
def draw_ancestral(weights, roots, state, tables, probs, heads):
    """Fill heads (k, n) with trees below the nodes roots[i] (0, or a word that then gets head 0), from left to right.

    The ancestral sampler of Colbourn, Myrvold and Neufeld 1996, in O(n^3) a tree. state: of `xoshiro.py`; the rest as
    of `log_heads_along`.
    """
    nodes = heads.shape[1] + 1
    nothing, uniforms = np.full(nodes, FREE), np.empty(nodes)
    words, chosen = np.empty(nodes, np.int64), np.empty(nodes, np.int64)
    for i in range(heads.shape[0]):
        count = 0
        for word in range(1, nodes):
            heads[i, word - 1] = 0
            if word != roots[i]:
                words[count], uniforms[count] = word, uniform(state)
                count += 1
        log_heads_along(weights, roots[i], nothing, words[:count], tables, uniforms, probs, chosen[:count], None)
        for x in range(count):
            heads[i, words[x] - 1] = chosen[x]


@kernel(allocates=True)
def log_next_heads(paths, weights, tables, probs, out):
    """Fill out (b, n+1), float64, with the logarithms of the head distributions of the next word of each of b paths.

    paths: `Path`s in lockstep, stacked, each of which may be a copy of one before that then got a head (`set_heads`);
    tables: `PathTables`, stacked. A path's levels are in those of OWNER, and come into its own where it enters them.
    Returns whether all results were in range, as `log_heads_along` does.
    """
    for i in range(out.shape[0]):
        path, own = path_at(paths, i), tables_at(tables, i)
        level = find_open(path)
        depth = next_heads(path, weights, tables_at(tables, path.levels[OWNER, level]), own, probs)
        path.levels[OWNER, level + 1 : LEVELS] = i
        if not take_logarithms(path, weights, depth, probs, out[i]):
            return False
    return True


@kernel(allocates=True)
def set_heads(paths, heads):
    """Give the word whose head distribution came last on each path a head: heads (b,), nodes."""
    for i in range(heads.shape[0]):
        set_head(path_at(paths, i), heads[i])


@kernel(allocates=True)
def path_at(paths, i):
    return Path(paths.words[i], paths.tops[i], paths.levels[i], paths.depth[i], paths.state[i])


@kernel(allocates=True)
def tables_at(tables, i):
    return PathTables(row(tables.H, i), row(tables.R, i))
