"""Products and mixtures of tree distributions, and their divergence, beside all trees; fits beside other optimisers."""

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import rel_entr

from deptree_cli.core import combination as module
from deptree_cli.core.arc_factored import ArcFactored
from deptree_cli.core.combination import BOUNDS, fit_product, jensen_shannon, mixture, product, product_gradient
from deptree_cli.core.monte_carlo import MonteCarloEstimate, shares
from deptree_cli.core.oracle import all_trees
from deptree_cli.core.spaces import PROJECTIVE, SPACES
from tests.oracle import Oracle

N, WORDS = 4, np.arange(1, 5)
WEIGHTS = np.array([0.7, 0.4])
EACH = pytest.mark.parametrize("space", SPACES.names)


def members(seed, space="single-root", size=2):
    rng = np.random.default_rng(seed)
    return [ArcFactored(rng.normal(scale=2, size=(N + 1, N + 1)), space=space) for _ in range(size)]


def probs(distribution):
    return np.exp(distribution.log_probs(all_trees(N, distribution.space)))


@EACH
def test_a_product_is_that_of_the_trees_probabilities(space):
    """What one forbids is forbidden unless its weight is 0."""
    ours = members(1, space)
    scores = ours[1].log_scores.copy()
    scores[0, 1] = -np.inf
    ours[1] = ArcFactored(scores, space=space)
    assert np.isfinite(product(ours, np.array([1.0, 0.0]))[0, 1])
    pooled = ArcFactored(product(ours, WEIGHTS), space=space)
    expected = np.prod([probs(each) ** weight for weight, each in zip(WEIGHTS, ours, strict=True)], axis=0)
    np.testing.assert_allclose(probs(pooled), expected / expected.sum(), rtol=1e-12)


@EACH
def test_a_mixtures_arcs_are_those_of_all_trees(space):
    ours = members(3, space)
    found = mixture([MonteCarloEstimate(each.marginals()) for each in ours], np.array([0.3, 0.7])).expectations
    law, expected = 0.3 * probs(ours[0]) + 0.7 * probs(ours[1]), np.zeros((N + 1, N + 1))
    for word in WORDS:
        np.add.at(expected[:, word], all_trees(N, ours[0].space)[:, word - 1], law)
    np.testing.assert_allclose(found, expected, atol=1e-12)


@EACH
def test_a_consensus_has_the_most_right_heads_of_all_trees(space):
    """Of mixtures, and of votes for trees with crossing arcs and several roots, too; only trees of the space count."""
    rng, trees, all_kinds = np.random.default_rng(6), *(all_trees(N, SPACES.get(s)) for s in (space, "multi-root"))
    votes = [shares(all_kinds[rng.choice(len(all_kinds), 3)], np.array([2, 1, 1])).expectations for _ in range(50)]
    for each in [*votes, *(members(seed, space, 1)[0].marginals() for seed in range(10))]:
        tree = module.consensus(each, SPACES.get(space))
        assert each[tree, WORDS].sum() == pytest.approx(each[trees, WORDS].sum(axis=1).max(), abs=1e-12)
        assert (trees == tree).all(axis=1).any()


def test_votes_are_shares_with_the_standard_errors_of_means():
    """Of a set of k trees sqrt(p (1 - p) / (k - 1)); of k files of a tree each the same."""
    trees, one = np.array([[2, 0], [2, 0], [0, 1], [2, 0]]), np.array([1])
    together = mixture([shares(np.array([[2, 0], [0, 1]]), np.array([3, 1]))], np.ones(1))
    apart = mixture([shares(tree[None], one) for tree in trees], np.full(4, 0.25))
    for found in (together, apart):
        assert found.expectations[2, 1] == found.expectations[0, 2] == 0.75
        assert found.standard_errors[2, 1] == pytest.approx(np.std([1, 1, 0, 1], ddof=1) / 2)
    assert mixture([shares(trees[:1], one)], np.ones(1)).standard_errors is None


