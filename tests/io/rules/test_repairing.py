"""Repair in Python."""

from __future__ import annotations

import doctest

import numpy as np
import pytest

import deptree_cli
from deptree_cli.core.distribution import TreeDistribution
from deptree_cli.core.errors import DeptreeError
from deptree_cli.io.rules import constraints
from deptree_cli.io.rules.constraints import repaired

TAGS = ["DET", "NOUN", "VERB", "PUNCT"]


def test_the_example_holds() -> None:
    assert doctest.testmod(constraints, extraglobs={"np": np}).failed == 0


@pytest.mark.parametrize(
    ("heads", "labels"),
    [
        ([2, 3, 0, 3], ["det", "nsubj", "root", "punct"]),
        ([2, 3, 3, 3], ["det", "nsubj", "root", "punct"]),
        ([2, 1, 0, 3], ["det", "nsubj", "root", "punct"]),
        ([2, 3, 0, 99], ["det", "nsubj", "root", "punct"]),
        ([2, 3, 0, None], ["det", "nsubj", "root", "punct"]),
        ([2, 3, None, 3], ["det", "nsubj", None, "punct"]),
        ([2, 3, 0, 0], ["det", "nsubj", "root", "punct"]),
        ([2, 3, 0, 3], ["det", "Nsubj", "root", "punct"]),
    ],
)
def test_one_change_is_enough(heads: list[int | None], labels: list[str | None]) -> None:
    """Of a sentence that was right but for a word, the tree that it was."""
    found = repaired(heads, labels, TAGS)
    assert found.certified
    assert found.heads.tolist() == [2, 3, 0, 3]
    assert found.labels == ("det", "nsubj", "root", "punct")


@pytest.mark.parametrize("root", ["root", "ROOT"])
def test_a_tree_that_has_no_label_but_that_of_roots_gets_another(root: str) -> None:
    """However it is written."""
    found = repaired([0, 0], [root, root], rules="tree")
    assert sorted(found.heads.tolist()) in ([0, 1], [0, 2])
    assert {*found.labels} == {root, "dep"}


def test_the_smallest_rules_ask_for_a_tree() -> None:
    """Two roots are one too many unless there may be several; labels are left as they are."""
    odd = ["x", "y", "root", "root"]
    found = repaired([2, 3, 0, 0], odd, rules="tree")
    assert (found.heads == 0).sum() == 1
    assert repaired([2, 3, 0, 0], odd, rules="tree", single_root=False).heads.tolist() == [2, 3, 0, 0]
    assert repaired([3, 0, 2, 2], rules="tree").heads.tolist() == [3, 0, 2, 2]
    crossing = [3, 4, 0, 3]
    assert repaired(crossing, rules="tree").heads.tolist() == crossing
    assert repaired(crossing, rules="tree", projective=True).heads.tolist() != crossing


def test_scores_decide_between_trees_that_change_as_much() -> None:
    """A self-loop may become anything; the probable arc is taken, and a worth of 0 nats takes the best tree."""
    scores = np.zeros((4, 4))
    scores[3, 1] = scores[1, 3] = 2.0
    distribution = TreeDistribution(scores)
    assert repaired([1, 0, 2], rules="tree", scores=distribution).heads.tolist() == [3, 0, 2]
    assert repaired([2, 0, 2], rules="tree", scores=distribution).heads.tolist() == [2, 0, 2]
    best = repaired([2, 0, 2], rules="tree", scores=distribution, worth=0.0)
    assert best.heads.tolist() == distribution.argmax().tolist()


def test_a_given_head_that_scores_forbid_may_stay() -> None:
    scores = np.zeros((3, 3))
    scores[0, 1] = -np.inf
    assert repaired([0, 1], rules="tree", scores=TreeDistribution(scores)).heads.tolist() == [0, 1]


@pytest.mark.parametrize(
    ("ahead", "worth", "label"), [(9.0, np.inf, "obj"), (0.5, 1.0, "obj"), (2.0, 1.0, "iobj"), (2.0, 0.1, "iobj")]
)
def test_a_label_of_v1_is_that_of_v2_whatever_scores_say(ahead: float, worth: float, label: str) -> None:
    """Unless another label gains more than a change is worth."""
    scores = np.zeros((3, 3, 3))
    scores[..., 0] = ahead
    distribution = TreeDistribution(scores, labels=["iobj", "obj", "root"])
    found = repaired([2, 0], ["dobj", "root"], ["NOUN", "VERB"], scores=distribution, worth=worth)
    assert found.heads.tolist() == [2, 0]
    assert found.labels == (label, "root")


def test_rules_about_tags_leave_words_with_unknown_ones_alone() -> None:
    tags = ["DEM", "NOUN", "VERB", "PUNCT"]
    assert repaired([2, 3, 0, 3], ["det", "nsubj", "root", "punct"], tags).labels[0] == "det"


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"labels": ["a"]}, "1 labels for 2 heads"),
        ({"upos": ["NOUN"] * 3}, "3 upos for 2 heads"),
        ({"scores": TreeDistribution(np.zeros((4, 4)))}, "the scores are of 3 words, the heads of 2"),
        ({"rules": "udd"}, "there are no rules 'udd'"),
    ],
)
def test_what_does_not_fit_is_refused(wrong: dict[str, object], message: str) -> None:
    with pytest.raises(DeptreeError, match=message):
        repaired([0, 1], **wrong)  # type: ignore[arg-type]


def test_it_is_public() -> None:
    assert deptree_cli.repaired is repaired
