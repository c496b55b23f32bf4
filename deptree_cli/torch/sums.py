"""Sums over the trees of padded batches of tensors, without derivatives: by kernels, on the CPU.

All take log-scores (B, N, N), lengths (B,), the name of the tree space and a precision, and return the scores' type.
Tensors of another device are copied to the CPU, and results back to it.
"""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from deptree_cli.core.batches.tree_batch import TreeBatch
from deptree_cli.core.dtypes import Array
from deptree_cli.core.spaces import SPACES
from deptree_cli.torch.trees import check_lengths


def log_partition(log_scores: Tensor, lengths: Tensor, space: str, precision: str) -> Tensor:
    """Return log Z, (B,): the forward sweep alone."""
    return _tensor(_batch(log_scores, lengths, space, precision).log_partitions(), log_scores)


def log_partition_and_marginals(
    log_scores: Tensor, lengths: Tensor, space: str, precision: str
) -> tuple[Tensor, Tensor]:
    """Return log Z, (B,), and its gradient, the marginals of arcs, (B, N, N): both sweeps."""
    log_z, marginals = _batch(log_scores, lengths, space, precision).log_partitions_and_marginals()
    return _tensor(log_z, log_scores), _tensor(marginals, log_scores)


def arc_covariance(log_scores: Tensor, lengths: Tensor, values: Tensor, space: str, precision: str) -> Tensor:
    """Return the derivative of the marginals in the direction of values (B, N, N): both sweeps on dual numbers."""
    batch = _batch(log_scores, lengths, space, precision)
    return _tensor(batch.covariances(_array(values)), log_scores)


def _batch(log_scores: Tensor, lengths: Tensor, space: str, precision: str) -> TreeBatch:
    check_lengths(lengths, log_scores.shape[-1])
    threads = torch.get_num_threads()
    return TreeBatch(_array(log_scores), _array(lengths), SPACES.get(space), precision, threads)


def _array(tensor: Tensor) -> Array:
    """The numbers of a tensor; a RuntimeError if it has none of its own, as inside `torch.func.vmap`."""
    found = tensor.numpy(force=True)
    return found if found.flags.c_contiguous else np.ascontiguousarray(found)


def _tensor(found: Array, like: Tensor) -> Tensor:
    """A result in the type of the scores, where they are; cast by NumPy, which short sentences feel less."""
    tensor = torch.from_numpy(found.astype(np.float32 if like.dtype is torch.float32 else np.float64, copy=False))
    return tensor if like.is_cpu else tensor.to(like.device)
