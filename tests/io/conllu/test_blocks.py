"""CoNLL-U: nothing is lost, trees are spliced in, and what is not a sentence is named."""

from __future__ import annotations

import gzip
import io
import pickle
from pathlib import Path

import conllu
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deptree_cli.core.errors import DeptreeError
from deptree_cli.io.conllu.blocks import NO_WORD, Block, read_blocks_or_errors, split_chunks
from deptree_cli.io.conllu.columns import BOM
from deptree_cli.io.conllu.splicing import Deprels, with_trees
from tests.sample import DATA
from tests.tree_files import read_blocks

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


def blocks(data: bytes) -> list[Block]:
    return list(read_blocks(io.BytesIO(data), "a.conllu"))


def block(data: bytes = SENTENCE) -> Block:
    (only,) = blocks(data)
    return only


def with_tree(each: Block, heads: list[int], sent_id: str = "", **comments: str) -> bytes:
    """One tree, under the sentence's own name unless another is given."""
    notes = {key: [value] for key, value in comments.items()}
    return with_trees(each, np.array([heads], dtype=np.int32), [sent_id or each.sent_id], notes).data


def test_what_a_block_knows() -> None:
    first, second = blocks(b"\n\n" + SENTENCE + b"1\ta\t_\t_\t_\t_\t_\t_\t_\t_\n")
    assert (first.sent_id, first.n, first.line, first.place) == ("s1", 3, 3, "a.conllu:3")
    assert first.heads == [2, 0, 2]
    assert first.deprels == ["nsubj", "root", "obj"]
    assert first.comment("note") == "1"
    assert first.comment("not") is None
    assert (second.sent_id, second.n, second.line, second.heads) == ("", 1, 15, [None])


def test_the_tree_is_all_that_changes() -> None:
    assert with_tree(block(), [2, 0, 1]) == (
        SENTENCE.replace(b"2:nsubj", b"_").replace(b"0:root\tB", b"_\tB").replace(b"2\tobj", b"1\tdep")
    ).replace(b"1.1\tzero\t_\t_\t_\t_\t_\t_\t0:root\tCopyOf=1\n", b"")


def test_deps_as_the_tree_or_as_they_were() -> None:
    tree = np.array([[2, 0, 1]], dtype=np.int32)
    basic = with_trees(block(), tree, ["s1"], deps="basic").data
    expected = SENTENCE.replace(b"2\tobj\t_", b"1\tdep\t1:dep")
    assert basic == expected.replace(b"1.1\tzero\t_\t_\t_\t_\t_\t_\t0:root\tCopyOf=1\n", b"")
    kept = with_trees(block(), tree, ["s1"], deps="keep").data
    assert kept == SENTENCE.replace(b"2\tobj", b"1\tdep")


def test_labels() -> None:
    trees = np.array([[2, 0, 1], [0, 1, 2]], dtype=np.int32)
    labels = Deprels(("a", "root", "sub:č"), np.array([[0, 1, 2], [1, -1, 0]], dtype=np.int32))
    both = with_trees(block(), trees, ["x", "y"], deprels=labels, deps="basic").data
    assert arcs(both) == [
        (b"2", b"a"),
        (b"0", b"root"),
        (b"1", b"sub:\xc4\x8d"),
        (b"0", b"root"),
        (b"1", b"dep"),
        (b"2", b"a"),
    ]
    assert b"\t1\tsub:\xc4\x8d\t1:sub:\xc4\x8d\tHeadProb" in both


def arcs(data: bytes) -> list[tuple[bytes, bytes]]:
    rows = [line.split(b"\t") for line in data.splitlines() if b"\t" in line]
    return [(row[6], row[7]) for row in rows if row[0].isdigit()]


def test_root_stands_exactly_where_head_is_0() -> None:
    assert arcs(with_tree(block(), [0, 1, 2])) == [(b"0", b"root"), (b"1", b"dep"), (b"2", b"obj")]
    unlabelled = b"1\ta\t_\t_\t_\t_\t2\troot\t_\t_\n2\tb\t_\t_\t_\t_\t0\tnsubj\t_\t_\n3\tc\t_\t_\t_\t_\t1\t_\t_\t_\n\n"
    assert arcs(with_tree(block(unlabelled), [2, 0, 1])) == [(b"2", b"dep"), (b"0", b"root"), (b"1", b"dep")]
    blind = b"1\ta\t_\t_\t_\t_\t_\tnsubj\t_\t_\n\n"
    assert arcs(with_tree(block(blind), [0])) == [(b"0", b"root")]


