"""Best trees, what a graph has trees of, which heads are trees, and how arcs cross: against definitions."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deptree_cli.core.oracle import all_trees
from deptree_cli.core.spaces import MULTI_ROOT, space
from deptree_cli.kernels.orders import are_trees, crossings, gaps
from deptree_cli.kernels.trees import apart_in_gap, apart_under, best_tree, draw_labels, forbid_dominating
from tests.oracle import Oracle

BOTH = pytest.mark.parametrize("single_root", [True, False], ids=["single", "multi"])
SIZES = pytest.mark.parametrize("n", [1, 2, 3, 4])


def best(scores, single_root):
    heads = np.full(len(scores) - 1, -9, dtype=np.int32)
    return heads, best_tree(scores, single_root, heads)


@BOTH
def test_the_best_trees_where_many_are_as_good(single_root, graphs):
    """Whole scores, whose sums are exact, and half of the arcs forbidden: the best, and all, once and in order."""
    for seed in range(60):
        scores, words = np.round(graphs.holes(1 + seed % 4, seed, single_root, scale=2)), np.arange(1, 2 + seed % 4)
        exact = Oracle(graphs.distribution(scores, single_root))
        totals = scores[exact.trees, words].sum(axis=1)
        heads, total = best(scores, single_root)
        assert total == scores[heads, words].sum() == totals.max()
        found = space(single_root).best_trees(scores, len(totals) + 1)
        possible = exact.trees[totals > -np.inf]
        assert sorted(found.tolist()) == sorted(possible.tolist())
        assert scores[found, words].sum(axis=1).tolist() == sorted(totals[totals > -np.inf], reverse=True)


def test_the_best_of_the_best_trees_of_each_root():
    """Whether one word takes ROOT at first, or several do, or none is possible."""
    rng, found = np.random.default_rng(1), set()
    for n in range(2, 32):
        scores = rng.integers(-9, 9, (n + 1, n + 1)).astype(float)
        scores[rng.random((n + 1, n + 1)) < 0.5 * (n % 3)] = -np.inf
        heads, total = best(scores, single_root=True)
        of_each = []
        for root in range(1, n + 1):
            given_root = scores.copy()
            given_root[0, np.arange(n + 1) != root] = -np.inf
            of_each.append(best(given_root, single_root=False)[1])
        assert total == max(of_each)
        found.add((best(scores, single_root=False)[1] > total, total > -np.inf))
        if total > -np.inf:
            assert np.count_nonzero(heads == 0) == 1
            assert scores[heads, np.arange(1, n + 1)].sum() == total
    assert found == {(False, True), (True, True), (False, False)}


# Dominators: take a word out of the graph and see what can still be reached.


def reached(allowed, starts, without):
    """The words on ways from ROOT that do not pass one word."""
    found = starts.copy()
    found[without] = False
    for _ in range(len(allowed)):
        found |= allowed[found].any(axis=0)
        found[without] = False
    return found


@given(st.integers(1, 9), st.integers(0, 10**6), st.floats(0.05, 0.6))
def test_dominators_of_random_graphs(n, seed, density):
    """Supported are arcs to d from those h that a way leads to which does not pass d."""
    rng = np.random.default_rng(seed)
    allowed = rng.random((n + 1, n + 1)) < density
    np.fill_diagonal(allowed, False)
    allowed[:, 0] = allowed[0] = False
    starts = rng.random(n + 1) < 0.4
    starts |= ~reached(allowed, starts, 0)  # every word is reached
    starts[0] = False
    supported = np.ones((n + 1, n + 1), dtype=bool)
    forbid_dominating(allowed, starts, supported)
    by_definition = np.array([reached(allowed, starts, word) for word in range(n + 1)]).T
    assert (supported[1:, 1:] == by_definition[1:, 1:]).all()


def test_a_label_has_its_share_of_the_unit_interval():
    """What rounding leaves over goes to the last possible label."""
    shares, bounds = [0.0, 0.25, 0.5, 0.0, 0.25], [(0.0, 1), (0.249, 1), (0.25, 2), (0.749, 2), (0.75, 4), (0.999, 4)]
    for probs, uniform, label in [*((shares, *bound) for bound in bounds), ([0.5, 0.5 - 1e-9, 0.0], 1 - 1e-12, 1)]:
        table, labels = np.full((2, 2, len(probs)), np.nan), np.full((1, 1), -9, dtype=np.int32)
        table[0, 1] = probs
        draw_labels(table, np.array([[0]], dtype=np.int32), np.array([[uniform]]), labels)
        assert labels.tolist() == [[label]], uniform


def all_heads(n):
    """Every row of heads in range, trees or not."""
    return np.array(list(itertools.product(range(n + 1), repeat=n)), dtype=np.int64)


def nodes(every):
    """Rows of heads by node, ROOT included."""
    return [[0, *heads] for heads in every.tolist()]


def way(heads, node):
    """The words from a node up to ROOT, or round a cycle once."""
    found = []
    while node and node not in found:
        found.append(node)
        node = heads[node]
    return found


@SIZES
def test_trees_are_what_climbs_to_root(n):
    every = all_heads(n)
    naive = [all(each[way(each, word)[-1]] == 0 for word in range(1, n + 1)) for each in nodes(every)]
    assert are_trees(every).tolist() == naive
    assert sum(naive) == (n + 1) ** (n - 1)  # Cayley 1889


@SIZES
def test_the_first_arc_that_crosses(n):
    """Of two arcs one begins below the other and ends beyond it; words between the ends of an arc are named first."""
    every = all_heads(n)
    arcs = [[sorted((head, word)) for word, head in enumerate(heads, 1)] for heads in every.tolist()]
    for own, found in zip(arcs, crossings(every).tolist(), strict=True):
        for (first, last), other in zip(own, found, strict=True):
            across = [i for i, (a, b) in enumerate(own, 1) if a < first < b < last or first < a < last < b]
            assert other == next(iter([i for i in across if first < i < last] or across), 0)


@SIZES
def test_gaps(n):
    """Some word between the ends is not below the head; trees without gaps are those without arcs that cross."""
    trees = all_trees(n, MULTI_ROOT).astype(np.int64)
    for heads, found in zip(nodes(trees), gaps(trees).tolist(), strict=True):
        between = [(head, range(min(head, word) + 1, max(head, word))) for word, head in enumerate(heads)][1:]
        assert found == [any(head and head not in way(heads, i) for i in inside) for head, inside in between]
    assert (gaps(trees).any(axis=1) == crossings(trees).any(axis=1)).all()


# Which word does not descend from another for the fewest reasons: words of the one way, of the other, where they meet.


def reasons(heads, word, other):
    """Why a word does not descend from another; None if it does."""
    own, beside = way(heads, word), way(heads, other)
    if other in own:
        return None
    top = next((node for node in own if node in beside), 0)
    if top and own.index(top) + beside.index(top) < len(own):
        return own[: own.index(top)], beside[: beside.index(top)], top
    return own, [], 0


def fewest(found):
    """The first for which there are the fewest reasons."""
    some = [(each, why) for each, why in found if why]
    return min(some, key=lambda each: len(each[1][0]) + len(each[1][1]), default=None)


def in_gap(heads, word):
    """Of the words between a word and its head whose arcs leave these, then of those above the head there the first."""
    head = heads[word]
    first, last = sorted((word, head))
    inside = range(first + 1, last)
    leaving = [each for each in inside if not first <= heads[each] <= last]
    above = [each for each in way(heads, head) if each in inside][:1]
    return fewest([(each, reasons(heads, each, head)) for each in leaving + above]) if head else None


def under(heads, word):
    """Of the heads of arcs over a word which end before its own head."""
    head, passing = heads[word], []
    for each, above in enumerate(heads):
        first, last = sorted((each, above))
        if above and first < word < last and (first > head if head < word else last < head):
            passing.append((above, reasons(heads, word, above)))
    return fewest(passing)


def as_found(heads, word, other, lower, upper, top):
    return way(heads, word)[:lower], way(heads, other)[:upper], top


@pytest.mark.parametrize("n", [3, 4, 5, pytest.param(6, marks=pytest.mark.slow("size"))])
def test_the_fewest_reasons_of_all_heads(n):
    """Also of heads that are no tree. Of five words and more some, at random."""
    every = itertools.product(*([head for head in range(n + 1) if head != word] for word in range(1, n + 1)))
    rng, compared = np.random.default_rng(n), 0
    for heads in ([0, *each] for each in every if n < 5 or rng.random() < 0.3):
        for word in range(1, n + 1):
            found, *ways = map(int, apart_in_gap(np.array(heads), word))
            why = found and (found, as_found(heads, found, heads[word], *ways))
            assert why == (in_gap(heads, word) or 0), (heads, word)
            found, *ways, end = map(int, apart_under(np.array(heads), word))
            why = found and (found, as_found(heads, word, found, *ways))
            assert why == (under(heads, word) or 0), (heads, word)
            assert not found or heads[end] == found
            compared += bool(why)
    assert compared >= 5
