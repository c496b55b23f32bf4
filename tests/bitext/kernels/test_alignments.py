"""Alignments drawn, and the best one by a chart of tropical numbers: against brute force, and step by step."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest

from deptree_cli.bitext.kernels.alignments import WHOLE, Alignments, follow, grammar_of, sample_links
from deptree_cli.bitext.kernels.chart import NOT_INVERTED, NOT_STRAIGHT, TABLES, TOTAL, inside
from deptree_cli.bitext.kernels.spans import spans_of
from deptree_cli.core.numbers import REAL, WIDE, Kind
from deptree_cli.kernels.charts.walker import NONE, draw_split, split
from deptree_cli.kernels.numbers.tropical import Tropical
from tests.brute_itg import Alignments as BruteForce
from tests.brute_itg import Grammar, targets_of
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
    found, exact = itg_chart(grammar, kind), BruteForce(grammar)
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


@pytest.mark.slow("size")
def test_what_rounding_leaves_over_is_no_alignment_of_weight_0(itg_chart) -> None:
    """No link may be 1-1, no word but 1 of either side unlinked: 0-0 takes what is beyond the sum."""
    scores, nulls = np.array([[0.0, -np.inf], [-np.inf, -np.inf]]), np.array([-np.inf, 0.0])
    found = itg_chart(Grammar(scores, nulls, nulls), REAL)
    assert found.total == 1.0
    grammar, row = grammar_of(*found)[0], 1
    assert draw_split(grammar, (WHOLE, 0, 2, 0, 2), 0.5) == draw_split(grammar, (WHOLE, 0, 2, 0, 2), 1.5) == (row, 0)


def test_what_an_item_is_split_into() -> None:
    """Two parts in either order, or a link; all alignments into those that begin with a link."""
    grammar, item, nothing = Alignments(*[None] * len(Alignments._fields)), (TOTAL, 0, 5, 1, 4), (TOTAL, 0, 0, 1, 1)
    assert split(grammar, item, 2, 3) == ((TOTAL, 0, 2, 1, 3), (NOT_STRAIGHT, 2, 5, 3, 4), NONE, NONE)
    for table, row in ((TOTAL, 6), (NOT_STRAIGHT, 2)):
        swapped = (TOTAL, 0, 2, 3, 4), (NOT_INVERTED, 2, 5, 1, 3), NONE, NONE
        assert split(grammar, (table, *item[1:]), row, 3) == swapped
    assert split(grammar, item, 0, 1) == (nothing, nothing, 0, 1)
    assert split(grammar, (WHOLE, 0, 5, 0, 4), 2, 3)[0] == (TOTAL, 1, 5, 3, 4)


@pytest.mark.parametrize(("p", "q"), [(p, q) for p in range(1, 6) for q in range(1, 6)])
@pytest.mark.parametrize("holes", [0.0, 0.2])
def test_best_alignment(p: int, q: int, holes: float, itg, itg_weights, around_links) -> None:
    """Its log-weight is what the chart sums up to, its links are what is found."""
    for seed in range(2):
        grammar = itg(p, q, seed, holes)
        weights, kept = itg_weights(grammar, Tropical), around_links(p, q, [])
        items = Tropical(np.full((TABLES, spans_of(p), spans_of(q)), 1e9))
        total, exact = inside(weights, kept, items, 1, p + 1).log, BruteForce(grammar)
        if not exact.count:
            assert total == -math.inf
            continue
        log_weight, links = exact.best()
        assert total == pytest.approx(log_weight, rel=1e-12, abs=1e-12)
        targets = np.empty(p, dtype=np.int32)
        follow(weights, kept, items, targets)
        assert tuple(targets.tolist()) == targets_of(links, p)
