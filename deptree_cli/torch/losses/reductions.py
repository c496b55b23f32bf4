"""What is made of the losses of a batch's sentences."""

from __future__ import annotations

import torch
from torch import Tensor

from deptree_cli.core.errors import DeptreeError
from deptree_cli.core.nearest import one_of

REDUCTIONS = ("mean", "sum", "none")


def reduced(losses: Tensor, log_scores: Tensor, reduction: str, count: Tensor | int) -> Tensor:
    """Return losses (B,) as they are wanted, in the precision of the scores, at least float32.

    Args:
        count: what a mean divides the sum by.

    Raises:
        DeptreeError: there is no such reduction.
    """
    if reduction not in REDUCTIONS:
        raise DeptreeError(f"unknown reduction {reduction!r}", one_of(REDUCTIONS))
    total = losses if reduction == "none" else losses.sum()
    return (total / count if reduction == "mean" else total).to(torch.promote_types(log_scores.dtype, torch.float32))
