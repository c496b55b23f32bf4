"""CoNLL-U: nothing is lost, what is not a sentence is named, and words and tokens are seen as a reader sees them."""

from __future__ import annotations

import gzip
import io
import pickle
from collections import Counter
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deptree_cli.core.errors import DeptreeError
from deptree_cli.io.conllu import blocks as module
from deptree_cli.io.conllu.blocks import (
    REGIONS,
    Block,
    between_spaces,
    read_blocks_or_errors,
    split_chunks,
    surface_tokens,
)
from deptree_cli.io.conllu.columns import BOM
from deptree_cli.io.conllu.splicing import with_trees
from tests.sample import DATA
from tests.tree_files import read_blocks, word

SENTENCE = b"""\
# newdoc
# sent_id = s1
# text = Vyel se
# free text = with = signs
# note = 1
# note = 2
1-2\tVyel\t_\t_\t_\t_\t_\t_\t_\tA=1=2|SpaceAfter=No
1\tVy\tvy\tX\t_\t_\t2\tnsubj\t2:nsubj\t_
1.1\tzero\t_\t_\t_\t_\t_\t_\t0:root\tCopyOf=1
2\tel\tel\tVERB\t_\tA=B\t0\troot\t0:root\tB=x=y
3\tse\tse\tPRON\t_\t_\t2\tobj\t_\tHeadProb=0.1|Z=1

"""


def blocks(data: bytes | str) -> list[Block]:
    return list(read_blocks(io.BytesIO(data.encode() if isinstance(data, str) else data), "a.conllu"))


def block(data: bytes | str = SENTENCE) -> Block:
    (only,) = blocks(data)
    return only


def with_tree(each: Block, heads: list[int]) -> bytes:
    return with_trees(each, np.array([heads], dtype=np.int32), [each.sent_id]).data


def test_what_a_block_knows() -> None:
    first, second = blocks(b"\n\n" + SENTENCE + b"1\ta\t_\t_\t_\t_\t_\t_\t_\t_\n")
    assert (first.sent_id, first.n, first.line, first.place) == ("s1", 3, 3, "a.conllu:3")
    assert first.heads == [2, 0, 2]
    assert first.deprels == ["nsubj", "root", "obj"]
    assert first.comment("note") == "1"
    assert first.comment("not") is None
    assert (second.sent_id, second.n, second.line, second.heads) == ("", 1, 15, [None])
    assert blocks(b"") == blocks(b"\n \n") == blocks(BOM) == []


def test_notes_go_into_misc_and_behind_the_comments() -> None:
    written = block().fresh().with_notes({1: "HeadProb=0.9", 2: "HeadProb=0.8", 3: "HeadProb=0.7"}, ["# e = 1"])
    expected = SENTENCE.replace(b"2:nsubj\t_", b"2:nsubj\tHeadProb=0.9").replace(b"x=y", b"x=y|HeadProb=0.8")
    expected = expected.replace(b"HeadProb=0.1|Z=1", b"Z=1|HeadProb=0.7")
    assert written == expected.replace(b"# note = 2\n", b"# note = 2\n# e = 1\n")
    assert block().fresh().with_notes({}) == SENTENCE.replace(b"HeadProb=0.1|", b"")


WORD = b"%d\tform\t_\t_\t_\t_\t_\t_\t_\t"
TEXT = st.binary(max_size=6).filter(lambda text: not set(text) & set(b"\t\n\r"))


@st.composite
def files(draw: st.DrawFn) -> bytes:
    newline = st.sampled_from([b"\n", b"\r\n", b" \n"])
    empty = st.lists(st.sampled_from([b"\n", b"\r\n", b" \t\n"]), max_size=3)
    pieces = [draw(st.sampled_from([b"", BOM])), *draw(empty)]
    for _ in range(draw(st.integers(1, 3))):
        pieces += [b"# sent_id = s" + draw(newline)]
        pieces += [b"# " + text + draw(newline) for text in draw(st.lists(TEXT, max_size=3)) if b"sent_id" not in text]
        pieces += [WORD % number + draw(TEXT) + draw(newline) for number in range(1, draw(st.integers(2, 4)))]
        pieces += [draw(st.sampled_from([b"\n", b"\r\n"])), *draw(empty)]
    return b"".join(pieces)[: draw(st.sampled_from([None, -1]))]


