"""Best trees against enumeration: ties, forbidden arcs, several optimal roots, scores of any size."""

from __future__ import annotations

import numpy as np
import pytest

from deptree_cli.core.decoding import METHODS, best_trees, maximum_tree
from deptree_cli.core.distribution import TreeDistribution
from deptree_cli.core.errors import DeptreeError
from deptree_cli.core.spaces import SINGLE_ROOT, space
from tests.oracle import Oracle

BOTH = pytest.mark.parametrize("single_root", [True, False], ids=["single", "multi"])

KINDS = {
    "gaussian": lambda rng, n: rng.normal(size=(n + 1, n + 1)) * 10,
    "ties": lambda rng, n: rng.integers(0, 3, (n + 1, n + 1)).astype(float),
    "holes": lambda rng, n: np.where(rng.random((n + 1, n + 1)) < 0.5, -np.inf, rng.integers(0, 3, (n + 1, n + 1))),
    "roots first": lambda rng, n: rng.normal(size=(n + 1, n + 1)) + 1e6 * (np.arange(n + 1) == 0)[:, None],
    "masks": lambda rng, n: np.where(rng.random((n + 1, n + 1)) < 0.4, -1e9, rng.normal(size=(n + 1, n + 1))),
}


def distributions(kind: str, single_root: bool, count: int, longest: int) -> list[TreeDistribution]:
    """Random distributions that have a tree."""
    rng = np.random.default_rng(sorted(KINDS).index(kind))
    found: list[TreeDistribution] = []
    while len(found) < count:
        scores = KINDS[kind](rng, int(rng.integers(1, longest + 1)))
        try:
            found.append(TreeDistribution(scores, single_root=single_root))
        except DeptreeError:
            continue
    return found


@pytest.mark.slow("size")
@BOTH
@pytest.mark.parametrize("kind", KINDS)
def test_the_maximum_tree_of_2000_graphs(kind: str, single_root: bool) -> None:
    """200 graphs of up to 6 words for each of 5 kinds and both root constraints."""
    for distribution in distributions(kind, single_root, 200, 6):
        weights = distribution.log_weights(Oracle(distribution).trees)
        tree = maximum_tree(distribution)
        assert space(single_root).contains(tree[None]).all()
        assert distribution.log_weights(tree[None])[0] == pytest.approx(weights.max(), rel=1e-12, abs=1e-9)


@BOTH
@pytest.mark.parametrize("kind", KINDS)
def test_the_k_best_trees_are_all_trees_in_order(kind: str, single_root: bool) -> None:
    for distribution in distributions(kind, single_root, 20, 5):
        exact = Oracle(distribution)
        trees = best_trees(distribution, len(exact.trees) + 3)
        assert sorted(trees.tolist()) == exact.trees.tolist()
        ordered = np.sort(distribution.log_weights(exact.trees))[::-1]
        np.testing.assert_allclose(distribution.log_weights(trees), ordered, rtol=1e-12, atol=1e-9)


@BOTH
def test_fewer_of_the_k_best_are_the_first(single_root: bool, graphs) -> None:
    distribution = graphs.distribution(graphs.gaussian(12, 3), single_root)
    many = best_trees(distribution, 300)
    assert len(np.unique(many, axis=0)) == 300
    assert (np.diff(distribution.log_probs(many)) <= 1e-12).all()
    assert np.array_equal(best_trees(distribution, 7), many[:7])
    assert np.array_equal(maximum_tree(distribution), many[0])
    assert space(single_root).contains(many).all()


@pytest.mark.parametrize("name", METHODS.names)
def test_real_parses_have_one_root(name: str, shared) -> None:
    with np.load(shared / "real_en" / "scores.npz") as scores:
        for key in scores.files[:400]:
            dep_head = scores[key]
            square = np.full((len(dep_head) + 1,) * 2, -np.inf)
            square[:, 1:] = dep_head.T
            tree = METHODS.get(name).function(TreeDistribution(square))
            assert SINGLE_ROOT.contains(tree[None]).all()
