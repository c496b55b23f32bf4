"""Trees of heads: the best one, labels, which are allowed, and what they score."""

from __future__ import annotations

import math

import numpy as np

from deptree_cli.kernels.categorical import pick
from deptree_cli.kernels.elementary import fill
from deptree_cli.kernels.flags import kernel

# The tree of the largest sum of scores: Chu-Liu-Edmonds in Tarjan's manner on a dense matrix, O(n^2).
#
# Every word takes its best head, ROOT included. Often these are a tree, and then the best one. A cycle of such choices
# is contracted into one name, and an arc from outside gains by it what it scores over the cycle's own arc into the same
# word; the search goes on. In the end the cycles are opened again where an arc enters them. Heads remain words: nothing
# is worked out but what arcs into cycles gain. Of heads that gain the same a name takes the first, but ROOT before all
# (or, where ROOT is to be spared, after all).
#
# Under the single-root constraint every optimum must use as few ROOT arcs as possible; Stanojevic and Cohen 2021
# subtract a large constant from the scores of ROOT arcs. Here, where more than one name has taken ROOT, the search goes
# on from there, and now a name takes ROOT only if it has no other head left. That amounts to the same, as a cycle never
# contains ROOT, so that all arcs from one head into a name contain the constant equally often; and there is no constant
# beside which scores are rounded.


NONE = -1


# While cycles are contracted, names (5, 2 n + 2) have of each name, which is of a node, or then of a cycle, in their
# order: the first best head but ROOT, `NONE` if there is none; the head that was taken; the word from which a way to
# heads first came by, `NONE` if none has, of a member of a cycle the cycle; of a cycle, one of its members; of a
# member, the next one, round the cycle. And most (2 n + 2,) what the arc from the best head gains; outermost (n+1,) the
# name of what contains a node; gains (n+1, n+1), a row for each cycle, what the arc from a node into it gains.
BEST, TAKEN, SEEN, INSIDE, BESIDE = range(5)


@kernel(allocates=True)
def best_tree(scores, single_root, heads):
    """Fill heads (n,) with a tree of the largest sum of scores (n+1, n+1), ``[head, dependent]``; return that sum.

    A score of -inf forbids an arc. Returns -inf if there is no tree (or none with a single root, if that is required).
    """
    nodes = scores.shape[0]
    names, most = np.empty((5, 2 * nodes), np.int64), np.empty(2 * nodes)
    best, taken, outermost, gains = names[BEST], names[TAKEN], np.arange(nodes), np.empty((nodes, nodes))
    for word in range(1, nodes):
        best[word], most[word] = NONE, -math.inf
    for head in range(1, nodes):
        for word in range(1, nodes):
            if scores[head, word] > most[word] and head != word:
                best[word], most[word] = head, scores[head, word]
    count, roots = take_heads(scores, names, most, outermost, gains, nodes, False)
    if single_root and roots > 1:
        count, roots = take_heads(scores, names, most, outermost, gains, count, True)
    if roots == 0 or (single_root and roots > 1):
        return -math.inf
    open_cycles(scores, names, most, gains, count)
    total = 0.0
    for word in range(1, nodes):
        heads[word - 1] = taken[word]
        total += scores[taken[word], word]
    return total


@kernel
def take_heads(scores, names, most, outermost, gains, count, spares_root):
    """Have each name take a head, and contract cycles; return how many names there are, and how many took ROOT.

    None has if there is no tree. spares_root: whether names take ROOT only if there is no other head.
    """
    best, taken, seen, nodes, roots = names[BEST], names[TAKEN], names[SEEN], scores.shape[0], 0
    seen[:count] = NONE
    for start in range(1, nodes):
        name = outermost[start]
        while name != 0 and (seen[name] == NONE or seen[name] == start):
            if seen[name] == start:
                contract(scores, names, most, outermost, gains, name, count)
                name, count = count, count + 1
            seen[name], head = start, best[name]
            from_root = scores[0, name] if name < nodes else gains[name - nodes, 0]
            if head == NONE or (from_root >= most[name] and not spares_root):
                if not from_root > -math.inf:
                    return count, 0
                head, roots = 0, roots + 1
            taken[name] = head
            name = outermost[head]
    return count, roots


