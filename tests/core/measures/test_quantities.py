"""Quantities of trees against their definitions, one by one, on all trees of up to five words."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence

import numpy as np
import pytest

from deptree_cli.core.measures import MEASURES, arc_shapes
from deptree_cli.core.oracle import all_trees
from deptree_cli.core.quantities import NUMBERS
from deptree_cli.core.spaces import MULTI_ROOT

Arc = tuple[int, int]


def between(heads: list[int], n: int) -> Iterator[Arc]:
    """The ends of arcs between words, the head first."""
    return ((head, word) for word, head in enumerate(heads, 1) if head)


def cross(a: Arc, b: Arc) -> bool:
    """Whether just one end of an arc is between those of the other."""
    (i, j), (k, last) = sorted(a), sorted(b)
    return i < k < j < last or k < i < last < j


def depth(heads: list[int], word: int) -> int:
    """How many arcs are between a word and its root."""
    return 0 if heads[word - 1] == 0 else 1 + depth(heads, heads[word - 1])


def mean(numbers: Sequence[int]) -> float:
    return sum(numbers) / len(numbers) if numbers else math.nan


def weight(arcs: list[Arc]) -> int:
    """The most arcs of which no two share a word, by trying all."""
    sizes = range(len(arcs), 0, -1)
    sets = (some for size in sizes for some in itertools.combinations(arcs, size))
    return next((len(some) for some in sets if len({*itertools.chain(*some)}) == 2 * len(some)), 0)


def by_definition(heads: list[int]) -> dict[str, float]:
    """Every quantity, as its docstring says."""
    n, words = len(heads), range(1, len(heads) + 1)
    arcs = list(between(heads, n))
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


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5])
def test_quantities_are_their_definitions(n: int) -> None:
    """Of several roots, too: what sums over arcs come to, and the place of the first root."""
    trees = all_trees(n, MULTI_ROOT).astype(np.int64)
    expected = [by_definition(heads) for heads in trees.tolist()]
    for quantity in MEASURES:
        if quantity.name in expected[0]:
            found = quantity.of_trees(trees.ravel(), np.arange(0, trees.size + 1, n))
            np.testing.assert_array_equal(found, [row[quantity.name] for row in expected], quantity.name)


def test_a_chunk_of_sentences_of_all_lengths() -> None:
    """Every sentence has the numbers that it has alone; one without words, as without punctuation, has 0 or nan."""
    sentences = [[2, 0, 2, 1], [0], [], [3, 4, 0, 0, 2, 1, 1], [2, 0]]
    heads, starts = np.array(list(itertools.chain(*sentences))), np.array([0, 4, 5, 5, 12, 14])
    for name in (
        "length",
        "longest",
        "depth",
        "mean_depth",
        "arity",
        "crossings",
        "crossed_arcs",
        "flux_size",
        "flux_weight",
    ):
        found = NUMBERS.get(name).of_trees(heads, starts)
        alone = [by_definition(sentence)[name] if sentence else found[2] for sentence in sentences]
        np.testing.assert_array_equal(found, alone, name)
        assert found[2] == 0 or np.isnan(found[2])


def test_a_changed_chunk_is_counted_again() -> None:
    heads, starts = np.array([0, 1, 2]), np.array([0, 3])
    longest = NUMBERS.get("longest").of_trees
    assert longest(heads, starts) == 1
    heads[2] = 1
    assert longest(heads, starts) == 2


def dominates(heads: list[int], above: int, word: int) -> bool:
    return word == above or (heads[word - 1] > 0 and dominates(heads, above, heads[word - 1]))


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5])
def test_arcs_are_crossed_and_nonprojective_by_definition(n: int) -> None:
    """In a chunk of all trees; and in one of trees of several lengths, each as by itself."""
    trees = all_trees(n, MULTI_ROOT).astype(np.int64)
    crossed, gaps, depths = arc_shapes(trees.ravel(), np.arange(0, trees.size + 1, n))
    expected: list[tuple[bool, bool, int]] = []
    for heads in trees.tolist():
        arcs = list(between(heads, n))
        for word, head in enumerate(heads, 1):
            inside = range(min(head, word) + 1, max(head, word)) if head else ()
            is_crossed = head > 0 and any(cross((head, word), other) for other in arcs)
            expected.append((is_crossed, not all(dominates(heads, head, i) for i in inside), depth(heads, word)))
    assert list(zip(crossed.tolist(), gaps.tolist(), depths.tolist(), strict=True)) == expected
    if n == 5:
        mixed = [[0], *trees[[7, 400, 900]].tolist(), [0, 1, 1], [0, 0], [3, 4, 0, 3]]
        together = arc_shapes(np.array([*itertools.chain(*mixed)]), np.cumsum([0, *map(len, mixed)]))
        alone = [arc_shapes(np.array(each), np.array([0, len(each)])) for each in mixed]
        for found, each in zip(together, zip(*alone, strict=True), strict=True):
            np.testing.assert_array_equal(found, np.concatenate(each))
