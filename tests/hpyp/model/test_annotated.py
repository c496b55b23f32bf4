"""Sentences for the generative parser: what they are made of, and which of them a parser can be trained on."""

from __future__ import annotations

import itertools
from contextlib import nullcontext
from dataclasses import replace

import numpy as np
import pytest

from deptree_cli.core.errors import DeptreeError
from deptree_cli.core.spaces import SINGLE_ROOT
from deptree_cli.hpyp.model.sentences import Annotated


def sentence(heads: list[int], tags: tuple[str, ...] = ()) -> Annotated:
    """A sentence of the words a, b, c, ... with these heads."""
    n = len(heads)
    forms = tuple("abcdefgh"[:n])
    return Annotated("s-1", "file:3", forms, tags or ("X",) * n, np.array(heads, dtype=np.int32), ("dep",) * n)


def problem_of(found: Annotated) -> str:
    """The line of the error that `check_tree` raises, which names file, line and sentence."""
    with pytest.raises(DeptreeError) as caught:
        found.check_tree()
    assert str(caught.value).startswith("file:3 (s-1): ")
    return str(caught.value)


def test_n_and_a_tree() -> None:
    found = sentence([2, 0, 2])
    assert found.n == 3
    found.check_tree()


def test_exactly_trees_with_one_root_pass() -> None:
    """Every array of heads of up to 4 words, against the space of trees with one root."""
    passed = 0
    for n in range(1, 5):
        for heads in itertools.product(range(n + 1), repeat=n):
            found = sentence(list(heads))
            if SINGLE_ROOT.contains(found.heads[None])[0]:
                found.check_tree()
                passed += 1
            else:
                problem_of(found)
    assert passed == 1 + 2 + 9 + 64


def test_each_problem_is_named() -> None:
    assert "no word has a HEAD." in problem_of(sentence([-1, -1]))
    assert "word 2 has no HEAD" in problem_of(sentence([0, -1, 2]))
    assert "2 words have HEAD 0" in problem_of(sentence([0, 1, 0]))
    assert "form a cycle, 2 -> 4 -> 3 -> 2." in problem_of(sentence([0, 4, 2, 3]))


def test_one_tag_is_enough() -> None:
    sentence([0, 1], ("_", "X")).check_tree()


@pytest.mark.parametrize("heads", [[3, 0], [-2, 0]])
def test_heads_are_words(heads: list[int]) -> None:
    with pytest.raises(DeptreeError, match=r"1 to 2"):
        sentence(heads)


def test_parts_have_one_length() -> None:
    heads = np.zeros(1, dtype=np.int32)
    with pytest.raises(DeptreeError, match="1 forms, 2 tags, 1 heads and 1 labels"):
        Annotated("", "", ("a",), ("X", "Y"), heads, ("root",))
    with pytest.raises(DeptreeError, match="0 forms"):
        Annotated("", "", (), (), heads[:0], ())


@pytest.mark.parametrize(
    ("symbol", "says"), [("a\tb", r"is 'a\tb'. Remove the control characters."), ("", "Fill it in.")]
)
def test_symbols_that_cannot_be_written_again(symbol: str, says: str) -> None:
    """Forms, tags and labels for trees; forms alone for text, from which only words are learned."""
    for name, part in (("form", "forms"), ("tag", "tags"), ("label", "deprels")):
        found = replace(sentence([0, 1]), **{part: ("x", symbol)})
        with pytest.raises(DeptreeError) as caught:
            found.check_trainable()
        assert str(caught.value).startswith(f"file:3 (s-1): the {name} of word 2 is ")
        assert str(caught.value).endswith(says)
        with pytest.raises(DeptreeError) if name == "form" else nullcontext():
            found.check_forms()


def test_what_may_stand_in_a_symbol() -> None:
    """Spaces of all kinds and joiners, which languages write with."""
    replace(sentence([0, 1]), forms=("1 000\u00a0000", "\u0645\u06cc\u200c\u062e\u0648")).check_trainable()
