"""What an item of the chart is split into, step by step; sums, draws and the best are in tests/bitext/model."""

from __future__ import annotations

import numpy as np
import pytest

from deptree_cli.bitext.kernels import NOT_INVERTED, NOT_STRAIGHT, TOTAL, WHOLE, Alignments, grammar_of
from deptree_cli.core.numbers import REAL
from deptree_cli.kernels.walker import NONE, draw_split, split
from tests.brute_itg import Grammar


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