@pytest.mark.slow("statistics")
def test_weighted_errors_are_those_of_weighted_means_in_a_simulation():
    """Voters say yes with probability 0.4; the variance of the weighted share of 5 is 0.24 sum v^2, which the squared
    error estimates without bias: its mean over 4,000 files differs by less than 4 of its own standard errors."""
    rng, weights = np.random.default_rng(5), np.array([0.4, 0.2, 0.2, 0.1, 0.1])
    squares = []
    for _ in range(4000):
        said = [shares(np.array([[2, 0] if yes else [0, 1]]), np.array([1])) for yes in rng.random(5) < 0.4]
        squares.append(mixture(said, weights).standard_errors[2, 1] ** 2)
    assert np.mean(squares) == pytest.approx(0.24 * (weights**2).sum(), abs=4 * np.std(squares) / np.sqrt(4000))


@pytest.mark.parametrize("space", ["single-root", "projective"])
def test_the_gradient_of_a_product_is_its_difference(space):
    ours = members(3, space)
    heads = Oracle(ours[0]).trees[7].astype(np.int32)
    _, gradient = product_gradient(ours, WEIGHTS, heads)
    for at, step in enumerate(1e-5 * np.eye(2)):
        ahead, behind = (product_gradient(ours, WEIGHTS + sign * step, heads)[0] for sign in (1, -1))
        assert gradient[at] == pytest.approx((ahead - behind) / 2e-5, abs=1e-8)


def with_gold(seed, count):
    """Sentences, each with a gold tree drawn from its first member."""
    rng, found = np.random.default_rng(seed), []
    for each in range(count):
        ours = members(each + 50)
        oracle = Oracle(ours[0])
        found.append((ours, oracle.trees[rng.choice(len(oracle.trees), p=np.exp(oracle.log_probs))].astype(np.int32)))
    return found


def forbidding(member, heads, words):
    """A member that likes all heads better than gold ones, but allows words from some on no others."""
    scores = np.zeros((N + 1, N + 1))
    scores[heads, WORDS] = -3
    for word in range(words, N + 1):
        scores[np.arange(N + 1) != heads[word - 1], word] = -np.inf
    return ArcFactored(scores, space=member.space)


def of_the_product(sentences, weights):
    """The mean log-probability of gold trees under the products, by enumeration of all trees."""
    found = []
    for ours, heads in sentences:
        used = [(weight, each.log_scores) for weight, each in zip(weights, ours, strict=True) if weight]
        trees = (heads, *all_trees(N, ours[0].space))
        scores = [sum(w * s[tree, WORDS].sum() for w, s in used) for tree in trees]
        found.append(scores[0] - np.logaddexp.reduce(scores[1:]))
    return float(np.mean(found))


def test_a_fit_to_the_best_trees_of_a_member_ends_at_the_bound():
    sentences = [(ours, ours[0].space.maximum_tree(ours[0].log_scores)[0]) for ours, _ in with_gold(4, 10)]
    assert fit_product(sentences).weights[0] == BOUNDS[1]


@pytest.mark.slow("statistics")
@pytest.mark.parametrize("words", [N + 1, 3])
def test_a_fit_is_the_best_product_of_those_that_are_written(words):
    """The second member is of no use but for the arcs that it forbids, if any: no weights of a grid are better."""
    sentences = [([ours[0], forbidding(ours[0], gold, words)], gold) for ours, gold in with_gold(4, 40)]
    fitted = fit_product(sentences)
    assert fitted.log_likelihood == pytest.approx(of_the_product(sentences, fitted.weights), abs=1e-9)
    assert fitted.before == pytest.approx(of_the_product(sentences, np.array([0.5, 0.5])), abs=1e-9)
    for first in (0.5, 0.9, 1.0, 1.2, *fitted.weights[:1]):
        for second in (0.0, 1e-9, 0.05, 0.3, *fitted.weights[1:]):
            assert fitted.log_likelihood >= of_the_product(sentences, np.array([first, second])) - 1e-7
    assert fitted.weights[1] == pytest.approx(BOUNDS[0], abs=1e-12)


