"""Score matrices from marginals: by enumeration, against known distributions, and on marginals of few trees."""

from __future__ import annotations

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
WEIGHTS = pytest.mark.parametrize("weights", [FEW, EVEN], ids=["few", "even"])


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


@WEIGHTS
@pytest.mark.parametrize("n", [2, 3, 4])
def test_marginals_are_met_by_enumeration(n, weights):
    for seed in range(4):
        mu = mixture(n, weights, seed)
        found = Oracle(projective(maxent_scores(mu, tolerance=1e-6)))
        np.testing.assert_allclose(found.marginals(), smoothed(mu), rtol=0, atol=2e-6)


@pytest.mark.parametrize("n", [3, 4, 6])
@pytest.mark.parametrize("kind", ["gaussian", "holes"])
def test_a_distribution_is_recovered_from_its_marginals(kind, n, graphs):
    """Scores are determined up to constants, so trees' probabilities are the same: without smoothing KL < 1e-5."""
    for seed in range(5):
        graph = (
            graphs.gaussian(n, 2.0, seed) if kind == "gaussian" else graphs.holes(n, seed, scale=2.0, projective=True)
        )
        exact = Oracle(projective(graph))
        found = projective(maxent_scores(exact.marginals(), 0.0, 1e-6))
        kl = np.exp(exact.log_probs) @ (exact.log_probs - found.log_probs(exact.trees))
        assert abs(kl) < 1e-5
        assert len(Oracle(found).trees) == len(exact.trees)


@pytest.mark.parametrize("seed", range(8))
def test_no_distribution_with_these_marginals_has_more_entropy(seed):
    """Steps from the distribution found, over trees but within its marginals, lose entropy, and so does the mixture."""
    found = Oracle(projective(maxent_scores(smoothed(mixture(4, EVEN, seed)), 0.0, 1e-7)))
    probs = np.exp(found.log_probs)
    indicators = np.stack([averaged(tree[None], [1.0]).ravel() for tree in found.trees])
    directions = np.linalg.svd(indicators.T)[2][np.linalg.matrix_rank(indicators) :]  # they leave marginals as they are
    assert len(directions) > 10
    entropy = -probs @ np.log(probs)
    for direction in directions:
        step = 0.5 * direction / np.abs(direction / probs).max()
        for moved in (probs + step, probs - step):
            assert -moved @ np.log(moved) < entropy


@pytest.mark.parametrize("kind", SCORE_KINDS, ids=lambda kind: kind.name)
def test_one_word(kind):
    np.testing.assert_array_equal(kind.function(np.array([[0.0, 1.0], [0.0, 0.0]])), [[-np.inf, 0], [-np.inf, -np.inf]])


@pytest.mark.parametrize("n", [2, 10, 40, 100])
@pytest.mark.parametrize("weights", [(1.0,), (1 - 1e-6, 1e-6)], ids=["certain", "peaked"])
def test_peaked_marginals(n, weights):
    """Smoothing leaves arcs of 1e-8 and less; every arc of a tree stays possible."""
    mu = mixture(n, weights, n)
    scores = maxent_scores(mu)
    assert variations(scores, smoothed(mu)).max() < 1e-3
    assert np.isfinite(scores).sum() == n * n
    assert scores[np.isfinite(scores)].min() > -50
    np.testing.assert_array_equal(np.isfinite(maxent_scores(mu, 0.0)), mu > 0)


@WEIGHTS
@pytest.mark.parametrize("n", [5, 12, 25, 40])
def test_few_trees_of_longer_sentences(n, weights):
    """The best scores are 0."""
    mu = mixture(n, weights, n)
    scores = maxent_scores(mu)
    found = variations(scores, smoothed(mu))
    assert found.max() <= 1e-3 + 1e-12
    assert found.mean() < 1e-3
    np.testing.assert_array_equal(scores[1:, 1:].max(axis=0), 0.0)
    assert scores[0].max() == 0.0
    assert (scores[:, 0] == -np.inf).all()
    assert (scores.diagonal() == -np.inf).all()


def test_scaled_scores_save_evaluations(graphs, monkeypatch):
    """53 on average for these ten sentences of 20 words; without scaled scores 315."""
    evaluations, evaluate = [], score_matrices._Dual.__call__

    def counted(dual, scaled):
        evaluations.append(scaled)
        return evaluate(dual, scaled)

    monkeypatch.setattr(score_matrices._Dual, "__call__", counted)
    for seed in range(10):
        trees = projective(graphs.gaussian(20, 4.0, seed)).sample(1000, seed)
        maxent_scores(averaged(trees, np.full(1000, 1e-3)))
    assert len(evaluations) < 10 * 80


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
    (line,) = told
    match = re.fullmatch(
        rf"a long sentence: after (\d+) steps the marginals of its scores are up to {found:.2g} off", line
    )
    assert 60 <= int(match[1]) < 70  # a search along a line that has begun is ended
    monkeypatch.setattr(score_matrices, "TOO_FAR", 1e-3)
    with pytest.raises(DeptreeError, match="no score matrix was found"):
        maxent_scores(mu)


def arcs(n, *pairs):
    mu = np.zeros((n + 1, n + 1))
    for head, word, marginal in pairs:
        mu[head, word] = marginal
    return mu


@pytest.mark.quick
@pytest.mark.parametrize(
    ("mu", "problem"),
    [
        (np.zeros((2, 3)), "shape"),
        (np.zeros((1, 1)), "shape"),
        (arcs(1, (0, 1, np.nan)), "negative or NaN"),
        (arcs(2, (0, 1, 1.5), (2, 1, -0.5), (1, 2, 1)), "negative"),
        (arcs(2, (0, 1, 1), (2, 2, 1)), "from a word to itself"),
        (arcs(2, (0, 1, 1), (1, 2, 0.9)), "word 2's heads"),
        (arcs(2, (0, 1, 1), (0, 2, 1)), "ROOT's arcs"),
    ],
)
def test_what_are_no_marginals_is_refused(mu, problem):
    for kind in SCORE_KINDS:
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
