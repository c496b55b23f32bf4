"""Derivations drawn: against brute force, and step by step."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import numpy as np
import pytest

from deptree_cli.core.audit import chi_square
from deptree_cli.core.numbers import REAL, WIDE, Kind
from deptree_cli.kernels.itg.derivations import all_derivations, room_for, split
from deptree_cli.kernels.itg.rules import RULES, STRAIGHT
from deptree_cli.kernels.itg.sampler import place_in, sample_links
from tests.brute_itg import Derivations, targets_of

LEVEL = 1e-6  # a test fails by chance once in a million seeds

BRANCHINGS = pytest.mark.parametrize("branching", [2, 3])


@BRANCHINGS
@pytest.mark.parametrize("kind", [REAL, WIDE], ids=lambda kind: kind.name)
@pytest.mark.parametrize(("p", "q", "holes"), [(1, 1, 0.0), (1, 2, 0.0), (2, 2, 0.0), (3, 2, 0.0), (2, 3, 0.15)])
def test_law(p: int, q: int, holes: float, kind: Kind, branching: int, itg, itg_chart, state, draws: int) -> None:
    """H0: links are independent draws with the probabilities of their derivations' sums; chi-square, rare ones pooled.

    20,000 draws in machine code; threshold 1e-6. What has no derivation must never be drawn.
    """
    grammar = itg(p, q, branching, 3, holes)
    found = itg_chart(grammar, kind)
    targets = np.empty((draws, p), dtype=np.int32)
    sample_links(found.weights, found.kept, found.items, state, targets)
    probs = {targets_of(links, p): x for links, x in Derivations(grammar).probabilities().items()}
    counts = Counter(map(tuple, targets.tolist()))
    assert counts.keys() <= probs.keys()
    assert chi_square(np.array([counts[each] for each in probs]), np.array([*probs.values()]))[2] > LEVEL


@BRANCHINGS
def test_what_is_drawn_does_not_depend_on_the_numbers(branching: int, itg, itg_chart) -> None:
    """Derivations are drawn in one order: wide numbers and float64 give the same from the same random bits."""
    grammar = itg(3, 3, branching)
    drawn = []
    for kind in (REAL, WIDE):
        found = itg_chart(grammar, kind)
        targets = np.empty((100, 3), dtype=np.int32)
        sample_links(found.weights, found.kept, found.items, np.array([5, 6, 7, 8], dtype=np.uint64), targets)
        drawn.append(targets)
    assert np.array_equal(*drawn)


def test_the_place_in_a_sum() -> None:
    """Products 0, 2, 0, 3, 0: below 2 the second, else the fourth, even beyond the sum."""
    x, y = np.array([0.0, 1.0, 5.0, 3.0, 1.0]), np.array([1.0, 2.0, 0.0, 1.0, 0.0])
    assert [place_in(rest, x, y) for rest in (0.0, 1.9, 2.0, 4.9, 5.0, 9.0)] == [1, 1, 3, 3, 3, 3]


def test_a_stack_has_room_for_any_derivation() -> None:
    """The most items are there if every split leaves its first child, one word, for later."""
    p, q = 4, 3
    todo = np.empty((room_for(p, q), 5), dtype=np.int64)
    count = all_derivations(p, q, todo)
    assert todo[0, 1:].tolist() == [0, p, 0, q]
    for (i, j), (k, m) in pairwise([(i, 0) for i in range(p + 1)] + [(p, j) for j in range(1, q + 1)]):
        if (k, m) != (p, q):
            count = split(todo, count - 1, STRAIGHT, i, p, j, q, k, m)
            assert todo[count - 2].tolist() == [RULES[STRAIGHT, 1], i, k, j, m]
            assert todo[count - 1].tolist() == [RULES[STRAIGHT, 2], k, p, m, q]
    assert count == p + q
