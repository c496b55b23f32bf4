"""Words, tokens, and what stands between spaces, as a reader sees them."""

from __future__ import annotations

import io
from collections import Counter
from random import Random

import pytest

from deptree_cli.core.errors import DeptreeError
from deptree_cli.io.conllu.blocks import REGIONS, Block, between_spaces, surface_tokens, wrong_tokens
from tests.tree_files import read_blocks


def block(*ids: str) -> Block:
    """A sentence of lines with these ids, each with the form f and its id."""
    rows = "".join(f"{each}\tf{each}" + "\t_" * 8 + "\n" for each in ids)
    (found,) = read_blocks(io.BytesIO(f"# text = x\n{rows}\n".encode()), "file")
    return found


@pytest.mark.parametrize(
    ("ids", "expected"),
    [
        (("1", "2"), [("1", 1, 1), ("2", 2, 2)]),
        (("1-2", "1", "2", "3"), [("1-2", 1, 2), ("3", 3, 3)]),
        (("1", "2-4", "2", "3", "4"), [("1", 1, 1), ("2-4", 2, 4)]),
        (("0.1", "1", "1.1", "2-3", "2", "2.1", "3", "3.1"), [("1", 1, 1), ("2-3", 2, 3)]),
        (("1-2", "1", "2", "3-4", "3", "4"), [("1-2", 1, 2), ("3-4", 3, 4)]),
        (("1-1", "1"), [("1-1", 1, 1)]),
    ],
)
def test_every_word_is_in_one_token(ids: tuple[str, ...], expected: list[tuple[str, int, int]]) -> None:
    found = surface_tokens(block(*ids))
    assert [(token.id, token.first, token.last) for token in found] == expected
    assert [token.form for token in found] == [f"f{name}" for name, *_ in expected]


OUT, OVER, MISPLACED = "word-interval-out", "overlapping-word-intervals", "misplaced-word-interval"


@pytest.mark.parametrize(
    ("ids", "wrong", "says"),
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
def test_wrong_multiword_tokens(ids: str, wrong: list[str], says: str) -> None:
    """Nobody who looks at tokens passes over one."""
    sentence = block(*ids.split())
    assert [rule for rule, *_ in wrong_tokens(sentence)] == wrong
    for regions in (surface_tokens, between_spaces):
        with pytest.raises(DeptreeError, match=f"file:1: the multiword token {says}. Correct the ids"):
            regions(sentence)
    assert len(REGIONS["words"](sentence)) == sentence.n


def test_wrong_multiword_tokens_are_those_of_the_validator() -> None:
    """It looks for overlaps in sentences without other mistakes; a range too far in front is right for it, so none is
    here."""
    udtools = pytest.importorskip("udtools", reason="udtools is not installed")
    validator, rng, found = udtools.Validator(lang="ud", level=1, output=None), Random(20261201), Counter[str]()
    for _ in range(600):
        ids = [str(word) for word in range(1, rng.randint(2, 6))]
        for _ in range(rng.randint(1, 3)):
            at = rng.randint(0, len(ids))
            first = rng.randint(1, sum(map(str.isdigit, ids[:at])) + 1)
            ids.insert(at, f"{first}-{first + rng.randint(0, 2)}")
        sentence = block(*ids)
        state = validator.validate_file_handle(io.StringIO(sentence.raw.decode()))
        theirs, ours = (
            Counter(each) for each in ([e.testid for e in state.error_tracker], [r for r, *_ in wrong_tokens(sentence)])
        )
        if ours.keys() - {OVER}:
            del ours[OVER]
        assert ours == theirs, ids
        found += ours
    assert min(found[rule] for rule in (OUT, OVER, MISPLACED)) > 20


def test_forms_that_are_not_utf_8() -> None:
    (found,) = read_blocks(
        io.BytesIO(b"1-2\t\xff" + b"\t_" * 8 + b"\n1\ta" + b"\t_" * 8 + b"\n2\tb" + b"\t_" * 8 + b"\n\n"), "f"
    )
    with pytest.raises(DeptreeError, match="f:1: a form is not UTF-8"):
        surface_tokens(found)


def written(*rows: str, text: str | None = None) -> Block:
    """A sentence of rows ``id form misc`` and a text."""
    lines = [] if text is None else [f"# text = {text}"]
    for row in rows:
        number, form, misc = row.split(" ")
        lines.append("\t".join([number, form.replace("~", " "), *"_" * 7, misc]))
    (found,) = read_blocks(io.BytesIO("\n".join([*lines, "", ""]).encode()), "file")
    return found


NO = "SpaceAfter=No"
JOINED = [
    # Punctuation in front and behind; the last word's entry does not reach the next sentence.
    ((f"1 « {NO}", f"2 Oui {NO}", f"3 » {NO}", f"4 . {NO}"), "«Oui».", [("1-4", "«Oui».", 1, 4)]),
    # The line of a multiword token counts, those of its words do not.
    (
        (f"1-2 don't {NO}", "1 do _", "2 n't _", "3 , _", "4 no _"),
        "don't, no",
        [("1-3", "don't,", 1, 3), ("4", "no", 4, 4)],
    ),
    (
        ("1-2 del _", f"1 de {NO}", f"2 el {NO}", "3 mar _"),
        "del mar",
        [("1-2", "del", 1, 2), ("3", "mar", 3, 3)],
    ),
    # Two multiword tokens in one region.
    (
        (f"1-2 ab {NO}", "1 a _", "2 b _", "3-4 cd _", "3 c _", "4 d _"),
        "abcd",
        [("1-4", "abcd", 1, 4)],
    ),
    # An empty node divides nothing; other entries stand beside it, and one that only looks like it is none.
    ((f"1 a X=1|{NO}", f"1.1 z {NO}", "2 b NoSpaceAfter=No", "3 c _"), "ab c", [("1-2", "ab", 1, 2), ("3", "c", 3, 3)]),
    # A word with a space within, and other spaces in the text.
    ((f"1 10~000 {NO}", "2 % _", "3 x _"), " 10\u00a0000%  x ", [("1-2", "10 000%", 1, 2), ("3", "x", 3, 3)]),
]


@pytest.mark.parametrize(("rows", "text", "expected"), JOINED)
def test_what_stands_between_spaces(rows, text, expected) -> None:
    for block in (written(*rows), written(*rows, text=text)):
        assert [tuple(region) for region in between_spaces(block)] == expected


@pytest.mark.parametrize("rows", [rows for rows, _, _ in JOINED])
def test_regions_have_every_word_once(rows) -> None:
    block = written(*rows)
    for name, regions in REGIONS.items():
        found = regions(block)
        numbers = [word for region in found for word in range(region.first, region.last + 1)]
        assert numbers == [*range(1, block.n + 1)], name
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
def test_a_text_with_other_spaces(text: str, shown: str) -> None:
    with pytest.raises(DeptreeError, match="file:1: SpaceAfter and # text disagree: by SpaceAfter") as caught:
        between_spaces(written("1 sea _", "2 , _", f"3 no {NO}", text=text))
    assert shown in str(caught.value)
