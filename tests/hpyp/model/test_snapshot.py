"""Which numbers of a process at rest are refused: kernels would follow them anywhere."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from deptree_cli.hpyp.model.process import Process, Snapshot
from tests.hpyp.model.small_treebank import begun, run

DISHES = 40


def snapshot(**changes: Any) -> Snapshot:
    """Two restaurants; dish 3 at tables of 1, 1 and 4 in the root, dish 5 at tables of 2 and 2, and 7 at one of 9."""
    arrays: dict[str, Any] = {
        "parents": [-1, 0, 1],
        "symbols": [-1, 4, 4],
        "places": [0, 0, 0, 1],
        "dishes": [3, 5, 7, 3],
        "seated": [6, 4, 9, 8],
        "served": [3, 2, 1, 6],
        "sizes": [1, 4, 2, 1, 3],
        "counts": [2, 1, 2, 5, 1],
    }
    arrays = {name: np.array(values, dtype=np.int32) for name, values in (arrays | changes).items() if name in arrays}
    discounts, strengths = changes.get("discounts", [0.5, 0.1, 0.9]), changes.get("strengths", [0.0, -0.05, 100.0])
    return Snapshot(**arrays, discounts=np.array(discounts), strengths=np.array(strengths), choices=30)


def test_levels() -> None:
    assert snapshot().levels.tolist() == [0, 1, 2]
    assert snapshot(parents=[-1, 0, 0]).levels.tolist() == [0, 1, 1]
    assert snapshot(discounts=[0.5, 0.5], strengths=[0, 0]).levels.tolist() == [0, 1, 2]


def test_what_is_sound() -> None:
    assert snapshot().is_sound(DISHES)
    assert snapshot(
        parents=[-1], symbols=[-1], places=[], dishes=[], seated=[], served=[], sizes=[], counts=[]
    ).is_sound(1)
    trained = run(begun(), 3)
    for process, dishes in zip(trained.processes, trained.symbols.dishes, strict=True):
        assert process.is_sound(dishes)
        assert not process.is_sound(int(process.dishes.max()))
    for levels in (0, 3):
        assert Process(levels, 5).at_rest().is_sound(6)


@pytest.mark.parametrize(
    "changes",
    [
        {"parents": [0, 0, 1]},
        {"parents": [-1, 1, 1]},
        {"parents": [-1, -1, 1]},
        {"parents": [-1, 0, 5]},
        {"parents": [-1, 0]},
        {"parents": []},
        {"symbols": [-1, -2, 4]},
        {"symbols": [-1, 4, 1 << 20]},
        {"parents": [-1, 0, 0]},  # two children of one symbol
        {"places": [0, 0, 0, 3]},
        {"places": [-1, 0, 0, 1]},
        {"places": [0, 0, 0, 0]},  # two entries of one dish
        {"dishes": [3, 5, DISHES, 3]},
        {"dishes": [-3, 5, 7, 3]},
        {"seated": [6, 4, 0, 8]},
        {"seated": [7, 4, 9, 8]},
        {"seated": [6, 4, 2**31 - 1, 8]},
        {"served": [2, 3, 1, 6]},
        {"served": [3, 2, 0, 6]},
        {"served": [3, 2, -1, 6]},
        {"served": [3, 2, 1, 7]},
        {"sizes": [0, 5, 2, 1, 3]},
        {"sizes": [1, 4, 2, 1]},
        {"sizes": [1, 4, 2, 1, 3, 1], "counts": [2, 1, 2, 5, 1, 1]},
        {"sizes": [1, 4, 2], "counts": [2, 1, 2]},
        {"sizes": [], "counts": []},
        {"counts": [3, 1, 1, 5, 1]},
        {"counts": [2, 1, 2, 6, 0]},
        {"counts": [-2, 1, 2, 5, 1]},
        {"discounts": [0.0, 0.1, 0.9]},
        {"discounts": [0.5, 1.0, 0.9]},
        {"discounts": [0.5, np.nan, 0.9]},
        {"discounts": [0.5, 0.1]},
        {"discounts": [0.5, 0.1], "strengths": [0.0, 0.0]},  # a node is too deep
        {"strengths": [0.0, -0.1, 1.0]},
        {"strengths": [0.0, np.inf, 1.0]},
        {"strengths": [np.nan, 0.0, 1.0]},
    ],
    ids=str,
)
def test_what_is_not(changes: dict[str, Any]) -> None:
    assert not snapshot(**changes).is_sound(DISHES)


def test_shapes() -> None:
    assert not replace(snapshot(), symbols=np.zeros((3, 1), dtype=np.int32)).is_sound(DISHES)
    assert not replace(snapshot(), parents=np.array(3)).is_sound(DISHES)
