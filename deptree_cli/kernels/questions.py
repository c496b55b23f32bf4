"""Questions about the trees of many sentences: sums, derivatives, samples and best trees, in any kind of numbers.

A question is a kernel. It answers for the sentences of a `Packed`, and unsets `in_range` where the numbers of its
weights do not suffice; a sentence that is not in range is left out. What a sweep makes of weights is in `items` and
`pivots`, memory for one sentence, which is kept, and known already if `is_swept`; or they are empty. All arguments are
arrays or plain tuples of them, in the order of the names of `Packed` and `Matrices`: numba takes 3 microseconds to know
their types, and 9 those of named tuples.

A space of trees is the operations below, chosen by the class of what is swept: `Factors` of trees that may cross, a
`Chart` of those that do not, which has no pivots.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from deptree_cli.kernels import charts, elimination, trees
from deptree_cli.kernels.elementary import largest
from deptree_cli.kernels.elimination import WIDTH
from deptree_cli.kernels.flags import Index, kernel
from deptree_cli.kernels.kept import LINE
from deptree_cli.kernels.numbers import Dual, Lanes
from deptree_cli.kernels.operations import (
    get,
    is_positive,
    length,
    multiply,
    new,
    number,
    operation,
    part,
    put,
    put_rounded,
    reaches,
    set_zero,
    tolerance,
    view,
    zero,
)
from deptree_cli.kernels.packed import matrix, sentence


class Factors(NamedTuple):
    """What elimination makes of the weights of a sentence: factors, rows `aligned` apart, and pivots."""

    factors: Any
    pivots: Any


class Chart(NamedTuple):
    """Eisner's chart of a sentence."""

    items: Any


class Scratch(NamedTuple):
    """Memory to compute in: adjoints of what is swept, flat; the workspace of elimination, or marginals, flat."""

    adjoints: Any
    other: Any


@kernel
def aligned(nodes):
    """Return how many numbers apart rows are to begin: as many as fill cache lines, which saves a tenth of the time."""
    return (nodes + 7) // 8 * 8


@operation
def memory(pivots, items):
    """Return what is swept, or is to be."""
    return Factors(items, pivots)


@operation
def new_swept(swept, like, n):
    """Return memory for a sentence of n words, flat, in the kind of numbers of `like`."""
    return Factors(new(like, (n + 1) * aligned(n + 1)), new(like, n + 1))


@operation
def new_scratch(swept, like, n, looks_back):
    """Return memory to compute in; `looks_back`: for `sweep_back` too."""
    width, size = np.int64(WIDTH), np.int64(3 * WIDTH * (n + 1))
    workspace = view(new(like, size), 0, size, (np.int64(3), width, n + 1))
    return Scratch(new(like, (n + 1) * aligned(n + 1) if looks_back else 0), workspace)


@operation
def part_of(swept, n):
    """Return what is swept of a sentence of n words as arrays of their shape."""
    nodes, width = n + 1, aligned(n + 1)
    return Factors(view(swept.factors, 0, nodes * width, (nodes, width)), part(swept.pivots, 0, nodes))


@operation
def sweep(own, W, final_word, single_root, scratch):
    """Sum over trees of weights (n+1, n+1); return log Z, and whether the numbers suffice."""
    return elimination.factorise(W, max(1, final_word), own.factors, own.pivots, scratch.other, single_root)


@operation
def sweep_back(own, W, final_word, single_root, scratch, out):
    """Fill `out` with marginals, of dual numbers with their derivatives too; return whether the numbers suffice."""
    nodes, width = length(W), aligned(length(W))
    adjoints, given = view(scratch.adjoints, 0, nodes * width, (nodes, width)), (W, max(1, final_word))
    return elimination.arc_marginals(*given, own.factors, own.pivots, adjoints, scratch.other, single_root, out)


@operation
def draw(own, W, final_word, single_root, state, heads):
    """Fill heads (k, n) with independent trees."""
    nodes, first, roots = length(W), max(1, final_word), np.zeros(heads.shape[0], np.int64)
    size = nodes * nodes
    across, weights = view(new(W, size), 0, size, (nodes, nodes)), view(new(W, size), 0, size, (nodes, nodes))
    elimination.transpose(own.factors, across, nodes)
    for i in range(nodes):
        for j in range(nodes):
            put(weights, (i, j), get(W, (i, j)))
    elimination.swap_words(weights, first, 1)
    elimination.sample_trees(own.factors, own.pivots, across, weights, first, single_root, roots, state, heads)


