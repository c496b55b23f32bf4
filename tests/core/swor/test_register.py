"""Every line of the register of SWOR algorithms: complete, importable, and what they all promise."""

from __future__ import annotations

from importlib import import_module

import numpy as np
import pytest

from deptree_cli.core.errors import DeptreeError
from deptree_cli.core.oracle import are_trees
from deptree_cli.core.swor import ALGORITHMS, Draws, algorithm

LINES = sorted(ALGORITHMS)
BOTH = pytest.mark.parametrize("single_root", [True, False], ids=["single", "multi"])
EACH = pytest.mark.parametrize("name", LINES)


@EACH
def test_lines_are_complete(name: str) -> None:
    line = ALGORITHMS[name]
    assert line.name == name
    assert line.cost
    assert line.source
    file, function = line.target.split(":")
    assert callable(getattr(import_module(f"deptree_cli.core.swor.{file}"), function))


def test_names_are_unique_and_found() -> None:
    module = import_module("deptree_cli.core.swor")
    assert len({line.name for line in module._LINES}) == len(module._LINES)
    assert algorithm("trie") is ALGORITHMS["trie"]
    with pytest.raises(DeptreeError, match=r"there is no SWOR algorithm 'tri'\. Choose one of "):
        algorithm("tri")


def test_mass() -> None:
    draws = Draws(np.zeros((2, 1), dtype=np.int32), np.log([0.5, 0.25]), np.arange(2.0), 3.0, exhausted=False)
    assert draws.mass == pytest.approx(0.75)
    rounded_up = Draws(
        np.zeros((2, 1), dtype=np.int32), np.log([0.5, 0.5 + 1e-15]), np.arange(2.0), np.inf, exhausted=True
    )
    assert rounded_up.mass == 1.0


@EACH
@BOTH
def test_shape_type_and_probabilities(name: str, single_root: bool, graphs) -> None:
    for n, size in [(1, 1), (2, 2), (6, 20), (15, 5)]:
        sentence = graphs.sentence(graphs.gaussian(n, 2), single_root)
        draws = ALGORITHMS[name].draw(sentence, size, np.random.default_rng(1))
        assert draws.heads.shape == (size, n)
        assert draws.heads.dtype == np.int32
        assert draws.log_probs == pytest.approx(sentence.log_probs(draws.heads))
        assert are_trees(draws.heads, single_root).all()
        assert len(np.unique(draws.heads, axis=0)) == size


@EACH
@BOTH
def test_the_stream_decides_everything(name: str, single_root: bool, graphs) -> None:
    log_scores = graphs.gaussian(5)
    first, again, other = (
        ALGORITHMS[name].draw(graphs.sentence(log_scores, single_root), 12, np.random.default_rng(seed)).heads
        for seed in (1, 1, 2)
    )
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)


@EACH
@BOTH
def test_fewer_trees_are_the_first_of_more(name: str, single_root: bool, graphs) -> None:
    if not ALGORITHMS[name].sequential:
        pytest.skip("draws all at once: more trees change all random numbers")
    sentence = graphs.sentence(graphs.gaussian(5, 2), single_root)
    few, many = (ALGORITHMS[name].draw(sentence, size, np.random.default_rng(3)).heads for size in (4, 15))
    assert np.array_equal(few, many[:4])


@EACH
@pytest.mark.parametrize("n", [1, 3])
def test_no_trees_have_the_shape_of_none(name: str, n: int, graphs) -> None:
    draws = ALGORITHMS[name].draw(graphs.sentence(graphs.uniform(n)), 0, np.random.default_rng(0))
    assert draws.heads.shape == (0, n)
    assert not draws.exhausted
