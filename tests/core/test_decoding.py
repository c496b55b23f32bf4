"""Best trees against enumeration, ties and masks included: k of them, those that cover a mass or lie near the best."""

import numpy as np
import pytest

from deptree_cli.core.decoding import best_trees, maximum_tree, trees_in_order
from deptree_cli.core.distribution import TreeDistribution
from deptree_cli.core.errors import DeptreeError
from deptree_cli.core.spaces import SPACES
from tests.heads_first import HEADS_FIRST
from tests.oracle import Oracle

KINDS = {
    "gaussian": lambda rng, n: rng.normal(size=(n + 1, n + 1)) * 10,
    "ties": lambda rng, n: rng.integers(0, 3, (n + 1, n + 1)).astype(float),
    "holes": lambda rng, n: np.where(rng.random((n + 1, n + 1)) < 0.5, -np.inf, rng.integers(0, 3, (n + 1, n + 1))),
    "roots first": lambda rng, n: rng.normal(size=(n + 1, n + 1)) + 1e6 * (np.arange(n + 1) == 0)[:, None],
    "masks": lambda rng, n: np.where(rng.random((n + 1, n + 1)) < 0.3, -1e9, rng.integers(0, 2, (n + 1, n + 1))),
    "flat": lambda rng, n: np.zeros((n + 1, n + 1)),
}
EACH_KIND = pytest.mark.parametrize("kind", KINDS)
BY_SPACE = pytest.mark.parametrize("space", [*SPACES.known, HEADS_FIRST], ids=lambda space: space.name)


def distributions(kind, space, count):
    rng, found = np.random.default_rng(sorted(KINDS).index(kind)), []
    while len(found) < count:
        scores = KINDS[kind](rng, int(rng.integers(1, 6)))
        try:
            found.append(TreeDistribution(scores, space=space))
        except DeptreeError:
            continue
    return found


@BY_SPACE
@EACH_KIND
def test_the_k_best_trees_are_all_trees_in_order(kind, space):
    """In one go, and one after the other: those behind the 16th and the 64th too, from where projective ones are found
    anew."""
    for distribution in distributions(kind, space, 10):
        exact = Oracle(distribution)
        trees = best_trees(distribution, len(exact.trees) + 3)
        assert sorted(trees.tolist()) == exact.trees.tolist()
        ordered = np.sort(distribution.log_weights(exact.trees))[::-1]
        np.testing.assert_allclose(distribution.log_weights(trees), ordered, rtol=1e-12, atol=1e-9)
        assert np.array_equal(maximum_tree(distribution), trees[0])
        if kind == "gaussian":
            assert np.array_equal(list(trees_in_order(distribution)), trees)


@pytest.mark.parametrize("single_root", [True, False], ids=["single", "multi"])
def test_fewer_of_the_k_best_are_the_first(single_root, graphs):
    distribution = graphs.distribution(graphs.gaussian(12, 3), single_root)
    many = best_trees(distribution, 300)
    assert len(np.unique(many, axis=0)) == 300
    assert (np.diff(distribution.log_probs(many)) <= 1e-12).all()
    assert np.array_equal(best_trees(distribution, 7), many[:7])
    assert distribution.space.contains(many).all()


@BY_SPACE
@EACH_KIND
def test_the_fewest_trees_that_cover_a_mass(kind, space):
    """As many as the sorted probabilities of all trees need, but for the 1e-9 that is documented; the masses of ties
    end between equal trees too."""
    for distribution in distributions(kind, space, 3):
        sums = np.cumsum(np.sort(np.exp(Oracle(distribution).log_probs))[::-1])
        for mass in (0.05, 0.5, 0.95, 0.9999, 1.0, *sums[:: max(1, len(sums) // 5)].clip(max=1.0)):
            found = distribution.top_mass(float(mass), 1296)  # all 6^4 spanning trees of 5 words
            fewest = 1 + int(np.argmax(sums >= mass - 1e-9))
            assert len(found.heads) == len(np.unique(found.heads, axis=0)) == fewest
            assert found.complete
            assert found.mass == pytest.approx(sums[fewest - 1], abs=1e-12)
            assert (np.diff(found.log_probs) <= 1e-9).all()


@BY_SPACE
@EACH_KIND
def test_all_trees_within_nats(kind, space):
    for distribution in distributions(kind, space, 3):
        exact = Oracle(distribution)
        gaps = exact.log_probs.max() - exact.log_probs
        for nats in (0.0, 0.7, 1.0, 3.0, np.inf):
            found = distribution.within(nats, 1296)
            assert sorted(found.heads.tolist()) == sorted(exact.trees[gaps <= nats + 1e-9].tolist())
            assert found.complete


@BY_SPACE
def test_ends_at_the_most(space):
    """`complete` is false if one more tree belongs there, and true if none does."""
    distribution = TreeDistribution(np.zeros((5, 5)), space=space)
    trees = len(Oracle(distribution).trees)
    for most in (trees - 1, trees):
        for found in (distribution.top_mass(1.0, most), distribution.within(0, most)):
            assert (len(found.heads), found.complete) == (most, most == trees)
    assert len(TreeDistribution(np.zeros((41, 41))).top_mass(0.95, 20).heads) == 20  # of 40^39


def test_numbers_that_make_no_sense():
    distribution = TreeDistribution(np.zeros((3, 3)))
    for mass in (0, -1, 1.1, np.nan):
        with pytest.raises(DeptreeError, match="not a probability"):
            distribution.top_mass(mass)
    for nats in (-1, np.nan):
        with pytest.raises(DeptreeError, match="nats"):
            distribution.within(nats)
    with pytest.raises(DeptreeError, match="0 trees"):
        distribution.within(1, 0)