def test_names_and_comments() -> None:
    lines = with_tree(block(), [2, 0, 2], "s1/sample_1", tree_logprob="-1", x="2").splitlines()
    assert lines[:2] == [b"# newdoc", b"# sent_id = s1/sample_1"]
    assert lines[4:8] == [b"# note = 1", b"# note = 2", b"# tree_logprob = -1", b"# x = 2"]
    assert lines[8].startswith(b"1-2")
    nameless = b"# text = a\n1\ta\t_\t_\t_\t_\t_\t_\t_\t_\n\n"
    assert with_tree(block(nameless), [0], "7").splitlines()[:2] == [b"# sent_id = 7", b"# text = a"]
    odd = block(b"#sent_id=\xc4\x8d 1  \r\n1\ta\t_\t_\t_\t_\t_\t_\t_\t_\r\n\r\n")
    assert odd.sent_id == "č 1"
    assert with_tree(odd, [0], "š").startswith(b"#sent_id=\xc5\xa1  \r\n1\ta")


def test_copies_repeat_neither_bom_nor_end() -> None:
    data = BOM + b"\r\n# a\r\n1\ta\t_\t_\t_\t_\t_\t_\t_\t_"
    only = block(data)
    both = with_trees(only, np.zeros((2, 1), dtype=np.int32), ["x/1", "y/23"], {"c": ["1", "2"], "e": ["", "3"]}).data
    tree = b"1\ta\t_\t_\t_\t_\t0\troot\t_\t_"
    first = BOM + b"\r\n# sent_id = x/1\r\n# a\r\n# c = 1\r\n" + tree + b"\r\n\r\n"
    assert both == first + b"# sent_id = y/23\r\n# a\r\n# c = 2\r\n# e = 3\r\n" + tree
    assert only.raw == data


def test_a_copy_ends_with_one_empty_line_the_last_as_it_was() -> None:
    spaced = block(SENTENCE + b"\n \n")
    both = with_trees(spaced, np.array([[0, 1, 2], [0, 1, 2]], dtype=np.int32), ["s", "s"]).data
    assert both.count(b"Z=1\n\n#") == 1
    assert both.endswith(b"Z=1\n\n\n \n")


def test_misc() -> None:
    written = block().fresh().with_notes({1: "HeadProb=0.9", 2: "HeadProb=0.8", 3: "HeadProb=0.7"}, ["# e = 1"])
    expected = SENTENCE.replace(b"2:nsubj\t_", b"2:nsubj\tHeadProb=0.9").replace(b"x=y", b"x=y|HeadProb=0.8")
    expected = expected.replace(b"HeadProb=0.1|Z=1", b"Z=1|HeadProb=0.7").replace(
        b"# note = 2\n", b"# note = 2\n# e = 1\n"
    )
    assert written == expected
    assert block().fresh().with_notes({}) == SENTENCE.replace(b"HeadProb=0.1|", b"")


def test_the_conllu_library_reads_what_is_written() -> None:
    (sentence,) = conllu.parse(with_tree(block(), [0, 1, 2], "s1/sample_4").decode())
    assert sentence.metadata["sent_id"] == "s1/sample_4"
    assert [token["head"] for token in sentence if isinstance(token["id"], int)] == [0, 1, 2]


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
        pieces += [WORD % word + draw(TEXT) + draw(newline) for word in range(1, draw(st.integers(2, 4)))]
        pieces += [draw(st.sampled_from([b"\n", b"\r\n"])), *draw(empty)]
    return b"".join(pieces)[: draw(st.sampled_from([None, -1]))]


@given(files())
def test_a_file_is_written_back_as_it_was(data: bytes) -> None:
    read = blocks(data)
    assert b"".join(each.raw for each in read) == data
    assert b"".join(each.fresh().with_notes({}) for each in read) == data
    filled = b"".join(with_tree(each, [0] * each.n) for each in read)
    assert filled.replace(b"\t0\troot\t_\t", b"\t_\t_\t_\t") == data


def test_any_heads_are_read_as_they_are_if_asked_for() -> None:
    """Also by other processes, and by the block that a change of columns makes."""
    row = b"%d\ta\t_\tX\t_\t_\t%b\tdep\t_\t_\n"
    written = [b"9", b"2", b"x", b"", b"-1", b"7.1", b"_", b"1234567890", b"0"]
    data = b"".join(row % each for each in enumerate(written, 1)) + b"\n"
    (read,) = read_blocks_or_errors(io.BytesIO(data.replace(b"\t9\t", b"\t10\t")), "x", any_heads=True)
    assert isinstance(read, Block)
    expected = [10, 2, *[NO_WORD] * 4, None, NO_WORD, 0]
    for each in (read, pickle.loads(pickle.dumps(read)), read.with_column("upos", ["Y"] * 9), read.noting({1: "A=1"})):
        assert each.heads == expected
        assert each.column("head") == ["10", *(text.decode() for text in written[1:])]
        assert each.column("form") == ["a"] * 9
    (refused,) = read_blocks_or_errors(io.BytesIO(data), "x")
    assert isinstance(refused, DeptreeError)
    other = data.replace(b"2\ta\t", b"2\t\t")
    (refused,) = read_blocks_or_errors(io.BytesIO(other), "x", any_heads=True)
    assert "FORM" in str(refused)


@pytest.mark.slow("size")
@pytest.mark.parametrize("name", ["dev", "train"])
def test_a_treebank_is_written_back_as_it_was(name: str, shared: Path) -> None:
    is_written_back_as_it_was(gzip.decompress((shared / "ewt" / f"{name}.conllu.gz").read_bytes()))


