"""CoNLL-U Plus: columns by their names, each sentence with the line that names them, everything else byte for byte."""

from __future__ import annotations

import io
import pickle
from itertools import product

import numpy as np
import pytest

from deptree_cli.io.conllu.blocks import Block, split_chunks, surface_tokens, tokens_of
from deptree_cli.io.conllu.columns import BOM
from deptree_cli.io.conllu.splicing import Deprels, with_trees
from deptree_cli.io.encoders.base import CONLLU, Page
from deptree_cli.io.files.streams import open_input
from deptree_cli.io.parsers import read_sentences
from deptree_cli.io.read import sentence_of
from deptree_cli.io.scores.records import SentenceAsRead
from tests.tree_files import read_blocks

HEADER = b"# global.columns = ID MISC FORM X:Y HEAD DEPREL DEPS UPOS\n"
FIRST = b"""\
# sent_id = s1
1-2\tA=1\tVyel\t*\t_\t_\t_\t_
1\t_\tVy\t1:x|y\t2\tnsubj\t2:nsubj\tPRON
1.1\t_\tzero\t*\t_\t_\t0:root\t_
2\tHeadProb=0.5|B=2\tel\t*\t0\troot\t0:root\tVERB

"""
SECOND = b"# sent_id = s2\n1\t_\ta\t=1\t0\troot\t_\tX\n\n"
SHORT = b"# global.columns = ID FORM UPOS HEAD DEPREL\n1\ta\tX\t2\tdep\n2\tb\tY\t0\troot\n"
TEN = b"# global.columns = ID FORM LEMMA UPOS XPOS FEATS HEAD DEPREL DEPS MISC\n"
ROW = b"1\ta\t_\t_\t_\t_\t0\troot\t_\t_\n"


def blocks(data: bytes) -> list[Block]:
    return list(read_blocks(io.BytesIO(data), "a.conllup"))


def with_tree(block: Block, *heads: int, **options: object):
    return with_trees(block, np.array([heads], dtype=np.int32), ["s"], **options)


@pytest.fixture
def file_of(tmp_path):
    def written(pieces, name="out.conllup", signature=""):
        with CONLLU.open(str(tmp_path / name), Page(signature, header=bool(signature))) as write:
            for piece in pieces:
                write(piece)
        return (tmp_path / name).read_bytes()

    return written


def test_columns_are_found_by_their_names() -> None:
    first, second = blocks(HEADER + FIRST + SECOND)
    assert first.columns == ("id", "misc", "form", "x:y", "head", "deprel", "deps", "upos")
    assert (first.sent_id, first.n, first.empty_nodes) == ("s1", 2, 1)
    assert (first.heads, first.deprels, first.labels) == ([2, 0], ["nsubj", "root"], ["nsubj", "root"])
    for name, values in {"form": ["Vy", "el"], "upos": ["PRON", "VERB"], "x:y": ["1:x|y", "*"]}.items():
        assert first.column(name) == values
    assert first.column("feats") == first.column("lemma") == ["_", "_"]
    assert [token.form for token in surface_tokens(first)] == ["Vyel"]
    assert (second.sent_id, second.columns, second.heads) == ("s2", first.columns, [0])
    assert (first.place, second.place) == ("a.conllup:2", "a.conllup:8")
    assert blocks(HEADER) == blocks(HEADER + b"\n\n") == []
    assert list(split_chunks(io.BytesIO(HEADER + b"# x\n"))) != []


EVERY_END = [*product([b"\n", b"\r\n"], [b"", BOM], [b"", b"\n", b"\n\n", b"\n\n\n"], [b"", b"\n", b"\n\n"])]


@pytest.mark.parametrize(("newline", "mark", "end", "gap"), EVERY_END)
@pytest.mark.quick
def test_files_are_written_back_as_they_were(file_of, newline, mark, end, gap) -> None:
    """Also with an empty line behind the first, and through other processes."""
    data = mark + (HEADER + gap + FIRST + SECOND.strip() + end).replace(b"\n", newline)
    read = blocks(data)
    assert [each.n for each in read] == [2, 1]
    assert file_of([each.raw for each in read]) == data
    fresh = [pickle.loads(pickle.dumps(each)).fresh().with_notes({}) for each in read]
    assert file_of(fresh) == data.replace(b"HeadProb=0.5|B=2", b"B=2")
    trees = [with_trees(each, np.array([each.heads], dtype=np.int32), [each.sent_id]).data for each in read]
    assert file_of(trees) == data


