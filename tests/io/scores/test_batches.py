"""Matrices of many sentences laid out at once, as `layout.py` lays out each."""

from __future__ import annotations

import numpy as np
import pytest

from deptree_cli.core.spaces import MULTI_ROOT, PROJECTIVE
from deptree_cli.io.scores.batches import ScoredBatch
from deptree_cli.io.scores.layout import Layout, from_head_dep
from deptree_cli.io.scores.records import Interpretation, Temperature
from deptree_cli.io.sentence import Sentence

SQUARES = [Layout(orient, root) for orient in (None, "head-dep", "dep-head") for root in ("first", "last", "diagonal")]
RECTANGLES = [Layout(orient, root, rectangle=True) for orient in ("head-dep", "dep-head") for root in ("first", "last")]


def sentence(name: str, scores: np.ndarray) -> Sentence:
    return Sentence(name, 1, min(scores.shape), "", scores=scores)


def records(layout: Layout, dtype: type = np.float32) -> list[Sentence]:
    """Sentences of several lengths, all weights positive."""
    rng = np.random.default_rng(3)
    shapes = [layout.shape(n) for n in (1, 4, 2, 9)]
    scores = [rng.uniform(0.5, 9.0, shape).astype(dtype) for shape in shapes]
    return [sentence(str(number), each) for number, each in enumerate(scores)]


def batch(read: list[Sentence], how: Interpretation) -> ScoredBatch:
    found = how.batch(read)
    assert found is not None
    return found


@pytest.mark.parametrize("scale", ["weight", "log"])
@pytest.mark.parametrize("temperature", [1.0, 0.3])
@pytest.mark.parametrize("layout", [*SQUARES, *RECTANGLES])
def test_every_layout_there_and_back(layout: Layout, temperature: float, scale: str) -> None:
    layout = Layout(layout.orient, layout.root, scale, rectangle=layout.rectangle)
    how = Interpretation(layout, space=MULTI_ROOT, temperature=Temperature(temperature))
    read = records(layout)
    found = batch(read, how)
    alone = [how(record).distribution for record in read]
    np.testing.assert_array_equal(found.trees.log_scores, np.concatenate([each.log_scores.ravel() for each in alone]))
    arcs = np.concatenate([each.marginals().ravel() for each in alone])
    for record, each, matrix in zip(read, alone, found.layout.from_head_dep(arcs), strict=True):
        np.testing.assert_array_equal(matrix, from_head_dep(each.marginals(), layout, record.scores.shape))


@pytest.mark.parametrize("dtype", [np.int16, np.bool_, np.float16, np.float64])
def test_every_type_of_numbers(dtype: type) -> None:
    layout = Layout(scale="log")
    how, read = Interpretation(layout), records(layout, dtype)
    expected = np.concatenate([how(record).distribution.log_scores.ravel() for record in read])
    np.testing.assert_array_equal(batch(read, how).trees.log_scores, expected)


def test_what_cannot_be_worked_on_together() -> None:
    layout = Layout("head-dep", scale="log")
    read = records(layout)
    read[1] = sentence("x", np.ones((3, 4)))  # a rectangle that contradicts the layout
    read[2] = sentence("y", np.ones((3, 3), dtype=complex))
    assert batch(read, Interpretation(layout)).places == [0, 3]
    assert Interpretation(layout).batch(read[1:3]) is None
    projective = Interpretation(layout, space=PROJECTIVE).batch(read)
    assert projective is not None
    assert projective.places == batch(read, Interpretation(layout)).places
    assert Interpretation(layout, fix_heads=True).batch(read) is None
    assert Interpretation(layout, labels=("a", "b")).batch(read) is None
