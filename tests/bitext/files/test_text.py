"""Words of sentence pairs in the format of fast_align, and links in the Pharaoh format."""

from __future__ import annotations

import pytest

from deptree_cli.bitext.files import PairWords, pharaoh_line, read_pharaoh, read_text
from deptree_cli.bitext.scores import KnownLinks
from deptree_cli.core.errors import DeptreeError


def test_words(scratch) -> None:
    """White space of ASCII parts words, a no-break space does not; a BOM is no word, and CRLF ends a line too."""
    data = "\ufeffdas Haus ||| the house\r\n  10\u00a0000\tJahre  |||  10,000 years \n||| nothing\n".encode()
    first, second, third = read_text(scratch("t.txt", data))
    assert first == PairWords(("das", "Haus"), ("the", "house"), "t.txt:1")
    assert second == PairWords(("10\u00a0000", "Jahre"), ("10,000", "years"), "t.txt:2")
    assert third == PairWords((), ("nothing",), "t.txt:3")
    assert (len(second.source), len(second.target)) == (2, 2)


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_blank_lines_at_the_end_are_no_pairs(end: str, scratch) -> None:
    found = list(read_text(scratch("t.txt", end.join(["a ||| b", "c ||| d", "", " ", ""]).encode())))
    assert [str(each.source[0]) for each in found] == ["a", "c"]


def test_bad_lines_are_handed_on(scratch) -> None:
    path = scratch("t.txt", b"a ||| b\nno bars\na ||| b ||| c\na|||b\n\xff ||| b\n\nc ||| d\n")
    first, *bad, last = read_text(path)
    assert isinstance(first, PairWords)
    assert isinstance(last, PairWords)
    lines = [str(each) for each in bad if isinstance(each, DeptreeError)]
    assert [line.partition(". ")[0] for line in lines] == [
        "t.txt:2: there is no ||| between words",
        "t.txt:3: there are 2 ||| between words",
        "t.txt:4: there is no ||| between words",
        "t.txt:5: the line is not UTF-8",
        "t.txt:6: there is no ||| between words",
    ]
    assert all("\n" not in line for line in lines)


def test_missing_and_empty_files(scratch, says) -> None:
    with says("t.txt: no such file"):
        list(read_text("t.txt"))
    with says("t.txt: the file is empty"):
        list(read_text(scratch("t.txt", b"")))


def test_links(scratch) -> None:
    path = scratch("g.align", b"\xef\xbb\xbf0-0 10-2 1?1\r\n\n2p3 2-3  0-1\t\n")
    first, empty, third = read_pharaoh(path)
    assert isinstance(first, KnownLinks)
    assert first.sure == {(0, 0), (10, 2)}
    assert first.possible == {(0, 0), (10, 2), (1, 1)}
    assert isinstance(empty, KnownLinks)
    assert (empty.sure, empty.possible, empty.place) == (frozenset(), frozenset(), "g.align:2")
    assert isinstance(third, KnownLinks)
    assert third.sure == third.possible == {(2, 3), (0, 1)}  # both possible and sure: sure


@pytest.mark.parametrize("text", ["0-", "-1-0", "0-0-0", "a-b", "0:0", "1,2", "0x1", "٠-١", "0 - 0", "9999999999-0"])
def test_what_is_no_link(text: str, scratch) -> None:
    good, bad, after = read_pharaoh(scratch("g.align", f"0-0\n1-1 {text}\n2-2\n".encode()))
    assert isinstance(good, KnownLinks)
    assert isinstance(after, KnownLinks)
    assert isinstance(bad, DeptreeError)
    assert str(bad).startswith(f"g.align:2: {text.split()[0]!r} is not a link")
    assert "\n" not in str(bad)


def test_written_and_read_again(scratch) -> None:
    sure, possible = frozenset({(10, 0), (2, 1), (2, 0)}), frozenset({(2, 1), (0, 3)})
    assert pharaoh_line(sure) == b"2-0 2-1 10-0\n"
    assert pharaoh_line(frozenset()) == b"\n"
    assert pharaoh_line(sure, possible) == b"0?3 2-0 2-1 10-0\n"
    data = pharaoh_line(sure, possible) + pharaoh_line(frozenset()) + pharaoh_line(sure)
    lines = list(read_pharaoh(scratch("g.align", data)))
    found = [line for line in lines if isinstance(line, KnownLinks)]
    assert [(each.sure, each.possible) for each in found] == [
        (sure, sure | possible),
        (frozenset(), frozenset()),
        (sure, sure),
    ]