@given(files())
def test_a_file_is_written_back_as_it_was(data: bytes) -> None:
    read = blocks(data)
    assert b"".join(each.raw for each in read) == data
    assert b"".join(each.fresh().with_notes({}) for each in read) == data
    filled = b"".join(with_tree(each, [0] * each.n) for each in read)
    assert filled.replace(b"\t0\troot\t_\t", b"\t_\t_\t_\t") == data


@given(files(), st.data())
def test_the_pieces_in_which_a_file_comes_do_not_matter(data: bytes, draws: st.DataObject) -> None:
    class InPieces(io.BytesIO):
        def read1(self, size: int | None = -1) -> bytes:
            return super().read1(draws.draw(st.integers(1, 9)))

    assert list(split_chunks(InPieces(data))) == list(split_chunks(io.BytesIO(data)))


@pytest.mark.parametrize(
    "name", ["gold", "crlf", *(pytest.param(each, marks=pytest.mark.slow("size")) for each in ("dev", "train"))]
)
def test_a_treebank_is_written_back_as_it_was(name: str, request) -> None:
    if name in ("dev", "train"):
        data = gzip.decompress((request.getfixturevalue("shared") / "ewt" / f"{name}.conllu.gz").read_bytes())
    else:
        data = (DATA / "gold.conllu").read_bytes().replace(b"\n", b"\r\n" if name == "crlf" else b"\n")
    read = blocks(data)
    assert b"".join(each.raw for each in read) == data
    assert b"".join(each.fresh().with_notes({}) for each in read) == data
    assert b"".join(with_tree(each, each.heads) for each in read) == data


def test_any_heads_are_read_as_they_are_if_asked_for() -> None:
    row = b"%d\ta\t_\tX\t_\t_\t%b\tdep\t_\t_\n"
    written = [b"9", b"2", b"x", b"", b"-1", b"7.1", b"_", b"1234567890", b"0"]
    data = b"".join(row % each for each in enumerate(written, 1)) + b"\n"
    (read,) = read_blocks_or_errors(io.BytesIO(data.replace(b"\t9\t", b"\t10\t")), "x", any_heads=True)
    expected = [10, 2, *[module.NO_WORD] * 4, None, module.NO_WORD, 0]
    for each in (read, pickle.loads(pickle.dumps(read)), read.with_column("upos", ["Y"] * 9), read.noting({1: "A=1"})):
        assert each.heads == expected
        assert each.column("head") == ["10", *(text.decode() for text in written[1:])]
        assert each.column("form") == ["a"] * 9
    (refused,) = read_blocks_or_errors(io.BytesIO(data), "x")
    assert isinstance(refused, DeptreeError)
    (refused,) = read_blocks_or_errors(io.BytesIO(data.replace(b"2\ta\t", b"2\t\t")), "x", any_heads=True)
    assert "FORM" in str(refused)


# What is put into SENTENCE in the place of what, and what is said of it.
NO_SENTENCES = [
    (b"3\tse\tse", b"3 se se", ["a.conllu:11", "tabs", "8 columns where a word has 10"]),
    (b"3\tse\t", b"3\tse\t\t", ["a.conllu:11", "11 columns"]),
    (b"2\tel", b"# c\n2\tel", ["a.conllu:10", "1 column where"]),
    (b"3\tse", b"4\tse", ["a.conllu:11", "the word id is '4' where 3 is due"]),
    (b"3\tse\t", b"3\t\t", ["a.conllu:11", "the FORM of '3' is empty. Write it, or _ where"]),
    (b"\tzero\t", b"\t\t", ["the FORM of '1.1' is empty"]),
    (b"1-2", b"2-1", ["a.conllu:7", "the range '2-1' ends before it begins"]),
    (b"1-2", b"10-9", ["the range '10-9' ends before it begins"]),
    (b"1-2", b"1-9999999999", ["the word id is '1-9999999999' where 1 is due"]),
    (b"1-2", b"1-02", ["the word id is '1-02' where 1 is due"]),
    (b"1-2", b"1-", ["'1-' where 1"]),
    (b"3\tse", b"03\tse", ["'03' where 3"]),
    (b"1-2", b"x-2", ["a.conllu:7", "'x-2' where 1"]),
    (b"2\tobj", b"4\tobj", ["a.conllu:11", "HEAD is '4', not _ or 0 to 3"]),
    *((b"2\tobj", b"%b\tobj" % each, [f"HEAD is '{each.decode()}'"]) for each in (b"-1", b"", b"300", b"1234567890")),
    (b"2\tobj", b"9" * 5000 + b"\tobj", ["HEAD is '99999999999999999999', not"]),
    (b"s1", b"\xff", ["a.conllu:1", "not UTF-8"]),
    (SENTENCE, b"# a\n\n1\ta\n", ["a.conllu:1", "comments without a sentence"]),
    (SENTENCE, b"\n1-2\ta\t_\t_\t_\t_\t_\t_\t_\t_\n\n", ["a.conllu:2", "no words"]),
    (SENTENCE, b'{"heads": [0]}\n', ["a.conllu:1", "a line of JSON where CoNLL-U should be"]),
    (SENTENCE, b"PK\x03\x04\0\0\n", ["a.conllu: not CoNLL-U, which is text in UTF-8"]),
    (SENTENCE, SENTENCE.decode().encode("utf-16"), ["a.conllu: not CoNLL-U"]),
]


