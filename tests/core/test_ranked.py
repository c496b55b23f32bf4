"""As many best trees as cover a mass, or lie near the best one: against enumeration, in all spaces, ties included.

Exact but for the 1e-9 that is documented: graphs of 2 to 5 words, 3 kinds of scores, 5 spaces.
"""

from __future__ import annotations

import numpy as np
import pytest

from deptree_cli.core.decoding import best_trees, trees_in_order
from deptree_cli.core.distribution import TreeDistribution
from deptree_cli.core.errors import DeptreeError
from deptree_cli.core.spaces import SPACES, TreeSpace
from tests.heads_first import HEADS_FIRST
from tests.oracle import Oracle

# There are 6^4 spanning trees of 5 words.
ALL = 1296

BY_SPACE = pytest.mark.parametrize("space", [*SPACES.known, HEADS_FIRST], ids=lambda space: space.name)
BY_KIND = pytest.mark.parametrize("kind", ["flat", "ties", "gaussian", "masks"])


def scored(kind: str, space: TreeSpace, n: int) -> TreeDistribution:
    rng = np.random.default_rng(n)
    shape = (n + 1, n + 1)
    scores = {
        "flat": np.zeros(shape),
        "ties": rng.integers(0, 3, shape).astype(float),
        "gaussian": rng.normal(size=shape) * 2,
        "masks": np.where(rng.random(shape) < 0.3, -1e9, rng.integers(0, 2, shape)),
    }[kind]
    return TreeDistribution(scores, space=space)


def cases(kind: str, space: TreeSpace) -> list[TreeDistribution]:
    return [scored(kind, space, n) for n in (2, 4, 5)]


@BY_SPACE
@BY_KIND
def test_the_fewest_trees_that_cover_a_mass(kind: str, space: TreeSpace) -> None:
    """As many as the sorted probabilities of all trees need; the masses of ties end between equal trees too."""
    for distribution in cases(kind, space):
        sums = np.cumsum(np.sort(np.exp(Oracle(distribution).log_probs))[::-1])
        for mass in (0.05, 0.5, 0.95, 0.9999, 1.0, *sums[:: max(1, len(sums) // 5)].clip(max=1.0)):
            found = distribution.top_mass(float(mass), ALL)
            fewest = 1 + int(np.argmax(sums >= mass - 1e-9))
            assert len(found.heads) == len(np.unique(found.heads, axis=0)) == fewest
            assert found.complete
            assert found.mass == pytest.approx(sums[fewest - 1], abs=1e-12)
            assert (np.diff(found.log_probs) <= 1e-9).all()


@BY_SPACE
@BY_KIND
def test_all_trees_within_nats(kind: str, space: TreeSpace) -> None:
    for distribution in cases(kind, space):
        exact = Oracle(distribution)
        gaps = exact.log_probs.max() - exact.log_probs
        for nats in (0.0, 0.7, 1.0, 3.0, np.inf):
            found = distribution.within(nats, ALL)
            assert sorted(found.heads.tolist()) == sorted(exact.trees[gaps <= nats + 1e-9].tolist())
            assert found.complete


@BY_SPACE
def test_ends_at_the_most(space: TreeSpace) -> None:
    """`complete` is false if one more tree belongs there, and true if none does."""
    distribution = scored("flat", space, 4)
    trees = len(Oracle(distribution).trees)
    for found in (distribution.top_mass(1.0, trees - 1), distribution.within(0, trees - 1)):
        assert (len(found.heads), found.complete) == (trees - 1, False)
    for found in (distribution.top_mass(1.0, trees), distribution.within(0, trees)):
        assert (len(found.heads), found.complete) == (trees, True)


@BY_SPACE
def test_trees_in_order_are_the_k_best_for_any_k(space: TreeSpace) -> None:
    """Those behind the 16th and the 64th too, from where the projective ones are found anew."""
    distribution = scored("gaussian", space, 5)
    ordered = np.array(list(trees_in_order(distribution)))
    assert np.array_equal(ordered, best_trees(distribution, len(ordered) + 1))


def test_trees_are_found_as_they_are_asked_for() -> None:
    """Of 40 words with flat scores there are 40^39 trees."""
    distribution = TreeDistribution(np.zeros((41, 41)))
    assert len(distribution.top_mass(0.95, 20).heads) == 20


def test_numbers_that_make_no_sense() -> None:
    distribution = TreeDistribution(np.zeros((3, 3)))
    for mass in (0, -1, 1.1, np.nan):
        with pytest.raises(DeptreeError, match="not a probability"):
            distribution.top_mass(mass)
    for nats in (-1, np.nan):
        with pytest.raises(DeptreeError, match="nats"):
            distribution.within(nats)
    with pytest.raises(DeptreeError, match="0 trees"):
        distribution.within(1, 0)
