"""Trees as tensors: heads and one-hot arcs, which words there are, and which heads make a tree.

Heads are (..., N), int64: entry j is the head of node j. Entry 0 (ROOT) and padding are -1 in what is returned, and
ignored in what is given. Arcs are (..., N, N), ``[head, dependent]``, 1 where a tree has the arc.
"""

from __future__ import annotations

import torch
from torch import Tensor
from torch.distributions.constraints import Constraint

from deptree_cli.core.errors import DeptreeError, name_in_batch
from deptree_cli.core.spaces import SINGLE_ROOT, TreeSpace

# Pairs of arcs of projective trees that are looked at together: 4 MiB of booleans at a time.
PAIRS = 1 << 22


def word_mask(lengths: Tensor, nodes: int) -> Tensor:
    """Return which nodes are words, (..., N) bool, for sentences of so many words (...,)."""
    node = torch.arange(nodes, device=lengths.device)
    return (node > 0) & (node <= lengths[..., None])


def arc_mask(lengths: Tensor, nodes: int) -> Tensor:
    """Return which arcs count, (..., N, N) bool: those into words, from ROOT or other words."""
    words = word_mask(lengths, nodes)
    is_node = words.clone()
    is_node[..., 0] = True
    itself = torch.eye(nodes, dtype=torch.bool, device=lengths.device)
    return is_node[..., :, None] & words[..., None, :] & ~itself


def heads_to_arcs(heads: Tensor, dtype: torch.dtype = torch.float32) -> Tensor:
    """Return the one-hot arcs (..., N, N) of heads (..., N); nothing in the columns of ROOT and of negative heads."""
    node = torch.arange(heads.shape[-1], device=heads.device)
    return ((heads[..., None, :] == node[:, None]) & (node > 0)).to(dtype)


def arcs_to_heads(arcs: Tensor) -> Tensor:
    """Return the heads (..., N) of one-hot arcs (..., N, N); -1 for ROOT and where a column is empty."""
    highest, heads = arcs.max(dim=-2)
    node = torch.arange(arcs.shape[-1], device=arcs.device)
    return torch.where((highest > 0) & (node > 0), heads, -1)


def is_tree(heads: Tensor, lengths: Tensor, space: TreeSpace = SINGLE_ROOT) -> Tensor:
    """Return whether heads are trees of a space, (...,) bool.

    Every word climbs 1, 2, 4, ... heads at a time; in a tree all have arrived at ROOT after n. O(n log n) a tree, and
    n^2 for projective ones.

    Args:
        heads: (..., N) integers; entry 0 and padding are ignored.
        lengths: (...,) words, or what can be broadcast to that.
    """
    nodes = heads.shape[-1]
    words = word_mask(lengths, nodes)
    inside = (heads >= 0) & (heads <= lengths[..., None])
    above = torch.where(words & inside, heads, 0).long()
    roots = (words & (heads == 0)).sum(-1)
    found = (inside | ~words).all(-1) & ((roots == 1) if space.single_root else (roots >= 1))
    climber = above
    for _ in range((nodes - 1).bit_length()):
        climber = climber.gather(-1, climber)
    own = torch.arange(nodes, device=heads.device)
    found = found & (climber == 0).all(-1) & (space.allows(above, own) | ~words).all(-1)
    return found & ~_some_cross(above, words.expand(above.shape)) if space.projective else found