@pytest.mark.parametrize(("old", "new", "parts"), NO_SENTENCES, ids=[str(parts[-1]) for *_, parts in NO_SENTENCES])
@pytest.mark.quick
def test_what_is_not_a_sentence(old: bytes, new: bytes, parts: list[str], says) -> None:
    with says(*parts):
        blocks(SENTENCE.replace(old, new))


def test_what_is_no_text_is_noticed_when_it_is_asked_for(says) -> None:
    only = block(SENTENCE.replace(b"obj", b"\xff"))
    assert b"\t\xff\t" in with_tree(only, [2, 0, 2])
    with says("a.conllu:1", "not UTF-8"):
        _ = only.deprels
    with says("a.conllu:1: a form is not UTF-8"):
        surface_tokens(block(SENTENCE.replace(b"Vyel\t", b"\xff\t")))


def of_ids(ids: str) -> Block:
    return block("# text = x\n" + "".join(word(each, f"f{each}", "_", "_") for each in ids.split()) + "\n")


@pytest.mark.parametrize(
    ("ids", "expected"),
    [
        ("1 2", [("1", 1, 1), ("2", 2, 2)]),
        ("1-2 1 2 3", [("1-2", 1, 2), ("3", 3, 3)]),
        ("1 2-4 2 3 4", [("1", 1, 1), ("2-4", 2, 4)]),
        ("0.1 1 1.1 2-3 2 2.1 3 3.1", [("1", 1, 1), ("2-3", 2, 3)]),
        ("1-2 1 2 3-4 3 4", [("1-2", 1, 2), ("3-4", 3, 4)]),
        ("1-1 1", [("1-1", 1, 1)]),
    ],
)
@pytest.mark.quick
def test_every_word_is_in_one_token(ids: str, expected: list[tuple[str, int, int]]) -> None:
    found = surface_tokens(of_ids(ids))
    assert [(token.id, token.first, token.last) for token in found] == expected
    assert [token.form for token in found] == [f"f{name}" for name, *_ in expected]


OUT, OVER, MISPLACED = "word-interval-out", "overlapping-word-intervals", "misplaced-word-interval"


@pytest.mark.parametrize(
    ("ids", "wrong", "what"),
    [
        ("1-999999999 1 2 3", [OUT], "1-999999999 ends beyond the 3 words"),
        ("1 2 3 4-5", [OUT], "4-5 ends beyond the 3 words"),
        ("1-2 1 2-3 2 3", [OVER], "2-3 overlaps another"),
        ("1-3 1 2-3 2 3-4 3 4", [OVER, OVER], "2-3 overlaps another"),
        ("1 2 1-2 3", [MISPLACED], "1-2 is not in front of its first word"),
        ("2-3 1 2 3", [MISPLACED], "2-3 is not in front of its first word"),
        ("1-9 1 2 2-9 3-3 3", [OUT, MISPLACED], "1-9 ends beyond the 3 words"),
    ],
)
@pytest.mark.quick
def test_nobody_who_looks_at_tokens_passes_over_a_wrong_one(ids: str, wrong: list[str], what: str, says) -> None:
    sentence = of_ids(ids)
    assert [rule for rule, *_ in module.wrong_tokens(sentence)] == wrong
    for regions in (surface_tokens, between_spaces):
        with says(f"a.conllu:1: the multiword token {what}. Correct the ids"):
            regions(sentence)
    assert len(REGIONS["words"](sentence)) == sentence.n


