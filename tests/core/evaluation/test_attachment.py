"""Attachment counts of a sentence, counted by hand, and the relations that CLAS is of."""

from __future__ import annotations

import numpy as np
import pytest

from deptree_cli.core.evaluation.attachment import CONTENT, Attached, attachment, universal
from deptree_cli.core.evaluation.intervals import f1


def tree(heads: list[int], *labels: str) -> Attached:
    return Attached(np.array(heads), [universal(label) for label in labels])


# She(2) saw(0) the(4) man(2) .(2)
GOLD = tree([2, 0, 4, 2, 2], "nsubj", "root", "det", "obj", "punct")


def test_by_hand() -> None:
    """A wrong head, a right head with a wrong label that makes a functional word one with content, a subtype."""
    system = tree([2, 0, 2, 2, 2], "nsubj:outer", "root", "nmod", "obl", "punct")
    found = attachment(GOLD, system)
    assert found.tolist() == [[4, 5, 5], [3, 5, 5], [2, 3, 4]]
    assert f1(found).tolist() == [0.8, 0.6, 2 * 2 / 7]


def test_all_right_and_none() -> None:
    assert attachment(GOLD, GOLD).tolist() == [[5, 5, 5], [5, 5, 5], [3, 3, 3]]
    punct = tree([0], "punct")
    assert f1(attachment(punct, punct)).tolist() == [1.0, 1.0, 0.0]  # as the script has it where there are no words


def test_content_relations_are_those_of_the_shared_task() -> None:
    udeval = pytest.importorskip("udtools.udeval", reason="udtools is not installed")
    assert CONTENT == udeval.CONTENT_DEPRELS
