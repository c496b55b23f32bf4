"""Numbers of spans: each has one, in the order that they are sorted by."""

from __future__ import annotations

from itertools import combinations

import pytest

from deptree_cli.bitext.kernels import beginning, by_start, spans_of


@pytest.mark.parametrize("n", [0, 1, 2, 3, 7])
def test_spans_are_numbered_by_their_beginnings(n: int) -> None:
    spans = [*combinations(range(n + 1), 2)]
    assert spans_of(n) == len(spans)
    assert [by_start(n, i, j) for i, j in spans] == [*range(len(spans))]
    assert all(beginning(n, i) + j == by_start(n, i, j) for i, j in spans)
