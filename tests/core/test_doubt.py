"""Doubts about annotated words and trees, beside sums over all trees of small graphs."""

import numpy as np
import pytest

from deptree_cli.commands.doubt import CRITERIA
from deptree_cli.core.distribution import TreeDistribution
from deptree_cli.core.doubt import disagreement, doubts_of_heads, doubts_of_labels, expected_errors, least_margin
from tests.oracle import Oracle

EACH = pytest.mark.parametrize(("n", "seed"), [(n, seed) for n in (1, 2, 3, 4, 5) for seed in (1, 2)])


def case(n, seed):
    """A distribution with a forbidden arc or two, all its trees, and annotated heads, the last of which is missing."""
    rng = np.random.default_rng([n, seed])
    scores = rng.normal(scale=2, size=(n + 1, n + 1))
    scores[rng.random(scores.shape) < 0.1] = -np.inf
    scores[0, 1:] = rng.normal(size=n)
    distribution = TreeDistribution(scores, "log")
    oracle = Oracle(distribution)
    heads = oracle.trees[rng.integers(len(oracle.trees))].astype(np.int32).copy()
    if n > 2:
        heads[-1] = -1
    return distribution, oracle, heads


@EACH
def test_sums_over_all_trees(n, seed):
    distribution, oracle, heads = case(n, seed)
    probs, known = np.exp(oracle.log_probs), heads >= 0
    found, marginals = doubts_of_heads(distribution.marginals(), heads), distribution.marginals()
    right = oracle.trees == heads
    expected = np.where(known, probs @ right, np.nan)
    np.testing.assert_allclose(found.probs, expected, atol=1e-12)
    np.testing.assert_allclose(found.doubts, 1 - expected, atol=1e-12)
    assert expected_errors(found.doubts) == pytest.approx(probs @ (~right[:, known]).sum(axis=1), abs=1e-12)
    shares = oracle.marginals()[:, 1:]
    np.testing.assert_allclose(found.best_probs, shares.max(axis=0), atol=1e-12)
    np.testing.assert_allclose(shares[found.best, np.arange(n)], shares.max(axis=0), atol=1e-12)
    others = np.where(np.arange(n + 1)[:, None] == heads, -1, shares).max(axis=0)
    assert least_margin(marginals, heads) == pytest.approx((expected - others)[known].min(), abs=1e-12)
    differ = (oracle.trees[:, None] != oracle.trees[None]).sum(axis=-1)
    assert disagreement(marginals) == pytest.approx(probs @ differ @ probs, abs=1e-12)


def test_without_heads_there_is_nothing_of_annotation():
    marginals, heads = case(3, 1)[0].marginals(), np.full(3, -1, dtype=np.int32)
    assert np.isnan(expected_errors(doubts_of_heads(marginals, heads).doubts))
    assert np.isnan(least_margin(marginals, heads))


def test_doubts_are_told_apart_where_probabilities_are_one():
    """Of weights 1e20 and 1e30 against 1 the second is the surer, though both round to certainty."""
    weights = np.array([[0, 1e20, 1e-30], [0, 0, 1], [0, 1, 0]], dtype=float)
    found = doubts_of_heads(TreeDistribution(weights, "weight").marginals(), np.array([0, 1], dtype=np.int32))
    assert (found.probs == 1).all()
    assert 0 < found.doubts[0] == pytest.approx(1e-50, rel=1e-9)


@EACH
def test_labels_multiply_with_heads(n, seed):
    """P(head and label) from the marginals of arcs with labels, to 1e-12; the best label is that of the best head."""
    distribution, _, heads = case(n, seed)
    rng, words = np.random.default_rng(seed), np.arange(1, n + 1)
    labelled = distribution.labelled(("root", "a", "b"), rng.normal(size=(n + 1, n + 1, 3)))
    numbers = rng.integers(-1, 3, n).astype(np.int32)
    arcs = doubts_of_heads(labelled.marginals(), heads)
    found = doubts_of_labels(arcs, heads, numbers, labelled.labels.log_probs)
    joint = labelled.labels.marginals(labelled.marginals())
    expected = np.where((heads < 0) | (numbers < 0), np.nan, joint[heads, words, numbers])
    np.testing.assert_allclose(found.probs, expected, atol=1e-12)
    np.testing.assert_allclose(found.doubts, 1 - expected, atol=1e-12)
    np.testing.assert_allclose(found.best_probs, joint[arcs.best, words].max(axis=1), atol=1e-12)


def test_the_least_key_is_the_most_doubtful():
    first = {each.name for each in CRITERIA if each.key(0.9) < each.key(0.1)}
    assert first == {"expected-errors", "entropy", "disagreement"}
