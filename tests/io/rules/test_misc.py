"""What MISC of words asks for: heads and labels, and mentions of entities that hang together."""

from __future__ import annotations

import pytest

from deptree_cli.core.errors import DeptreeError
from deptree_cli.io.conllu.blocks import Block
from deptree_cli.io.conllu.chunks import Chunk
from deptree_cli.io.rules.word_constraints import constraints_in_misc, spans_in_misc


def block_of(*misc: str, ids: tuple[str, ...] = ()) -> Block:
    """A sentence whose words have these entries."""
    rows = [f"{number}\tw" + "\t_" * 7 + f"\t{each}\n" for number, each in zip(ids or range(1, 99), misc, strict=False)]
    return Block(Chunk(("# sent_id = s\n" + "".join(rows) + "\n").encode(), 1), "f.conllu")


def test_heads_and_labels_in_misc() -> None:
    block = block_of("SpaceAfter=No|HeadIn=2,3", "_", "NotHead=1|DeprelIn=obl,nmod|DeprelNot=dep", "X=HeadIn=1")
    found = constraints_in_misc(block)
    assert found.words == {
        1: {"HeadIn": ["2", "3"]},
        3: {"NotHead": ["1"], "DeprelIn": ["obl", "nmod"], "DeprelNot": ["dep"]},
    }
    assert found.place == "f.conllu:1"


def test_a_key_twice_is_not_half_ignored() -> None:
    with pytest.raises(DeptreeError, match=r"^f.conllu:1: word 2 has HeadIn twice. Join them with a comma.$"):
        constraints_in_misc(block_of("_", "HeadIn=1|HeadIn=3"))


@pytest.mark.parametrize("entry", ["HeadIn", "HeadIn=", "HeadIn=0,", "HeadIn=x"])
def test_a_head_that_is_none(entry: str) -> None:
    with pytest.raises(DeptreeError, match=r"^f.conllu:1: HeadIn of word 1 is '.?', not 0 to 1. Correct it.$"):
        constraints_in_misc(block_of(entry)).forbidden(1, ("",))


@pytest.mark.parametrize(
    ("misc", "spans"),
    [
        (["_", "Entity="], ()),
        (["Entity=(e1-person-1)", "_"], ()),  # a word always hangs together
        (["Entity=(e1-person-1", "Entity=e1)"], ((1, 2),)),
        (["SpaceAfter=No|Entity=(e1|X=1", "_", "Entity=e1)"], ((1, 3),)),
        (["Entity=(e1-a(e2-b", "Entity=e2)", "Entity=e1)"], ((1, 2), (1, 3))),
        (["Entity=(e1-a", "Entity=(e2-b", "Entity=e2)e1)"], ((1, 3), (2, 3))),
        (["Entity=(e1-a", "Entity=e1)(e2-b", "Entity=e2)"], ((1, 2), (2, 3))),
        (["Entity=(e1-a(e2-b)", "Entity=(e3-c)e1)"], ((1, 2),)),
        (["Entity=(e1-a", "Entity=(e1-a", "Entity=e1)", "Entity=e1)"], ((1, 4), (2, 3))),
        (["Entity=(e1-a", "Entity=(e2-b", "Entity=e1)", "Entity=e2)"], ((1, 3), (2, 4))),
        (["Entity=(e1-a", "Entity=(e10-b", "Entity=e1)", "Entity=e10)"], ((1, 3), (2, 4))),
        (["Entity=(person-1-new(person-2-new", "Entity=person-1)", "Entity=person-2)"], ((1, 2), (1, 3))),
        (["Entity=(e1[1/2]-a", "Entity=e1[1/2])", "_", "Entity=(e1[2/2]-a)"], ()),
        (["Entity=(e1[1/2]-a(e2-b", "Entity=e2)e1[1/2])", "Entity=(e1[2/2])"], ((1, 2),)),
    ],
)
def test_mentions_of_entities_are_spans(misc: list[str], spans: tuple[tuple[int, int], ...]) -> None:
    """Nested, crossing, beside each other, of the older kind; those in parts are left out."""
    assert spans_in_misc(block_of(*misc)) == spans


def test_mentions_begin_and_end_with_empty_nodes() -> None:
    ids = ("0.1", "1", "2-3", "2", "2.1", "3", "3.1")
    misc = ("Entity=(e1-a", "_", "_", "Entity=(e3-c", "Entity=e1)(e2-b", "Entity=e3)", "Entity=(e4-d)e2)")
    assert spans_in_misc(block_of(*misc, ids=ids)) == ((1, 2), (2, 3))


@pytest.mark.parametrize(
    ("misc", "message"),
    [
        (["Entity=(e1-a", "_"], "Entity: the mention 'e1' is opened and not closed"),
        (["Entity=(e1-a", "Entity=e2)"], "Entity: the mention 'e2' is closed and not opened"),
        (["Entity=e1)", "Entity=(e1-a"], "Entity: the mention 'e1' is closed and not opened"),
    ],
)
def test_half_a_mention_is_not_ignored(misc: list[str], message: str) -> None:
    with pytest.raises(DeptreeError, match=f"^f.conllu:1: {message}. Correct MISC.$"):
        spans_in_misc(block_of(*misc))
