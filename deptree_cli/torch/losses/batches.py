"""What every loss takes: a batch of sentences, and what is to be made of their losses."""

from __future__ import annotations

from typing import NamedTuple, Unpack

import torch
from torch import Tensor

from deptree_cli.core.errors import DeptreeError, one_of
from deptree_cli.core.spaces import Short, SpaceLike, TreeSpace, tree_space
from deptree_cli.torch import ops
from deptree_cli.torch.distribution import TreeDistribution
from deptree_cli.torch.shifted import wide
from deptree_cli.torch.trees import batch_lengths

REDUCTIONS = ("mean", "sum", "none")


class How(Short, total=False):
    """What every loss takes by name: see the package, and `batch_of` for defaults."""

    reduction: str
    precision: str | None


class PaddedScores(NamedTuple):
    """The sentences whose losses are asked for: log-scores (B, N, N) in float64, lengths (B,); and how they are.

    Sums have the precision of the scores that were given, unless another is asked for; distributions float64: errors of
    marginals are multiplied by scores in their entropies.
    """

    scores: Tensor
    lengths: Tensor
    space: TreeSpace
    precision: str
    of_distributions: str
    reduction: str
    dtype: torch.dtype

    # A method, as torch.compile of PyTorch 2.10 cannot follow a property of a tuple.
    def distribution(self) -> TreeDistribution:
        """Return the distributions over their trees."""
        return TreeDistribution(self.scores, self.lengths, self.space, precision=self.of_distributions)

    def reduced(self, losses: Tensor, count: Tensor | int | None = None) -> Tensor:
        """Return losses (B,) as they are wanted; a mean divides their sum by a count, of words if none is given."""
        total = losses if self.reduction == "none" else losses.sum()
        if self.reduction == "mean":
            total = total / (self.lengths.sum() if count is None else count)
        return total.to(self.dtype)


def batch_of(
    log_scores: Tensor,
    lengths: Tensor | None,
    space: SpaceLike,
    *,
    reduction: str = "mean",
    precision: str | None = None,
    **short: Unpack[Short],
) -> PaddedScores:
    """Return what the arguments of a loss stand for, or raise a DeptreeError: no such shapes, reduction or space."""
    if reduction not in REDUCTIONS:
        raise DeptreeError(f"unknown reduction {reduction!r}", one_of(REDUCTIONS))
    lengths, trees = batch_lengths(log_scores, lengths), tree_space(space, **short)
    dtype = torch.promote_types(log_scores.dtype, torch.float32)
    of_sums = ops.precision_of(log_scores, precision)
    return PaddedScores(wide(log_scores), lengths, trees, of_sums, precision or "float64", reduction, dtype)
