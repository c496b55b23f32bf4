"""Sentences for parsers: from text and from CoNLL-U, and back to CoNLL-U that the UD validator takes."""

from __future__ import annotations

import pytest

from deptree_cli.io.files.streams import open_input
from deptree_cli.io.parsers import Token, Word, kind_of, paragraphs, read_sentences, spaced, to_sentence

BLOCKS = b"""\
# sent_id = a
1-2\tdel\t_\t_\t_\t_\t_\t_\t_\tSpaceAfter=No
1\tde\tde\tADP\tE\tF=1\t2\tcase\t_\t_
2\tel\tel\tDET\t_\t_\t0\troot\t_\tX=1|SpaceAfter=No

1\tb\t_\t_\t_\t_\t_\t_\t_\t_

"""


def by_space(text: str) -> list[list[Token]]:
    """A line is a sentence, what stands between spaces a token."""
    return [[Token(form) for form in line.split()] for line in text.splitlines()]


@pytest.mark.parametrize(
    ("head", "kind"),
    [
        (b"1\tThe\t_", "conllu"),
        (b"1-2\tdel\t_", "conllu"),
        (b"# sent_id = 1\n", "conllu"),
        (b"\xef\xbb\xbf\n# text = x\n", "conllu"),
        ("Туман над рекой.".encode(), "text"),
        (b"\xef\xbb\xbfText", "text"),
        (b"1 The", "text"),
        (b"1-2 pages\t", "text"),
    ],
)
def test_first_bytes_tell_what_it_is(head, kind):
    assert kind_of(head) == kind


def test_blocks_keep_bytes_and_columns(scratch):
    with open_input(scratch("two.conllu", BLOCKS)) as file:
        first, second = read_sentences(file, "conllu", by_space)
    assert first.words == [Word("de", "de", "ADP", "E", "F=1"), Word("el", "el", "DET", space_after=False)]
    assert (first.sent_id, second.sent_id) == ("a", "2")
    assert first.conllu + second.conllu == BLOCKS


def test_paragraphs_are_what_empty_lines_part():
    lines = "\ufeffOne\nand more.\n\n \t\r\nTwo и\u0306.\r\n".encode().splitlines(keepends=True)
    assert list(paragraphs(lines, "file")) == ["One\nand more.", "Two й."]


def test_text_is_numbered_through(scratch):
    with open_input(scratch("text", b"A b\nc\n\n\nd")) as file:
        sentences = list(read_sentences(file, "text", by_space))
    assert [(each.sent_id, [word.form for word in each.words]) for each in sentences] == [
        ("1", ["A", "b"]),
        ("2", ["c"]),
        ("3", ["d"]),
    ]


def test_the_first_sentence_is_there_before_the_rest_was_read():
    def endless():
        yield b"One.\n"
        yield b"\n"
        raise AssertionError

    assert next(paragraphs(endless(), "pipe")) == "One."


@pytest.mark.parametrize(("data", "kind"), [(b"\n \n", "text"), (b"\n\n", "conllu")])
def test_nothing_to_parse(scratch, says, data, kind):
    """White space alone is an empty file, whatever it should have been."""
    with says("empty: the file is empty"), open_input(scratch("empty", data)) as file:
        list(read_sentences(file, kind, by_space))


def test_what_is_not_utf8(scratch, says):
    with open_input(scratch("old.txt", b"Text\n\xe9t\xe9\n")) as file, says("old.txt:2: this is not UTF-8"):
        list(read_sentences(file, "text", by_space))


def test_a_block_of_tokens():
    tokens = [Token("Lo", False), Token("del", words=("de", "el")), Token("mar", False), Token(".")]
    sentence = to_sentence("7", tokens)
    assert sentence.words == [Word("Lo", space_after=False), Word("de"), Word("el"), *_rest()]
    lines = sentence.conllu.decode().splitlines()
    assert lines[:2] == ["# sent_id = 7", "# text = Lodel mar."]
    assert [line.split("\t")[:2] for line in lines[2:-1]] == [
        ["1", "Lo"],
        ["2-3", "del"],
        ["2", "de"],
        ["3", "el"],
        ["4", "mar"],
        ["5", "."],
    ]
    assert [line.split("\t")[9] for line in lines[2:-1]] == ["SpaceAfter=No", "_", "_", "_", "SpaceAfter=No", "_"]


def _rest() -> list[Word]:
    return [Word("mar", space_after=False), Word(".")]


def test_blocks_pass_the_ud_validator(udvalidate, tmp_path):
    tokens = [Token("«", False), Token("Del", False, ("De", "el")), Token("»", False), Token("!")]
    path = tmp_path / "made.conllu"
    path.write_bytes(b"".join(to_sentence(str(number), tokens).conllu for number in (1, 2)))
    ran = udvalidate(path, 1)
    assert ran.returncode == 0, ran.stdout + ran.stderr


def test_a_space_or_the_end_after_a_token():
    assert [spaced("a b,c", end) for end in (1, 3, 4, 5)] == [True, False, False, True]
