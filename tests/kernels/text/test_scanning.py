"""Where sentences end, and what is found of their words; reading files is tested in tests/io/conllu."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deptree_cli.kernels.text import columns as c
from deptree_cli.kernels.text.scanning import is_between, number_at, says_something, scan, sentence_ends

SENTENCE = b"""\

# sent_id = s1
1-2\tVyel\t_\t_\t_\t_\t_\t_\t_\t_
1\tVy\tvy\tX\t_\t_\t2\tnsubj\t2:nsubj\t_
1.1\tzero\t_\t_\t_\t_\t_\t_\t0:root\t_
2\tel\tel\tVERB\t_\tA=B\t0\troot\t0:root\t_
3\tse\tse\tPRON\t_\t_\t_\t_\t_\tA=B

"""


# The ten columns of CoNLL-U: how many there are, and where FORM, HEAD, DEPREL, DEPS and MISC are.
TEN = np.array([10, 1, 6, 7, 8, 9], dtype=np.int64)


def array(data: bytes) -> np.ndarray:
    return np.frombuffer(data, dtype=np.uint8)


def scanned(data: bytes, any_heads: bool = False, places: list[int] | None = None) -> tuple[list[int], np.ndarray]:
    """What `scan` returns, and the rows that it fills."""
    places = TEN if places is None else np.array(places, dtype=np.int64)
    rows = np.full((data.count(b"\n") + 2, max(c.WORD_FACTS, places[c.WIDTH] + 1)), -9, dtype=np.int64)
    return [int(found) for found in scan(array(data), 0, rows, places, any_heads)], rows[1:]


def test_the_columns_of_words() -> None:
    found, rows = scanned(SENTENCE)
    kind, comments, first, end, n, empty_nodes = found
    assert (kind, n, empty_nodes) == (c.FINE, 3, 1)
    assert SENTENCE[comments:first] == b"# sent_id = s1\n"
    assert SENTENCE[end:] == b"\n"
    lines = SENTENCE.split(b"\n")
    for row in rows[:3].tolist():
        fields = lines[row[c.LINE]].split(b"\t")
        assert columns_of(SENTENCE, row) == fields[6:]
    assert rows[:3, c.HEAD].tolist() == [2, 0, c.NO_HEAD]
    assert rows[:3, c.KEEPS].tolist() == [1, 0, 0]
    assert SENTENCE[rows[-1, 0] : rows[-1, 1]].startswith(b"1.1\tzero")


def columns_of(data: bytes, row: list[int]) -> list[bytes]:
    """HEAD, DEPREL, DEPS and MISC of a word."""
    return [data[row[start] : row[start + 1]] for start in (c.HEAD_START, c.DEPREL_START, c.DEPS_START, c.MISC_START)]


def test_other_columns_are_found_at_their_places() -> None:
    """The last one ends before the newline, however that is written; those that there are not are nowhere."""
    data = b"1-2\t*\t_\tab\tq\r\n1\tA=B\t2\ta\tobj\r\n2\t_\t0\tb\tx\r\n"
    found, rows = scanned(data, places=[5, 3, 2, 4, -1, 1])
    assert (found[0], found[4]) == (c.FINE, 2)
    assert columns_of(data, rows[0].tolist()) == [b"2", b"obj", b"", b"A=B"]
    assert columns_of(data, rows[1].tolist()) == [b"0", b"x", b"", b"_"]
    assert rows[:2, c.DEPS_START].tolist() == rows[:2, c.DEPS_END].tolist() == [-1, -1]
    assert rows[:2, [c.HEAD, c.KEEPS]].tolist() == [[2, 1], [0, 0]]
    found, rows = scanned(data, places=[5, -1, -1, -1, 1, 2])
    assert rows[:2, [c.HEAD, c.KEEPS, c.HEAD_START]].tolist() == [[c.NO_HEAD, 0, -1]] * 2
    assert scanned(data, places=[6, 3, 2, 4, -1, 1])[0] == [c.BAD_COLUMNS, 0, 0, 14, 0, 5]


def test_nothing_but_comments_or_nothing_at_all() -> None:
    assert scanned(b"# a\n# b\n")[0] == [c.FINE, 0, 8, 8, 0, 0]
    assert scanned(b"")[0] == [c.FINE, 0, 0, 0, 0, 0]
    assert scanned(b"\n \n")[0] == [c.FINE, 3, 3, 3, 0, 0]


GOOD = b"1\ta\t_\t_\t_\t_\t0\troot\t_\t_\n"


@pytest.mark.parametrize(
    ("line", "wrong", "text"),
    [
        (b"2\ta\t_\t_\t_\t_\t0\troot\t_\n", c.BAD_COLUMNS, b"2\ta\t_\t_\t_\t_\t0\troot\t_\n"),
        (b"3\ta\t_\t_\t_\t_\t0\troot\t_\t_\n", c.BAD_ID, b"3"),
        (b"02\ta\t_\t_\t_\t_\t0\troot\t_\t_\n", c.BAD_ID, b"02"),
        (b"2-\ta\t_\t_\t_\t_\t0\troot\t_\t_\n", c.BAD_ID, b"2-"),
        (b"2\t\t_\t_\t_\t_\t0\troot\t_\t_\n", c.BAD_FORM, b"2"),
        (b"1.1\t\t_\t_\t_\t_\t_\t_\t_\t_\n", c.BAD_FORM, b"1.1"),
        (b"3-2\ta\t_\t_\t_\t_\t_\t_\t_\t_\n", c.BAD_RANGE, b"3-2"),
        (b"10-9\ta\t_\t_\t_\t_\t_\t_\t_\t_\n", c.BAD_RANGE, b"10-9"),
        (b"2\ta\t_\t_\t_\t_\tx\troot\t_\t_\n", c.BAD_NUMBER, b"x"),
        (b"2\ta\t_\t_\t_\t_\t\troot\t_\t_\n", c.BAD_NUMBER, b""),
        (b"2\ta\t_\t_\t_\t_\t1234567890\troot\t_\t_\n", c.BAD_NUMBER, b"1234567890"),
        (b"2\ta\t_\t_\t_\t_\t3\troot\t_\t_\n", c.BAD_HEAD, b"3"),
        (b"2\ta\t_\t_\t_\t_\t300\troot\t_\t_\n", c.BAD_HEAD, b"300"),
    ],
)
def test_what_is_wrong_is_named_with_its_place(line: bytes, wrong: int, text: bytes) -> None:
    data = GOOD + line
    found, _ = scanned(data)
    assert found[:2] == [wrong, 1]
    assert data[found[2] : found[3]] == text
    assert found[4] == (2 if wrong == c.BAD_HEAD else 1)
    assert found[5] == (9 if wrong == c.BAD_COLUMNS else 10)


@pytest.mark.parametrize(
    ("written", "head"),
    [(b"7", 7), (b"2", 2), (b"0", 0), (b"_", c.NO_HEAD), *((each, c.NO_NUMBER) for each in (b"x", b"", b"-1", b"7.1"))],
)
def test_any_heads_if_asked_for(written: bytes, head: int) -> None:
    line = b"2\ta\t_\t_\t_\t_\t%b\tobj\t_\t_\n" % written
    found, rows = scanned(GOOD + line, any_heads=True)
    assert (found[0], found[4], rows[1, c.HEAD]) == (c.FINE, 2, head)
    assert columns_of(GOOD + line, rows[1].tolist())[0] == written
    bad = line.replace(b"\t_\n", b"\n")
    assert scanned(GOOD + bad, any_heads=True)[0][0] == c.BAD_COLUMNS


@pytest.mark.parametrize(
    ("text", "number"), [(b"0", 0), (b"7", 7), (b"999999999", 999999999), (b"", -1), (b"-1", -1), (b"1_", -1)]
)
def test_numbers(text: bytes, number: int) -> None:
    """Also beyond 255, although bytes are added up."""
    assert number_at(array(b"x" + text), 1, 1 + len(text)) == number


@given(st.text("0-.9", max_size=6).map(str.encode), st.sampled_from([c.DASH, c.DOT]))
def test_digits_on_both_sides_of_a_sign(text: bytes, sign: int) -> None:
    pattern = rb"[0-9]+%b[0-9]+" % re.escape(bytes([sign]))
    assert is_between(array(text), 0, len(text), sign) == (re.fullmatch(pattern, text) is not None)


@pytest.mark.parametrize(
    ("label", "says"),
    [(b"_", False), (b"root", False), (b"dep", False), (b"roots", True), (b"x", True), (b"__", True), (b"det", True)],
)
def test_labels_that_say_something(label: bytes, says: bool) -> None:
    assert says_something(array(label), 0, len(label)) == says


@given(st.lists(st.sampled_from([b"a\n", b"\n", b" \r\n", b"# b\n", b"c"]), max_size=12), st.integers(1, 5))
def test_sentences_end_behind_empty_lines_in_however_small_pieces(lines: list[bytes], size: int) -> None:
    """Before a line that follows an empty one and is not empty itself; the state is carried from piece to piece."""
    data = b"".join(lines)
    state, ends = np.array([0, 1, 0, 0], dtype=np.int64), []
    for start in range(0, len(data), size):
        found = np.full(len(data) + 1, -9, dtype=np.int64)
        count = sentence_ends(array(data[: start + size]), start, state, found)
        ends += found[:count].tolist()
    assert ends == expected_ends(data)


def expected_ends(data: bytes) -> list[int]:
    """Line by line, in plain Python."""
    ends, at, begun, after_empty = [], 0, False, False
    for line in re.findall(rb"[^\n]*\n|[^\n]+", data):
        if line.strip() and begun and after_empty:
            ends.append(at)
        after_empty = not line.strip()
        begun = begun or not after_empty
        at += len(line)
    return ends
