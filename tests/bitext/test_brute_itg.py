"""Brute force finds as many alignments as there are, with the parts that they are built of."""

from __future__ import annotations

from math import comb

import pytest

from tests.brute_itg import alignments, parts

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


def test_parts_by_hand() -> None:
    """0-1 1-0 in reverse, then 3-2; source word 2 and target words 3 and 4 are unlinked."""
    links = frozenset([(0, 1), (1, 0), (3, 2)])
    assert sorted(parts(4, 5, links)) == [(0, 1, 1, 2), (0, 3, 0, 2), (0, 4, 0, 5), (1, 3, 0, 1), (3, 4, 2, 5)]
    straight = frozenset([(0, 0), (1, 1), (2, 2)])
    assert sorted(parts(3, 3, straight)) == [(0, 1, 0, 1), (0, 2, 0, 2), (0, 3, 0, 3), (1, 2, 1, 2), (2, 3, 2, 3)]
