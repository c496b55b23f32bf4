"""Where sentences end, and what is found of their words; reading files is tested in tests/io/conllu."""

from __future__ import annotations

import re

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from deptree_cli.kernels import columns as c
from deptree_cli.kernels.text import is_between, number_at, says_something, sentence_ends, write_number


def array(data):
    return np.frombuffer(data, dtype=np.uint8)


def test_numbers():
    """Also beyond 255, although bytes are added up; written as they are read."""
    for text, number in ((b"0", 0), (b"7", 7), (b"999999999", 999999999), (b"", -1), (b"-1", -1), (b"1_", -1)):
        assert number_at(array(b"x" + text), 1, 1 + len(text)) == number
        out = np.zeros(12, dtype=np.uint8)
        assert number < 0 or out[: write_number(np.int32(number), out, 0)].tobytes() == text


@given(st.text("0-.9", max_size=6).map(str.encode), st.sampled_from([c.DASH, c.DOT]))
def test_digits_on_both_sides_of_a_sign(text, sign):
    pattern = rb"[0-9]+%b[0-9]+" % re.escape(bytes([sign]))
    assert is_between(array(text), 0, len(text), sign) == (re.fullmatch(pattern, text) is not None)


def test_labels_that_say_something():
    labels = b"_ root dep roots x __ det".split()
    assert b" ".join(each for each in labels if says_something(array(each), 0, len(each))) == b"roots x __ det"


@given(st.lists(st.sampled_from([b"a\n", b"\n", b" \r\n", b"# b\n", b"c"]), max_size=12), st.integers(1, 5))
def test_sentences_end_behind_empty_lines_in_however_small_pieces(lines, size):
    """Before a line that follows an empty one and is not empty itself; the state is carried from piece to piece."""
    data = b"".join(lines)
    state, ends = np.array([0, 1, 0, 0], dtype=np.int64), []
    for start in range(0, len(data), size):
        found = np.full(len(data) + 1, -9, dtype=np.int64)
        count = sentence_ends(array(data[: start + size]), start, state, found)
        ends += found[:count].tolist()
    before_lines = [each.end() for each in re.finditer(rb"^[ \r]*\n(?=\S)", data, re.M)]
    assert ends == [end for end in before_lines if data[:end].strip()]