def test_wrong_multiword_tokens_are_those_of_the_validator() -> None:
    """It looks for overlaps where all else is right, and takes a range too far in front for right: none is here."""
    udtools = pytest.importorskip("udtools", reason="udtools is not installed")
    validator, rng, found = udtools.Validator(lang="ud", level=1, output=None), Random(20261201), Counter[str]()
    for _ in range(600):
        ids = [str(number) for number in range(1, rng.randint(2, 6))]
        for _ in range(rng.randint(1, 3)):
            at = rng.randint(0, len(ids))
            first = rng.randint(1, sum(map(str.isdigit, ids[:at])) + 1)
            ids.insert(at, f"{first}-{first + rng.randint(0, 2)}")
        sentence = of_ids(" ".join(ids))
        state = validator.validate_file_handle(io.StringIO(sentence.raw.decode()))
        theirs, ours = (
            Counter(each.testid for each in state.error_tracker),
            Counter(r for r, *_ in module.wrong_tokens(sentence)),
        )
        if ours.keys() - {OVER}:
            del ours[OVER]
        assert ours == theirs, ids
        found += ours
    assert min(found[rule] for rule in (OUT, OVER, MISPLACED)) > 20


def spaced(rows: str, text: str | None = None) -> Block:
    """A sentence of words, `id form` or `id form MISC`, where `+` is SpaceAfter=No, and a text."""
    lines = [] if text is None else [f"# text = {text}"]
    for number, form, misc in (f"{row} _".split(" ")[:3] for row in rows.split(" / ")):
        lines.append("\t".join([number, form.replace("~", " "), *"_" * 7, misc.replace("+", "SpaceAfter=No")]))
    return block("\n".join([*lines, "", ""]))


@pytest.mark.parametrize(
    ("rows", "text", "expected"),
    [
        # Punctuation in front and behind; the last word's entry does not reach the next sentence.
        ("1 « + / 2 Oui + / 3 » + / 4 . +", "«Oui».", [("1-4", "«Oui».", 1, 4)]),
        # The line of a multiword token counts, those of its words do not.
        ("1-2 don't + / 1 do / 2 n't / 3 , / 4 no", "don't, no", [("1-3", "don't,", 1, 3), ("4", "no", 4, 4)]),
        ("1-2 del / 1 de + / 2 el + / 3 mar", "del mar", [("1-2", "del", 1, 2), ("3", "mar", 3, 3)]),
        # Two multiword tokens in one region.
        ("1-2 ab + / 1 a / 2 b / 3-4 cd / 3 c / 4 d", "abcd", [("1-4", "abcd", 1, 4)]),
        # An empty node divides nothing; other entries stand beside it, and one that only looks like it is none.
        ("1 a X=1|+ / 1.1 z + / 2 b No+ / 3 c", "ab c", [("1-2", "ab", 1, 2), ("3", "c", 3, 3)]),
        # A word with a space within, and other spaces in the text.
        ("1 10~000 + / 2 % / 3 x", " 10\u00a0000%  x ", [("1-2", "10 000%", 1, 2), ("3", "x", 3, 3)]),
    ],
)
@pytest.mark.quick
def test_what_stands_between_spaces(rows, text, expected) -> None:
    """Of every kind of regions each word is in one."""
    for sentence in (spaced(rows), spaced(rows, text)):
        assert [tuple(region) for region in between_spaces(sentence)] == expected
    for regions in REGIONS.values():
        found = regions(sentence)
        numbers = [number for region in found for number in range(region.first, region.last + 1)]
        assert numbers == [*range(1, sentence.n + 1)]
        assert all(region.id == "-".join(map(str, sorted({region.first, region.last}))) for region in found)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("sea, no", "'sea' but 'sea,' in # text"),
        ("sea ,no", "',' but ',no' in # text"),
        ("sea ,", "'no' but nothing in # text"),
        ("sea , no !", "nothing but '!' in # text"),
    ],
)
@pytest.mark.quick
def test_a_text_with_other_spaces(text: str, shown: str, says) -> None:
    with says("a.conllu:1: SpaceAfter and # text disagree: by SpaceAfter", shown):
        between_spaces(spaced("1 sea / 2 , / 3 no +", text))
