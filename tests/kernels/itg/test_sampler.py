"""Alignments drawn: against brute force, and step by step."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from deptree_cli.core.numbers import REAL, WIDE, Kind
from deptree_cli.kernels.itg.chart import NOT_INVERTED, NOT_STRAIGHT, TOTAL
from deptree_cli.kernels.itg.parts import INVERTED, STRAIGHT, split
from deptree_cli.kernels.itg.sampler import draw_item, sample_links
from tests.brute_itg import Alignments, Grammar, targets_of
from tests.pearson import chi_square

LEVEL = 1e-6  # a test fails by chance once in a million seeds


@pytest.mark.parametrize("kind", [REAL, WIDE], ids=lambda kind: kind.name)
@pytest.mark.parametrize(
    ("p", "q", "holes"), [(1, 1, 0.0), (1, 2, 0.0), (2, 2, 0.0), (3, 2, 0.0), (2, 3, 0.15), (4, 4, 0.0), (5, 5, 0.15)]
)
@pytest.mark.parametrize("seed", [2, 3])
def test_law(p: int, q: int, holes: float, seed: int, kind: Kind, itg, itg_chart, state, draws: int) -> None:
    """H0: draws are independent, each alignment as probable as its weight says; chi-square, rare ones pooled.

    With weights of bispans and without. 20,000 draws in machine code; threshold 1e-6. What weighs 0 is never drawn.
    """
    grammar = itg(p, q, seed, holes)
    found, exact = itg_chart(grammar, kind), Alignments(grammar)
    assert exact.count
    targets = np.empty((draws, p), dtype=np.int32)
    sample_links(*found[:3], found.total, state, targets)
    probs = {targets_of(links, p): x for links, x in exact.probabilities().items()}
    counts = Counter(map(tuple, targets.tolist()))
    assert counts.keys() <= probs.keys()
    assert chi_square(np.array([counts[each] for each in probs]), np.array([*probs.values()]))[2] > LEVEL


def test_what_is_drawn_does_not_depend_on_the_numbers(itg, itg_chart) -> None:
    """Parts are drawn in one order: wide numbers and float64 give the same from the same random bits."""
    grammar = itg(3, 3)
    drawn = []
    for kind in (REAL, WIDE):
        found = itg_chart(grammar, kind)
        targets = np.empty((100, 3), dtype=np.int32)
        sample_links(*found[:3], found.total, np.array([5, 6, 7, 8], dtype=np.uint64), targets)
        drawn.append(targets)
    assert np.array_equal(*drawn)


def test_what_rounding_leaves_over_is_no_alignment_of_weight_0(itg_chart) -> None:
    """No link may be 1-1, no word but 1 of either side unlinked: 0-0 takes what is beyond the sum."""
    scores, nulls = np.array([[0.0, -np.inf], [-np.inf, -np.inf]]), np.array([-np.inf, 0.0])
    found = itg_chart(Grammar(scores, nulls, nulls), REAL)
    assert found.total == 1.0
    assert draw_item(*found[:3], 0.5) == draw_item(*found[:3], 1.5) == (0, 0)


def test_both_parts_of_an_item_are_put_on_the_stack() -> None:
    todo = np.zeros((3, 5), dtype=np.int64)
    assert split(todo, 1, STRAIGHT, 0, 5, 1, 4, 2, 3) == 3
    assert todo[1:].tolist() == [[TOTAL, 0, 2, 1, 3], [NOT_STRAIGHT, 2, 5, 3, 4]]
    assert split(todo, 0, INVERTED, 0, 5, 1, 4, 2, 3) == 2
    assert todo[:2].tolist() == [[TOTAL, 0, 2, 3, 4], [NOT_INVERTED, 2, 5, 1, 3]]
