"""Losses that are expectations over trees of sums over their arcs, and their entropy."""

from __future__ import annotations

import torch
from torch import Tensor

from deptree_cli.torch import ops
from deptree_cli.torch.gold import checked_gold, wrong_heads
from deptree_cli.torch.losses.reductions import reduced
from deptree_cli.torch.shifted import expected_surprisal, shift, wide
from deptree_cli.torch.trees import arc_mask, batch_lengths


def minimum_risk_loss(
    log_scores: Tensor,
    heads: Tensor,
    lengths: Tensor | None = None,
    single_root: bool = True,
    projective: bool = False,
    *,
    reduction: str = "mean",
    implementation: str = "auto",
) -> Tensor:
    """Return the expected number of words with a wrong head (Smith and Eisner 2006); the mean is an error rate.

    Args:
        heads: (B, N), negative where unknown; such words cannot be wrong.
    """
    lengths = batch_lengths(log_scores, lengths)
    heads = checked_gold(heads, log_scores, lengths)
    costs = wrong_heads(heads, lengths).to(wide(log_scores).dtype)
    how = {"reduction": reduction, "implementation": implementation}
    return expected_cost(log_scores, costs, lengths, single_root, projective, **how)


def expected_cost(
    log_scores: Tensor,
    costs: Tensor,
    lengths: Tensor | None = None,
    single_root: bool = True,
    projective: bool = False,
    *,
    reduction: str = "mean",
    implementation: str = "auto",
) -> Tensor:
    """Return the expected cost of a tree, the sum of its arcs' costs: minimum risk by costs of one's own.

    Args:
        costs: (B, N, N), or what can be broadcast to that; those of arcs that no tree has do not count. They may
            have a gradient.
    """
    lengths = batch_lengths(log_scores, lengths)
    expected = _expectations(log_scores, costs[..., None, :, :], lengths, single_root, projective, implementation)
    return reduced(expected[:, 0], log_scores, reduction, lengths.sum())


def entropy_regularisation(
    log_scores: Tensor,
    lengths: Tensor | None = None,
    single_root: bool = True,
    projective: bool = False,
    *,
    reduction: str = "mean",
    implementation: str = "auto",
) -> Tensor:
    """Return the entropy of trees in nats, with its own sign.

    Added to a loss it makes a parser decide (Grandvalet and Bengio 2004), subtracted it keeps it from being too sure.
    """
    lengths = batch_lengths(log_scores, lengths)
    shifted = shift(log_scores, lengths, single_root)
    how = lengths, single_root, projective, implementation
    log_z, marginals = ops.log_partition_and_marginals(shifted.scores, *how)
    return reduced(expected_surprisal(marginals, shifted, log_z), log_scores, reduction, lengths.sum())


def generalised_expectation_loss(
    log_scores: Tensor,
    features: Tensor,
    targets: Tensor,
    lengths: Tensor | None = None,
    single_root: bool = True,
    projective: bool = False,
    *,
    pooled: bool = False,
    reduction: str = "mean",
    implementation: str = "auto",
) -> Tensor:
    """Return half the squared distance of expected features from targets (Druck et al. 2009; Zmigrod et al. 2021b).

    Its gradient is one covariance, however many features there are: O(n^3 + n^2 F) a sentence.

    Args:
        features: (F, N, N) for all sentences alike, or (B, F, N, N); a tree has the sum of its arcs'. Those of arcs
            that no tree has do not count.
        targets: (F,), or (B, F).
        pooled: whether targets are for the sum over all sentences, as of a corpus; the loss is one number then,
            whatever the reduction.
        reduction: the mean is over sentences.
    """
    lengths = batch_lengths(log_scores, lengths)
    found = _expectations(log_scores, features, lengths, single_root, projective, implementation)
    distances = (found.sum(0) if pooled else found) - targets.to(found)
    losses = 0.5 * distances.square().sum(-1)
    return reduced(losses, log_scores, "sum" if pooled else reduction, lengths.numel())


def _expectations(
    log_scores: Tensor, features: Tensor, lengths: Tensor, single_root: bool, projective: bool, implementation: str
) -> Tensor:
    """The expected sums over a tree's arcs of features (F, N, N) or (B, F, N, N), (B, F) float64."""
    scores = wide(log_scores)
    probs = ops.marginals(scores, lengths, single_root, projective, implementation)
    counts = arc_mask(lengths, log_scores.shape[-1]) & (probs.detach() > 0)
    return (probs[:, None] * torch.where(counts[:, None], features.to(probs), 0.0)).sum((-2, -1))
