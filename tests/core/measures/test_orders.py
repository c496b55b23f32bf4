"""Means, variances and least sums over orders of a tree's words, against all orders of all trees of up to six words."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest

from deptree_cli.core import measures
from deptree_cli.core.dtypes import Int
from deptree_cli.core.measures import MEASURES, RANDOM_ORDER
from deptree_cli.core.oracle import all_trees
from deptree_cli.core.quantities import NUMBERS
from deptree_cli.core.spaces import MULTI_ROOT

OF_LENGTH, OF_CROSSINGS = (NUMBERS.get(name).baselines for name in ("sum_length", "crossings"))
FUNCTIONS = {
    "expected_sum_length": OF_LENGTH[RANDOM_ORDER].mean,
    "variance_sum_length": OF_LENGTH[RANDOM_ORDER].variance,
    "expected_sum_length_projective": OF_LENGTH[measures.RANDOM_PROJECTIVE_ORDER].mean,
    "expected_crossings": OF_CROSSINGS[RANDOM_ORDER].mean,
    "variance_crossings": OF_CROSSINGS[RANDOM_ORDER].variance,
    "smallest_sum_length": OF_LENGTH[measures.SMALLEST].mean,
    "smallest_sum_length_projective": OF_LENGTH[measures.SMALLEST_PROJECTIVE].mean,
    "smallest_sum_length_planar": OF_LENGTH[measures.SMALLEST_PLANAR].mean,
}


def shape(heads: list[int], word: int = 0) -> str:
    """The tree below a word, the same however words are numbered."""
    return f"({''.join(sorted(shape(heads, i) for i, head in enumerate(heads, 1) if head == word))})"


def shapes(n: int) -> list[list[int]]:
    """One tree of each shape over n words, with one root or several."""
    return list({shape(heads): heads for heads in all_trees(n, MULTI_ROOT).tolist()}.values())


def in_order(heads: list[int], places: tuple[int, ...]) -> list[int]:
    """The same tree with its words in other places, which count from 1."""
    moved = [0] * len(heads)
    for place, head in zip(places, heads, strict=True):
        moved[place - 1] = places[head - 1] if head else 0
    return moved


def together(heads: list[int], only_roots: bool = False) -> bool:
    """Whether each word, or each root, and its descendants have places one behind the other."""
    below: dict[int, list[int]] = {}
    for word in range(1, len(heads) + 1):
        above = word
        while above:
            below.setdefault(above, []).append(word)
            above = heads[above - 1]
    chosen = [words for top, words in below.items() if not only_roots or heads[top - 1] == 0]
    return all(max(words) - min(words) == len(words) - 1 for words in chosen)


def mean(numbers: Int) -> Fraction:
    return Fraction(int(numbers.sum()), len(numbers))


def variance(numbers: Int) -> Fraction:
    return mean(numbers**2) - mean(numbers) ** 2


def by_enumeration(heads: list[int]) -> dict[str, Fraction]:
    """What the functions of orders return, from the quantities of the tree in all orders of its words."""
    n = len(heads)
    moved = [in_order(heads, places) for places in itertools.permutations(range(1, n + 1))]
    chunk = np.array(moved).ravel(), np.arange(0, n * len(moved) + 1, n)
    lengths, crossings = (
        each(*chunk).astype(np.int64)
        for each in (NUMBERS.get("sum_length").of_trees, NUMBERS.get("crossings").of_trees)
    )
    projective = np.array([together(each) for each in moved])
    planar = (crossings == 0) & np.array([together(each, only_roots=True) for each in moved])
    return {
        "expected_sum_length": mean(lengths),
        "variance_sum_length": variance(lengths),
        "expected_sum_length_projective": mean(lengths[projective]),
        "expected_crossings": mean(crossings),
        "variance_crossings": variance(crossings),
        "smallest_sum_length": Fraction(int(lengths.min())),
        "smallest_sum_length_projective": Fraction(int(lengths[projective].min())),
        "smallest_sum_length_planar": Fraction(int(lengths[planar].min())),
    }


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, pytest.param(6, marks=pytest.mark.slow("size"))])
def test_orders_are_all_orders(n: int) -> None:
    trees = shapes(n)
    heads, starts = np.array(trees).ravel(), np.arange(0, n * len(trees) + 1, n)
    expected = [by_enumeration(tree) for tree in trees]
    for name in expected[0]:
        found = FUNCTIONS[name](heads, starts)
        np.testing.assert_allclose(found, [float(row[name]) for row in expected], rtol=1e-15, err_msg=name)


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5])
def test_baselines_of_random_order_are_means_over_all_orders(n: int) -> None:
    """Of every quantity that has one, with one root or several; variances, too."""
    trees = shapes(n)
    moved = np.array([[in_order(tree, places) for places in itertools.permutations(range(1, n + 1))] for tree in trees])
    heads, starts = np.array(trees).ravel(), np.arange(0, n * len(trees) + 1, n)
    for quantity in MEASURES:
        if baseline := quantity.baselines.get(RANDOM_ORDER):
            values = quantity.of_trees(moved.ravel(), np.arange(0, moved.size + 1, n)).reshape(len(trees), -1)
            found = baseline.mean(heads, starts)
            np.testing.assert_allclose(found, values.mean(axis=1), rtol=1e-13, err_msg=quantity.name)
            if baseline.variance:
                found = baseline.variance(heads, starts)
                np.testing.assert_allclose(found, values.var(axis=1), rtol=1e-13, atol=1e-13, err_msg=quantity.name)


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


def tree(n: int, step: int, width: int, twist: int) -> list[int]:
    """A tree of n words: of `width` dependents each if there is no twist; neighbours in preorder are a step apart."""
    places = [i * step % n + 1 for i in range(n)]
    heads = [0] * n
    for i in range(1, n):
        heads[places[i] - 1] = places[(i - 1 + twist * i * i) % (1 + (i - 1) // width) if twist else (i - 1) // width]
    return heads


def test_long_trees_have_the_numbers_of_lal() -> None:
    """To all digits; in two of them arcs that cross are shorter than any that do not."""
    trees = [tree(*shape) for shape in BY_LAL]
    heads, starts = np.array(list(itertools.chain(*trees))), np.cumsum([0, *map(len, trees)])
    rows = [[float(Fraction(number)) for number in line.split()] for line in BY_LAL.values()]
    for name, expected in zip(IN_ORDER + OF_ORDERS, zip(*rows, strict=True), strict=True):
        of_trees = NUMBERS.get(name).of_trees if name in NUMBERS else FUNCTIONS[name]
        np.testing.assert_array_equal(of_trees(heads, starts), expected, name)


def test_the_score_of_optimality() -> None:
    """1 in the shortest order, less than 0 in the longest one, and not defined for trees that have only one."""
    sentences = [[2, 0, 2], [3, 3, 0], [0, 1, 1, 1], [0], [2, 0]]
    heads, starts = np.array(list(itertools.chain(*sentences))), np.cumsum([0, *map(len, sentences)])
    found = measures.optimality(heads, starts)
    np.testing.assert_array_equal(found, [1, -1 / 2, -1, np.nan, np.nan])


# Trees whose shortest orders have pairs of subtrees on both sides, which other ways to split them miss by 1; and that
# least sum by LAL, of either algorithm.
WITH_PAIRS = {
    "0 1 2 2 4 3 3 1 8 8 9 10 1 13 13 13 14": 27,
    "0 1 2 2 2 2 1 7 8 7 10 1 12 12 12 12 1 17 17 19 17 1 22 22 22 22": 60,
    "0 1 2 2 2 2 2 1 8 9 10 8 12 13 1 15 15 15 15 15 15 1 22 23 24 23 22 27 1 29 30 29 32 29 34": 84,
}


def test_shortest_orders_with_pairs_of_subtrees_outside() -> None:
    trees = [[int(head) for head in line.split()] for line in WITH_PAIRS]
    heads, starts = np.array(list(itertools.chain(*trees))), np.cumsum([0, *map(len, trees)])
    np.testing.assert_array_equal(measures.smallest_sum_length(heads, starts), list(WITH_PAIRS.values()))
