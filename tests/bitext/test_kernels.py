"""Kernels of alignments: numbers of spans, ranges of kept bispans, and what an item of the chart is split into."""

from __future__ import annotations

from itertools import combinations, product

import numpy as np
import pytest

from deptree_cli.bitext.kernels import (
    TABLES,
    WHOLE,
    LinkWeights,
    by_start,
    grammar_of,
    inside,
    keep_around_links,
    keep_states,
    new_ranges,
    spans_of,
)
from deptree_cli.kernels.walker import draw_split


def around(p, q, pins):
    """The ranges of bispans that no link crosses, by the kernel; links share no words."""
    target_of, source_of = np.full(p, -1), np.full(q, -1)
    for i, j in pins:
        target_of[i], source_of[j] = j, i
    kept = new_ranges(p, q)
    keep_around_links(target_of, source_of, kept)
    return kept


def random_pins():
    """Sentence pairs with links of which no two share a word, from none to as many as there can be."""
    rng = np.random.default_rng(1)
    for _ in range(80):
        p, q = rng.integers(1, 7, size=2).tolist()
        links = rng.integers(0, min(p, q) + 1)
        yield p, q, [*zip(rng.permutation(p)[:links].tolist(), rng.permutation(q)[:links].tolist(), strict=True)]


def bispans_in(kept, p):
    """All that is within the ranges."""
    for s, t in combinations(range(p + 1), 2):
        for u, ends in enumerate(kept.ends[by_start(p, s, t)].tolist()):
            yield from ((s, t, u, v) for v in range(*ends))


def check_beginnings(kept, p):
    """The first place where a range is not empty, and the one behind the last."""
    for source in range(spans_of(p)):
        first, end = kept.begins[source].tolist()
        places = [u for u, (low, high) in enumerate(kept.ends[source].tolist()) if low < high]
        assert (first, end) == (min(places), max(places) + 1) if places else first >= end


def test_what_pinned_links_leave():
    """Bispans that hold both words of every link or none."""
    for p, q, links in random_pins():
        kept, spans = around(p, q, links), product(*(combinations(range(n + 1), 2) for n in (p, q)))
        bispans = [(*a, *b) for a, b in spans if all((i in range(*a)) == (j in range(*b)) for i, j in links)]
        assert [*bispans_in(kept, p)] == bispans
        check_beginnings(kept, p)


@pytest.mark.parametrize(("p", "q"), [(1, 1), (1, 4), (4, 1), (3, 2), (3, 4)])
def test_ranges_hold_all_states(p, q):
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


@pytest.mark.slow("size")
def test_what_rounding_leaves_over_is_no_alignment_of_weight_0():
    """No link may be 1-1, no word but 1 of either side unlinked: 0-0 takes what is beyond the sum."""
    links, nulls, runs = np.array([[1.0, 0.0], [0.0, 0.0]]), np.array([0.0, 1.0]), np.zeros((2, 3, 3))
    weights, kept = LinkWeights(links, nulls, nulls, np.empty((0, 0)), *runs), around(2, 2, [])
    items = np.full((TABLES, spans_of(2), spans_of(2)), 3.0)  # something is left from before
    total = inside(weights, kept, items, 1, 3)
    assert total == 1.0
    grammar, row = grammar_of(weights, kept, items, total)[0], 1
    assert draw_split(grammar, (WHOLE, 0, 2, 0, 2), 0.5) == draw_split(grammar, (WHOLE, 0, 2, 0, 2), 1.5) == (row, 0)