@operation
def find_best(swept, scores, single_root, heads):
    """Fill heads (n,) with the tree of the largest sum of scores; return that sum."""
    return trees.best_tree(scores, single_root, heads)


@operation
def chart_in(memory, nodes):
    """Return memory as the chart of this many nodes."""
    tables = np.int64(charts.TABLES)
    return view(memory, 0, tables * nodes * nodes, (tables, nodes, nodes))


memory.register(type(None), lambda pivots, items: Chart(items))
new_swept.register(Chart, lambda swept, like, n: Chart(new(like, charts.TABLES * (n + 1) * (n + 1))))


@new_scratch.register(Chart)
def _new_scratch_of_chart(swept, like, n, looks_back):
    size = (n + 1) * (n + 1) if looks_back else 0
    return Scratch(new(like, charts.TABLES * size), new(like, size))


part_of.register(Chart, lambda swept, n: Chart(chart_in(swept.items, n + 1)))


@sweep.register(Chart)
def _fill_chart(own, W, final_word, single_root, scratch):
    n, is_wide = length(W) - 1, reaches(W, -math.inf)
    if n > charts.LONGEST and not is_wide:
        return -math.inf, False
    set_zero(own.items)
    log_z, in_range = charts.log_partition(charts.inside(W, single_root, own.items), n)
    return log_z, in_range or is_wide


@sweep_back.register(Chart)
def _fill_chart_backward(own, W, final_word, single_root, scratch, out):
    nodes = length(W)
    adjoints, found = chart_in(scratch.adjoints, nodes), view(scratch.other, 0, nodes * nodes, (nodes, nodes))
    set_zero(adjoints)
    set_zero(found)
    in_range = charts.outside(W, single_root, own.items, adjoints, found)
    for i in range(nodes):
        for j in range(1, nodes):
            put_rounded(out, (i, j), get(found, (i, j)))
    return in_range


@draw.register(Chart)
def _draw_from_chart(own, W, final_word, single_root, state, heads):
    charts.sample_trees(charts.EisnerGrammar(single_root, own.items), state, heads)


find_best.register(Chart, lambda swept, scores, single_root, heads: charts.best_tree(scores, single_root, heads))


@kernel(allocates=True)
def sums(items, pivots, packed, log_z, is_swept, marginals):
    """Fill log_z (B,) and, where there is room for any, the matrices of marginals, zeros at first."""
    weights, starts, lengths, final_words, single_root, short, in_range = packed
    longest, looks_back, swept = largest(lengths), marginals[0].shape[0] > 0, memory(pivots, items)
    if longest <= short:
        return
    if length(items) == 0:
        swept = new_swept(swept, weights, longest)
    scratch = new_scratch(swept, weights, longest, looks_back)
    for b in range(lengths.shape[0]):
        if in_range[b] and lengths[b] > short:
            W, own, final_word = sentence(weights, starts[b], lengths[b]), part_of(swept, lengths[b]), final_words[b]
            if not is_swept:
                log_z[b], in_range[b] = sweep(own, W, final_word, single_root, scratch)
            if in_range[b] and looks_back:
                in_range[b] = sweep_back(own, W, final_word, single_root, scratch, matrix(marginals, b))


