"""Sums over alignments, and P(link), against brute force and against the number of alignments."""

from __future__ import annotations

from math import comb, log

import numpy as np
import pytest

from deptree_cli.bitext.kernels.chart import inside, outside
from deptree_cli.core.numbers import REAL, WIDE, Kind
from deptree_cli.kernels.numbers.operations import is_positive, logarithm
from tests.brute_itg import Alignments, Grammar, alignments, parts

KINDS = pytest.mark.parametrize("kind", [REAL, WIDE], ids=lambda kind: kind.name)
SHAPES = pytest.mark.parametrize(("p", "q"), [(p, q) for p in range(1, 6) for q in range(1, 6)])

# How many permutations can be built: large Schroeder numbers (OEIS A006318).
SCHROEDER = [1, 1, 2, 6, 22, 90, 394, 1806, 8558]


def number_of_alignments(p: int, q: int) -> int:
    """Any k words of either side, in any order that can be built."""
    return sum(comb(p, k) * comb(q, k) * SCHROEDER[k] for k in range(min(p, q) + 1))


@SHAPES
def test_up_to_three_words_every_partial_matching_is_an_alignment(p: int, q: int) -> None:
    """Of more words those that need no 2413 and no 3142 among them; brute force finds all of them."""
    assert len(alignments(p, q)) == number_of_alignments(p, q)
    matchings = sum(comb(p, k) * comb(q, k) * [1, 1, 2, 6, 24, 120][k] for k in range(min(p, q) + 1))
    assert (len(alignments(p, q)) == matchings) == (min(p, q) < 4)


@pytest.mark.slow("size")
@KINDS
@pytest.mark.parametrize(("p", "q"), [(1, 1), (1, 8), (8, 1), (3, 3), (4, 7), (8, 8)])
def test_every_alignment_has_one_derivation(p: int, q: int, kind: Kind, itg_chart) -> None:
    found = itg_chart(Grammar(np.zeros((p, q)), np.zeros(p), np.zeros(q)), kind)
    assert logarithm(found.total) == pytest.approx(log(number_of_alignments(p, q)), rel=1e-14)


@pytest.mark.slow("size")
@KINDS
@SHAPES
@pytest.mark.parametrize("holes", [0.0, 0.25])
def test_sums(p: int, q: int, holes: float, kind: Kind, itg, itg_chart) -> None:
    """log Z and every P(link) to 1e-12, with weights of bispans and without, nothing forbidden or a quarter of all."""
    for seed in range(2):
        grammar = itg(p, q, seed, holes)
        exact, (weights, kept, items, total) = Alignments(grammar), itg_chart(grammar, kind)
        if not exact.count:
            assert not is_positive(total)
            continue
        assert logarithm(total) == pytest.approx(exact.log_partition, rel=1e-12, abs=1e-12)
        marginals = kind.zeros((p, q))
        outside(weights, kept, items, total, kind.exp(np.ones(shape_of(items, kind))), marginals, 1, p + 1)
        assert kind.floats(marginals) == pytest.approx(exact.marginals(), rel=1e-12, abs=1e-12)


def shape_of(array: object, kind: Kind) -> tuple[int, ...]:
    """The shape of an array of numbers of some kind."""
    return kind.floats(array).shape


@KINDS
def test_sums_can_be_made_piece_by_piece(kind: Kind, itg, itg_chart) -> None:
    """Sources spans of some lengths at a time: the same bits."""
    grammar = itg(5, 4)
    weights, kept, items, total = itg_chart(grammar, kind)
    again, adjoints, marginals = (kind.zeros(shape) for shape in (shape_of(items, kind), shape_of(items, kind), (5, 4)))
    pieces = [(1, 2), (2, 5), (5, 6)]
    for begin, end in pieces:
        found = inside(weights, kept, again, begin, end)
    assert found == total
    for begin, end in reversed(pieces):
        outside(weights, kept, again, total, adjoints, marginals, begin, end)
    whole = kind.zeros((5, 4))
    outside(weights, kept, items, total, adjoints, whole, 1, 6)
    assert np.array_equal(kind.floats(marginals), kind.floats(whole))


def test_parts_by_hand() -> None:
    """0-1 1-0 in reverse, then 3-2; source word 2 and target words 3 and 4 are unlinked."""
    links = frozenset([(0, 1), (1, 0), (3, 2)])
    assert sorted(parts(4, 5, links)) == [(0, 1, 1, 2), (0, 3, 0, 2), (0, 4, 0, 5), (1, 3, 0, 1), (3, 4, 2, 5)]
    straight = frozenset([(0, 0), (1, 1), (2, 2)])
    assert sorted(parts(3, 3, straight)) == [(0, 1, 0, 1), (0, 2, 0, 2), (0, 3, 0, 3), (1, 2, 1, 2), (2, 3, 2, 3)]
