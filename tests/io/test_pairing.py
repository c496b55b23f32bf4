"""Files of the same text: words by their characters beside brute force; sentences without ids by their text."""

from __future__ import annotations

import random
from dataclasses import replace
from io import BytesIO
from itertools import accumulate

import numpy as np
import pytest

from deptree_cli.core.errors import DeptreeError
from deptree_cli.io.conllu.blocks import Block, read_blocks_or_errors
from deptree_cli.io.pairing import LOST, OPEN, Tokens, aligned_words, known_tokens, nearest, tokens_in, words_of
from deptree_cli.io.read import add_gold, blocks_side, read, sentence_of
from deptree_cli.io.sentence import Companion, Side
from deptree_cli.io.trees.sets import TreeSet
from tests.retokenised import cut
from tests.tree_files import word


def spans(forms: list[str]) -> list[tuple[int, int]]:
    ends = list(accumulate(map(len, forms)))
    return list(zip([0, *ends[:-1]], ends, strict=True))


def test_words_are_aligned_by_their_characters() -> None:
    """The pairs are exactly the words of the same span of characters."""
    rng = random.Random(5)
    for _ in range(300):
        text = "".join(rng.choices("abc", k=rng.randint(1, 12)))
        one, other = (cut(text, rng, rng.random()) for _ in range(2))
        found = aligned_words(*(Tokens(tuple(form.encode() for form in forms)) for forms in (one, other)))
        ours, theirs = spans(one), spans(other)
        due = [(at, theirs.index(span)) for at, span in enumerate(ours) if span in theirs]
        if found is None:
            assert one == other
        else:
            assert list(zip(*(each.tolist() for each in found), strict=True)) == due


def test_heads_by_the_words_of_the_other_file() -> None:
    """`xy z w` and `x y z w`: x and y belong to none, nor do words below them; ROOT and open heads stay."""
    words = aligned_words(Tokens((b"xy", b"z", b"w")), Tokens((b"x", b"y", b"z", b"w")))
    heads = np.array([[3, 1, 0, 1], [0, 0, OPEN, 3]])
    trees = TreeSet("s", "here", heads, np.array([1, 1]), (tuple("abcd"),))
    found = trees.renumbered(words, 3)
    assert found.heads.tolist() == [[LOST, 0, LOST], [LOST, OPEN, 2]]
    assert found.labels == (("_", "c", "d"),)


def test_multiword_tokens_and_unknown_words() -> None:
    rows = "1-2\tzum\t" + "\t".join("_" * 8) + "\n" + word(1, "zu", 0) + word(2, "dem", 1) + word(3, "Tor", 1)
    (block,) = read_blocks_or_errors(BytesIO(f"{rows}\n".encode()), "a")
    assert isinstance(block, Block)
    tokens = tokens_in(block)
    assert (tokens.forms, tokens.ranges) == ((b"zu", b"dem", b"Tor"), [(1, 2, b"zum")])
    assert (tokens.text, Tokens((b"zum", b"Tor")).text) == ("zumTor", "zumTor")
    assert aligned_words(tokens, Tokens((b"zu", b"_", b"Tor"))) is None
    assert [each.tolist() for each in aligned_words(tokens, Tokens((b"zum", b"Tor"))) or ()] == [[2], [1]]


def test_the_nearest_that_both_have_beside_a_search_of_all_pairs() -> None:
    """The first of the nearest is by our place."""
    assert (nearest("axxb", "bqqa"), nearest("", "a")) == ((0, 3), None)
    rng = random.Random(2)
    for _ in range(300):
        ours, theirs = (rng.choices("abcdefgh", k=rng.randint(0, 9)) for _ in range(2))
        both = [(i + j, i, j) for i, a in enumerate(ours) for j, b in enumerate(theirs) if a == b]
        assert nearest(ours, theirs) == (min(both)[1:] if both else None)


def paired(ours: str, theirs: str) -> list[str]:
    """Of files whose sentences are one letter each, without ids, the pairs and the errors; a dash is malformed."""

    def blocks(text: str, place: str):
        rows = "".join(word(2 if letter == "-" else 1, letter, 0) + "\n" for letter in text)
        return read_blocks_or_errors(BytesIO(rows.encode()), place)

    lead = Side(map(sentence_of, blocks(ours, "a"), range(1, 99)), "sentences", "a", tokens=words_of)
    side = replace(blocks_side(blocks(theirs, "b"), "b"), tokens=known_tokens)
    found = list(read(lead, [Companion(side, add_gold)]))
    assert all(isinstance(each, DeptreeError) or each.sentence.raw == each.gold.raw for each in found)
    return ["!" if isinstance(each, DeptreeError) else each.sentence.column("form")[0] for each in found]


@pytest.mark.parametrize(
    "row",
    [
        *("abcd abcd abcd", "abcd axcd a!cd", "abcd acd a!cd", "acd abcd acd!", "abcd axyd a!!d", "abcd axyzd a!!d!"),
        *("abcd ab ab!!", "ab abcd ab!!", "ab xy !!", "a-cd abcd a!cd", "abcd a-cd a!cd", "a-cd a-cd a!cd"),
        "a-bcd abcd a!bcd",
    ],
)
@pytest.mark.quick
def test_sentences_without_ids_are_found_by_their_text(row: str) -> None:
    """A sentence of another text is left out, and those behind it still belong together."""
    ours, theirs, found = row.split()
    assert "".join(paired(ours, theirs)) == found


def test_every_pair_has_one_text_and_no_error_is_lost() -> None:
    rng = random.Random(4)
    for _ in range(100):
        ours, theirs = ("".join(rng.choices("abcd", k=rng.randint(1, 8))) for _ in range(2))
        found = paired(ours, theirs)
        assert len([each for each in found if each != "!"]) <= min(len(ours), len(theirs))
        assert len(found) >= max(len(ours), len(theirs))