@kernel
def contract(scores, names, most, outermost, gains, first, cycle):
    """Contract the cycle that heads lead through from `first` on; an arc into it replaces that into the same word."""
    best, taken, seen, beside, nodes = names[BEST], names[TAKEN], names[SEEN], names[BESIDE], scores.shape[0]
    into = gains[cycle - nodes]
    into[:] = -math.inf
    member = names[INSIDE, cycle] = first
    while seen[member] != cycle:
        for head in range(nodes):
            gain = (scores[head, member] if member < nodes else gains[member - nodes, head]) - most[member]
            into[head] = gain if gain > into[head] else into[head]
        seen[member], beside[member] = cycle, outermost[taken[member]]
        member = beside[member]
    best[cycle], most[cycle] = NONE, -math.inf
    for head in range(1, nodes):
        if seen[outermost[head]] == cycle:
            outermost[head], into[head] = cycle, -math.inf
        elif into[head] > most[cycle]:
            best[cycle], most[cycle] = head, into[head]


@kernel
def open_cycles(scores, names, most, gains, count):
    """Give the head of each cycle to the member that its arc enters, in place of its own; the outermost cycle first."""
    taken, inside, beside, nodes = names[TAKEN], names[INSIDE], names[BESIDE], scores.shape[0]
    for cycle in range(count - 1, nodes - 1, -1):
        head, member, entered, highest = taken[cycle], inside[cycle], NONE, -math.inf
        while member != inside[cycle] or entered == NONE:
            gain = (scores[head, member] if member < nodes else gains[member - nodes, head]) - most[member]
            if gain > highest:
                entered, highest = member, gain
            member = beside[member]
        taken[entered] = head


@kernel(allocates=True)
def best_trees_below(scores, single_root, tree, first, banned, heads, totals):
    """Fill heads (n, n) and totals (n,) with the best tree of each part of a cell, and its score; -inf for no tree.

    The parts are Lawler's (1972) partition of all trees of the cell except `tree` (n,), its best. The cell: trees that
    agree with `tree` on the words before `first`, and whose word `first` has none of the heads at which banned (n+1,)
    is true. Part i, in row i - 1, for i = first..n: those that agree with `tree` on the words before i and differ from
    it on word i.
    """
    n = tree.shape[0]
    given = scores.copy()
    for word in range(1, first):
        own = given[tree[word - 1], word]
        given[:, word] = -math.inf
        given[tree[word - 1], word] = own
    for h in range(n + 1):
        if banned[h]:
            given[h, first] = -math.inf
    for word in range(first, n + 1):
        own = given[tree[word - 1], word]
        given[tree[word - 1], word] = -math.inf
        totals[word - 1] = best_tree(given, single_root, heads[word - 1])
        given[:, word] = -math.inf
        given[tree[word - 1], word] = own


# Which words stand on every way from ROOT to another word: the dominators of a graph, without any weights.
#
# Iteration over immediate dominators (Cooper, Harvey, Kennedy 2001), from the tree of a breadth-first search on: a few
# passes over the arcs, O(n^2) each; only adversarial graphs need more than a handful.


@kernel(allocates=True)
def forbid_dominating(allowed, starts, supported):
    """Clear supported[h, d] for words h and d where every way from ROOT to h leads through d.

    allowed: bool (n+1, n+1), ``[head, dependent]``, arcs between words; starts: bool (n+1,), the words that a way from
    ROOT may enter first, from which every word is reached; supported: bool (n+1, n+1), filled by the caller.
    """
    nodes, reached, changed = allowed.shape[0], 1, True
    order, rank, above = np.zeros(nodes, np.int64), np.full(nodes, NONE, np.int64), np.zeros(nodes, np.int64)
    for place in range(nodes):  # above: by the order in which nodes are reached, as they come below each other
        for word in range(1, nodes):
            if rank[word] == NONE and (starts[word] if place == 0 else allowed[order[place], word]):
                order[reached], rank[word], above[reached] = word, reached, place
                reached += 1
    while changed:
        changed = False
        for place in range(1, nodes):
            found, word = above[place], order[place]
            for head in range(1, nodes):
                if found != 0 and allowed[head, word]:  # the last node above both
                    other = rank[head]
                    while other != found:
                        if other > found:
                            other = above[other]
                        else:
                            found = above[found]
            changed = changed or found != above[place]
            above[place] = found
    for h in range(1, nodes):
        place = rank[h]
        while place != 0:
            supported[h, order[place]] = False
            place = above[place]