@pytest.mark.parametrize("apart", [1, 1e-2, 1e-4, 1e-6])
@pytest.mark.parametrize("size", [2, 3, 5])
def test_a_fitted_mixture_is_that_of_another_optimiser(apart, size):
    """Beside sequential quadratic programming in units of `apart`; members that differ little, one that few need. No
    weights have a higher mean log-likelihood by more than the largest derivative less 1: it is concave."""
    rng = np.random.default_rng(7)
    log_probs = -rng.exponential(5, size=(200, 1)) + apart * rng.normal(size=(200, size))
    log_probs[:, 0] += 0.05 * apart
    log_probs[:2, :-1] -= 800
    found = module.fit_mixture(log_probs)
    probs = np.exp(log_probs - log_probs.max(axis=1, keepdims=True))

    def loss(weights):
        return float(-np.log(probs @ weights).sum()) / apart

    def slope(weights):
        return -(probs / (probs @ weights)[:, None]).sum(axis=0) / apart

    whole = {"type": "eq", "fun": lambda weights: weights.sum() - 1, "jac": np.ones_like}
    start, bounds = found.weights * 0.9 + 0.1 / size, [(1e-9, 1)] * size
    theirs = minimize(loss, start, jac=slope, bounds=bounds, constraints=[whole], tol=1e-12)
    assert loss(found.weights) <= loss(theirs.x / theirs.x.sum()) + 1e-9
    assert (-slope(found.weights)).max() * apart / 200 <= 1 + 2e-12
    assert found.log_likelihood == pytest.approx(np.log(np.exp(log_probs) @ found.weights).mean(), abs=1e-12)
    assert found.weights.sum() == pytest.approx(1, abs=1e-12)


def test_labels_are_those_of_the_most_weight():
    """A member has its weight however many trees it gives; arcs without votes have a label by their head."""
    one = (0.6, np.array([[2, 0]]), np.array([1]), [["nsubj", "root"]])
    many = (0.4, np.array([[2, 0], [0, 1]]), np.array([9, 1]), [["obj", "root"], ["root", "conj"]])
    assert module.majority_labels(np.array([2, 0]), [one, many]) == ["nsubj", "root"]
    assert module.majority_labels(np.array([0, 1]), [one]) == ["root", "dep"]


@pytest.mark.parametrize("trees", SPACES, ids=SPACES.names)
@pytest.mark.parametrize("scale", [1, 5])
def test_jensen_shannon(trees, scale, graphs):
    """Of two in a space, and of all trees and the projective ones. H0: the estimate of 4,000 trees of each side is
    within five of its standard errors, and those below 0.01."""
    first, second = (graphs.over(graphs.gaussian(4, scale, seed=seed), trees) for seed in (1, 2))
    oracle = Oracle(first)
    for other in (second, second.over(PROJECTIVE), first.over(PROJECTIVE)):
        p, q = np.exp(oracle.log_probs), np.exp(other.log_probs(oracle.trees))
        exact = (rel_entr(p, (p + q) / 2) + rel_entr(q, (p + q) / 2)).sum() / 2
        found, error = jensen_shannon(first, other, 4000, np.random.default_rng(3))
        assert error < 0.01
        assert abs(found - exact) <= 5 * error + 1e-12


def test_jensen_shannon_of_the_same_and_of_what_has_nothing_in_common(graphs):
    """The same are distributions whose columns are shifted, and those that have one tree; no more than rounding."""
    rng = np.random.default_rng(1)
    scores, chain, star = graphs.gaussian(4), np.full((4, 4), -np.inf), np.full((4, 4), -np.inf)
    chain[0, 1] = chain[1, 2] = chain[2, 3] = 0.0
    star[0, 1] = star[1, 2] = star[1, 3] = 0.0
    for one, other in ((scores, scores), (scores, scores + np.arange(5) * 3.0), (chain, chain + 7.0)):
        found = jensen_shannon(graphs.distribution(one), graphs.distribution(other), 50, rng)
        assert found == pytest.approx((0.0, 0.0), abs=1e-12)
    chain, star = graphs.distribution(chain), graphs.distribution(star)
    assert jensen_shannon(chain, star, 5, rng) == pytest.approx((np.log(2), 0.0))
    assert jensen_shannon(chain, star, 1, rng)[1] == np.inf
