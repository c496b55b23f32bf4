"""Losses of gold heads, all or some: minus their log-probability."""

from __future__ import annotations

from typing import Unpack

import torch
from torch import Tensor

from deptree_cli.core.errors import DeptreeError
from deptree_cli.core.scores import MASK
from deptree_cli.core.spaces import SpaceLike
from deptree_cli.torch import ops
from deptree_cli.torch.gold import checked_gold, raise_unless_tree, with_known_heads
from deptree_cli.torch.losses.batches import How, batch_of
from deptree_cli.torch.shifted import at_least_zero, tree_scores
from deptree_cli.torch.trees import is_tree, word_mask


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
    batch = batch_of(log_scores, lengths, space, **how)
    scores, lengths, trees, precision, *_ = batch
    heads = checked_gold(heads, log_scores, lengths, partial=False)
    log_z = ops.log_partition(scores, lengths, trees, precision)
    total, possible = tree_scores(scores, heads, word_mask(lengths, log_scores.shape[-1]), -MASK)
    possible = possible & is_tree(heads, lengths, trees)
    raise_unless_tree(possible, trees)
    return batch.reduced(torch.where(possible, at_least_zero(log_z - total), torch.inf))


def partial_annotation_loss(
    log_scores: Tensor, heads: Tensor, lengths: Tensor | None = None, space: SpaceLike = None, **how: Unpack[How]
) -> Tensor:
    """Return minus the log-probability of the annotated heads: log Z minus log Z given these (Li et al. 2016).

    The same as `negative_log_likelihood` if all heads are annotated, and 0 if none is.

    Args:
        heads: (B, N), negative if missing.

    Raises:
        DeptreeError: names a sentence whose annotated heads no tree of the space has.
    """
    batch = batch_of(log_scores, lengths, space, **how)
    scores, lengths, trees, precision, *_ = batch
    heads = checked_gold(heads, log_scores, lengths)
    log_z = ops.log_partition(scores, lengths, trees, precision)
    try:
        known = with_known_heads(scores, heads, lengths)
        given = ops.log_partition(known, lengths, trees, precision)
    except DeptreeError as error:
        error.remedy = "Correct the annotated heads, leave some out (-1), or allow more arcs"
        raise
    return batch.reduced(at_least_zero(log_z - given))