# Of pairs of words, that of which the first does not descend from the second for the fewest reasons.
#
# The reasons are the words on the ways from both up to a node above both; where the way up to ROOT has no more, that is
# enough. Heads are (n+1,), those of nodes, ROOT its own. Of a cycle, which no tree has, each word counts once.


@kernel
def fill_line(heads, node, places):
    """Fill places (n+1,) with how many arcs each word is above a node, `NONE` if it is not; return how many are."""
    fill(places, NONE)
    steps = 0
    while node != 0 and places[node] == NONE:
        places[node] = steps
        steps += 1
        node = heads[node]
    return steps


@kernel
def reasons(heads, word, other, own, beside):
    """Return how many words on the ways from a word, and from another one, keep the first from descending from that.

    And the node where the ways meet. Both numbers are 0 if it descends. own, beside: (n+1,), room.
    """
    words, steps, top = fill_line(heads, word, own), 0, word
    fill_line(heads, other, beside)
    if own[other] != NONE:
        return 0, 0, 0
    while steps < words and beside[top] == NONE:
        top = heads[top]
        steps += 1
    if steps < words and steps + beside[top] < words:
        return steps, beside[top], top
    return words, 0, 0


@kernel(allocates=True)
def apart_in_gap(heads, word):
    """Return a word in the gap of a word's arc, 0 if there is none; how many words are on its way and on that of the
    head; and where these meet.

    Words are looked at whose arcs leave the gap, and the first above the head that is in it.
    """
    nodes, head = heads.shape[0], heads[word]
    first, last = min(word, head), max(word, head)
    own, beside = np.empty(nodes, np.int64), np.empty(nodes, np.int64)
    fewest, best, above, steps = np.int64(nodes), (0, 0, 0, 0), head, 0
    while above != 0 and steps <= nodes and not first < above < last:
        above = heads[above]
        steps += 1
    for place in range(first + 1, last + 1):
        each = place if place < last else above
        if head != 0 and first < each < last and (place == last or heads[each] < first or heads[each] > last):
            lower, upper, top = reasons(heads, each, head, own, beside)
            if 0 < lower + upper < fewest:
                fewest, best = lower + upper, (each, lower, upper, top)
    return best


@kernel(allocates=True)
def apart_under(heads, word):
    """Return the head of an arc over a word that passes over it, to beyond its own head, and from which the word does
    not descend, 0 if there is none; how many words are on both ways; where these meet; and the arc's other end.
    """
    nodes, head = heads.shape[0], heads[word]
    own, beside = np.empty(nodes, np.int64), np.empty(nodes, np.int64)
    fewest, best, far = np.int64(nodes), (0, 0, 0, 0), 0
    for each in range(1, nodes):
        above = heads[each]
        first, last = min(each, above), max(each, above)
        if above == 0 or not first < word < last or (first <= head if head < word else last >= head):
            continue
        if above == best[0]:
            far = each
            continue
        lower, upper, top = reasons(heads, word, above, own, beside)
        if 0 < lower + upper < fewest:
            fewest, best, far = lower + upper, (above, lower, upper, top), each
    return *best, far


@kernel(allocates=True)
def reaches(capacity, source, sink, need, reached):
    """Whether so much flows from a node to another; if not, fill reached (k,) with the nodes that still reach the sink.

    By shortest augmenting ways (Edmonds and Karp 1972) through capacity (k, k), ``[from, to]``, which is used up.
    """
    nodes, flow = capacity.shape[0], 0.0
    after, queue = np.empty(nodes, np.int64), np.empty(nodes, np.int64)
    while flow < need:
        fill(after, NONE)
        after[sink] = queue[0] = sink
        first, last = 0, 1
        while first < last and after[source] == NONE:
            each, first = queue[first], first + 1
            for before in range(nodes):
                if after[before] == NONE and capacity[before, each] > 1e-9:
                    after[before] = each
                    queue[last] = before
                    last += 1
        if after[source] == NONE:
            for each in range(nodes):
                reached[each] = after[each] != NONE
            return False
        push, each = math.inf, source
        while each != sink:
            push = min(push, capacity[each, after[each]])
            each = after[each]
        each = source
        while each != sink:
            capacity[each, after[each]] -= push
            capacity[after[each], each] += push
            each = after[each]
        flow += push
    return True


