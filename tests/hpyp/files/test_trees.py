"""Labels and tags of the parser by their names."""

from __future__ import annotations

import numpy as np
import pytest

from deptree_cli.hpyp.files.trees import deprels_by_name, tags_by_name
from deptree_cli.hpyp.model.contexts import LEXICALISED
from deptree_cli.hpyp.model.symbols import Symbols
from deptree_cli.hpyp.model.vocabulary import Lexicon, Vocabulary

HEADS = np.array([[2, 0, 2], [0, 1, 1]], dtype=np.int32)


def symbols_of(*labels: str) -> Symbols:
    return Symbols(Lexicon(Vocabulary(())), Vocabulary(("N", "V")), labels, LEXICALISED)


@pytest.mark.parametrize(
    ("labels", "numbers", "names"),
    [
        (("det", "root", "dep"), [[0, 1, 0], [1, 0, 2]], [["det", "root", "det"], ["root", "det", "dep"]]),
        (("det", "root", "dep"), [[1, 0, 0], [0, 1, 1]], [["dep", "root", "det"], ["root", "dep", "dep"]]),
        (("root", "det"), [[0, 1, 1], [0, 0, 1]], [["dep", "root", "det"], ["root", "dep", "det"]]),
        (("det", "pred"), [[1, 0, 0], [0, 1, 1]], [["pred", "det", "det"], ["det", "pred", "pred"]]),
    ],
)
def test_root_is_the_label_of_roots_dependent(
    labels: tuple[str, ...], numbers: list[list[int]], names: list[list[str]]
) -> None:
    """But where the treebank has no such label."""
    found = deprels_by_name(symbols_of(*labels), HEADS, np.array(numbers, dtype=np.int32))
    assert [[found.names[label] for label in row] for row in found.index] == names
    assert found.index.dtype == np.int32


def test_tags() -> None:
    found = tags_by_name(symbols_of("det"), "xpos", np.array([[2, 3, 2]], dtype=np.int32))
    assert [found.names[tag] for tag in found.index[0]] == ["N", "V", "N"]
    assert found.column == "xpos"
