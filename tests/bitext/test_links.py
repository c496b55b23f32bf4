"""Words and links of sentence pairs as text, how links agree with known ones, and what the sample pairs promise."""

from __future__ import annotations

import numpy as np
import pytest

from deptree_cli.bitext.files import PairWords, pharaoh_line, read_pharaoh, read_text
from deptree_cli.bitext.scores import KnownLinks, LinkCounts, links_of
from deptree_cli.core.errors import DeptreeError
from tests.bitext.conftest import read
from tests.sample import DATA


def known(sure, possible):
    return KnownLinks(frozenset(sure), frozenset(sure | possible))


KNOWN = known({(0, 0), (1, 1), (2, 3)}, {(2, 2), (3, 3)})


def test_words(put):
    """White space of ASCII parts words, a no-break space does not; a BOM is no word, and CRLF ends a line too."""
    data = "\ufeffdas Haus ||| the house\r\n  10\u00a0000\tJahre  |||  10,000 years \n||| nothing\n"
    assert list(read_text(put("t.txt", data))) == [
        PairWords(("das", "Haus"), ("the", "house"), "t.txt:1"),
        PairWords(("10\u00a0000", "Jahre"), ("10,000", "years"), "t.txt:2"),
        PairWords((), ("nothing",), "t.txt:3"),
    ]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_blank_lines_at_the_end_are_no_pairs(end, put):
    found = read_text(put("t.txt", end.join(["a ||| b", "c ||| d", "", " ", ""])))
    assert [each.source for each in found] == [("a",), ("c",)]


def test_bad_lines_are_handed_on(put):
    path = put("t.txt", b"a ||| b\nno bars\na ||| b ||| c\na|||b\n\xff ||| b\n\nc ||| d\n")
    first, *bad, last = read_text(path)
    assert (first.source, last.target) == (("a",), ("d",))
    assert [str(each).partition(". ")[0] for each in bad] == [
        "t.txt:2: there is no ||| between words",
        "t.txt:3: there are 2 ||| between words",
        "t.txt:4: there is no ||| between words",
        "t.txt:5: the line is not UTF-8",
        "t.txt:6: there is no ||| between words",
    ]
    assert not any("\n" in str(each) for each in bad)


def test_links_of_pharaoh_lines(put):
    first, empty, third = read_pharaoh(put("g.align", b"\xef\xbb\xbf0-0 10-2 1?1\r\n\n2p3 2-3  0-1\t\n"))
    assert (first.sure, first.possible) == ({(0, 0), (10, 2)}, {(0, 0), (10, 2), (1, 1)})
    assert (empty.sure, empty.possible, empty.place) == (frozenset(), frozenset(), "g.align:2")
    assert third.sure == third.possible == {(2, 3), (0, 1)}  # both possible and sure: sure


@pytest.mark.quick
@pytest.mark.parametrize("text", ["0-", "-1-0", "0-0-0", "a-b", "0:0", "1,2", "0x1", "٠-١", "0 - 0", "9999999999-0"])
def test_what_is_no_link(text, put):
    good, bad, after = read_pharaoh(put("g.align", f"0-0\n1-1 {text}\n2-2\n"))
    assert (good.sure, after.sure) == ({(0, 0)}, {(2, 2)})
    assert str(bad).startswith(f"g.align:2: {text.split()[0]!r} is not a link")
    assert "\n" not in str(bad)


def test_links_are_written_and_read_again(put):
    sure, possible, nothing = frozenset({(10, 0), (2, 1), (2, 0)}), frozenset({(2, 1), (0, 3)}), frozenset()
    lines = [pharaoh_line(sure, possible), pharaoh_line(nothing), pharaoh_line(sure)]
    assert lines == [b"0?3 2-0 2-1 10-0\n", b"\n", b"2-0 2-1 10-0\n"]
    found = [(each.sure, each.possible) for each in read_pharaoh(put("g.align", b"".join(lines)))]
    assert found == [(sure, sure | possible), (nothing, nothing), (sure, sure)]


def test_links_of_targets():
    assert links_of(np.array([2, -1, 0], dtype=np.int32)) == {(0, 2), (2, 0)}
    assert links_of(np.array([-1, -1], dtype=np.int32)) == links_of([]) == frozenset()
    assert all(type(word) is int for link in links_of(np.array([1], dtype=np.int32)) for word in link)


def test_rates_by_the_definitions():
    """Random links, sure and possible ones: loops over all cells instead of sets."""
    rng = np.random.default_rng(3)
    for _ in range(50):
        p, q = rng.integers(1, 6, size=2)
        found, sure, possible = rng.random((3, p, q)) < 0.4
        possible |= sure
        if not (found.any() and sure.any()):
            continue
        links, *cells = (frozenset(map(tuple, np.argwhere(each).tolist())) for each in (found, sure, possible))
        counts = LinkCounts.of(links, KnownLinks(*cells))
        in_sure, in_possible = (found & sure).sum(), (found & possible).sum()
        assert counts.precision == pytest.approx(in_possible / found.sum())
        assert counts.recall == pytest.approx(in_sure / sure.sum())
        rate = 1 - (in_sure + in_possible) / (found.sum() + sure.sum())
        assert counts.alignment_error_rate == pytest.approx(rate)


def test_rates_of_nothing_are_none():
    for sure, rate in ((set(), None), ({(1, 1)}, 1)):
        nothing = LinkCounts.of(frozenset(), known(sure, {(0, 0)}))
        assert (nothing.precision, nothing.recall, nothing.alignment_error_rate) == (None, rate and 0, rate)
    assert LinkCounts.of(frozenset({(0, 0)}), known(set(), {(0, 0)})).recall is None


def test_counts_add_up_over_pairs():
    """The rates of a corpus are those of the sums: 1 of 4 and 1 of 1 found links are possible, so 2 of 5."""
    first = LinkCounts.of(frozenset({(0, 0), (5, 5), (5, 6), (5, 7)}), KNOWN)
    second = LinkCounts.of(frozenset({(0, 0)}), known({(0, 0)}, set()))
    total = sum((first, second), LinkCounts())
    rates = {"precision": 2 / 5, "recall": 2 / 4, "alignment_error_rate": 1 - 4 / 9}
    assert total.summary() == {"pairs": 2, "links": 5, "sure": 4, **rates}


@pytest.mark.parametrize(("p", "q", "link"), [(3, 4, "3-3"), (4, 3, "2-3")])
def test_links_beyond_the_sentences(p, q, link):
    KNOWN.check_within(4, 4)
    with pytest.raises(DeptreeError, match=f"the link {link} is outside the {p} source and {q} target words"):
        KNOWN.check_within(p, q)


def test_all_sample_files_hold_the_same_pairs():
    with_text = read(f"{DATA}/bitext.npz", text=f"{DATA}/bitext.txt")
    both = read(f"{DATA}/bitext.npz", symmetric=f"{DATA}/bitext_reverse.npz")
    gold = read_pharaoh(f"{DATA}/bitext_gold.align")
    for one, other, mean, line in zip(read(f"{DATA}/bitext.jsonl"), with_text, both, gold, strict=True):
        np.testing.assert_array_equal(one.scores, other.scores)
        assert (one.sent_id, one.source, one.target) == (other.sent_id, other.source, other.target)
        assert 0 < np.abs(one.scores - mean.scores).max() < 1  # much the same but not quite
        line.check_within(len(one.source), len(one.target))
