"""Losses that are expectations over trees of sums over their arcs, and their entropy."""

from __future__ import annotations

from typing import Unpack

import torch
from torch import Tensor

from deptree_cli.core.errors import DeptreeError
from deptree_cli.core.spaces import SpaceLike
from deptree_cli.torch import ops
from deptree_cli.torch.gold import checked_gold, wrong_heads
from deptree_cli.torch.losses.batches import How, PaddedScores, batch_of
from deptree_cli.torch.shifted import wide
from deptree_cli.torch.trees import arc_mask, batch_lengths, require_real


def minimum_risk_loss(
    log_scores: Tensor, heads: Tensor, lengths: Tensor | None = None, space: SpaceLike = None, **how: Unpack[How]
) -> Tensor:
    """Return the expected number of words with a wrong head (Smith and Eisner 2006); the mean is an error rate.

    Args:
        heads: (B, N), negative if missing; such words are never wrong.
    """
    lengths = batch_lengths(log_scores, lengths)
    heads = checked_gold(heads, log_scores, lengths)
    costs = wrong_heads(heads, lengths).to(wide(log_scores).dtype)
    return expected_cost(log_scores, costs, lengths, space, **how)


def expected_cost(
    log_scores: Tensor, costs: Tensor, lengths: Tensor | None = None, space: SpaceLike = None, **how: Unpack[How]
) -> Tensor:
    """Return the expected cost of a tree, the sum of the costs of its arcs: minimum risk with your own costs.

    Args:
        costs: (B, N, N), or broadcastable to it; those of arcs that no tree has are ignored. They may have a gradient.

    Raises:
        DeptreeError: costs cannot be broadcast to (B, N, N).
    """
    batch = batch_of(log_scores, lengths, space, **how)
    return batch.reduced(_expectations(batch, _costs(costs, log_scores.shape)[:, None])[:, 0])


def entropy_regularisation(
    log_scores: Tensor, lengths: Tensor | None = None, space: SpaceLike = None, **how: Unpack[How]
) -> Tensor:
    """Return the entropy of trees, in nats.

    Add it to a loss to make the parser more confident (Grandvalet and Bengio 2004); subtract it to make it less so.
    """
    batch = batch_of(log_scores, lengths, space, **how)
    return batch.reduced(batch.distribution().entropy())


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
    batch = batch_of(log_scores, lengths, space, **how)
    _check_features(features, targets, log_scores.shape, pooled)
    found = _expectations(batch, features)
    distances = (found.sum(0) if pooled else found) - targets.to(found)
    losses = 0.5 * distances.square().sum(-1)
    return batch.reduced(losses, losses.numel())


def _costs(costs: Tensor, shape: torch.Size) -> Tensor:
    """Costs as (B, N, N), or an error."""
    require_real("costs", costs)
    try:
        return costs.expand(shape)
    except RuntimeError:
        problem = f"costs have shape {tuple(costs.shape)}, where log_scores have {tuple(shape)}"
        raise DeptreeError(problem, "Give a cost for each arc, [head, dependent]") from None


def _check_features(features: Tensor, targets: Tensor, shape: torch.Size, pooled: bool) -> None:
    """Raise a DeptreeError unless features and targets have shapes of theirs, for log-scores of this shape."""
    require_real("features", features)
    require_real("targets", targets)
    batch, *arcs = shape
    count = features.shape[-3] if features.dim() in (3, 4) else 0
    if list(features.shape) not in ([count, *arcs], [batch, count, *arcs]):
        problem = f"features have shape {tuple(features.shape)}, where log_scores have {tuple(shape)}"
        raise DeptreeError(problem, "Give (F, N, N) for all sentences alike, or (B, F, N, N)")
    if list(targets.shape) not in ([count], *([] if pooled else [[batch, count]])):
        problem = f"targets have shape {tuple(targets.shape)}, where features have {tuple(features.shape)}"
        remedy = f"Give a target for each feature, ({count},)" + ("" if pooled else f" or ({batch}, {count})")
        raise DeptreeError(problem, remedy)


def _expectations(batch: PaddedScores, features: Tensor) -> Tensor:
    """The expected sums over a tree's arcs of features (F, N, N) or (B, F, N, N), (B, F) float64."""
    probs = ops.marginals(batch.scores, batch.lengths, batch.space, batch.precision)
    counts = arc_mask(batch.lengths, probs.shape[-1]) & (probs.detach() > 0)
    return (probs[:, None] * torch.where(counts[:, None], features.to(probs), 0.0)).sum((-2, -1))
