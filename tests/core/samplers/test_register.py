"""Every entry of the register: complete, importable, and what its sampler promises besides the right distribution."""

from __future__ import annotations

import time
from functools import cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from deptree_cli.core.distribution import TreeDistribution
from deptree_cli.core.errors import DeptreeError
from deptree_cli.core.oracle import all_trees
from deptree_cli.core.register import imported
from deptree_cli.core.samplers import SAMPLERS, Sampler
from deptree_cli.core.spaces import MULTI_ROOT, PROJECTIVE, SINGLE_ROOT, SPACES, TreeSpace, space

EACH = pytest.mark.parametrize("sampler", SAMPLERS, ids=lambda sampler: sampler.name)
SERVED = [(sampler, trees) for sampler in SAMPLERS for trees in SPACES if sampler.serves(trees)]
EACH_SERVED = pytest.mark.parametrize(("sampler", "trees"), SERVED, ids=lambda entry: entry.name)

# Weights next to each other, and as far apart as a product of six of them in float64 allows.
EXTREME = [0.0, 1e-40, 1e-15, 0.5, 1.0 - 1e-15, 1.0, 1.0 + 1e-15, 1e15]


@EACH
def test_entries_are_complete(sampler: Sampler) -> None:
    assert set(sampler.spaces) <= set(SPACES.names)
    assert set(dict(sampler.uses)) <= set(sampler.spaces or SPACES.names)
    assert any(sampler.serves(trees) for trees in SPACES)
    assert sampler.exact == (not sampler.root_probs)  # by which a bias is told
    assert sampler.cost
    assert sampler.source
    for target in filter(None, [sampler.target, sampler.root_probs]):
        assert callable(imported(target, "deptree_cli.core.samplers"))


def test_every_tree_space_has_an_exact_default() -> None:
    assert SAMPLERS.get("auto").exact
    assert all(SAMPLERS.get("auto").serves(trees) for trees in SPACES)
    assert [sampler.name for sampler in SAMPLERS if not sampler.exact] == ["wilson-rc"]


@pytest.mark.filterwarnings("error")
@EACH_SERVED
def test_shape_and_type(sampler: Sampler, trees: TreeSpace, graphs) -> None:
    for n, size in [(1, 3), (2, 1), (5, 100), (5, 0)]:
        heads = sampler.draw(graphs.over(graphs.gaussian(n), trees), size, np.random.default_rng(1))
        assert heads.shape == (size, n)
        assert heads.dtype == np.int32
        assert trees.contains(heads).all()


@EACH
def test_a_tree_space_not_served_is_refused(sampler: Sampler, graphs) -> None:
    for trees in SPACES:
        if sampler.serves(trees):
            sampler.check_serves(trees)
            continue
        with pytest.raises(DeptreeError) as caught:
            sampler.draw(graphs.over(graphs.uniform(2), trees), 1, np.random.default_rng(0))
        assert caught.value.problem == f"the sampler {sampler.name} does not draw {trees.trees}"
        assert caught.value.remedy.startswith("Choose one of auto, e")


@pytest.mark.parametrize(
    ("name", "trees", "way"),
    [
        ("wilson", SINGLE_ROOT, "or add `single_root=False`"),
        ("wilson-reject", MULTI_ROOT, "or leave out `single_root=False`"),
        ("elimination", PROJECTIVE, "or leave out `projective=True`"),
        ("wilson", PROJECTIVE, "or add `single_root=False` and leave out `projective=True`"),
        ("eisner", MULTI_ROOT, "or add `projective=True`"),
    ],
)
def test_the_way_to_a_tree_space_that_is_served(name: str, trees: TreeSpace, way: str) -> None:
    with pytest.raises(DeptreeError) as caught:
        SAMPLERS.get(name).check_serves(trees)
    assert caught.value.remedy.endswith(way)


@EACH_SERVED
def test_the_stream_decides_everything(sampler: Sampler, trees: TreeSpace, graphs) -> None:
    """One stream, one result, whatever was worked out before of the same distribution; another stream, another."""
    log_scores = graphs.gaussian(6)
    distribution = graphs.over(log_scores, trees)
    first = sampler.draw(distribution, 200, np.random.default_rng(3))
    np.random.seed(5)  # the global generator must not matter
    assert np.array_equal(sampler.draw(distribution, 200, np.random.default_rng(3)), first)
    fresh = graphs.over(log_scores, trees)
    assert np.array_equal(sampler.draw(fresh, 200, np.random.default_rng(3)), first)
    assert not np.array_equal(sampler.draw(distribution, 200, rng := np.random.default_rng(4)), first)
    assert not np.array_equal(sampler.draw(distribution, 200, rng), sampler.draw(distribution, 200, rng))  # it goes on


@cache
def single_root_trees(n: int, projective: bool) -> NDArray[np.int32]:
    """Some tree among these is in every space that is projective or not."""
    return all_trees(n, space(True, projective))


def random_distribution(n: int, seed: int, trees: TreeSpace) -> TreeDistribution:
    """Extreme weights, among them zeros; one tree is kept possible."""
    rng = np.random.default_rng(seed)
    weights = rng.choice(EXTREME, size=(n + 1, n + 1))
    weights[rng.random(weights.shape) < rng.random()] = 0.0
    kept = single_root_trees(n, trees.projective)
    arcs = kept[rng.integers(len(kept))], np.arange(1, n + 1)
    weights[arcs] = rng.choice(EXTREME[1:], size=n)
    return TreeDistribution(weights, "weight", trees)


@EACH_SERVED
@given(n=st.integers(1, 6), seed=st.integers(0, 2**32 - 1))
def test_only_trees_and_never_a_forbidden_arc(sampler: Sampler, trees: TreeSpace, n: int, seed: int) -> None:
    distribution = random_distribution(n, seed, trees)
    heads = sampler.draw(distribution, 40, np.random.default_rng(seed))
    assert trees.contains(heads).all()
    assert (distribution.log_weights(heads) > -np.inf).all()


@EACH_SERVED
def test_saturated_words_do_not_hold_a_sampler_up(sampler: Sampler, trees: TreeSpace, graphs) -> None:
    """Unguarded, a walk out of words that choose each other with probability 1 - 1e-12 takes 1e12 steps, some hours;
    with a budget of 1e6 steps for the first 32 trees it is a tenth of a second. A minute is for a busy machine."""
    distributions = [graphs.over(graphs.saturated(n), trees) for n in (4, 20)]
    for distribution in distributions:
        sampler.draw(distribution, 1, np.random.default_rng(0))  # compile
        start = time.perf_counter()
        heads = sampler.draw(distribution, 1000, np.random.default_rng(1))
        assert time.perf_counter() - start < 60
        assert trees.contains(heads).all()


@EACH_SERVED
@pytest.mark.parametrize("log_gap", [1000.0, 1e7])
def test_trees_beyond_the_range_of_float64(sampler: Sampler, trees: TreeSpace, log_gap: float, graphs) -> None:
    distribution = graphs.over(graphs.disconnected(6, log_gap), trees)
    heads = sampler.draw(distribution, 100, np.random.default_rng(2))
    assert trees.contains(heads).all()
    crossings = (heads == 0) | ((heads > 3) != (np.arange(1, 7) > 3))
    assert (crossings.sum(axis=1) == 2).all()  # ROOT to one half, and from there or from ROOT to the other
