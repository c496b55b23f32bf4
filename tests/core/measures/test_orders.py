"""Means, variances and least sums over orders of a tree's words, against all orders of all trees of up to six words."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest

from deptree_cli.core.dtypes import Int
from deptree_cli.core.measures import orders, quantities
from deptree_cli.core.oracle import all_trees
from deptree_cli.core.spaces import MULTI_ROOT


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
    found = quantities.count(np.array(moved).ravel(), np.arange(0, n * len(moved) + 1, n))
    projective = np.array([together(each) for each in moved])
    planar = (found.crossings == 0) & np.array([together(each, only_roots=True) for each in moved])
    lengths = found.sum_length
    return {
        "expected_sum_length": mean(lengths),
        "variance_sum_length": variance(lengths),
        "expected_sum_length_projective": mean(lengths[projective]),
        "expected_sum_length_planar": mean(lengths[planar]),
        "expected_crossings": mean(found.crossings),
        "variance_crossings": variance(found.crossings),
        "smallest_sum_length": Fraction(int(lengths.min())),
        "smallest_sum_length_projective": Fraction(int(lengths[projective].min())),
        "smallest_sum_length_planar": Fraction(int(lengths[planar].min())),
    }


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, pytest.param(6, marks=pytest.mark.slow("size"))])
def test_orders_are_all_orders(n: int) -> None:
    """Equal to all digits, except for the mean of planar orders of several roots, which is a sum of quotients."""
    trees = shapes(n)
    heads, starts = np.array(trees).ravel(), np.arange(0, n * len(trees) + 1, n)
    expected = [by_enumeration(tree) for tree in trees]
    for name in expected[0]:
        found = getattr(orders, name)(heads, starts)
        np.testing.assert_allclose(found, [float(row[name]) for row in expected], rtol=1e-15, err_msg=name)