def test_parsers_are_given_words_and_sentences_as_they_are(scratch) -> None:
    with open_input(scratch("x.conllup", HEADER + FIRST + SECOND)) as file:
        first, second = read_sentences(file, "conllu", None)
    assert [(word.form, word.upos, word.lemma) for word in first.words] == [("Vy", "PRON", "_"), ("el", "VERB", "_")]
    assert first.conllu + second.conllu == HEADER + FIRST + HEADER + SECOND


def test_trees_are_written_into_the_columns() -> None:
    (first,) = blocks(HEADER + FIRST)
    trees = np.array([[0, 1], [2, 0]], dtype=np.int32)
    labels = Deprels(("a", "b"), np.array([[0, 1], [1, -1]], dtype=np.int32))
    found = with_trees(first, trees, ["x", "y"], {"k": ["1", "2"]}, deprels=labels, deps="basic", entries=["E=1"] * 4)
    rows = b"1-2\tA=1\tVyel\t*\t_\t_\t_\t_\n1\tE=1\tVy\t1:x|y\t%b\tPRON\n2\tHeadProb=0.5|B=2|E=1\tel\t*\t%b\tVERB\n\n"
    one, two = rows % (b"0\ta\t0:a", b"1\tb\t1:b"), rows % (b"2\tb\t2:b", b"0\troot\t0:root")
    assert found.data == HEADER + b"# sent_id = x\n# k = 1\n" + one + b"# sent_id = y\n# k = 2\n" + two
    assert (found.left_out, found.empty_nodes, found.own_labels) == ((), 0, 0)
    (only,) = blocks(SHORT)
    changed = SHORT.replace(
        b"\n1\ta\tX\t2\tdep\n2\tb\tY\t0\troot", b"\n# sent_id = s\n1\ta\tX\t0\troot\n2\tb\tY\t1\tdep"
    )
    assert with_tree(only, 0, 1).data == changed


def test_what_has_no_column(says) -> None:
    (only,) = blocks(SHORT)
    assert only.column("misc") == only.column("deps") == ["_", "_"]
    found = with_tree(only, 2, 0, deps="basic", entries=["HeadProb=1|LabelProb=1"] * 2)
    assert found.left_out == ("arcs (DEPS)", "HeadProb (MISC)", "LabelProb (MISC)")
    assert only.fresh().with_notes({}) == only.with_column("xpos", "__").raw == SHORT
    with says("a.conllup:2: there is no column MISC for A, B", "names ID FORM UPOS HEAD DEPREL"):
        only.fresh().with_notes({1: "A=1|B=2"})
    with says("a.conllup:2: there is no column XPOS", "names ID FORM UPOS HEAD DEPREL"):
        only.with_column("xpos", "xy")
    (bare,) = blocks(b"# global.columns = ID X:Y\n1\t*\n2\t*\n")
    assert (bare.heads, bare.deprels, bare.column("form")) == ([None, None], ["_", "_"], ["_", "_"])
    for act in (lambda: with_tree(bare, 2, 0), lambda: SentenceAsRead(sentence_of(bare, 1)).apply([0, 1])):
        with says("there is no column HEAD for trees"):
            act()
    (unlabelled,) = blocks(b"# global.columns = ID FORM HEAD DEPS\n1\ta\t2\t2:x\n2\tb\t0\t0:root\n")
    found = with_tree(unlabelled, 2, 0, deprels=Deprels(("x",), np.array([[0, 0]], dtype=np.int32)))
    assert found.data.endswith(b"# sent_id = s\n1\ta\t2\t2:x\n2\tb\t0\t0:root\n")
    assert found.left_out == ("labels (DEPREL)",)
    assert (with_tree(unlabelled, 2, 0).is_reduced, with_tree(unlabelled, 0, 1).is_reduced) == (False, True)