# Labels of arcs: drawn by their probabilities, and what is left of these where some are forbidden.


@kernel
def draw_labels(probs, heads, uniforms, labels):
    """Fill labels (k, n) with labels of the arcs heads (k, n), drawn by probs (n+1, n+1, L), ``[head, dependent]``.

    uniforms: (k, n) random numbers from [0, 1). A label of probability 0 is never drawn: see `pick`.
    """
    for tree in range(heads.shape[0]):
        for i in range(heads.shape[1]):
            own = probs[heads[tree, i], i + 1]
            labels[tree, i] = pick(own, 0, own.shape[0], uniforms[tree, i])


@kernel
def fill_beyond(log_probs, forbidden, highest, beyond, some):
    """Fill in what is left of labels' log-probabilities (n+1, n+1, L) where some are forbidden.

    highest (n+1, n+1): the highest that is left, -inf if none is. beyond (n+1, n+1, L): how far each is above that, 0
    for those that are not left. some (n+1, n+1): whether any is forbidden.
    """
    for h in range(log_probs.shape[0]):
        for d in range(log_probs.shape[1]):
            own, gone, most = log_probs[h, d], forbidden[h, d], -math.inf
            any_gone = False
            for label in range(own.shape[0]):
                any_gone = any_gone | gone[label]
                if not gone[label] and own[label] > most:
                    most = own[label]
            highest[h, d], some[h, d] = most, any_gone
            for label in range(own.shape[0]):
                is_left = not gone[label] and own[label] > -math.inf
                beyond[h, d, label] = own[label] - most if is_left else 0.0


@kernel
def fill_left(log_probs, forbidden, shares, left):
    """Fill left (n+1, n+1, L) with the log-probabilities of labels given those that are not forbidden, -inf for others.

    shares (n+1, n+1): the logarithm of what is left of each arc.
    """
    for h in range(log_probs.shape[0]):
        for d in range(log_probs.shape[1]):
            share = shares[h, d]
            for label in range(log_probs.shape[2]):
                is_left = share > -math.inf and not forbidden[h, d, label]
                left[h, d, label] = log_probs[h, d, label] - share if is_left else -math.inf


@kernel
def drop(log_probs, forbidden, weights):
    """Set weights (n+1, n+1, L) to 0 that are not left."""
    for h in range(weights.shape[0]):
        for d in range(weights.shape[1]):
            for label in range(weights.shape[2]):
                if forbidden[h, d, label] or not log_probs[h, d, label] > -math.inf:
                    weights[h, d, label] = 0.0


# Log-probabilities of given trees, from shifted scores and log Z.


@kernel
def tree_log_probs(log_weights, log_z, trees, out):
    """Fill out (k,) with log-probabilities of trees (k, n), int32 heads, from log-weights of arcs (n+1, n+1) and log Z.

    -inf where an arc is forbidden.
    """
    for t in range(trees.shape[0]):
        total = 0.0
        for word in range(1, log_weights.shape[0]):
            total += log_weights[trees[t, word - 1], word]
        out[t] = total - log_z


# Which arcs cross the pinned ones, those that every tree is to contain.


@kernel
def prune_crossing(first, last, arcs):
    """Remove the arcs (n+1, n+1) that pinned ones cross; first, last (n+1,): the outermost nodes that these link."""
    nodes = len(first)
    for i in range(nodes):
        low, high = nodes, -1
        for j in range(i + 1, nodes):
            if low < i or high > j:
                arcs[i, j] = arcs[j, i] = False
            low, high = min(low, first[j]), max(high, last[j])
