"""Lists of kept bispans: against the definition of crossing, bispan by bispan."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations_with_replacement, product

import numpy as np
import pytest

from deptree_cli.kernels.itg.masks import Kept, forget, gaps, list_around_links, list_states, marked, nothing_kept
from deptree_cli.kernels.itg.spans import by_start, spans_of
from tests.brute_itg import Bispan, Link, kept_bispans


def random_pins(size: int = 6, count: int = 60) -> Iterator[tuple[int, int, list[Link]]]:
    """Sentence pairs with links of which no two share a word, from none to as many as there can be."""
    rng = np.random.default_rng(1)
    for _ in range(count):
        p, q = rng.integers(1, size + 1, size=2).tolist()
        links = rng.integers(0, min(p, q) + 1)
        yield p, q, [*zip(rng.permutation(p)[:links].tolist(), rng.permutation(q)[:links].tolist(), strict=True)]


def rows(kept: Kept) -> list[Bispan]:
    return [(s, t, u, v) for s, t, u, v in kept.cells[: kept.count[0]].tolist()]


def check_order(found: list[Bispan]) -> None:
    """Every bispan stands behind all that it holds."""
    at = {bispan: k for k, bispan in enumerate(found)}
    for (s, t, u, v), (a, b, c, d) in product(found, repeat=2):
        if (s, t, u, v) != (a, b, c, d) and s <= a and b <= t and u <= c and d <= v:
            assert at[s, t, u, v] > at[a, b, c, d]


def check_ranges(kept: Kept, p: int, q: int, found: list[Bispan]) -> None:
    """The first and the last end for every beginning, and the other way round."""
    for s, t in combinations_with_replacement(range(p + 1), 2):
        spans = [(u, v) for a, b, u, v in found if (a, b) == (s, t)]
        for place in range(q + 1):
            for table, ends in (
                (kept.ends, [v for u, v in spans if u == place]),
                (kept.starts, [u for u, v in spans if v == place]),
            ):
                first, last = table[by_start(p, s, t), place].tolist()
                assert (first, last) == (min(ends), max(ends)) if ends else first > last


def test_what_pinned_links_leave(around_links) -> None:
    for p, q, links in random_pins():
        kept = around_links(p, q, links)
        found = rows(kept)
        assert sorted(found) == kept_bispans(p, q, dict.fromkeys(links, True))
        check_ranges(kept, p, q, found)


def test_parts_stand_before_what_they_are_parts_of(around_links) -> None:
    for p, q, links in random_pins(4, 25):
        check_order(rows(around_links(p, q, links)))


def test_a_list_that_was_used_is_as_good_as_a_new_one(around_links) -> None:
    """One list for each size, filled and forgotten under many masks, of links and of states."""
    used: dict[tuple[int, int], Kept] = {}
    rng = np.random.default_rng(2)
    for p, q, links in random_pins(3):
        room = spans_of(p) * spans_of(q)
        kept = used.setdefault((p, q), nothing_kept(p, q, room))
        target_of, source_of = np.full(p, -1), np.full(q, -1)
        for i, j in links:
            target_of[i], source_of[j] = j, i
        forget(kept, p)
        list_states(rng.random((spans_of(p), spans_of(q))) < 0.5, p, q, kept)
        forget(kept, p)
        list_around_links(target_of, source_of, kept)
        fresh = around_links(p, q, links)
        assert rows(kept) == rows(fresh)
        assert np.array_equal(kept.ends, fresh.ends)
        assert np.array_equal(kept.starts, fresh.starts)
        forget(kept, p)
        empty = nothing_kept(p, q, room)
        assert kept.count[0] == 0
        assert np.array_equal(kept.ends, empty.ends)
        assert np.array_equal(kept.starts, empty.starts)


@pytest.mark.parametrize(("p", "q"), [(1, 1), (1, 4), (4, 1), (3, 2), (3, 4)])
def test_states_that_are_marked_are_listed(p: int, q: int) -> None:
    """All but spans of nothing beside spans of nothing; `marked` gives them back."""
    rng = np.random.default_rng([p, q])
    source, target = ([*combinations_with_replacement(range(n + 1), 2)] for n in (p, q))
    for share in (0.0, 0.1, 0.5, 1.0):
        states = rng.random((len(source), len(target))) < share
        kept = nothing_kept(p, q, states.size)
        list_states(states, p, q, kept)
        found = rows(kept)
        expected = {(*source[i], *target[j]) for i, j in np.argwhere(states)}
        assert sorted(found) == sorted((s, t, u, v) for s, t, u, v in expected if t > s or v > u)
        check_ranges(kept, p, q, found)
        if p + q < 6:
            check_order(found)
        back = np.zeros_like(states)
        marked(kept, p, q, back)
        empty = np.array([[s == t and u == v for u, v in target] for s, t in source])
        assert np.array_equal(back, states & ~empty)


def test_gaps_by_hand() -> None:
    """Target words 1 and 2 of five are pinned: places 0 and 1, 2, and 3 to 5."""
    start, end = gaps(np.array([-1, 3, 0, -1, -1]))
    assert start.tolist() == [0, 0, 2, 3, 3, 3]
    assert end.tolist() == [1, 1, 2, 5, 5, 5]