@kernel(allocates=True)
def covariances(items, pivots, packed, log_z, is_swept, values, out):
    """Fill log_z (B,), and out with Cov(1[arc in tree], sum of the tree's values) for every arc.

    Both sweeps on dual numbers, whatever is swept already: the derivative of the marginals in the direction of the
    values, which do not count where an arc's weight is 0. values, out: matrices of each sentence.
    """
    weights, starts, lengths, final_words, single_root, _, in_range = packed
    n, swept = largest(lengths), memory(pivots, items)
    tangents, marginals = new(weights, (n + 1) * (n + 1)), np.empty((n + 1) * (n + 1))
    like = Dual(weights, tangents)
    duals, scratch = new_swept(swept, like, n), new_scratch(swept, like, n, True)
    for b in range(lengths.shape[0]):
        if in_range[b]:
            n, target, own = lengths[b], matrix(out, b), part_of(duals, lengths[b])
            W = Dual(sentence(weights, starts[b], n), sentence(tangents, 0, n))
            fill_tangents(W, matrix(values, b))
            log_z[b], in_range[b] = sweep(own, W, final_words[b], single_root, scratch)
            if in_range[b]:
                found = Dual(sentence(marginals, 0, n), target)
                in_range[b] = sweep_back(own, W, final_words[b], single_root, scratch, found)
                is_finite = clear_impossible(W.value, target)
                in_range[b] = in_range[b] and (is_finite or reaches(weights, -math.inf))


@kernel
def fill_tangents(W, values):
    """Fill the tangents of weights (n+1, n+1) with weights times values (n+1, width), 0 where a weight is 0."""
    for i in range(length(W)):
        for j in range(length(W)):
            weight = get(W.value, (i, j))
            is_possible = is_positive(weight)
            tangent = multiply(weight, number(W.value, values[i, j])) if is_possible else zero(W.value)
            put(W.tangent, (i, j), tangent)


@kernel
def clear_impossible(W, found):
    """Overwrite what was found of arcs of weight 0 by 0; return whether all of it is finite."""
    total = 0.0
    for i in range(length(W)):
        for j in range(1, length(W)):
            if not is_positive(get(W, (i, j))):
                found[i, j] = 0.0
            total += found[i, j]
    return math.isfinite(total)


@kernel(allocates=True)
def samples(items, pivots, packed, log_z, is_swept, states, size, heads, places):
    """Fill log_z (B,), and heads with `size` independent trees of each sentence, (size, n) from its place (B,) on.

    states: (B, 4) of `xoshiro.py`.
    """
    weights, starts, lengths, final_words, single_root, _, in_range = packed
    swept = memory(pivots, items)
    if length(items) == 0:
        swept = new_swept(swept, weights, largest(lengths))
    scratch = new_scratch(swept, weights, largest(lengths), False)
    for b in range(lengths.shape[0]):
        n = lengths[b]
        if in_range[b]:
            W, own = sentence(weights, starts[b], n), part_of(swept, n)
            if not is_swept:
                log_z[b], in_range[b] = sweep(own, W, final_words[b], single_root, scratch)
            if in_range[b]:
                trees_of_b = heads[places[b] : places[b] + size * n].reshape(size, n)
                draw(own, W, final_words[b], single_root, states[b], trees_of_b)


@kernel(allocates=True)
def best_trees(items, pivots, scores, lengths, least, single_root, heads, places, in_range):
    """Fill heads with the tree of the largest sum of scores of each sentence, (n,) from its place (B,) on.

    scores: matrices without padding. in_range (B,): set to whether that sum is above `least`.
    """
    swept = memory(pivots, items)
    for b in range(lengths.shape[0]):
        own = heads[places[b] : places[b] + lengths[b]]
        in_range[b] = find_best(swept, matrix(scores, b), single_root, own) > least


# Sums over the trees of short sentences, side by side in lanes: the sweeps of elimination, run on numbers of several.
#
# A group is as many sentences as there are lanes, of neighbouring lengths. It is filled up by words that govern none
# and hang on the first word with weight 1: such a word's pivot is 1 and it adds 0 to all others, so that no digit of
# a sentence depends on the group that it is in. Arrays of a group have shape (N, N, lanes), N nodes in its longest.


# Bytes of a row of words, 50 float64 or 100 float32, up to which sentences go side by side: a full group takes less
# than half of what its sentences would take one by one. A sentence without neighbours takes several times as much as
# by itself; but which way it goes must depend on nothing but its length.
SHORT = 400


