"""The adaptive partition tree: when cells are divided, and how often."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest

from deptree_cli.core import cells
from deptree_cli.core.spaces import MULTI_ROOT, SINGLE_ROOT, TreeSpace
from deptree_cli.core.swor import ALGORITHMS
from tests.core.swor.test_adaptive import draw
from tests.laws.test_swor import LEVEL, order_p_values

BOTH = pytest.mark.parametrize("single_root", [True, False], ids=["single", "multi"])


def requests(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """What draws need, by name."""
    asked: Counter[str] = Counter()
    kernel = cells.kernel
    names = {getattr(kernel, name): name for name in ("DONE", "INSIDE", "DIVIDE")}
    draw_by_walk = kernel.draw_by_walk

    def counting(*arguments: Any) -> Any:
        needs = draw_by_walk(*arguments)
        asked[names[needs]] += 1
        return needs

    monkeypatch.setattr(kernel, "draw_by_walk", counting)
    return asked


@BOTH
def test_saturated_sentences_are_not_divided_level_by_level(
    single_root: bool, graphs, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where mass is spread and no walk ends, every tree takes one draw inside a cell, and no cell is divided."""
    asked = requests(monkeypatch)
    trees = draw(graphs.distribution(graphs.saturated(40), single_root), 30).heads
    assert len(np.unique(trees, axis=0)) == 30
    assert asked["INSIDE"] == 30
    assert asked["DIVIDE"] == 0


def test_a_cell_is_divided_along_a_tree_at_once(graphs, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nearly all mass is on few trees: there are no more divisions than trees, each of which takes O(n^3)."""
    asked = requests(monkeypatch)
    trees = draw(graphs.distribution(graphs.gaussian(30, 100)), 40).heads
    assert len(np.unique(trees, axis=0)) == 40
    assert 0 < asked["DIVIDE"] <= 40


@pytest.mark.slow("statistics")
@pytest.mark.parametrize("trees", [SINGLE_ROOT, MULTI_ROOT], ids=str)
@pytest.mark.parametrize(("tree", "repeats"), [(1, 0.0), (1, 1.0), (6, 0.0), (6, 1.0)])
def test_the_order_does_not_depend_on_when_walks_are_given_up(
    trees: TreeSpace, tree: int, repeats: float, graphs, monkeypatch: pytest.MonkeyPatch
) -> None:
    """H0: as in tests/laws/test_swor.py. Walks are given up after one step, or after six, which about half of them
    need; trees then come from inside cells. Threshold 0.001 / (8 x pairs and triples)."""
    monkeypatch.setattr(cells, "TREE", tree / 4)  # for each of the words
    monkeypatch.setattr(cells, "FACTORS", 0.0)
    monkeypatch.setattr(cells, "REPEATS", repeats)
    distribution = graphs.over(graphs.gaussian(4, 2.5, seed=3), trees)
    assert min(order_p_values(ALGORITHMS.get("auto"), distribution)) > LEVEL / 16
