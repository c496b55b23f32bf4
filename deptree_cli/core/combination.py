"""Several distributions over the trees of one sentence made into one: logarithmic and linear opinion pools.

The *product* (logarithmic pool) has the weighted sums of log-scores, and so is arc-factored itself. The *mixture*
(linear pool) is not, but the probabilities of its arcs are weighted means, which is all that the tree with the highest
expected attachment score needs. Genest and Zidek 1986; for parsers Sagae and Lavie 2006, Surdeanu and Manning 2010.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from deptree_cli.core.arc_factored import ArcFactored
from deptree_cli.core.dtypes import Float, Heads, Int
from deptree_cli.core.monte_carlo import MonteCarloEstimate
from deptree_cli.core.samplers import SAMPLERS
from deptree_cli.core.spaces import TreeSpace

# Of fitted weights of a product. Unbounded ones have no best values where a member's best trees are all gold, and at 0
# a member's forbidden arcs would suddenly be allowed: they hold at any other weight.
BOUNDS = (1e-9, 16.0)

# A fit of a mixture ends so close to the highest mean log-likelihood, in nats, or after this many steps, each halved so
# often; in Newton's, that weights sum to 1 counts for this many sentences' equations.
CLOSE, MOST_STEPS, HALVINGS = 1e-12, 50, 30
STIFF = 1e3


def product(members: Sequence[ArcFactored], weights: Float) -> Float:
    """The log-scores of the product of distributions raised to (m,) weights, (n+1, n+1); weight 0 leaves one out."""
    used = [(weight, each.log_scores) for weight, each in zip(weights, members, strict=True) if weight]
    return np.sum([weight * scores for weight, scores in used], axis=0)


def mixture(members: Sequence[MonteCarloEstimate], weights: Float) -> MonteCarloEstimate:
    """The marginals of a mixture, (n+1, n+1), by (m,) weights that sum to 1, of members' exact ones or shares of trees.

    Each tree, and each member that has probabilities, is a voter of weight v. If voters are drawn independently from
    one population, sum v^2 (x - mean)^2 / (1 + sum v^2 - 2 sum v^3 / sum v^2) estimates the variance of the weighted
    mean without bias; for k equal voters it is that of x over k.
    """
    marginals = np.sum([weight * each.expectations for weight, each in zip(weights, members, strict=True)], axis=0)
    squares, cubes, spread = 0.0, 0.0, np.zeros_like(marginals)
    for weight, each in zip(weights.tolist(), members, strict=True):
        voters = each.iterations or 1
        apart = (each.expectations - marginals) ** 2
        if each.iterations is not None:  # they say yes or no
            apart = each.expectations * (1 - marginals) ** 2 + (1 - each.expectations) * marginals**2
        spread += weight**2 / voters * apart
        squares, cubes = squares + weight**2 / voters, cubes + weight**3 / voters**2
    freedom = 1 + squares - 2 * cubes / squares
    return MonteCarloEstimate(marginals, np.sqrt(spread / freedom) if freedom > 1e-12 else None)


def consensus(marginals: Float, space: TreeSpace) -> Heads:
    """The tree of a space with the highest expected attachment score under some marginals of arcs, (n,).

    An arc without votes is in it if the tree gains by that, or if arcs with votes make no tree of that space.
    """
    scores = marginals.copy()
    scores[:, 0] = -np.inf
    np.fill_diagonal(scores, -np.inf)
    return space.maximum_tree(scores)[0]


# The labelled trees of a member of a mixture: its weight, heads (k, n), how many times each is given (k,), and labels.
LabelledVotes = tuple[float, Heads, Int, Sequence[Sequence[str]]]


def majority_labels(heads: Heads, votes: Sequence[LabelledVotes]) -> list[str]:
    """For each word of a tree, (n,) heads, the label with most weight among the trees that have this head of it.

    Where none has, it is ``root`` for an arc from ROOT, else ``dep``.
    """
    found = [Counter[str]() for _ in heads]
    for weight, trees, times, labels in votes:
        for share, tree, names in zip((weight * times / times.sum()).tolist(), trees, labels, strict=True):
            for word in np.flatnonzero(tree == heads).tolist():
                if names[word] != "_":
                    found[word][names[word]] += share
    usual = np.where(heads == 0, "root", "dep").tolist()
    return [each.most_common(1)[0][0] if each else name for each, name in zip(found, usual, strict=True)]


class Pooled(NamedTuple):
    """Weights (m,) that fit gold trees, and the mean log-likelihood of these in nats, `before` under equal weights."""

    weights: Float
    log_likelihood: float
    before: float


def fit_product(sentences: Sequence[tuple[Sequence[ArcFactored], Heads]]) -> Pooled:
    """The weights (m,) within `BOUNDS` under which the product gives gold trees the highest probability.

    Each sentence's members all allow its gold tree, (n,). The log-likelihood is concave; its derivative by a weight is
    the member's score of the gold tree less what is expected of it under the product. L-BFGS-B; each evaluation takes
    the marginals of every sentence, O(n^3).
    """
    from scipy.optimize import minimize

    size = len(sentences[0][0])
    start = np.full(size, 1 / size)

    def loss(weights: Float) -> tuple[float, Float]:
        value, gradient = 0.0, np.zeros(size)
        for members, heads in sentences:
            log_prob, slope = product_gradient(members, weights, heads)
            value, gradient = value - log_prob, gradient - slope
        return value / len(sentences), gradient / len(sentences)

    end = {"ftol": 1e-13, "gtol": 1e-8}
    found = minimize(loss, start, jac=True, method="L-BFGS-B", bounds=[BOUNDS] * size, options=end)
    return Pooled(found.x, -float(found.fun), -loss(start)[0])


def product_gradient(members: Sequence[ArcFactored], weights: Float, heads: Heads) -> tuple[float, Float]:
    """The log-probability of a tree, (n,) heads, under the product, and its derivative by each weight, (m,).

    Both are continuous in positive weights; at weight 0 a member's forbidden arcs are no longer forbidden.
    """
    found = ArcFactored(product(members, weights), space=members[0].space, id=members[0].id)
    marginals = found.marginals()
    scores = [np.where(marginals > 0, each.log_scores, 0.0) for each in members]
    slopes = [each.log_weights(heads) - (own * marginals).sum() for each, own in zip(members, scores, strict=True)]
    return found.log_prob(heads), np.array(slopes)


def fit_mixture(log_probs: Float) -> Pooled:
    """The weights (m,) of a mixture under which gold trees are most probable.

    The log-likelihood is concave, so that none within the simplex is higher by more than its steepest slope. A step of
    expectation maximisation never lowers it, but is short where members are alike; Newton's follows (Kim et al. 2020).
    log_probs: (sentences, m), of each gold tree under each member; -inf where it is impossible, not under all.
    """
    size = log_probs.shape[1]
    probs = np.exp(log_probs - log_probs.max(axis=1, keepdims=True))
    start = weights = np.full(size, 1 / size)
    for _ in range(MOST_STEPS):
        slopes = (probs / (probs @ weights)[:, None]).mean(axis=0)
        if slopes.max() - 1 < CLOSE:
            break
        weights = _newton(probs, weights * slopes)
    return Pooled(weights, _mean(log_probs, weights), _mean(log_probs, start))


def _newton(probs: Float, weights: Float) -> Float:
    """Weights after a step to the maximum over the simplex of the likelihood to second order.

    The step is halved until gold trees are more probable; weights stay as they are if that does not help.
    """
    from scipy.optimize import nnls

    ratios = probs / (probs @ weights)[:, None]
    count, size = ratios.shape
    sums = STIFF * np.sqrt(count)  # weighs the equation that weights sum to 1
    equations = np.vstack([np.column_stack([ratios, np.full(count, 2.0)]), np.full(size + 1, sums)])
    reduced = np.linalg.qr(equations).R
    found = nnls(reduced[:, :-1], reduced[:, -1])[0]
    with np.errstate(divide="ignore"):
        before = np.log(probs @ weights).sum()
        for step in 0.5 ** np.arange(HALVINGS):
            tried = weights + step * (found / found.sum() - weights)
            if np.log(probs @ tried).sum() > before:
                return tried
    return weights


def _mean(log_probs: Float, weights: Float) -> float:
    with np.errstate(divide="ignore"):
        return float(np.logaddexp.reduce(log_probs + np.log(weights), axis=1).mean())


def jensen_shannon(first: ArcFactored, second: ArcFactored, size: int, rng: np.random.Generator) -> tuple[float, float]:
    """The Jensen-Shannon divergence in nats, 0 to log 2, from `size` trees of each, and its standard error.

    It has no closed form, for the mixture of two tree distributions is none itself; but each tree's term is bounded:
    JS = 1/2 E_p[log p/m] + 1/2 E_q[log q/m] with m = (p + q) / 2.
    """
    terms = []
    for one, other in ((first, second), (second, first)):
        trees = SAMPLERS.get("auto").draw(one, size, rng)
        with np.errstate(invalid="ignore"):
            theirs = np.where(other.space.contains(trees), other.tree_log_probs(trees), -np.inf)
        terms.append(np.log(2.0) - np.logaddexp(0.0, theirs - one.tree_log_probs(trees)))
    error = 0.5 * np.sqrt(sum(term.var(ddof=1) / size for term in terms)) if size > 1 else np.inf
    return max(0.5 * float(sum(term.mean() for term in terms)), 0.0), float(error)