def _some_cross(above: Tensor, words: Tensor) -> Tensor:
    """Whether two arcs cross, (...,), ROOT before the first word: one begins before another, and ends inside it."""
    nodes = above.shape[-1]
    own = torch.arange(nodes, device=above.device)
    first = torch.where(words, torch.minimum(above, own), 0).reshape(-1, nodes)
    last = torch.where(words, torch.maximum(above, own), 0).reshape(-1, nodes)
    found = []
    size = max(PAIRS // nodes**2, 1)
    for a, b in zip(torch.split(first, size), torch.split(last, size), strict=True):
        begins, ends = a[:, :, None], b[:, :, None]
        crossing = (begins < a[:, None]) & (a[:, None] < ends) & (ends < b[:, None])
        found.append(crossing.any(-1).any(-1))
    return torch.cat(found).reshape(above.shape[:-1])


class TreeSupport(Constraint):
    """The trees over the sentences of a batch, as heads or as one-hot arcs: the support of a `TreeDistribution`."""

    is_discrete = True

    def __init__(self, lengths: Tensor, space: TreeSpace, event: str) -> None:
        self.lengths, self.space = lengths, space
        self.event_dim = 1 if event == "heads" else 2

    def check(self, value: Tensor) -> Tensor:
        """Return whether each is a tree, (...,), for values (..., N) or, of arcs, (..., N, N)."""
        if self.event_dim == 1:
            return is_tree(value, self.lengths, self.space)
        one_hot = ((value == 0) | (value == 1)).all(-2) & (value.sum(-2) == 1)
        words = word_mask(self.lengths, value.shape[-1])
        is_sound = is_tree(arcs_to_heads(value), self.lengths, self.space)
        return is_sound & (one_hot | ~words).all(-1)

    def __repr__(self) -> str:
        return f"TreeSupport({self.space.name}, as {'heads' if self.event_dim == 1 else 'arcs'})"


def shaped_lengths(log_scores: Tensor, lengths: Tensor | None) -> Tensor:
    """Return how many words sentences have, (...,) int64, for log-scores (..., N, N); without lengths, N - 1 each.

    Raises:
        DeptreeError: shapes or types do not fit.
    """
    require_tensor("log_scores", log_scores)
    *batch, nodes, other = log_scores.shape if log_scores.dim() >= 2 else (0, 0, -1)
    if nodes != other or not log_scores.is_floating_point():
        problem = f"log_scores are {log_scores.dtype} of shape {tuple(log_scores.shape)}, not floats of (..., N, N)"
        raise DeptreeError(problem, "Give a square matrix per sentence, [head, dependent], ROOT included")
    if lengths is None:
        return torch.full(batch, nodes - 1, dtype=torch.int64, device=log_scores.device)
    require_tensor("lengths", lengths)
    if list(lengths.shape) != batch or not is_integer(lengths):
        problem = f"lengths are {lengths.dtype} of shape {tuple(lengths.shape)}, not integers of {tuple(batch)}"
        raise DeptreeError(problem, "Give the number of words of each sentence")
    return lengths.to(log_scores.device, torch.int64)


def require_tensor(name: str, value: object) -> None:
    """Raise a DeptreeError unless what is given by this name is a tensor."""
    if not isinstance(value, Tensor):
        raise DeptreeError(f"{name} are of type {type(value).__name__}", f"Give a tensor: torch.as_tensor({name})")


def require_real(name: str, value: object) -> None:
    """Raise a DeptreeError unless what is given by this name is a tensor of real numbers."""
    require_tensor(name, value)
    if isinstance(value, Tensor) and value.is_complex():
        raise DeptreeError(f"{name} are {value.dtype}, not real numbers", f"Give {name}.real, if that is what they are")


def is_integer(tensor: Tensor) -> bool:
    """Return whether numbers are whole by their type, and not just truth values."""
    return not (tensor.is_floating_point() or tensor.is_complex() or tensor.dtype is torch.bool)


def check_lengths(lengths: Tensor, nodes: int) -> None:
    """Raise a DeptreeError where a sentence has too few words, or too many for scores of so many nodes."""
    found = lengths.flatten().tolist()  # not numpy(): tensors that PyTorch transforms have none
    if found and not 1 <= min(found) <= max(found) < nodes:
        b = next(b for b, n in enumerate(found) if not 1 <= n < nodes)
        problem = f"the length is {found[b]}, not 1 to {nodes - 1}"
        remedy = "Count words without ROOT, and leave empty sentences out"
        raise DeptreeError(problem, remedy, sent_id=name_in_batch(b))


def checked_lengths(log_scores: Tensor, lengths: Tensor | None) -> Tensor:
    """Return `shaped_lengths`, checked where values can be looked at without waiting for a device."""
    lengths = shaped_lengths(log_scores, lengths)
    if visible(lengths):
        check_lengths(lengths, log_scores.shape[-1])
    return lengths


def batch_lengths(log_scores: Tensor, lengths: Tensor | None) -> Tensor:
    """Return `checked_lengths`, (B,), of log-scores that are a batch, (B, N, N), or raise a DeptreeError."""
    require_tensor("log_scores", log_scores)
    if log_scores.dim() != 3:
        problem = f"log_scores have shape {tuple(log_scores.shape)}, not (B, N, N)"
        raise DeptreeError(problem, "Give a batch of sentences, even if there is only one")
    return checked_lengths(log_scores, lengths)


def visible(tensor: Tensor) -> bool:
    """Return whether values can be looked at: not while `torch.compile` traces, nor without waiting for a device."""
    return not torch.compiler.is_compiling() and tensor.device.type == "cpu"