def test_columns_are_those_of_the_file(file_of, tmp_path, says) -> None:
    """A later file may name the same ones again; others, or ten without a name, are an error."""
    first, second = (each.raw for each in blocks(HEADER + FIRST + HEADER + SECOND))
    assert file_of([first, second]) == HEADER + FIRST + SECOND
    named, ten = TEN + ROW + b"\n", ROW + b"\n"
    assert file_of([named, ten], "ten.conllu") == named + ten
    assert file_of([ten, named], "ten.cupt") == ten * 2
    for pieces in ([first, ten], [ten, first]):
        with says("Give files of the same columns together"):
            file_of(pieces, "both.cupt")
    assert not (tmp_path / "both.cupt").exists()


def test_names_of_files_promise_columns(file_of, says) -> None:
    assert file_of([SHORT], "x.cupt") == file_of([SHORT], "x.conll") == file_of([SHORT], "x.conllx") == SHORT
    with says(".conllu is the suffix of CoNLL-U, but the columns are ID FORM UPOS"):
        file_of([SHORT], "x.conllu")
    row, header = ROW.replace(b"\n", b"\r\n"), TEN.replace(b"\n", b"\r\n")
    assert file_of([BOM + row], "x.conllup", "how") == BOM + header + b"# generator = how\r\n" + row


REPAIR = "columns where a word has 10, separated by tabs. Repair the line"


@pytest.mark.parametrize(
    ("data", "parts"),
    [
        (b"# global.columns = FORM ID\n1\ta\n", ["names FORM ID: ID and another column must come first"]),
        (b"# global.columns = ID\n1\ta\n", ["names ID: ID and"]),
        (b"# global.columns = \n1\ta\n", ["names nothing"]),
        (b"# global.columns = ID FORM X:Y form\n1\ta\n", ["names FORM twice"]),
        (b"# newdoc\n" + HEADER + SECOND, ["a.conllup:2: # global.columns is not the first line. Put it there."]),
        (b"\n" + HEADER + SECOND, ["a.conllup:2: "]),
        (HEADER + FIRST + SECOND.replace(b"\t0\t", b"\t7\t"), ["a.conllup:9: HEAD is '7'"]),
        (HEADER + FIRST.replace(b"\t2\t", b"\tx\t"), ["a.conllup:4: HEAD is 'x'"]),
        (
            HEADER + SECOND.replace(b"\tX\n", b"\n"),
            ["a.conllup:3: 7 columns where # global.columns names 8: ID MISC FORM X:Y HEAD DEPREL DEPS UPOS."],
        ),
        # Columns that nobody named; but behind good rows they are a slip.
        *(
            (ROW[:-3] + more, [REPAIR, "or name other columns in a first line # global.columns = ID FORM ..."])
            for more in (b"\tSpaceAfter=No\t*\n", b"\t_\t*\n", b"\t_\t*\t_\t_\n")
        ),
        (ROW + b"2\tShe\tshe\tPRP\tPRP\t_\t2\tSBJ\n", [f"{REPAIR}; an empty line ends a sentence."]),
    ],
)
@pytest.mark.quick
def test_columns_that_cannot_be(data: bytes, parts: list[str], says) -> None:
    with says(*parts):
        blocks(data)


def test_tokens_have_the_columns_of_the_file() -> None:
    first, second = blocks(HEADER.replace(b" = ", b"=") + FIRST + SECOND)
    tokens = tokens_of(second)
    assert (tokens[0]["form"], tokens[0]["x:y"], tokens[0]["head"]) == ("a", "=1", 0)
    assert tokens.serialize() == (HEADER + SECOND).decode()
    moved = SentenceAsRead(sentence_of(first, 1)).apply([0, 1])[1:]
    assert [(token["head"], token["deprel"], token["deps"]) for token in moved] == [(0, "root", None), (1, "dep", None)]
    (only,) = blocks(SHORT)
    expected = SHORT.decode().replace("2\tdep", "0\troot").replace("Y\t0\troot", "Y\t1\tdep") + "\n"
    assert SentenceAsRead(sentence_of(only, 1)).apply([0, 1]).serialize() == expected
