"""Gold heads: checked, and log-scores that allow only these."""

from __future__ import annotations

import torch
from torch import Tensor

from deptree_cli.core.errors import DeptreeError, name_in_batch
from deptree_cli.core.spaces import TreeSpace
from deptree_cli.torch.trees import is_integer, require_tensor, visible, word_mask


def checked_gold(heads: Tensor, log_scores: Tensor, lengths: Tensor, partial: bool = True) -> Tensor:
    """Return gold heads (..., N) as int64 on the device of log_scores (..., N, N).

    Args:
        partial: whether some may be missing (negative).

    Raises:
        DeptreeError: they are not integers of that shape; or, if values can be checked, a head is its word, outside
            the sentence, or missing although `partial` is false.
    """
    require_tensor("heads", heads)
    if heads.shape != log_scores.shape[:-1] or not is_integer(heads):
        problem = f"heads are {heads.dtype} of shape {tuple(heads.shape)}, not integers of {(*log_scores.shape[:-1],)}"
        raise DeptreeError(problem, "Give the head of every node, 0 for ROOT; the entry of ROOT itself is ignored")
    heads = heads.to(log_scores.device, torch.int64)
    if visible(heads) and visible(lengths):
        own = torch.arange(heads.shape[-1], device=heads.device)
        words = word_mask(lengths, heads.shape[-1])
        _refuse(words & ((heads > lengths[..., None]) | (heads == own)), heads, lengths)
        if not partial:
            _refuse(words & (heads < 0), heads, lengths)
    return heads


def _refuse(wrong: Tensor, heads: Tensor, lengths: Tensor) -> None:
    """Raise a DeptreeError for the first of the heads (..., N) that are wrong."""
    nodes = heads.shape[-1]
    for b, word in wrong.reshape(-1, nodes).nonzero()[:1].tolist():
        head = int(heads.reshape(-1, nodes)[b, word])
        problem = f"the head of word {word} is {head}"
        remedy = f"Give 0 for ROOT, or another word of {int(lengths.flatten()[b])}"
        if head < 0:
            problem, remedy = f"{problem}, missing", "For partial annotation use partial_annotation_loss"
        raise DeptreeError(problem, remedy, sent_id=name_in_batch(b))


def raise_unless_tree(possible: Tensor, trees: TreeSpace) -> None:
    """Raise a DeptreeError for the first sentence (B,) whose heads are impossible, if values can be checked."""
    if visible(possible) and not bool(possible.all()):
        b = int((~possible).nonzero()[0, 0])
        problem = "the gold heads are not a tree of this space, or have an arc that the scores forbid"
        wider = " or ".join(f"{name}=False" for name in ("single_root", "projective") if getattr(trees, name))
        remedy = f"Correct them, or allow their arcs{', or pass ' * bool(wider)}{wider}"
        raise DeptreeError(problem, remedy, sent_id=name_in_batch(b))


def with_known_heads(log_scores: Tensor, heads: Tensor, lengths: Tensor) -> Tensor:
    """Return log-scores (..., N, N) with -inf for every other head of a word whose head (..., N) is given."""
    return log_scores.masked_fill(wrong_heads(heads, lengths), -torch.inf)


def wrong_heads(heads: Tensor, lengths: Tensor) -> Tensor:
    """Return which arcs give a word another head than the gold one, (..., N, N) bool; negative heads are missing."""
    known = word_mask(lengths, heads.shape[-1]) & (heads >= 0)
    node = torch.arange(heads.shape[-1], device=heads.device)
    return known[..., None, :] & (heads[..., None, :] != node[:, None])
