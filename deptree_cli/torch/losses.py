"""Training losses for a batch of sentences, one function each.

Every function takes log_scores (B, N, N), ``[head, dependent]``, and, with the meanings and defaults that they have for
`log_partition`, lengths (B,), space (or single_root and projective) and precision. Gold heads are (B, N) integers:
entry j is the head of node j; entry 0 and padding are ignored. Losses are computed in float64, except log Z and
marginals, which have the `precision`; entropies and samples have float64 unless another one is asked for. All are
returned in the type of the scores, at least float32:

- reduction="none": the loss of every sentence, (B,);
- "sum": their sum;
- "mean": that sum divided by the number of words of the batch, so that a step does not depend on sentence lengths. For
  `generalised_expectation_loss` and `reinforce_loss`, which are not per word, it is divided by B.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Unpack

import numpy as np
import torch
from torch import Tensor

from deptree_cli.core.counts import how_many
from deptree_cli.core.dtypes import MASK, Float
from deptree_cli.core.errors import DeptreeError, name_in_batch, one_of
from deptree_cli.core.spaces import Short, SpaceLike
from deptree_cli.torch.distribution import (
    NO_TREE,
    TreeDistribution,
    checked_gold,
    wrong_heads,
)
from deptree_cli.torch.ops import (
    arc_mask,
    at_least_zero,
    is_tree,
    log_partition,
    marginals,
    precision_of,
    require_tensor,
    tree_scores,
    visible,
    wide,
    word_mask,
)

# What every loss takes: a batch of sentences, and what is to be made of their losses.


REDUCTIONS = ("mean", "sum", "none")


class How(Short, total=False):
    """What every loss takes by name: see the package, and `batch_of` for defaults."""

    reduction: str
    precision: str | None


def batch_of(
    log_scores: Tensor,
    lengths: Tensor | None,
    space: SpaceLike,
    default: str | None = None,
    *,
    reduction: str = "mean",
    precision: str | None = None,
    **short: Unpack[Short],
) -> tuple[TreeDistribution, Callable[..., Tensor]]:
    """Return the distributions of the sentences that a loss is of, and a function to reduce their losses.

    Args:
        default: the precision where none is asked for; that of the scores that were given if None. Entropies want
            float64: errors of marginals are multiplied by scores in them.

    Raises:
        DeptreeError: no such shapes, reduction or space.
    """
    if reduction not in REDUCTIONS:
        raise DeptreeError(f"unknown reduction {reduction!r}", one_of(REDUCTIONS))
    require_tensor("log_scores", log_scores)
    if log_scores.dim() != 3:
        problem = f"log_scores have shape {tuple(log_scores.shape)}, not (B, N, N)"
        raise DeptreeError(problem, "Give a batch of sentences, even if there is only one")
    how = {"precision": precision_of(log_scores, precision or default), "validate_args": False, **short}
    batch = TreeDistribution(wide(log_scores), lengths, space, **how)  # type: ignore[arg-type]

    def reduced(losses: Tensor, count: Tensor | int | None = None) -> Tensor:
        """Return losses (B,) as they are wanted; a mean divides their sum by a count, of words if none is given."""
        total = losses if reduction == "none" else losses.sum()
        if reduction == "mean":
            total = total / (batch.lengths.sum() if count is None else count)
        return total.to(torch.promote_types(log_scores.dtype, torch.float32))

    return batch, reduced


def _log_z(batch: TreeDistribution) -> Tensor:
    return log_partition(batch.log_scores, batch.lengths, batch.space, batch.precision)


# The unordered set estimator: what trees drawn without replacement say of the first draw (Kool et al. 2020).
#
# Of trees drawn one after another, the set S is known and the order forgotten. The chance that tree s came first is
# p(s) R(S, s), R(S, s) the leave-one-out ratio P(the rest of S is drawn next, given s) / P(S is drawn). The chance
# that t came next is its p among the others, times such a ratio again. The probability that S is drawn is
#
#     integral over x > 0 of exp(-x) times the product over s in S of (1 - exp(-x p(s) / (1 - sum of p over S))):
#
# in continuous time, all of S come before the first of the others. A tree left out is a factor left out.


# The trapezoidal rule in log x converges geometrically for such integrands: a step of 0.3 gives 10 digits, one of 0.2
# gives 14.
STEP = 0.1
LOWEST = -45.0  # the part below is less than e^-45 of the whole, for the product of factors increases with x

# What rounding leaves of the probability of all trees but those drawn, where it is less than that.
LEAST_REST = 1e-16


def first_and_next(log_probs: Float, exhausted: bool) -> tuple[Float, Float]:
    """Return the chances of trees to have been drawn first, and weights for an average that does not depend on that.

    O(k^2) for k trees, 600 points for each pair.

    Args:
        log_probs: (k,), of the distinct trees; k at least 2 unless there are no more.
        exhausted: whether these are all trees.

    Returns:
        first: (k,), P(s came first | S); they sum to 1.
        average: (k, k), row s: p(s) for s itself, and (1 - p(s)) P(t came next | S, s came first) for the others. Rows
            sum to 1. Given that s came first, the average of a function with these weights expects its mean, whatever
            s: a baseline without bias.
    """
    probs = np.exp(log_probs)
    if exhausted:
        return probs / probs.sum(), np.broadcast_to(probs / probs.sum(), (len(probs), len(probs)))
    rest = max(1.0 - float(probs.sum()), LEAST_REST)
    k = len(probs)
    log_x = np.arange(LOWEST, np.log(k + 40.0 + 10.0 * np.sqrt(k + 1.0)), STEP)
    exponents = log_x[:, None] + (log_probs - np.log(rest))
    with np.errstate(divide="ignore", over="ignore"):  # log(1 - exp(-a x)) for every point and tree
        logs = np.where(exponents < -37.0, exponents, np.log(-np.expm1(-np.exp(exponents))))
    integrand = log_x - np.exp(log_x) + logs.sum(axis=1)  # its logarithm
    highest = int(integrand.argmax())
    scale, mass = -logs[highest], np.exp(integrand - integrand[highest])
    without = np.exp(-logs - scale)  # one factor left out, of the order of 1 where the mass is
    first = np.exp(log_probs + scale - (log_probs + scale).max()) * (mass @ without)
    pairs = (without * mass[:, None]).T @ without  # two left out
    average = pairs * np.exp(log_probs + scale - (log_probs + scale).max())
    np.fill_diagonal(average, 0.0)
    others = probs.sum() - probs + rest
    average *= (others / average.sum(axis=1))[:, None]
    np.fill_diagonal(average, probs)
    return first / first.sum(), average


# Losses of gold heads, all or some: minus their log-probability.


def negative_log_likelihood(
    log_scores: Tensor, heads: Tensor, lengths: Tensor | None = None, space: SpaceLike = None, **how: Unpack[How]
) -> Tensor:
    """Return minus the log-probability of gold trees: log Z minus the score of the tree.

    If values cannot be checked (on a device, or while `torch.compile` traces), a sentence whose heads are not a tree is
    not an error: its loss is infinite, and it has no gradient.

    Args:
        heads: (B, N), of every word.

    Raises:
        DeptreeError: names a sentence with a missing head, or whose heads are not a tree of the space.
    """
    batch, reduced = batch_of(log_scores, lengths, space, **how)
    heads = checked_gold(heads, log_scores, batch.lengths, partial=False)
    log_z = _log_z(batch)
    total, possible = tree_scores(batch.log_scores, heads, word_mask(batch.lengths, heads.shape[-1]), -MASK)
    possible = possible & is_tree(heads, batch.lengths, batch.space)
    if visible(possible) and not bool(possible.all()):
        problem = "the gold heads are not a tree of this space, or have an arc that the scores forbid"
        wider = " or ".join(f"{name}=False" for name in ("single_root", "projective") if getattr(batch.space, name))
        remedy = f"Correct them, or allow their arcs{', or pass ' * bool(wider)}{wider}"
        raise DeptreeError(problem, remedy, sent_id=name_in_batch(int((~possible).nonzero()[0, 0])))
    return reduced(torch.where(possible, at_least_zero(log_z - total), torch.inf))


def partial_annotation_loss(
    log_scores: Tensor, heads: Tensor, lengths: Tensor | None = None, space: SpaceLike = None, **how: Unpack[How]
) -> Tensor:
    """Return minus the log-probability of the annotated heads: log Z minus log Z given these (Li et al. 2016).

    The same as `negative_log_likelihood` if all heads are annotated, and 0 if none is.

    Args:
        heads: (B, N), negative if missing.
    """
    batch, reduced = batch_of(log_scores, lengths, space, **how)
    known, log_z = batch.given(heads), _log_z(batch)
    try:
        given = _log_z(known)
    except DeptreeError as error:
        error.remedy = "Correct the annotated heads, leave some out (-1), or allow more arcs"
        raise
    return reduced(at_least_zero(log_z - given))


# Losses that are expectations over trees of sums over their arcs, and their entropy.


def minimum_risk_loss(
    log_scores: Tensor, heads: Tensor, lengths: Tensor | None = None, space: SpaceLike = None, **how: Unpack[How]
) -> Tensor:
    """Return the expected number of words with a wrong head (Smith and Eisner 2006); the mean is an error rate.

    Args:
        heads: (B, N), negative if missing; such words are never wrong.
    """
    batch, reduced = batch_of(log_scores, lengths, space, **how)
    costs = wrong_heads(checked_gold(heads, log_scores, batch.lengths), batch.lengths)
    return reduced(_expectations(batch, costs[:, None])[:, 0])


def expected_cost(
    log_scores: Tensor, costs: Tensor, lengths: Tensor | None = None, space: SpaceLike = None, **how: Unpack[How]
) -> Tensor:
    """Return the expected cost of a tree, the sum of the costs of its arcs: minimum risk with your own costs.

    Args:
        costs: (B, N, N), or broadcastable to it; those of arcs that no tree has are ignored. They may have a gradient.

    Raises:
        DeptreeError: costs cannot be broadcast to (B, N, N).
    """
    batch, reduced = batch_of(log_scores, lengths, space, **how)
    require_tensor("costs", costs)
    try:
        of_arcs = costs.expand(log_scores.shape)
    except RuntimeError:
        problem = f"costs have shape {tuple(costs.shape)}, where log_scores have {tuple(log_scores.shape)}"
        raise DeptreeError(problem, "Give a cost for each arc, [head, dependent]") from None
    return reduced(_expectations(batch, of_arcs[:, None])[:, 0])


def entropy_regularisation(
    log_scores: Tensor, lengths: Tensor | None = None, space: SpaceLike = None, **how: Unpack[How]
) -> Tensor:
    """Return the entropy of trees, in nats.

    Add it to a loss to make the parser more confident (Grandvalet and Bengio 2004); subtract it to make it less so.
    """
    batch, reduced = batch_of(log_scores, lengths, space, "float64", **how)
    return reduced(batch.entropy())


def generalised_expectation_loss(
    log_scores: Tensor,
    features: Tensor,
    targets: Tensor,
    lengths: Tensor | None = None,
    space: SpaceLike = None,
    *,
    pooled: bool = False,
    **how: Unpack[How],
) -> Tensor:
    """Return half the squared distance of expected features from targets (Druck et al. 2009; Zmigrod et al. 2021b).

    Its gradient is one covariance, however many features there are: O(n^3 + n^2 F) per sentence.

    Args:
        features: (F, N, N) for all sentences, or (B, F, N, N); a tree has the sums over its arcs. Those of arcs that no
            tree has are ignored.
        targets: (F,), or (B, F) unless they are pooled.
        pooled: whether targets are for the sum over all sentences, as for a corpus. The loss is then one number for any
            reduction.
        reduction: the mean is over sentences.

    Raises:
        DeptreeError: features or targets have another shape.
    """
    batch, reduced = batch_of(log_scores, lengths, space, **how)
    require_tensor("features", features)
    require_tensor("targets", targets)
    size, *arcs = log_scores.shape
    count = features.shape[-3] if features.dim() in (3, 4) else 0
    if list(features.shape) not in ([count, *arcs], [size, count, *arcs]):
        problem = f"features have shape {tuple(features.shape)}, where log_scores have {tuple(log_scores.shape)}"
        raise DeptreeError(problem, "Give (F, N, N) for all sentences alike, or (B, F, N, N)")
    if list(targets.shape) not in ([count], *([] if pooled else [[size, count]])):
        problem = f"targets have shape {tuple(targets.shape)}, where features have {tuple(features.shape)}"
        remedy = f"Give a target for each feature, ({count},)" + ("" if pooled else f" or ({size}, {count})")
        raise DeptreeError(problem, remedy)
    found = _expectations(batch, features)
    distances = (found.sum(0) if pooled else found) - targets.to(found)
    losses = 0.5 * distances.square().sum(-1)
    return reduced(losses, losses.numel())


def _expectations(batch: TreeDistribution, features: Tensor) -> Tensor:
    """The expected sums over a tree's arcs of features (F, N, N) or (B, F, N, N), (B, F) float64."""
    probs = marginals(batch.log_scores, batch.lengths, batch.space, batch.precision)
    counts = arc_mask(batch.lengths, probs.shape[-1]) & (probs.detach() > 0)
    return (probs[:, None] * torch.where(counts[:, None], features.to(probs), 0.0)).sum((-2, -1))


