"""Ranges of kept bispans: against the definition of crossing, bispan by bispan."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

import numpy as np
import pytest

from deptree_cli.bitext.kernels import SpanMask, by_start, gaps, keep_states, new_ranges, spans_of
from tests.brute_itg import Bispan, Link, kept_bispans


def random_pins(size: int = 6, count: int = 80) -> Iterator[tuple[int, int, list[Link]]]:
    """Sentence pairs with links of which no two share a word, from none to as many as there can be."""
    rng = np.random.default_rng(1)
    for _ in range(count):
        p, q = rng.integers(1, size + 1, size=2).tolist()
        links = rng.integers(0, min(p, q) + 1)
        yield p, q, [*zip(rng.permutation(p)[:links].tolist(), rng.permutation(q)[:links].tolist(), strict=True)]


def bispans_in(kept: SpanMask, p: int) -> list[Bispan]:
    """All that is within the ranges."""
    q = kept.ends.shape[1]
    return [
        (s, t, u, v)
        for s, t in combinations(range(p + 1), 2)
        for u in range(q)
        for v in range(*kept.ends[by_start(p, s, t), u].tolist())
    ]


def check_beginnings(kept: SpanMask, p: int) -> None:
    """The first place where a range is not empty, and the one behind the last."""
    for source in range(spans_of(p)):
        first, end = kept.begins[source].tolist()
        places = [u for u, (low, high) in enumerate(kept.ends[source].tolist()) if low < high]
        assert (first, end) == (min(places), max(places) + 1) if places else first >= end


def test_what_pinned_links_leave(around_links) -> None:
    for p, q, links in random_pins():
        kept = around_links(p, q, links)
        assert bispans_in(kept, p) == kept_bispans(p, q, dict.fromkeys(links, True))
        check_beginnings(kept, p)


@pytest.mark.parametrize(("p", "q"), [(1, 1), (1, 4), (4, 1), (3, 2), (3, 4)])
def test_ranges_hold_all_states(p: int, q: int) -> None:
    """From the first to the last end of what is marked; what was kept before does not matter."""
    rng, kept = np.random.default_rng([p, q]), new_ranges(p, q)
    for share in (1.0, 0.5, 0.1, 0.0):
        states = rng.random((spans_of(p), spans_of(q))) < share
        keep_states(states, kept)
        for source, row in enumerate(states):
            for u in range(q):
                marked = [v for v in range(u + 1, q + 1) if row[by_start(q, u, v)]]
                first, end = kept.ends[source, u].tolist()
                assert (first, end) == (min(marked), max(marked) + 1) if marked else first >= end
        check_beginnings(kept, p)


def test_gaps_by_hand() -> None:
    """Target words 1 and 2 of five are pinned: places 0 and 1, 2, and 3 to 5."""
    start, end, before = gaps(np.array([-1, 3, 0, -1, -1]))
    assert start.tolist() == [0, 0, 2, 3, 3, 3]
    assert end.tolist() == [1, 1, 2, 5, 5, 5]
    assert before.tolist() == [0, 0, 1, 2, 2, 2]
