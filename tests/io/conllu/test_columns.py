"""Other values in a column of words, and tags that differ from tree to tree: all else stays, byte for byte."""

from __future__ import annotations

import io
import json
import re

import numpy as np
import pytest

from deptree_cli.io.conllu.blocks import Block
from deptree_cli.io.conllu.splicing import Deprels
from deptree_cli.io.conllu.trees import Style, Tags, Trees
from tests.tree_files import read_blocks

TEXT = (
    "# sent_id = a\n# free text\twith a tab\n"
    "1-2\tdon't\t_\t_\t_\t_\t_\t_\t_\tSpaceAfter=No\n"
    "1\tdo\tdo\tAUX\tVB\t_\t3\taux\t3:aux\tA=1=2\n"
    "2\tn't\tnot\tPART\tRB\t_\t3\tadvmod\t_\t_\n"
    "2.1\tx\tx\tX\tX\t_\t_\t_\t3:dep\t_\n"
    "3\tgo\tgo\tVERB\tVB\tVerbForm=Inf\t0\troot\t_\t_\n"
)


def block_of(text: str) -> Block:
    (block,) = read_blocks(io.BytesIO(text.encode()), "text")
    return block


FORMS = [TEXT + "\n", TEXT, "\ufeff" + TEXT + "\n", TEXT.replace("\n", "\r\n") + "\r\n"]


@pytest.mark.parametrize("text", FORMS)
@pytest.mark.parametrize("name", ["form", "lemma", "upos", "xpos", "feats", "deps"])
def test_the_same_values_change_nothing(text: str, name: str) -> None:
    block = block_of(text)
    assert block.with_column(name, block.column(name)).raw == block.raw


@pytest.mark.parametrize("text", FORMS)
def test_other_values_stand_there_alone(text: str) -> None:
    block = block_of(text)
    changed = block.with_column("xpos", ["A", "\u00e9", "C"])
    assert changed.column("xpos") == ["A", "\u00e9", "C"]
    assert changed.with_column("xpos", ["VB", "RB", "VB"]).raw == block.raw
    assert b"\tX\tX\t" in changed.raw  # of the empty node


TAGS = Tags("upos", ("", "<s>", "A", "B", "C"), np.array([[2, 3, 4], [3, 3, 2]], dtype=np.int32))
HEADS = np.array([[3, 3, 0], [0, 1, 1]], dtype=np.int32)
DEPRELS = Deprels(("root", "x"), np.array([[1, 1, 0], [0, 1, 1]], dtype=np.int32))


@pytest.mark.parametrize("text", [*FORMS, (TEXT + "\n").replace("free", "f\0\0\1ree")])
def test_every_tree_has_its_own_tags(text: str) -> None:
    trees = Trees("a", block_of(text), HEADS, [], deprels=DEPRELS, tags=TAGS)
    found = trees.to_conllu(Style("keep")).data
    blocks = list(read_blocks(io.BytesIO(found), "found"))
    assert [block.column("upos") for block in blocks] == [["A", "B", "C"], ["B", "B", "A"]]
    plain = Trees("a", block_of(text), HEADS, [], deprels=DEPRELS).to_conllu(Style("keep")).data
    pattern = rb"(?m)^(\d+\t[^\t]*\t[^\t]*\t)[^\t]*"
    assert re.sub(pattern, rb"\1", found) == re.sub(pattern, rb"\1", plain)


def test_tags_in_json_lines() -> None:
    found = [json.loads(line) for line in Trees("a", None, HEADS, [], tags=TAGS).to_jsonl().splitlines()]
    assert [row["tags"] for row in found] == [["A", "B", "C"], ["B", "B", "A"]]
    assert [list(row) for row in found] == [["sent_id", "sample", "heads", "tags"]] * 2
