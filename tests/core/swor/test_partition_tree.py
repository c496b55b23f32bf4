"""The adaptive partition tree: whatever its thresholds, its memory or its kind of numbers; laws are in tests/laws."""

from __future__ import annotations

import numpy as np
import pytest

from deptree_cli.core.distribution import TreeDistribution
from deptree_cli.core.oracle import Oracle
from deptree_cli.core.swor import ALGORITHMS, partition_tree

BOTH = pytest.mark.parametrize("single_root", [True, False], ids=["single", "multi"])


def drawn(distribution: TreeDistribution, size: int, seed: int = 1) -> np.ndarray:
    return partition_tree.draw(distribution, size, np.random.default_rng(seed)).heads


@BOTH
@pytest.mark.parametrize("size", [64, 1000, 3000])
def test_memory_for_cells_does_not_show(single_root: bool, size: int, graphs, monkeypatch: pytest.MonkeyPatch) -> None:
    distribution = graphs.distribution(graphs.gaussian(5, 2), single_root)
    expected = drawn(distribution, size)
    monkeypatch.setattr(partition_tree, "CELLS", 2)
    assert np.array_equal(drawn(distribution, size), expected)


@BOTH
@pytest.mark.parametrize(("repeats", "least"), [(0, 1e-6), (1, 0.999), (4, 0.5), (50, 1e-12)])
def test_every_tree_once_whatever_the_thresholds(
    single_root: bool, repeats: int, least: float, graphs, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(partition_tree, "REPEATS", repeats)
    monkeypatch.setattr(partition_tree, "LEAST", least)
    distribution = graphs.distribution(graphs.gaussian(4, 4), single_root)
    assert sorted(drawn(distribution, 200).tolist()) == Oracle(distribution).trees.tolist()


@pytest.mark.parametrize("n", [5, 6])
@pytest.mark.parametrize("kind", ["u^6", "times 50", "gap 27.6", "gap 100"])
def test_every_tree_of_longer_sentences(n: int, kind: str, graphs) -> None:
    scores = {
        "u^6": lambda: 6 * np.log(np.random.default_rng(n).random((n + 1, n + 1))),
        "times 50": lambda: graphs.gaussian(n, 50),
        "gap 27.6": lambda: graphs.disconnected(n, 27.6),
        "gap 100": lambda: graphs.disconnected(n, 100.0),
    }[kind]()
    distribution = graphs.distribution(scores)
    draws = partition_tree.draw(distribution, n ** (n - 1) + 1, np.random.default_rng(2))
    assert len(np.unique(draws.heads, axis=0)) == len(draws.heads) == n ** (n - 1)
    assert draws.exhausted
    assert draws.mass == pytest.approx(1.0, abs=1e-11)


@pytest.mark.parametrize("scale", [1, 5, 15])
def test_no_tree_twice_of_many(scale: int, graphs) -> None:
    draws = partition_tree.draw(graphs.distribution(graphs.gaussian(100, scale)), 10_000, np.random.default_rng(3))
    assert len(np.unique(draws.heads, axis=0)) == len(draws.heads) == 10_000


@BOTH
def test_from_float64_on_in_wide_numbers(single_root: bool, graphs) -> None:
    """Three trees in four have less than e^-300: they come after all others, and in the order of their mass."""
    log_scores = graphs.gaussian(4)
    log_scores[1:3, 3:] -= 400.0
    distribution = graphs.distribution(log_scores, single_root)
    draws = partition_tree.draw(distribution, 200, np.random.default_rng(4))
    assert sorted(draws.heads.tolist()) == Oracle(distribution).trees.tolist()
    assert draws.log_probs.min() < -700
    assert (draws.log_probs[np.diff(draws.log_probs, prepend=0) < -300].size) > 0


@pytest.mark.parametrize("name", ALGORITHMS.names)
@pytest.mark.parametrize("mass", [0.3, 0.9, 1.0])
def test_mass(name: str, mass: float, graphs) -> None:
    distribution = graphs.distribution(graphs.gaussian(4, 2))
    for seed in range(5):
        draws = ALGORITHMS.get(name).draw(distribution, 64, np.random.default_rng(seed), mass)
        assert draws.mass >= mass - 1e-12
        assert np.exp(draws.log_probs[:-1]).sum() < mass
        assert draws.exhausted == (len(draws.heads) == 64)
    capped = ALGORITHMS.get(name).draw(distribution, 2, np.random.default_rng(1), 0.999)
    assert len(capped.heads) == 2
