"""Heads of many trees in small integers: the same trees, in a quarter of the memory."""

from __future__ import annotations

import numpy as np
import pytest

from deptree_cli.core import many_trees
from deptree_cli.core.distribution import TreeDistribution
from deptree_cli.core.many_trees import blocks_to_fill, blocks_to_read, empty_heads
from deptree_cli.core.samplers import SAMPLERS, Sampler
from deptree_cli.core.spaces import SPACES

SIZE = 150


@pytest.mark.parametrize(
    ("sampler", "space"),
    [(each, space.name) for each in SAMPLERS for space in SPACES if each.serves(space)],
    ids=lambda value: getattr(value, "name", value),
)
def test_small_integers_change_no_tree(sampler: Sampler, space: str, monkeypatch: pytest.MonkeyPatch) -> None:
    scores = np.random.default_rng(0).normal(size=(7, 7)) * 3

    def drawn() -> np.ndarray:
        return sampler.draw_small(TreeDistribution(scores, space=space), SIZE, np.random.default_rng(1))

    usual = drawn()
    monkeypatch.setattr(many_trees, "FEW", 0)
    monkeypatch.setattr(many_trees, "BLOCK", 40)  # smaller than the parts in which trees are walked
    np.testing.assert_array_equal(drawn(), usual)
    distribution = TreeDistribution(scores, space=space)
    small = usual.astype(np.int8)
    np.testing.assert_array_equal(distribution.tree_log_probs(small), distribution.tree_log_probs(usual))
    whole = sampler.draw(distribution, SIZE, np.random.default_rng(1))
    assert whole.dtype == np.int32  # for whoever does not ask for small ones
    np.testing.assert_array_equal(whole, usual)


@pytest.mark.parametrize(("n", "dtype"), [(40, np.int8), (128, np.int8), (129, np.int16)])
def test_many_heads_are_as_small_as_their_numbers(n: int, dtype: type, monkeypatch: pytest.MonkeyPatch) -> None:
    assert empty_heads(3, n).dtype == np.int32
    monkeypatch.setattr(many_trees, "FEW", 3 * n - 1)
    heads = empty_heads(3, n)
    assert heads.dtype == dtype
    trees = np.random.default_rng(0).integers(0, 128, size=heads.shape).astype(np.int32)
    for rows, block in blocks_to_fill(heads):
        assert block.dtype == np.int32
        block[:] = trees[rows]
    np.testing.assert_array_equal(heads, trees)
    read = [block for _, block in blocks_to_read(heads)]
    assert {block.dtype for block in read} == {np.dtype(np.int32)}
    np.testing.assert_array_equal(np.concatenate(read), trees)
