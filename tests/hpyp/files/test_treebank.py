"""Treebanks as the generative parser reads them, against the columns of their blocks."""

from __future__ import annotations

import gzip
import io
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from deptree_cli.core.errors import DeptreeError
from deptree_cli.hpyp.files.treebank import Tagset as Tags
from deptree_cli.hpyp.files.treebank import annotated, read_treebank
from deptree_cli.hpyp.model.sentences import Annotated
from deptree_cli.io.conllu.blocks import Block
from tests.sample import DATA
from tests.tree_files import read_blocks

Scratch = Callable[[str, bytes], str]

# A multiword token, an empty node, a label with a subtype, open columns.
BLOCK = b"""\
# sent_id = x-1
1-2\tdon't\t_\t_\t_\t_\t_\t_\t_\t_
1\tdo\tdo\tAUX\tVB\t_\t3\taux\t_\t_
2\tn't\tnot\tPART\tRB\t_\t3\tadvmod:neg\t_\t_
2.1\tyou\tyou\tPRON\tPRP\t_\t_\t_\t3:nsubj\t_
3\tgo\tgo\tVERB\t_\t_\t0\troot\t_\t_

"""
OPEN = b"1\tgo\t_\t_\t_\t_\t_\t_\t_\t_\n\n"


def read(*paths: str, tags: Tags = "upos") -> list[Annotated]:
    """The sentences, none of which is malformed."""
    return list(read_treebank(paths, tags))


def test_words_with_integer_ids(scratch: Scratch) -> None:
    path = scratch("a.conllu", BLOCK)
    (found,) = read(path)
    assert (found.sent_id, found.place, found.n) == ("x-1", "a.conllu:1", 3)
    assert found.forms == ("do", "n't", "go")
    assert found.tags == ("AUX", "PART", "VERB")
    assert (found.heads.tolist(), found.heads.dtype) == ([3, 3, 0], np.int32)
    assert found.deprels == ("aux", "advmod:neg", "root")
    assert read(path, tags="xpos")[0].tags == ("VB", "RB", "_")


def test_what_is_unknown(scratch: Scratch) -> None:
    (found,) = read(scratch("a.conllu", OPEN))
    assert (found.tags, found.heads.tolist(), found.deprels) == (("_",), [-1], ("_",))


def test_windows_lines(scratch: Scratch) -> None:
    (found,) = read(scratch("a.conllu", BLOCK.replace(b"\n", b"\r\n")))
    assert (found.forms, found.deprels[-1]) == (("do", "n't", "go"), "root")


def test_names_go_on_from_file_to_file(scratch: Scratch, monkeypatch: pytest.MonkeyPatch) -> None:
    """A sentence without a name has its running number over all files, gzipped or standard input."""
    first = scratch("a.conllu", OPEN + BLOCK)
    second = scratch("b.conllu.gz", gzip.compress(OPEN))
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(OPEN)))
    assert [sentence.sent_id for sentence in read(first, second, "-")] == ["1", "x-1", "3", "4"]


def test_malformed_blocks_are_handed_on(scratch: Scratch) -> None:
    path = scratch("a.conllu", BLOCK + OPEN.replace(b"go", b"\xff") + b"1\tgo\n\n" + OPEN)
    errors = list[DeptreeError]()
    assert [each.sent_id for each in read_treebank([path], "upos", errors.append)] == ["x-1", "4"]
    second, third = map(str, errors)
    assert "a.conllu:8 (2): a form, a tag or a label is not UTF-8." in second
    assert "a.conllu:10: 2 columns" in third


def test_other_columns_need_not_be_utf_8(scratch: Scratch) -> None:
    (found,) = read(scratch("a.conllu", OPEN.replace(b"_\n", b"\xff\n")))
    assert found.forms == ("go",)


def test_files_that_cannot_be_read(scratch: Scratch, says: Callable[..., object]) -> None:
    with says("none.conllu", "no such file"):
        read("none.conllu")
    with says("empty.conllu", "the file is empty"):
        read(scratch("empty.conllu", b"\n"))


def check(block: Block, tags: Tags) -> None:
    """The same as the block's own columns say."""
    found = annotated(block, "s", tags)
    assert list(found.forms) == block.column("form")
    assert list(found.tags) == block.column(tags)
    assert list(found.deprels) == block.deprels
    assert [None if head < 0 else head for head in found.heads.tolist()] == block.heads


@pytest.mark.parametrize("tags", ["upos", "xpos"])
@pytest.mark.parametrize("name", ["gold", "sentences", "treebank", "raw"])
def test_columns_of_the_sample_data(name: str, tags: Tags) -> None:
    with (DATA / f"{name}.conllu").open("rb") as stream:
        for block in read_blocks(stream, name):
            check(block, tags)


@pytest.mark.slow("size")
def test_a_treebank(shared: Path) -> None:
    """UD_English-EWT: every sentence has a tree with one root."""
    found = read(str(shared / "ewt/train.conllu.gz"))
    assert len(found) == 12_544
    for sentence in found:
        sentence.check_tree()