@kernel(allocates=True)
def sums_side_by_side(packed, log_z, marginals):
    """Do what `sums` does, for short sentences over trees that may cross; return whether all are short."""
    weights, starts, lengths, final_words, single_root, short, in_range = packed
    order, lanes, dtype = short_sentences(lengths, short), LINE // weights.itemsize, weights.dtype
    nodes = lengths[order[-1]] + 1 if len(order) > 0 else 0
    numbers, totals = np.empty((2, nodes * nodes * lanes), dtype), np.empty(nodes, dtype)
    pivots, workspace = np.empty((nodes, lanes), dtype), np.empty((3, WIDTH, nodes, lanes), dtype)
    for start in range(0, len(order), lanes):
        group = order[start : start + lanes]
        shape = lengths[group[-1]] + 1, lengths[group[-1]] + 1, lanes
        size, S = shape[0] * shape[1] * lanes, pivots[: shape[0]]
        A, J = numbers[0, :size].reshape(shape), numbers[1, :size].reshape(shape)
        fill_group(A, group, weights, lengths, starts, final_words)
        elimination.eliminate_words(Lanes(A), Lanes(S), Lanes(workspace), single_root)
        for lane, b in enumerate(group):
            log_z[b], depth = log_of_pivots(S, lane, lengths[b])
            in_range[b] = in_range[b] and reaches(weights, depth)
        if marginals[0].shape[0] > 0:
            elimination.eliminate_backward(Lanes(A), Lanes(S), Lanes(J), Lanes(workspace), single_root)
            for lane, b in enumerate(group):
                W, out = sentence(weights, starts[b], lengths[b]), matrix(marginals, b)
                in_range[b] = in_range[b] and put_lane(W, J, lane, max(1, final_words[b]), totals, out)
    return len(order) == lengths.shape[0]


@kernel(allocates=True)
def short_sentences(lengths, longest):
    """Return the numbers of the sentences of this many words at most, shortest first."""
    order, found = np.empty(lengths.shape[0], np.int64), 0
    for n in range(1, min(longest, largest(lengths)) + 1):
        for b in range(lengths.shape[0]):
            if lengths[b] == n:
                order[found] = b
                found += 1
    return order[:found]


@kernel(allocates=True)
def fill_group(A, group, weights, lengths, starts, final_words):
    """Fill the arcs of a group (N, N, lanes) with its sentences' weights; lanes that are left have no words."""
    for lane in range(A.shape[2]):
        n = 0
        A[0, 0, lane] = 0.0
        if lane < len(group):
            b = group[lane]
            n = lengths[b]
            fill_lane(A, lane, sentence(weights, starts[b], n), max(1, final_words[b]))
        for m in range(n + 1, A.shape[0]):
            for i in range(A.shape[0]):
                A[i, m, lane] = A[m, i, lane] = 0.0
            A[1 if m > 1 else 0, m, lane] = 1.0


@kernel
def fill_lane(A, lane, W, final_word):
    """Fill a lane with the weights W (n+1, n+1) of a sentence; its final word and word 1 change places."""
    for i in range(Index(W.shape[0])):
        target, given = A[place(i, final_word)], W[i]
        for j in range(Index(W.shape[0])):
            target[place(j, final_word), lane] = given[j]


@kernel
def place(i, final_word):
    """Return where node i stands."""
    return Index(final_word) if i == 1 else Index(1) if i == Index(final_word) else Index(i)


@kernel
def log_of_pivots(S, lane, n):
    """Return what `log_of_product` of `elimination.py` does, of the pivots in a lane."""
    log_z = depth = 0.0
    for m in range(n, 0, -1):
        pivot = np.float64(S[m, lane])
        if not pivot > 0.0:
            return -math.inf, -math.inf
        log_z += math.log(pivot)
        depth += min(0.0, math.log(pivot))
    return log_z, depth


@kernel
def put_lane(W, adjoints, lane, final_word, totals, out):
    """Do what `put_products` of `elimination.py` does, of the adjoints in a lane, for words in their own order."""
    nodes, none = Index(W.shape[0]), W.dtype.type(0.0)
    for j in range(nodes):
        totals[j] = none
    for i in range(nodes):
        given = adjoints[place(i, final_word)]
        for j in range(Index(1), nodes):
            x = W[i, j] * given[place(j, final_word), lane] if W[i, j] > none else none
            totals[j] += x
            out[i, j] = x if x > none else none
    in_range = True
    for j in range(Index(1), nodes):
        in_range = in_range and abs(totals[j] - 1.0) < tolerance(totals)
    return in_range
