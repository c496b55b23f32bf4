"""Numbers of spans: each has one, in the order that they are sorted by."""

from __future__ import annotations

from itertools import combinations_with_replacement

import pytest

from deptree_cli.kernels.itg.spans import by_end, by_start, spans_of


@pytest.mark.parametrize("n", [0, 1, 2, 3, 7])
def test_spans_are_numbered_in_two_orders(n: int) -> None:
    spans = [*combinations_with_replacement(range(n + 1), 2)]
    assert spans_of(n) == len(spans)
    assert [by_start(n, i, j) for i, j in sorted(spans)] == [*range(len(spans))]
    assert [by_end(i, j) for i, j in sorted(spans, key=lambda span: span[::-1])] == [*range(len(spans))]