@pytest.mark.parametrize("ends", [b"\n", b"\r\n"])
def test_the_sample_sentences_are_written_back_as_they_were(ends: bytes) -> None:
    data = (DATA / "gold.conllu").read_bytes()
    assert len(blocks(data)) == 8
    is_written_back_as_it_was(data.replace(b"\n", ends))
    still_open = (DATA / "sentences.conllu").read_bytes()
    assert b"".join(each.raw for each in blocks(still_open)) == still_open
    assert {head for each in blocks(still_open) for head in each.heads} == {None}


def is_written_back_as_it_was(data: bytes) -> None:
    read = blocks(data)
    assert b"".join(each.raw for each in read) == data
    assert b"".join(each.fresh().with_notes({}) for each in read) == data
    spliced = (with_trees(each, np.array([each.heads], dtype=np.int32), [each.sent_id]) for each in read)
    assert b"".join(each.data for each in spliced) == data


@given(files(), st.data())
def test_the_pieces_in_which_a_file_comes_do_not_matter(data: bytes, draws: st.DataObject) -> None:
    class InPieces(io.BytesIO):
        def read1(self, size: int | None = -1) -> bytes:
            return super().read1(draws.draw(st.integers(1, 9)))

    assert list(split_chunks(InPieces(data))) == list(split_chunks(io.BytesIO(data)))


BAD_HEADS = (b"-1", b"", b"300", b"1234567890")


@pytest.mark.parametrize(
    ("data", "parts"),
    [
        (b"# a\n\n1\ta\n", ["a.conllu:1", "comments without a sentence"]),
        (b"\n1-2\ta\t_\t_\t_\t_\t_\t_\t_\t_\n\n", ["a.conllu:2", "no words"]),
        (b'{"heads": [0]}\n', ["a.conllu:1", "a line of JSON where CoNLL-U should be"]),
        (SENTENCE.replace(b"3\tse\tse", b"3 se se"), ["a.conllu:11", "8 columns where a word has 10", "tabs"]),
        (SENTENCE.replace(b"3\tse\t", b"3\tse\t\t"), ["a.conllu:11", "11 columns"]),
        (SENTENCE.replace(b"2\tel", b"# c\n2\tel"), ["a.conllu:10", "1 column where"]),
        (SENTENCE.replace(b"3\tse", b"4\tse"), ["a.conllu:11", "the word id is '4' where 3 is due"]),
        (SENTENCE.replace(b"3\tse\t", b"3\t\t"), ["a.conllu:11", "the FORM of '3' is empty. Write it, or _ where"]),
        (SENTENCE.replace(b"\tzero\t", b"\t\t"), ["the FORM of '1.1' is empty"]),
        (SENTENCE.replace(b"1-2", b"2-1"), ["a.conllu:7", "the range '2-1' ends before it begins"]),
        (SENTENCE.replace(b"1-2", b"10-9"), ["the range '10-9' ends before it begins"]),
        (SENTENCE.replace(b"1-2", b"1-9999999999"), ["the word id is '1-9999999999' where 1 is due"]),
        (SENTENCE.replace(b"1-2", b"1-02"), ["the word id is '1-02' where 1 is due"]),
        (SENTENCE.replace(b"1-2", b"1-"), ["'1-' where 1"]),
        (SENTENCE.replace(b"3\tse", b"03\tse"), ["'03' where 3"]),
        (SENTENCE.replace(b"1-2", b"x-2"), ["a.conllu:7", "'x-2' where 1"]),
        (SENTENCE.replace(b"2\tobj", b"4\tobj"), ["a.conllu:11", "HEAD is '4', not _ or 0 to 3"]),
        *((SENTENCE.replace(b"2\tobj", each + b"\tobj"), [f"HEAD is '{each.decode()}'"]) for each in BAD_HEADS),
        (SENTENCE.replace(b"2\tobj", b"9" * 5000 + b"\tobj"), ["HEAD is '99999999999999999999', not"]),
        (SENTENCE.replace(b"s1", b"\xff"), ["a.conllu:1", "not UTF-8"]),
        (b"PK\x03\x04\0\0\n", ["a.conllu: not CoNLL-U, which is text in UTF-8"]),
        (SENTENCE.decode().encode("utf-16"), ["a.conllu: not CoNLL-U"]),
    ],
)
def test_what_is_not_a_sentence(data: bytes, parts: list[str], says) -> None:
    with says(*parts):
        blocks(data)


def test_labels_that_are_no_text_are_noticed_when_they_are_asked_for(says) -> None:
    only = block(SENTENCE.replace(b"obj", b"\xff"))
    assert b"\t\xff\t" in with_tree(only, [2, 0, 2])
    with says("a.conllu:1", "not UTF-8"):
        _ = only.deprels


def test_an_empty_file_has_no_sentences() -> None:
    assert blocks(b"") == blocks(b"\n \n") == blocks(BOM) == []
