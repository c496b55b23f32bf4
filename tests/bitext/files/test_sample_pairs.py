"""The sample pairs: all files agree, and hold what their rule promises: words without links, crossing, a close call."""

from __future__ import annotations

import numpy as np
import pytest

from deptree_cli.bitext.files import PairRecord, pharaoh_line, read_pharaoh, scored
from deptree_cli.bitext.scores import KnownLinks, LinkCounts, links_of
from deptree_cli.core.dtypes import Float
from tests.sample import DATA


def sample(name: str) -> str:
    return str(DATA / name)


@pytest.fixture
def gold() -> list[KnownLinks]:
    return [line for line in read_pharaoh(sample("bitext_gold.align")) if isinstance(line, KnownLinks)]


@pytest.fixture
def pairs(read) -> list[PairRecord]:
    return read(sample("bitext.jsonl"))


def test_all_files_hold_the_same_pairs(pairs, gold, read) -> None:
    with_text = read(sample("bitext.npz"), text=sample("bitext.txt"))
    assert 4 <= len(pairs) == len(with_text) == len(gold) <= 6
    for one, other, line in zip(pairs, with_text, gold, strict=True):
        np.testing.assert_array_equal(one.scores, other.scores)
        assert (one.sent_id, one.source, one.target) == (other.sent_id, other.source, other.target)
        line.check_within(len(one.source), len(one.target))
    lines = b"".join(pharaoh_line(line.sure, line.possible) for line in gold)
    assert sorted(lines.split()) == sorted((DATA / "bitext_gold.align").read_bytes().split())


def test_the_other_direction_is_much_the_same_but_not_quite(pairs, read) -> None:
    both = read(sample("bitext.npz"), symmetric=sample("bitext_reverse.npz"))
    for one, mean in zip(pairs, both, strict=True):
        assert 0 < np.abs(one.scores - mean.scores).max() < 1


def of_sure(pair: PairRecord, line: KnownLinks) -> Float:
    """The scores of the sure links."""
    return np.array([pair.scores[link] for link in line.sure])


def test_known_links_stand_out(pairs, gold) -> None:
    for pair, line in zip(pairs, gold, strict=True):
        assert of_sure(pair, line).min() > 4
        others = [score for link, score in np.ndenumerate(pair.scores) if link not in line.possible and score > 2]
        articles = sum(word in ("der", "die", "das", "den") for word in pair.source)
        assert len(others) <= articles  # only articles may be taken for one another
    words = sum(len(pair.source) + len(pair.target) for pair in pairs)
    linked = sum(2 * len(line.sure) for line in gold)
    crossing = [line for line in gold if any(a < c and b > d for a, b in line.sure for c, d in line.sure)]
    assert words - linked > 4
    assert crossing


def test_the_best_links_are_right_but_for_the_close_call(pairs, gold) -> None:
    """In one pair the articles change places, by one nat at most; possible links cost nothing."""
    wrong = {}
    for pair, line in zip(pairs, gold, strict=True):
        found = links_of(scored(pair).distribution.argmax())
        if LinkCounts.of(found, line).alignment_error_rate:
            wrong[pair.sent_id] = [pair.scores[link] for link in found - line.possible]
            wrong[pair.sent_id] += [-pair.scores[link] for link in line.sure - found]
    assert list(wrong) == ["de-3"]
    assert len(wrong["de-3"]) == 4
    assert 0 < sum(wrong["de-3"]) <= 1
