"""Score matrices from marginals: by enumeration, against known distributions, and on marginals of few trees."""

from __future__ import annotations

import math
import re

import numpy as np
import pytest

from deptree_cli.core.distribution import TreeDistribution
from deptree_cli.core.dtypes import Float, Heads
from deptree_cli.core.errors import DeptreeError
from deptree_cli.core.oracle import all_trees
from deptree_cli.core.spaces import PROJECTIVE, EisnerChart
from deptree_cli.hpyp.model import score_matrices
from deptree_cli.hpyp.model.score_matrices import SCORE_KINDS, log_scores, maxent_scores, uniform_marginals
from tests.oracle import Oracle

FEW = (0.9, 0.05, 0.03, 0.015, 0.005)
EVEN = (0.2,) * 5


def averaged(trees: Heads, weights: Float) -> Float:
    """The marginals of weighted trees (k, n), (n+1, n+1)."""
    n = trees.shape[1]
    mu = np.zeros((n + 1, n + 1))
    for tree, weight in zip(trees, weights, strict=True):
        mu[tree, np.arange(1, n + 1)] += weight
    return mu


def mixture(n: int, weights: tuple[float, ...], seed: int) -> Float:
    """The marginals of random projective trees with these weights: far from any arc-factored distribution's."""
    trees = TreeDistribution(np.ones((n + 1, n + 1)), projective=True).sample(len(weights), seed)
    return averaged(trees, np.asarray(weights))


def projective(scores: Float) -> TreeDistribution:
    return TreeDistribution(scores, projective=True)


def variations(scores: Float, target: Float) -> Float:
    """The total variation between the two distributions of each word's head, (n,)."""
    found: Float = 0.5 * np.abs(projective(scores).marginals() - target)[:, 1:].sum(axis=0)
    return found


def smoothed(mu: Float, smoothing: float = 0.01) -> Float:
    return (1 - smoothing) * mu + smoothing * uniform_marginals(len(mu) - 1)


@pytest.mark.parametrize("n", range(1, 6))
def test_uniform_marginals_are_shares_of_all_trees(n: int) -> None:
    trees = all_trees(n, PROJECTIVE)
    np.testing.assert_allclose(uniform_marginals(n), averaged(trees, np.full(len(trees), 1 / len(trees))), atol=1e-14)


@pytest.mark.parametrize("weights", [FEW, EVEN], ids=["few", "even"])
@pytest.mark.parametrize("n", [2, 3, 4])
def test_marginals_are_met_by_enumeration(n: int, weights: tuple[float, ...]) -> None:
    for seed in range(4):
        mu = mixture(n, weights, seed)
        found = Oracle(projective(maxent_scores(mu, tolerance=1e-6)))
        np.testing.assert_allclose(found.marginals(), smoothed(mu), rtol=0, atol=2e-6)


@pytest.mark.parametrize("n", [3, 4, 6])
@pytest.mark.parametrize("kind", ["gaussian", "holes"])
def test_a_distribution_is_recovered_from_its_marginals(kind: str, n: int, graphs) -> None:
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
def test_no_distribution_with_these_marginals_has_more_entropy(seed: int) -> None:
    """Steps from the distribution found, over trees but within its marginals, lose entropy, and so does the mixture."""
    mu = smoothed(mixture(4, EVEN, seed))
    found = Oracle(projective(maxent_scores(mu, 0.0, 1e-7)))
    probs = np.exp(found.log_probs)
    indicators = np.stack([averaged(tree[None], np.ones(1)).ravel() for tree in found.trees])
    directions = np.linalg.svd(indicators.T)[2][np.linalg.matrix_rank(indicators) :]  # they leave marginals as they are
    assert len(directions) > 10
    entropy = -probs @ np.log(probs)
    for direction in directions:
        step = 0.5 * direction / np.abs(direction / probs).max()
        for moved in (probs + step, probs - step):
            assert -moved @ np.log(moved) < entropy


def test_two_words_by_hand() -> None:
    """The trees are 0 -> 1 -> 2 and 0 -> 2 -> 1: the odds of the smoothed marginals are those of the weights."""
    scores = maxent_scores(np.array([[0, 0.7, 0.3], [0, 0, 0.7], [0, 0.3, 0]]), tolerance=1e-8)
    log_odds = scores[0, 1] + scores[1, 2] - scores[0, 2] - scores[2, 1]
    assert log_odds == pytest.approx(math.log((0.99 * 0.7 + 0.005) / (0.99 * 0.3 + 0.005)), abs=1e-6)


@pytest.mark.parametrize("kind", SCORE_KINDS, ids=lambda kind: kind.name)
def test_one_word(kind: score_matrices.ScoreKind) -> None:
    np.testing.assert_array_equal(kind.function(np.array([[0.0, 1.0], [0.0, 0.0]])), [[-np.inf, 0], [-np.inf, -np.inf]])


@pytest.mark.parametrize("n", [2, 10, 40, 100])
@pytest.mark.parametrize("weights", [(1.0,), (1 - 1e-6, 1e-6)], ids=["certain", "peaked"])
def test_peaked_marginals(n: int, weights: tuple[float, ...]) -> None:
    """Smoothing leaves arcs of 1e-8 and less; every arc of a tree stays possible."""
    mu = mixture(n, weights, n)
    scores = maxent_scores(mu)
    assert variations(scores, smoothed(mu)).max() < 1e-3
    assert np.isfinite(scores).sum() == n * n
    assert scores[np.isfinite(scores)].min() > -50
    np.testing.assert_array_equal(np.isfinite(maxent_scores(mu, 0.0)), mu > 0)


