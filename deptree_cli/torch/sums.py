"""Sums of padded batches of tensors, without derivatives: by kernels, or on the tensors' own device.

All take log-scores (B, N, N), lengths (B,), the name of the tree space, and how to compute: `ON_DEVICE`, in the scores'
own precision, or a precision of kernels. They return the scores' precision.
"""

from __future__ import annotations

from typing import NoReturn

import numpy as np
import torch
from torch import Tensor

from deptree_cli.core.batches.tree_batch import TreeBatch
from deptree_cli.core.dtypes import Array
from deptree_cli.core.errors import DeptreeError
from deptree_cli.core.spaces import SPACES
from deptree_cli.torch.device import elimination
from deptree_cli.torch.trees import check_lengths

ON_DEVICE = "device"


def log_partition(log_scores: Tensor, lengths: Tensor, space: str, how: str) -> Tensor:
    """Return log Z, (B,): the forward sweep alone."""
    check_lengths(lengths, log_scores.shape[-1])
    if how == ON_DEVICE:
        return elimination.log_partition(log_scores, lengths, SPACES.get(space).single_root)
    batch = _batch(log_scores, lengths, space, how)
    return _tensor(batch.log_partitions(), batch, log_scores)


def log_partition_and_marginals(
    log_scores: Tensor, lengths: Tensor, space: str, how: str
) -> tuple[Tensor, Tensor, Tensor]:
    """Return log Z, (B,), its gradient, the marginals, (B, N, N), and log Z of shifted scores, (B,): both sweeps."""
    check_lengths(lengths, log_scores.shape[-1])
    if how == ON_DEVICE:
        return elimination.log_partition_and_marginals(log_scores, lengths, SPACES.get(space).single_root)
    batch = _batch(log_scores, lengths, space, how)
    log_z, marginals = batch.log_partitions_and_marginals()
    relative = batch.log_partition_parts().shifted
    return (
        _tensor(log_z, batch, log_scores),
        _tensor(marginals, batch, log_scores),
        _tensor(relative, batch, log_scores),
    )


def arc_covariance(log_scores: Tensor, lengths: Tensor, values: Tensor, space: str, how: str) -> Tensor:
    """Return the derivative of the marginals in the direction of values (B, N, N): both sweeps on dual numbers."""
    if how == ON_DEVICE:
        return elimination.arc_covariance(log_scores, lengths, values, SPACES.get(space).single_root)
    batch = _batch(log_scores, lengths, space, how)
    return _tensor(batch.covariances(_array(values)), batch, log_scores)


def _batch(log_scores: Tensor, lengths: Tensor, space: str, precision: str) -> TreeBatch:
    return TreeBatch(_array(log_scores), _array(lengths), SPACES.get(space), precision, torch.get_num_threads())


def refuse(*_: object) -> NoReturn:
    """Raise a DeptreeError: there are derivatives of one batch, in reverse mode."""
    raise DeptreeError(
        "sums over trees have no rules for torch.func.vmap and forward mode, and torch.func.hessian needs them",
        "Leading dimensions make a batch; for a Hessian, call torch.autograd.functional.hessian(f, scores)",
    )


def _array(tensor: Tensor) -> Array:
    try:
        array: Array = (tensor.detach() if tensor.is_cpu else tensor.detach().cpu()).numpy()
    except RuntimeError:  # a tensor of vmap has no numbers of its own
        refuse()
    return array if array.flags.c_contiguous else np.ascontiguousarray(array)


def _tensor(found: Array, batch: TreeBatch, like: Tensor) -> Tensor:
    """A result in the type of the scores, where they are; cast by NumPy, which short sentences feel less."""
    tensor = torch.from_numpy(found.astype(batch.log_scores.dtype, copy=False))
    return tensor if like.is_cpu else tensor.to(like.device)
