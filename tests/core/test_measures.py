"""Quantities of trees against their definitions, on all trees of up to five words; over all orders of their words."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from deptree_cli.core import measures
from deptree_cli.core.measures import MEASURES, RANDOM_ORDER, Reduction, arc_shapes, depths, joined, without
from deptree_cli.core.oracle import all_trees
from deptree_cli.core.quantities import NUMBERS
from deptree_cli.core.spaces import MULTI_ROOT

UP_TO_5 = pytest.mark.parametrize("n", [1, 2, 3, 4, 5])


def chunk_of(trees):
    trees = [*map(list, trees)]
    return np.array([*itertools.chain(*trees)], dtype=np.int64), np.cumsum([0, *map(len, trees)])


def cross(a, b):
    (i, j), (k, last) = sorted(a), sorted(b)
    return i < k < j < last or k < i < last < j


def depth(heads, word):
    return 0 if heads[word - 1] == 0 else 1 + depth(heads, heads[word - 1])


def mean(numbers):
    return sum(numbers) / len(numbers) if numbers else math.nan


def weight(arcs):
    """The most arcs of which no two share a word, by trying all."""
    sizes = range(len(arcs), 0, -1)
    sets = (some for size in sizes for some in itertools.combinations(arcs, size))
    return next((len(some) for some in sets if len({*itertools.chain(*some)}) == 2 * len(some)), 0)


def arcs_of(heads):
    return [(head, word) for word, head in enumerate(heads, 1) if head]


def by_definition(heads):
    n, words = len(heads), range(1, len(heads) + 1)
    arcs = arcs_of(heads)
    lengths, left = [abs(h - d) for h, d in arcs], [h > d for h, d in arcs]
    crossed = [any(cross(a, b) for b in arcs) for a in arcs]
    depths = [depth(heads, word) for word in words]
    dependents = [heads.count(word) for word in words]
    gaps = [[arc for arc in arcs if min(arc) <= gap < max(arc)] for gap in range(1, n)]
    return {
        "length": n,
        "roots": heads.count(0),
        "root_place": heads.index(0) + 1,
        "sum_length": sum(lengths),
        "mean_length": mean(lengths),
        "longest": max(lengths, default=0),
        "depth": max(depths),
        "mean_depth": mean([depth for depth in depths if depth]),
        "arity": max(dependents),
        "mean_arity": mean([number for number in dependents if number]),
        "left_arcs": sum(left),
        "right_arcs": len(arcs) - sum(left),
        "head_final": mean(left),
        "crossings": sum(itertools.starmap(cross, itertools.combinations(arcs, 2))),
        "crossed_arcs": sum(crossed),
        "flux_size": max(map(len, gaps), default=0),
        "flux_weight": max(map(weight, gaps), default=0),
        "mean_flux_weight": mean(list(map(weight, gaps))),
    }


@UP_TO_5
def test_quantities_are_their_definitions(n):
    trees = all_trees(n, MULTI_ROOT).tolist()
    expected = [by_definition(heads) for heads in trees]
    for quantity in MEASURES:
        if quantity.name in expected[0]:
            found = quantity.of_trees(*chunk_of(trees))
            np.testing.assert_array_equal(found, [row[quantity.name] for row in expected], quantity.name)


def test_a_chunk_of_sentences_of_all_lengths():
    sentences = [[2, 0, 2, 1], [0], [], [3, 4, 0, 0, 2, 1, 1], [2, 0]]
    names = "length longest depth mean_depth arity crossings crossed_arcs flux_size flux_weight"
    for name in names.split():
        found = NUMBERS.get(name).of_trees(*chunk_of(sentences))
        alone = [by_definition(sentence)[name] if sentence else found[2] for sentence in sentences]
        np.testing.assert_array_equal(found, alone, name)
        assert found[2] == 0 or np.isnan(found[2])


def test_a_changed_chunk_is_counted_again():
    heads, starts = np.array([0, 1, 2]), np.array([0, 3])
    longest = NUMBERS.get("longest").of_trees
    assert longest(heads, starts) == 1
    heads[2] = 1
    assert longest(heads, starts) == 2


def dominates(heads, above, word):
    return word == above or (heads[word - 1] > 0 and dominates(heads, above, heads[word - 1]))


@UP_TO_5
def test_arcs_are_crossed_and_nonprojective_by_definition(n):
    trees = [[0], *all_trees(n, MULTI_ROOT).tolist(), [3, 4, 0, 3], [0, 1, 1], [0, 0]]
    expected = []
    for heads in trees:
        for word, head in enumerate(heads, 1):
            inside = range(min(head, word) + 1, max(head, word)) if head else ()
            is_crossed = head > 0 and any(cross((head, word), other) for other in arcs_of(heads))
            expected.append((is_crossed, not all(dominates(heads, head, i) for i in inside), depth(heads, word)))
    assert list(zip(*map(np.ndarray.tolist, arc_shapes(*chunk_of(trees))), strict=True)) == expected


OF_LENGTH, OF_CROSSINGS = (NUMBERS.get(name).baselines for name in ("sum_length", "crossings"))
SMALLEST = {
    "smallest_sum_length": OF_LENGTH[measures.SMALLEST].mean,
    "smallest_sum_length_projective": OF_LENGTH[measures.SMALLEST_PROJECTIVE].mean,
    "smallest_sum_length_planar": OF_LENGTH[measures.SMALLEST_PLANAR].mean,
}


def shape(heads, word=0):
    return f"({''.join(sorted(shape(heads, i) for i, head in enumerate(heads, 1) if head == word))})"


def shapes(n):
    return list({shape(heads): heads for heads in all_trees(n, MULTI_ROOT).tolist()}.values())


def in_order(heads, places):
    moved = [0] * len(heads)
    for place, head in zip(places, heads, strict=True):
        moved[place - 1] = places[head - 1] if head else 0
    return moved


def together(heads, only_roots=False):
    """Whether each word, or each root, and its descendants have places one behind the other."""
    below = {}
    for word in range(1, len(heads) + 1):
        above = word
        while above:
            below.setdefault(above, []).append(word)
            above = heads[above - 1]
    chosen = [words for top, words in below.items() if not only_roots or heads[top - 1] == 0]
    return all(max(words) - min(words) == len(words) - 1 for words in chosen)


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, pytest.param(6, marks=pytest.mark.slow("size"))])
def test_what_stands_for_all_orders_is_worked_out_over_all_orders(n):
    """Means and variances of every quantity in random order, and least sums; with one root or several."""
    trees = shapes(n)
    moved = [[in_order(tree, places) for places in itertools.permutations(range(1, n + 1))] for tree in trees]
    every, chunk, values = chunk_of(itertools.chain(*moved)), chunk_of(trees), {}
    for quantity in MEASURES:
        if baseline := quantity.baselines.get(RANDOM_ORDER):
            found = values[quantity.name] = quantity.of_trees(*every).reshape(len(trees), -1).astype(np.float64)
            np.testing.assert_allclose(baseline.mean(*chunk), found.mean(axis=1), rtol=1e-13, err_msg=quantity.name)
            if baseline.variance:
                np.testing.assert_allclose(baseline.variance(*chunk), found.var(axis=1), rtol=1e-13, atol=1e-13)
    assert {"sum_length", "crossings"} <= values.keys()
    lengths, crossings = values["sum_length"], values["crossings"]
    projective = np.array([[together(heads) for heads in row] for row in moved])
    planar = (crossings == 0) & np.array([[together(heads, only_roots=True) for heads in row] for row in moved])
    sums = [own[allowed].mean() for own, allowed in zip(lengths, projective, strict=True)]
    np.testing.assert_allclose(OF_LENGTH[measures.RANDOM_PROJECTIVE_ORDER].mean(*chunk), sums, rtol=1e-15)
    for allowed, function in zip((lengths >= 0, projective, planar), SMALLEST.values(), strict=True):
        np.testing.assert_array_equal(function(*chunk), np.where(allowed, lengths, np.inf).min(axis=1))


# Of trees of `tree`, by the Linear Arrangement Library (LAL, commit ef85cba2): the quantities in the order of their
# words, then those of other orders. By its two algorithms of Shiloach and of Chung the least sums are the same.
IN_ORDER = ("sum_length", "crossings", "flux_size", "flux_weight")
OF_ORDERS = (
    *("variance_sum_length", "expected_sum_length_projective", "expected_crossings"),
    *("variance_crossings", "smallest_sum_length", "smallest_sum_length_projective", "smallest_sum_length_planar"),
)
BY_LAL = {
    (31, 5, 1, 3): "234 116 9 9  6032/5 495/2 406/3 10831/18 30 30 30",
    (47, 13, 2, 7): "731 279 25 13  125704/15 595/2 814/3 33653/18 161 161 161",
    (61, 24, 3, 11): "1140 555 31 14  78399/5 1091/3 519 206038/45 179 179 179",
    (40, 11, 3, 0): "580 225 23 10  16277/5 277/2 222 6339/5 91 94 94",
    (85, 32, 4, 0): "2378 1084 42 17  179654/5 384 3280/3 580936/45 270 270 270",
    (86, 3, 17, 0): "3173 1476 73 5  1199962/15 935 2822/3 690217/45 471 471 471",
    (156, 55, 5, 0): "8373 3620 83 26  2222021/9 5195/6 3825 736610/9 599 609 609",
}


def tree(n, step, width, twist):
    """A tree of n words: of `width` dependents each if there is no twist; neighbours in preorder are a step apart."""
    places = [i * step % n + 1 for i in range(n)]
    heads = [0] * n
    for i in range(1, n):
        heads[places[i] - 1] = places[(i - 1 + twist * i * i) % (1 + (i - 1) // width) if twist else (i - 1) // width]
    return heads


def test_long_trees_have_the_numbers_of_lal():
    functions = SMALLEST | {
        "variance_sum_length": OF_LENGTH[RANDOM_ORDER].variance,
        "expected_sum_length_projective": OF_LENGTH[measures.RANDOM_PROJECTIVE_ORDER].mean,
        "expected_crossings": OF_CROSSINGS[RANDOM_ORDER].mean,
        "variance_crossings": OF_CROSSINGS[RANDOM_ORDER].variance,
    }
    functions |= {name: NUMBERS.get(name).of_trees for name in IN_ORDER}
    chunk = chunk_of(tree(*shape) for shape in BY_LAL)
    rows = [[float(Fraction(number)) for number in line.split()] for line in BY_LAL.values()]
    for name, expected in zip(IN_ORDER + OF_ORDERS, zip(*rows, strict=True), strict=True):
        np.testing.assert_array_equal(functions[name](*chunk), expected, name)


def test_the_score_of_optimality():
    """1 in the shortest order, less than 0 in the longest one, and not defined for trees that have only one."""
    found = measures.optimality(*chunk_of([[2, 0, 2], [3, 3, 0], [0, 1, 1, 1], [0], [2, 0]]))
    np.testing.assert_array_equal(found, [1, -1 / 2, -1, np.nan, np.nan])


# Trees whose shortest orders have pairs of subtrees on both sides, which other ways to split them miss by 1; and that
# least sum by LAL, of either algorithm.
WITH_PAIRS = {
    "0 1 2 2 4 3 3 1 8 8 9 10 1 13 13 13 14": 27,
    "0 1 2 2 2 2 1 7 8 7 10 1 12 12 12 12 1 17 17 19 17 1 22 22 22 22": 60,
    "0 1 2 2 2 2 2 1 8 9 10 8 12 13 1 15 15 15 15 15 15 1 22 23 24 23 22 27 1 29 30 29 32 29 34": 84,
}


def test_shortest_orders_with_pairs_of_subtrees_outside():
    chunk = chunk_of([int(head) for head in line.split()] for line in WITH_PAIRS)
    np.testing.assert_array_equal(measures.smallest_sum_length(*chunk), list(WITH_PAIRS.values()))


@pytest.mark.parametrize("removed", [[2], [1, 3], [1, 2, 3, 4]])
def test_dependents_of_what_is_left_out_go_to_its_head(removed):
    trees = all_trees(4, MULTI_ROOT).astype(np.int64)
    gone = np.isin(np.arange(1, 5), removed)
    kept = [word for word in range(1, 5) if word not in removed]
    for tree, found in zip(trees.tolist(), without(trees, gone).tolist(), strict=True):
        heads = []
        for word in kept:
            head = tree[word - 1]
            while head in removed:
                head = tree[head - 1]
            heads.append(kept.index(head) + 1 if head else 0)
        assert found == heads


@pytest.mark.parametrize("units", [[0, 0, 1, 2], [0, 1, 1, 1], [0, 0, 1, 1], [0, 0, 0, 0]])
def test_units_of_words_make_trees(units):
    """The head of a unit is the unit of the head of its highest word; single roots stay single."""
    trees = all_trees(4, MULTI_ROOT).astype(np.int64)
    found = joined(trees, np.array(units))
    assert MULTI_ROOT.contains(found).all()
    single = (trees == 0).sum(axis=1) == 1
    assert ((found[single] == 0).sum(axis=1) == 1).all()
    below = depths(trees.ravel(), np.arange(len(trees) + 1) * 4).reshape(-1, 4)
    for tree, heads, depth in zip(trees.tolist(), found.tolist(), below.tolist(), strict=True):
        for unit in range(max(units) + 1):
            words = [word for word in range(4) if units[word] == unit]
            head = tree[min(words, key=lambda word: depth[word])]
            assert heads[unit] == (units[head - 1] + 1 if head else 0)


def test_both_at_once():
    """A multiword token of two words, and a full stop that goes: 1-2 depend on 3, the root."""
    reduction = Reduction(np.array([False, False, False, True]), np.array([0, 0, 1, 2]))
    assert reduction.of(np.array([[3, 1, 0, 3], [3, 3, 0, 1]])).tolist() == [[2, 0], [2, 0]]
