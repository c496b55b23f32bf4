"""Scores of parts: which parts there are, by the parts of all trees, and what is wrong with an array."""

from __future__ import annotations

import numpy as np
import pytest

from deptree_cli.core.errors import DeptreeError
from deptree_cli.core.oracle import all_trees
from deptree_cli.core.spaces import PROJECTIVE_MULTI
from deptree_cli.second_order.distribution import AXES, PARTS, checked_part, forbids_some

EACH = pytest.mark.parametrize("name", PARTS)


@EACH
@pytest.mark.parametrize("n", [1, 2, 5])
def test_parts_are_those_of_projective_trees(name: str, n: int, part_sums) -> None:
    which = {"grandparent": 1, "sibling": 2}[name]
    found = {parts[which] for tree in all_trees(n, PROJECTIVE_MULTI).tolist() for parts in part_sums.parts(tree)} - {()}
    assert {tuple(cell) for cell in np.argwhere(PARTS[name](n + 1)).tolist()} == found


@EACH
def test_what_no_tree_has_is_ignored(name: str) -> None:
    """Whatever stands there: parsers fill their arrays with anything."""
    scores = np.where(PARTS[name](4), 1.0, np.nan)
    found = checked_part(name, scores, 4, "log", temperature=2.0)
    np.testing.assert_array_equal(found, np.where(PARTS[name](4), 0.5, -np.inf))
    assert not forbids_some(name, found)
    np.testing.assert_array_equal(np.exp(checked_part(name, scores, 4, "weight")), PARTS[name](4))


@EACH
def test_what_forbids(name: str) -> None:
    cell = tuple(np.argwhere(PARTS[name](4))[-1])
    for value, scale in ((-np.inf, "log"), (-1e32, "log"), (0.0, "weight")):
        scores = np.ones((4, 4, 4))
        scores[cell] = value
        found = checked_part(name, scores, 4, scale)
        assert found[cell] == -np.inf
        assert forbids_some(name, found)


@EACH
@pytest.mark.parametrize(
    ("value", "scale", "words"),
    [
        (np.nan, "log", "is NaN. Repair the scores, or forbid such parts: scores[np.isnan(scores)] = -np.inf."),
        (np.nan, "weight", "is NaN"),
        (np.inf, "log", "is too large for a score"),
        (1e30, "log", "is too large for a score"),
        (np.inf, "weight", "is infinite"),
        (-0.5, "weight", 'is negative. If these are log-scores (logits), pass `scale="log"`.'),
    ],
)
def test_wrong_numbers_are_named(name: str, value: float, scale: str, words: str) -> None:
    cell = tuple(np.argwhere(PARTS[name](4))[0])
    scores = np.ones((4, 4, 4))
    scores[cell] = value
    with pytest.raises(DeptreeError) as error:
        checked_part(name, scores, 4, scale)
    place = ", ".join(f"{axis} {node or 'ROOT'}" for axis, node in zip(AXES[name], cell, strict=True))
    assert str(error.value).startswith(f"the {name} score of {place} ")
    assert words in str(error.value)


@EACH
def test_wrong_arrays_are_named(name: str) -> None:
    for scores in (np.ones((4, 4)), np.ones((3, 3, 3)), np.ones((4, 4, 3))):
        with pytest.raises(DeptreeError, match=rf"the {name} scores have shape \({scores.shape[0]}, .*\(4, 4, 4\)"):
            checked_part(name, scores, 4, "log")
    with pytest.raises(DeptreeError, match=f"the {name} scores are of type <U1, not real numbers"):
        checked_part(name, [["a"]], 4, "log")
