"""What MISC of words asks for: heads, labels, and spans that hang together."""

from __future__ import annotations

import pytest

from deptree_cli.core.errors import DeptreeError
from deptree_cli.io.conllu.blocks import Block, Chunk
from deptree_cli.io.rules.constraints import constraints_in_misc


def block_of(*misc: str) -> Block:
    """A sentence whose words have these entries."""
    rows = [f"{number}\tw" + "\t_" * 7 + f"\t{each}\n" for number, each in enumerate(misc, 1)]
    return Block(Chunk(("# sent_id = s\n" + "".join(rows) + "\n").encode(), 1), "f.conllu")


def test_heads_and_labels_in_misc() -> None:
    block = block_of("SpaceAfter=No|HeadIn=2,3", "_", "NotHead=1|DeprelIn=obl,nmod|DeprelNot=dep", "X=HeadIn=1")
    found = [f"{place} {word} {key} {','.join(values)}" for word, key, values, place in constraints_in_misc(block)]
    asked = "1 HeadIn 2,3", "3 NotHead 1", "3 DeprelIn obl,nmod", "3 DeprelNot dep"
    assert found == [f"f.conllu:1 {each}" for each in asked]


def test_a_key_twice_is_not_half_ignored() -> None:
    with pytest.raises(DeptreeError, match=r"^f.conllu:1: word 2 has HeadIn twice. Join them with a comma.$"):
        constraints_in_misc(block_of("_", "HeadIn=1|HeadIn=3"))


@pytest.mark.parametrize("entry", ["HeadIn", "HeadIn=", "HeadIn=0,", "HeadIn=x"])
def test_a_head_that_is_none(entry: str) -> None:
    with pytest.raises(DeptreeError, match=r"^f.conllu:1: HeadIn of word 1 is '.?', not 0 to 1. Correct it.$"):
        constraints_in_misc(block_of(entry))[0].forbidden(1, ("",))


@pytest.mark.parametrize(
    ("key", "meant"),
    [
        ("headin", "HeadIn"),
        ("HeadsIn", "HeadIn"),
        ("DeprelIN", "DeprelIn"),
        ("DepreIn", "DeprelIn"),
        ("NotHeads", "NotHead"),
        ("nothead", "NotHead"),
        ("DeprelNo", "DeprelNot"),
        ("SPAN", "Span"),
        ("Spans", "Span"),
    ],
)
def test_misspelt_keys_are_not_ignored(key: str, meant: str) -> None:
    with pytest.raises(DeptreeError, match=rf"^f.conllu:1: word 2 has '{key}' in MISC. Did you mean {meant}\?$"):
        constraints_in_misc(block_of("HeadIn=2", f"SpaceAfter=No|{key}=1"))


def test_keys_of_others_are_ignored() -> None:
    """Those of UD and its treebanks, those that repair writes, and entries that are none."""
    keys = "SpaceAfter SpacesAfter SpacesBefore Translit LTranslit Gloss Head Ref Entity OldHead OldDeprel CorrectForm"
    more = "NewPar Lang Typo MSeg MGloss Cxn Subject Bridge SplitAnte Heads Deprel Dep Rel DepHead Spa In Not _ Xml"
    found = constraints_in_misc(block_of("|".join(f"{key}=1" for key in f"{keys} {more}".split()), "head|=|Headed"))
    assert found == []


def test_spans_in_misc() -> None:
    found = constraints_in_misc(block_of("SpaceAfter=No|Span=1-3", "_", "Span=2-3,1-2|HeadIn=1"))
    assert [each.span(3) for each in found if each.key == "Span"] == [(1, 3), (2, 3), (1, 2)]
    assert found[3:] == [(3, "HeadIn", ["1"], "f.conllu:1")]


@pytest.mark.parametrize("text", ["", "3", "1-", "1:3", "a-b", "-1-2"])
def test_half_a_span_is_not_ignored(text: str) -> None:
    with pytest.raises(DeptreeError, match=r"^f.conllu:1: Span of word 2 is '.*'. Write Span=3-7 for words 3 to 7.$"):
        constraints_in_misc(block_of("_", f"Span={text}"))
