"""REINFORCE with trees drawn without replacement: rewards that do not decompose over arcs (Kool et al. 2020)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Unpack

import numpy as np
import torch
from torch import Tensor

from deptree_cli.core.counts import how_many
from deptree_cli.core.errors import DeptreeError
from deptree_cli.core.spaces import SpaceLike
from deptree_cli.torch.distribution import DistinctTrees
from deptree_cli.torch.losses.batches import How, batch_of
from deptree_cli.torch.losses.unordered import first_and_next
from deptree_cli.torch.sentences import NO_TREE


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

    Raises:
        DeptreeError: k is less than 2, or rewards have another shape.
    """
    if how_many(k) < 2:
        raise DeptreeError(f"k is {k}, and the reward of a tree is compared with those of others", "Draw 2 or more")
    batch = batch_of(log_scores, lengths, space, **how)
    draws = batch.distribution().sample_without_replacement(k, generator)
    chances, averages = _unordered(draws)
    rewards = _rewards(reward, draws)
    advantage = rewards.detach() - torch.einsum("stb,tb->sb", averages, rewards.detach())
    score = draws.log_probs - draws.log_probs.detach()  # 0, with a gradient
    losses = -(chances * (rewards + advantage * score)).sum(0)
    return batch.reduced(losses, len(losses))


def _rewards(reward: Callable[[Tensor], Tensor], draws: DistinctTrees) -> Tensor:
    """The reward of each tree, (k, B), 0 where there is no tree."""
    found = reward(draws.trees)
    if found.shape != draws.log_probs.shape:
        problem = f"rewards have shape {tuple(found.shape)}, where heads have {tuple(draws.trees.shape)}"
        raise DeptreeError(problem, f"Give a reward for each tree, {tuple(draws.log_probs.shape)}")
    return torch.where(draws.log_probs > NO_TREE, found.to(draws.log_probs), 0.0)


def _unordered(draws: DistinctTrees) -> tuple[Tensor, Tensor]:
    """`first_and_next` of every sentence: (k, B) and (k, k, B) float64, 0 where there is no tree."""
    k, sentences = draws.weights.shape
    first, average = np.zeros((k, sentences)), np.zeros((k, k, sentences))
    log_probs, counts = draws.log_probs.detach().double().cpu().numpy(), (draws.log_probs > NO_TREE).sum(0).tolist()
    for b, (count, exhausted) in enumerate(zip(counts, draws.exhausted.tolist(), strict=True)):
        first[:count, b], average[:count, :count, b] = first_and_next(log_probs[:count, b], exhausted)
    return torch.from_numpy(first).to(draws.weights.device), torch.from_numpy(average).to(draws.weights.device)
