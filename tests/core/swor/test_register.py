"""Every entry of the register of SWOR algorithms: complete, importable, and what all algorithms promise."""

from __future__ import annotations

import numpy as np
import pytest

from deptree_cli.core.register import imported
from deptree_cli.core.spaces import SPACES, TreeSpace
from deptree_cli.core.swor import ALGORITHMS, Algorithm, Draws
from tests.oracle import Oracle

IN_EACH = pytest.mark.parametrize("trees", SPACES, ids=lambda trees: trees.name)
EACH = pytest.mark.parametrize("algorithm", ALGORITHMS, ids=lambda algorithm: algorithm.name)
SEQUENTIAL = [algorithm for algorithm in ALGORITHMS if algorithm.sequential]  # the others draw all trees at once


@EACH
def test_entries_are_complete(algorithm: Algorithm) -> None:
    assert algorithm.cost
    assert algorithm.source
    assert callable(imported(algorithm.target, "deptree_cli.core.swor"))


def test_mass() -> None:
    draws = Draws(np.zeros((2, 1), dtype=np.int32), np.log([0.5, 0.25]), np.arange(2.0), 3.0, exhausted=False)
    assert draws.mass == pytest.approx(0.75)
    rounded_up = Draws(
        np.zeros((2, 1), dtype=np.int32), np.log([0.5, 0.5 + 1e-15]), np.arange(2.0), np.inf, exhausted=True
    )
    assert rounded_up.mass == 1.0
    assert repr(draws) == "<Draws: 2 distinct trees, mass=0.75, tau=3>"
    assert repr(rounded_up) == "<Draws: 2 distinct trees, mass=1, all there are>"


@EACH
@IN_EACH
def test_shape_type_and_probabilities(algorithm: Algorithm, trees: TreeSpace, graphs) -> None:
    for n, size in [(1, 0), (3, 0), (1, 1), (2, 2), (6, 20), (15, 5)]:
        distribution = graphs.over(graphs.gaussian(n, 2), trees)
        draws = algorithm.draw(distribution, size, np.random.default_rng(1))
        assert draws.heads.shape == (size, n)
        assert draws.heads.dtype == np.int32
        assert draws.log_probs == pytest.approx(distribution.log_probs(draws.heads))
        assert trees.contains(draws.heads).all()
        assert len(np.unique(draws.heads, axis=0)) == size
        assert size or not draws.exhausted


@EACH
@IN_EACH
def test_the_stream_decides_everything(algorithm: Algorithm, trees: TreeSpace, graphs) -> None:
    log_scores = graphs.gaussian(5)
    first, again, other = (
        algorithm.draw(graphs.over(log_scores, trees), 12, np.random.default_rng(seed)).heads for seed in (1, 1, 2)
    )
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)


@pytest.mark.parametrize("algorithm", SEQUENTIAL, ids=lambda algorithm: algorithm.name)
@IN_EACH
@pytest.mark.parametrize("scale", [2, 15])
def test_fewer_trees_are_the_first_of_more(algorithm: Algorithm, trees: TreeSpace, scale: int, graphs) -> None:
    distribution = graphs.over(graphs.gaussian(5, scale), trees)
    few, many = (algorithm.draw(distribution, size, np.random.default_rng(3)) for size in (4, 15))
    assert np.array_equal(few.heads, many.heads[:4])
    assert few.arrivals == pytest.approx(many.arrivals[:4], rel=1e-6)
    assert few.tau == pytest.approx(many.arrivals[4], rel=1e-6)


@EACH
@IN_EACH
@pytest.mark.parametrize("mass", [0.3, 0.9, 1.0])
def test_the_last_tree_brings_all_to_the_mass(algorithm: Algorithm, trees: TreeSpace, mass: float, graphs) -> None:
    distribution = graphs.over(graphs.gaussian(4, 2), trees)
    every = len(Oracle(distribution).trees)
    for seed in range(5):
        stream = np.random.default_rng(seed)
        draws = imported(algorithm.target, "deptree_cli.core.swor")(distribution, every, stream, mass)
        assert draws.mass >= mass - 1e-12
        assert np.exp(draws.log_probs[:-1]).sum() < mass
        assert draws.exhausted == (len(draws.heads) == every)
    capped = algorithm.draw(distribution, 2, np.random.default_rng(1), 0.999)
    assert len(capped.heads) == 2
