"""Links and their error rates: against the definitions, written out over sets, and their limits."""

from __future__ import annotations

from dataclasses import FrozenInstanceError

import numpy as np
import pytest

from deptree_cli.bitext.scores import KnownLinks, LinkCounts, Links, links_of
from deptree_cli.core.errors import DeptreeError


def known(sure: set[tuple[int, int]], possible: set[tuple[int, int]]) -> KnownLinks:
    return KnownLinks(frozenset(sure), frozenset(sure | possible))


KNOWN = known({(0, 0), (1, 1), (2, 3)}, {(2, 2), (3, 3)})


def test_links_of_targets() -> None:
    assert links_of(np.array([2, -1, 0], dtype=np.int32)) == {(0, 2), (2, 0)}
    assert links_of(np.array([-1, -1], dtype=np.int32)) == links_of([]) == frozenset()
    assert all(type(word) is int for link in links_of(np.array([1], dtype=np.int32)) for word in link)


def test_rates_by_hand() -> None:
    """A = {0-0, 2-2, 2-3, 0-4}, |A & S| = 2, |A & P| = 3, |A| = 4, |S| = 3."""
    counts = LinkCounts.of(frozenset({(0, 0), (2, 2), (2, 3), (0, 4)}), KNOWN)
    assert counts == LinkCounts(1, 4, 3, 2, 3)
    assert counts.precision == pytest.approx(3 / 4)
    assert counts.recall == pytest.approx(2 / 3)
    assert counts.alignment_error_rate == pytest.approx(1 - 5 / 7)


def test_rates_by_the_definitions() -> None:
    """Random links, sure and possible ones: loops over all cells instead of sets."""
    rng = np.random.default_rng(3)
    for _ in range(50):
        p, q = rng.integers(1, 6, size=2)
        found, sure, possible = rng.random((3, p, q)) < 0.4
        possible |= sure
        if not (found.any() and sure.any()):
            continue
        cells: list[Links] = [frozenset(map(tuple, np.argwhere(each).tolist())) for each in (found, sure, possible)]
        counts = LinkCounts.of(cells[0], KnownLinks(*cells[1:]))
        in_sure, in_possible = (found & sure).sum(), (found & possible).sum()
        assert counts.precision == pytest.approx(in_possible / found.sum())
        assert counts.recall == pytest.approx(in_sure / sure.sum())
        rate = 1 - (in_sure + in_possible) / (found.sum() + sure.sum())
        assert LinkCounts.of(cells[0], KnownLinks(*cells[1:])).alignment_error_rate == pytest.approx(rate)


def test_with_sure_links_alone_the_error_rate_is_one_minus_f1() -> None:
    counts = LinkCounts.of(frozenset({(0, 0), (1, 2)}), known({(0, 0), (1, 1), (2, 2)}, set()))
    assert counts.precision
    assert counts.recall
    f1 = 2 * counts.precision * counts.recall / (counts.precision + counts.recall)
    assert counts.alignment_error_rate == pytest.approx(1 - f1)


@pytest.mark.parametrize(
    ("found", "rate"),
    [
        (KNOWN.sure, 0.0),
        (KNOWN.possible, 0.0),
        (frozenset({(9, 9)}), 1.0),
        (frozenset(), 1.0),
    ],
)
def test_best_and_worst(found: Links, rate: float) -> None:
    """Possible links cost nothing, whether they are found or not."""
    assert LinkCounts.of(found, KNOWN).alignment_error_rate == pytest.approx(rate)


def test_rates_of_nothing_are_none() -> None:
    nothing = LinkCounts.of(frozenset(), known(set(), {(0, 0)}))
    assert (nothing.precision, nothing.recall, nothing.alignment_error_rate) == (None, None, None)
    assert LinkCounts.of(frozenset(), KNOWN).precision is None
    assert LinkCounts.of(frozenset({(0, 0)}), known(set(), {(0, 0)})).recall is None


def test_counts_add_up_over_pairs_and_never_change() -> None:
    """The rates of a corpus are those of the sums: 1 of 4 and 1 of 1 found links are possible, so 2 of 5."""
    first = LinkCounts.of(frozenset({(0, 0), (5, 5), (5, 6), (5, 7)}), KNOWN)
    second = LinkCounts.of(frozenset({(0, 0)}), known({(0, 0)}, set()))
    total = sum((first, second), LinkCounts())
    assert total == LinkCounts(2, 5, 4, 2, 2)
    assert total.precision == pytest.approx(2 / 5)
    assert total.summary() == {
        "pairs": 2,
        "links": 5,
        "sure": 4,
        "precision": 2 / 5,
        "recall": 2 / 4,
        "alignment_error_rate": 1 - 4 / 9,
    }
    with pytest.raises(FrozenInstanceError):
        total.pairs = 3  # type: ignore[misc]


def test_links_beyond_the_sentences() -> None:
    KNOWN.check_within(4, 4)
    for p, q, link in ((3, 4, "3-3"), (4, 3, "2-3")):
        with pytest.raises(DeptreeError, match=f"the link {link} is outside the {p} source and {q} target words"):
            KNOWN.check_within(p, q)