# REINFORCE with trees drawn without replacement: rewards that do not decompose over arcs (Kool et al. 2020).


def reinforce_loss(
    log_scores: Tensor,
    reward: Callable[[Tensor], Tensor],
    k: int,
    lengths: Tensor | None = None,
    space: SpaceLike = None,
    *,
    generator: torch.Generator | None = None,
    **how: Unpack[How],
) -> Tensor:
    """Return an estimate of minus the expected reward of a tree, with an unbiased gradient.

    This is the unordered set estimator with its built-in baseline (Kool et al. 2020). Each of k distinct trees counts
    in proportion to its probability of having been sampled first, and its reward is compared with a baseline from the
    others. Value and gradient are unbiased for every k, and exact once k reaches the number of trees; a
    constant added to all rewards does not change the gradient.

    Args:
        reward: heads (k, B, N) -> (k, B). Entry 0 and padding are -1, and so is a whole tree if a sentence has fewer
            than k; its reward is ignored. Rewards may have their own gradient.
        k: the number of trees, at least 2.
        generator: the random numbers; by default PyTorch's own, set by `torch.manual_seed`.
        reduction: the mean is over sentences.
    """
    if how_many(k) < 2:
        raise DeptreeError(f"k is {k}, and the reward of a tree is compared with those of others", "Draw 2 or more")
    batch, reduced = batch_of(log_scores, lengths, space, "float64", **how)
    draws = batch.sample_without_replacement(k, generator)
    chances, averages = np.zeros(draws.weights.shape), np.zeros((len(draws.weights), *draws.weights.shape))
    log_probs, counts = draws.log_probs.detach().double().cpu().numpy(), (draws.log_probs > NO_TREE).sum(0).tolist()
    for b, (count, exhausted) in enumerate(zip(counts, draws.exhausted.tolist(), strict=True)):
        found = first_and_next(log_probs[:count, b], exhausted)
        chances[:count, b], averages[:count, :count, b] = found
    rewards = reward(draws.trees)
    if rewards.shape != draws.log_probs.shape:
        problem = f"rewards have shape {tuple(rewards.shape)}, where heads have {tuple(draws.trees.shape)}"
        raise DeptreeError(problem, f"Give a reward for each tree, {tuple(draws.log_probs.shape)}")
    rewards = torch.where(draws.log_probs > NO_TREE, rewards.to(draws.log_probs), 0.0)
    first, average = (torch.from_numpy(each).to(rewards.device) for each in (chances, averages))
    advantage = rewards.detach() - torch.einsum("stb,tb->sb", average, rewards.detach())
    score = draws.log_probs - draws.log_probs.detach()  # 0, with a gradient
    losses = -(first * (rewards + advantage * score)).sum(0)
    return reduced(losses, len(losses))


__all__ = [
    "entropy_regularisation",
    "expected_cost",
    "generalised_expectation_loss",
    "minimum_risk_loss",
    "negative_log_likelihood",
    "partial_annotation_loss",
    "reinforce_loss",
]