@pytest.mark.parametrize("weights", [FEW, EVEN], ids=["few", "even"])
@pytest.mark.parametrize("n", [5, 12, 25, 40])
def test_few_trees_of_longer_sentences(n: int, weights: tuple[float, ...]) -> None:
    mu = mixture(n, weights, n)
    found = variations(maxent_scores(mu), smoothed(mu))
    assert found.max() <= 1e-3 + 1e-12
    assert found.mean() < 1e-3


def test_scaled_scores_save_evaluations(graphs, monkeypatch: pytest.MonkeyPatch) -> None:
    """53 on average for these ten sentences of 20 words; without scaled scores 315."""
    evaluations = []
    evaluate = score_matrices._Dual.__call__

    def counted(dual: score_matrices._Dual, scaled: Float) -> tuple[float, Float]:
        evaluations.append(scaled)
        return evaluate(dual, scaled)

    monkeypatch.setattr(score_matrices._Dual, "__call__", counted)
    for seed in range(10):
        trees = projective(graphs.gaussian(20, 4.0, seed)).sample(1000, seed)
        maxent_scores(averaged(trees, np.full(1000, 1e-3)))
    assert len(evaluations) < 10 * 80


@pytest.mark.slow("size")
def test_long_sentences_take_bounded_work(monkeypatch: pytest.MonkeyPatch) -> None:
    """As many evaluations as there is work for, here about 60 of 200 words; how far off the result is, is true.

    None is in wide numbers, which take ten times as long.
    """
    mu, told = mixture(200, EVEN, 1), []
    exact = uniform_marginals(200)
    monkeypatch.setattr(score_matrices, "MOST_WORK", 60 * 200**3)
    monkeypatch.setattr(score_matrices, "TOO_FAR", 0.5)
    with monkeypatch.context() as patched:
        patched.setattr(EisnerChart, "in_wide_numbers", None)
        scores = maxent_scores(mu, notify=told.append)
    found = variations(scores, 0.99 * mu + 0.01 * exact).max()
    assert 1e-3 < found < 0.5
    (line,) = told
    match = re.fullmatch(
        rf"a long sentence: after (\d+) steps the marginals of its scores are up to {found:.2g} off", line
    )
    assert match is not None
    assert 60 <= int(match[1]) < 70  # a search along a line that has begun is ended
    monkeypatch.setattr(score_matrices, "TOO_FAR", 1e-3)
    with pytest.raises(DeptreeError, match="no score matrix was found"):
        maxent_scores(mu)


def test_longer_sentences_are_refused() -> None:
    with pytest.raises(DeptreeError, match="up to 500 words, but the sentence has 501"):
        maxent_scores(mixture(501, FEW, 1))


def test_the_gradient_is_the_slope() -> None:
    """Central differences of the dual, of which a third derivative of order 1 leaves 1e-10."""
    dual = score_matrices._Dual(smoothed(mixture(6, EVEN, 3)))
    point = dual.start + np.random.default_rng(0).normal(size=dual.start.shape)
    _, gradient = dual(point)
    for arc in range(len(point)):
        step = np.zeros_like(point)
        step[arc] = 1e-5
        slope = (dual(point + step)[0] - dual(point - step)[0]) / 2e-5
        assert gradient[arc] == pytest.approx(slope, abs=1e-8)


def test_the_best_scores_are_0() -> None:
    scores = maxent_scores(mixture(15, FEW, 1))
    np.testing.assert_array_equal(scores[1:, 1:].max(axis=0), 0.0)
    assert scores[0].max() == 0.0
    assert (scores[:, 0] == -np.inf).all()
    assert (scores.diagonal() == -np.inf).all()


def test_log_scores() -> None:
    mu = mixture(8, FEW, 2)
    np.testing.assert_allclose(np.exp(log_scores(mu)), mu, rtol=1e-14)


def test_the_register() -> None:
    assert SCORE_KINDS.names == ["maxent", "log"]
    assert SCORE_KINDS.get("log").function is log_scores
    assert all(kind.summary.endswith(".") for kind in SCORE_KINDS)
    with pytest.raises(DeptreeError, match="Did you mean maxent"):
        SCORE_KINDS.get("maxnet")


def arcs(n: int, *pairs: tuple[int, int, float]) -> Float:
    mu = np.zeros((n + 1, n + 1))
    for head, word, marginal in pairs:
        mu[head, word] = marginal
    return mu


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
def test_what_are_no_marginals_is_refused(mu: Float, problem: str) -> None:
    for kind in SCORE_KINDS:
        with pytest.raises(DeptreeError, match=problem):
            kind.function(mu)


@pytest.mark.parametrize(
    "mu",
    [
        arcs(4, (0, 1, 1), (3, 2, 1), (4, 3, 1), (2, 4, 1)),
        arcs(4, (0, 4, 1), (3, 1, 1), (4, 2, 1), (4, 3, 1)),
    ],
    ids=["circle", "crossing"],
)
def test_marginals_of_no_projective_trees_are_refused(mu: Float) -> None:
    with pytest.raises(DeptreeError, match="no distribution over projective"):
        maxent_scores(mu)


def test_what_cannot_be_done_is_said() -> None:
    mu = mixture(6, EVEN, 0)
    with pytest.raises(DeptreeError, match="smoothing is"):
        maxent_scores(mu, 1.5)
    with pytest.raises(DeptreeError, match="no score matrix was found"):
        maxent_scores(mu, tolerance=0.0)
