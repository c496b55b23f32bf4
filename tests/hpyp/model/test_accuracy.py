"""Counts of right heads, labels and tags."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from deptree_cli.hpyp.model.accuracy import ALL, WORDS_ONLY, Accuracy
from deptree_cli.hpyp.model.annotated import Annotated

GOLD = Annotated(
    "s",
    "",
    ("The", "dog", "sleeps", ",", "now", "."),
    ("DET", "NOUN", "VERB", "PUNCT", "_", "PUNCT"),
    np.array([2, 3, 0, 5, -1, 3], dtype=np.int32),
    ("det", "nsubj", "root", "punct", "_", "punct:end"),
)


def heads(*numbers: int) -> np.ndarray:
    return np.array(numbers, dtype=np.int32)


def test_all_right() -> None:
    found = Accuracy.of(GOLD, heads(2, 3, 0, 5, 3, 3), ("det", "nsubj", "root", "punct", "x", "punct:end"), GOLD.tags)
    assert found.attachment(ALL) == {"words": 5, "uas": 1.0, "las": 1.0}
    assert found.attachment(WORDS_ONLY) == {"words": 3, "uas": 1.0, "las": 1.0}
    assert (found.tagged, found.tag_accuracy) == (5, 1.0)


def test_mistakes_of_each_kind() -> None:
    """A wrong head with the right label, a wrong label, a wrong comma; what is unknown counts nowhere."""
    labels = ("det", "obj", "root", "punct", "x", "punct")
    found = Accuracy.of(GOLD, heads(3, 3, 0, 3, 1, 3), labels, ("DET", "X", "VERB", "PUNCT", "ADV", "X"))
    assert found.attachment(ALL) == {"words": 5, "uas": 3 / 5, "las": 1 / 5}
    assert found.attachment(WORDS_ONLY) == {"words": 3, "uas": 2 / 3, "las": 1 / 3}
    assert found.tag_accuracy == 3 / 5


def test_missing_labels_are_not_wrong() -> None:
    """Of five words with a known head two have no label: one of the other three gets a wrong one."""
    gold = replace(GOLD, deprels=("det", "_", "root", "punct", "_", "_"))
    found = Accuracy.of(gold, GOLD.heads, ("det", "nsubj", "x", "punct", "x", "y"), ())
    assert found.attachment(ALL) == {"words": 5, "uas": 1.0, "las": 2 / 3, "labelled": 3}
    assert (found + Accuracy()).attachment(WORDS_ONLY) == {"words": 4, "uas": 1.0, "las": 1 / 2, "labelled": 2}
    bare = Accuracy.of(replace(GOLD, deprels=("_",) * 6), GOLD.heads, GOLD.deprels, ())
    assert bare.attachment() == {"words": 5, "uas": 1.0, "las": None, "labelled": 0}


def test_sums() -> None:
    right = Accuracy.of(GOLD, GOLD.heads, GOLD.deprels, ())
    wrong = Accuracy.of(GOLD, heads(0, 0, 1, 1, 1, 1), GOLD.deprels, ())
    both = right + wrong + Accuracy()
    assert both.attachment(ALL) == {"words": 10, "uas": 0.5, "las": 0.5}
    assert both.tag_accuracy is None
    assert Accuracy().attachment() == {"words": 0, "uas": 0.0, "las": 0.0}
