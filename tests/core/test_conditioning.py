"""Distributions given some heads, at a temperature, to a power: against enumeration, and what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deptree_cli.core.distribution import TreeDistribution
from deptree_cli.core.errors import DeptreeError
from deptree_cli.core.spaces import SPACES, TreeSpace
from tests.oracle import Oracle

EACH_SPACE = pytest.mark.parametrize("trees", SPACES, ids=lambda trees: trees.name)


@EACH_SPACE
@given(seed=st.integers(0, 2**32 - 1), known=st.lists(st.booleans(), min_size=4, max_size=4))
def test_given_some_heads_of_a_tree(trees: TreeSpace, graphs, seed: int, known: list[bool]) -> None:
    """P(tree) / P(trees that have these heads), and 0 for others."""
    distribution = graphs.over(graphs.holes(4, seed % 50, trees.single_root, 3.0, trees.projective), trees)
    oracle = Oracle(distribution)
    tree = oracle.trees[seed % len(oracle.trees)]
    heads = [int(head) if is_known else None for head, is_known in zip(tree, known, strict=True)]
    agrees = (oracle.trees == tree)[:, known].all(axis=1)
    expected = np.where(agrees, oracle.log_probs - np.logaddexp.reduce(oracle.log_probs[agrees]), -np.inf)
    found = distribution.given(heads)
    np.testing.assert_allclose(found.log_probs(oracle.trees), expected, rtol=0, atol=1e-11)
    assert found.space == distribution.space


def test_given_all_heads_one_tree_is_left(graphs) -> None:
    distribution = graphs.distribution(graphs.gaussian(4, 5))
    for tree in (distribution.argmax(), distribution.sample(1, 3)[0]):
        found = distribution.given(tree)
        assert found.log_prob(tree) == 0.0
        assert found.argmax().tolist() == found.mbr().tolist() == found.sample(3, 1)[2].tolist() == tree.tolist()
        assert found.entropy() == 0.0
        assert len(found.sample_without_replacement(5, 1).heads) == 1


@pytest.mark.parametrize(
    ("heads", "message"),
    [
        ([99, None, None], "x: the head of word 1 is 99, not 0 to 3. Give 0 for ROOT, the number of a word, or None."),
        ([None, -1, None], "x: the head of word 2 is -1, not 0 to 3."),
        ([None, None, 4], "x: the head of word 3 is 4, not 0 to 3."),
        ([0.0, None, None], "x: the head of word 1 is 0.0, not 0 to 3."),
        (["1", None, None], "x: the head of word 1 is '1', not 0 to 3."),
        ([np.nan, None, None], "x: the head of word 1 is nan, not 0 to 3."),
        ([True, None, None], "x: the head of word 1 is True, not 0 to 3."),
        ([[0], None, None], "x: the head of word 1 is [0], not 0 to 3."),
        ([1, 2], "x: 2 heads given for a sentence of 3 words. Give one head per word, None where it is open."),
        ([], "x: 0 heads given for a sentence of 3 words."),
        ([0, 1, 2, 3], "x: 4 heads given for a sentence of 3 words."),
        ([1, None, None], "x: the head of word 1 is fixed to 1, an arc that the scores forbid."),
        ([3, None, None], "x: the head of word 1 is fixed to 3, an arc that the scores forbid."),
        ([0, 0, None], "x: no single-root tree is possible: words 1 and 2 can attach to ROOT only."),
        ([2, 1, None], "x: no single-root tree is possible: words 1 and 2 cannot be reached from the possible root 3."),
    ],
    ids=str,
)
def test_heads_that_are_refused(heads: Any, message: str) -> None:
    scores = np.ones((4, 4))
    scores[3, 1] = 0.0
    distribution = TreeDistribution(scores, "weight", id="x")
    with pytest.raises(DeptreeError) as caught:
        distribution.given(heads)
    assert str(caught.value).startswith(message)


@EACH_SPACE
@pytest.mark.parametrize("temperature", [0.5, 3.0])
def test_tempered(trees: TreeSpace, temperature: float, graphs) -> None:
    """Trees in proportion to p^(1/T)."""
    distribution = graphs.over(graphs.holes(4, 3, trees.single_root, projective=trees.projective), trees)
    oracle, hot = Oracle(distribution), distribution.tempered(temperature)
    log_weights = oracle.log_probs / temperature
    expected = log_weights - np.logaddexp.reduce(log_weights)
    np.testing.assert_allclose(hot.log_probs(oracle.trees), expected, atol=1e-12)
    np.testing.assert_allclose(distribution.raised_to(1 / temperature).log_probs(oracle.trees), expected, atol=1e-12)
    assert (np.isneginf(hot.log_scores) == np.isneginf(distribution.log_scores)).all()


def test_temperature_1_changes_nothing(graphs) -> None:
    distribution = graphs.distribution(graphs.gaussian(4))
    assert np.array_equal(distribution.tempered(1.0).log_scores, distribution.log_scores)
    for bad in (0.0, -1.0, np.nan, np.inf):
        with pytest.raises(DeptreeError, match="the temperature is"):
            distribution.tempered(bad)
    with pytest.raises(DeptreeError, match="takes scores out of range"):
        distribution.tempered(1e-300)


def test_steps_one_after_another(graphs) -> None:
    """Conditioning, tempering and another tree space commute."""
    distribution, heads = graphs.distribution(graphs.gaussian(4)), [None, 0, None, None]
    first = distribution.given(heads).tempered(2.0).multi_root()
    second = distribution.multi_root().tempered(2.0).given(heads)
    assert np.array_equal(first.log_scores, second.log_scores)
    assert first.space == second.space
    assert first.id == second.id == distribution.id
