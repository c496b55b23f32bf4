"""Score matrices from marginals: by enumeration, against known distributions, and on marginals of few trees."""

import re

import numpy as np
import pytest

from deptree_cli.core.distribution import TreeDistribution
from deptree_cli.core.errors import DeptreeError
from deptree_cli.core.oracle import all_trees
from deptree_cli.core.spaces import PROJECTIVE, EisnerChart
from deptree_cli.hpyp.model import score_matrices
from deptree_cli.hpyp.model.score_matrices import SCORE_KINDS, maxent_scores, uniform_marginals
from tests.oracle import Oracle

FEW, EVEN = (0.9, 0.05, 0.03, 0.015, 0.005), (0.2,) * 5
CERTAIN, PEAKED = (1.0,), (1 - 1e-6, 1e-6)


def averaged(trees, weights):
    """The marginals of weighted trees (k, n), (n+1, n+1)."""
    n = trees.shape[1]
    mu = np.zeros((n + 1, n + 1))
    for tree, weight in zip(trees, weights, strict=True):
        mu[tree, np.arange(1, n + 1)] += weight
    return mu


def mixture(n, weights, seed):
    """The marginals of random projective trees with these weights: far from any arc-factored distribution's."""
    return averaged(projective(np.ones((n + 1, n + 1))).sample(len(weights), seed), weights)


def projective(scores):
    return TreeDistribution(scores, projective=True)


def variations(scores, target):
    """The total variation between the two distributions of each word's head, (n,)."""
    return 0.5 * np.abs(projective(scores).marginals() - target)[:, 1:].sum(axis=0)


def smoothed(mu):
    return 0.99 * mu + 0.01 * uniform_marginals(len(mu) - 1)


@pytest.mark.parametrize("n", range(1, 6))
def test_uniform_marginals_are_shares_of_all_trees(n):
    trees = all_trees(n, PROJECTIVE)
    np.testing.assert_allclose(uniform_marginals(n), averaged(trees, np.full(len(trees), 1 / len(trees))), atol=1e-14)


@pytest.mark.parametrize("kind", ["few", "even", "gaussian", "holes"])
@pytest.mark.parametrize("n", [2, 3, 4, 6])
def test_marginals_are_met_by_enumeration(n, kind, graphs):
    """Of few trees, smoothed, and of arc-factored distributions: scores with these marginals are of no other."""
    for seed in range(4):
        if kind in ("few", "even"):
            mu = mixture(n, {"few": FEW, "even": EVEN}[kind], seed)
            found, target = Oracle(projective(maxent_scores(mu, tolerance=1e-6))), smoothed(mu)
        else:
            options = {"projective": True} if kind == "holes" else {}
            exact = Oracle(projective(getattr(graphs, kind)(n, scale=2.0, seed=seed, **options)))
            found, target = Oracle(projective(maxent_scores(exact.marginals(), 0.0, 1e-6))), exact.marginals()
            assert len(found.trees) == len(exact.trees)
        np.testing.assert_allclose(found.marginals(), target, rtol=0, atol=2e-6)


@pytest.mark.parametrize("kind", SCORE_KINDS, ids=lambda kind: kind.name)
def test_one_word(kind):
    np.testing.assert_array_equal(kind.function(np.array([[0.0, 1.0], [0.0, 0.0]])), [[-np.inf, 0], [-np.inf, -np.inf]])


@pytest.mark.quick
@pytest.mark.parametrize(
    ("weights", "n"),
    [(FEW, 12), (FEW, 40), (EVEN, 5), (EVEN, 40), (CERTAIN, 2), (CERTAIN, 100), (PEAKED, 10), (PEAKED, 100)],
)
def test_few_trees_of_longer_sentences(weights, n, monkeypatch):
    """Smoothing leaves arcs of 1e-8 and less; every arc of a tree stays possible, and the best scores are 0."""
    mu = mixture(n, weights, n)
    monkeypatch.setattr(score_matrices, "MOST_WORK", 250 * n**3)  # without scaling it takes 996 steps, not 156
    scores = maxent_scores(mu)
    assert variations(scores, smoothed(mu)).max() <= 1e-3 + 1e-12
    possible = np.isfinite(scores)
    assert possible.sum() == n * n
    assert not possible[:, 0].any()
    assert not possible.diagonal().any()
    assert scores[possible].min() > -50
    np.testing.assert_array_equal(scores[1:, 1:].max(axis=0), 0.0)
    assert scores[0].max() == 0.0
    if len(weights) < 3:
        np.testing.assert_array_equal(np.isfinite(maxent_scores(mu, 0.0)), mu > 0)


@pytest.mark.slow("size")
def test_long_sentences_take_bounded_work(monkeypatch):
    """As many evaluations as there is work for, here about 60 of 200 words; how far off the result is, is true.

    None is in wide numbers, which take ten times as long.
    """
    mu, told = mixture(200, EVEN, 1), []
    target = smoothed(mu)
    monkeypatch.setattr(score_matrices, "MOST_WORK", 60 * 200**3)
    monkeypatch.setattr(score_matrices, "TOO_FAR", 0.5)
    with monkeypatch.context() as patched:
        patched.setattr(EisnerChart, "in_wide_numbers", None)
        scores = maxent_scores(mu, notify=told.append)
    found = variations(scores, target).max()
    assert 1e-3 < found < 0.5
    says = rf"a long sentence: after (6\d) steps the marginals of its scores are up to {found:.2g} off"
    assert re.fullmatch(says, *told)  # a search along a line that has begun is ended
    monkeypatch.setattr(score_matrices, "TOO_FAR", 1e-3)
    with pytest.raises(DeptreeError, match="no score matrix was found"):
        maxent_scores(mu)


def arcs(n, *pairs):
    mu = np.zeros((n + 1, n + 1))
    for head, word, marginal in pairs:
        mu[head, word] = marginal
    return mu


@pytest.mark.parametrize("kind", SCORE_KINDS, ids=lambda kind: kind.name)
def test_what_are_no_marginals_is_refused(kind):
    for mu, problem in [
        (np.zeros((2, 3)), "shape"),
        (np.zeros((1, 1)), "shape"),
        (arcs(1, (0, 1, np.nan)), "negative or NaN"),
        (arcs(2, (0, 1, 1.5), (2, 1, -0.5), (1, 2, 1)), "negative"),
        (arcs(2, (0, 1, 1), (2, 2, 1)), "from a word to itself"),
        (arcs(2, (0, 1, 1), (1, 2, 0.9)), "word 2's heads"),
        (arcs(2, (0, 1, 1), (0, 2, 1)), "ROOT's arcs"),
    ]:
        with pytest.raises(DeptreeError, match=problem):
            kind.function(mu)


def test_what_cannot_be_done_is_said():
    circle = arcs(4, (0, 1, 1), (3, 2, 1), (4, 3, 1), (2, 4, 1))
    crossing = arcs(4, (0, 4, 1), (3, 1, 1), (4, 2, 1), (4, 3, 1))
    for mu, options, problem in [
        (circle, {}, "no distribution over projective"),
        (crossing, {}, "no distribution over projective"),
        (mixture(6, EVEN, 0), {"smoothing": 1.5}, "smoothing is"),
        (mixture(6, EVEN, 0), {"tolerance": 0.0}, "no score matrix was found"),
        (mixture(501, FEW, 1), {}, "up to 500 words, but the sentence has 501"),
    ]:
        with pytest.raises(DeptreeError, match=problem):
            maxent_scores(mu, **options)
