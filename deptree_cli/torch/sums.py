"""Sums of padded batches of tensors, without derivatives: by kernels in float64, or on the tensors' own device.

All take log-scores (B, N, N), lengths (B,), the name of the tree space and whether to stay `on_device`, where they
compute in the scores' own precision; and return that precision.
"""

from __future__ import annotations

import torch
from torch import Tensor

from deptree_cli.core.batches import sums
from deptree_cli.core.batches.packed import Batch
from deptree_cli.core.dtypes import Array
from deptree_cli.core.spaces import SPACES
from deptree_cli.torch.device import elimination
from deptree_cli.torch.trees import check_lengths


def log_partition(log_scores: Tensor, lengths: Tensor, space: str, on_device: bool) -> Tensor:
    """Return log Z, (B,): the forward sweep alone."""
    check_lengths(lengths, log_scores.shape[-1])
    if on_device:
        return elimination.log_partition(log_scores, lengths, SPACES.get(space).single_root)
    log_z = sums.log_partitions(_batch(log_scores, lengths, space), torch.get_num_threads())
    return torch.from_numpy(log_z).to(log_scores)


def log_partition_and_marginals(
    log_scores: Tensor, lengths: Tensor, space: str, on_device: bool
) -> tuple[Tensor, Tensor, Tensor]:
    """Return log Z, (B,), its gradient, the marginals, (B, N, N), and log Z of shifted scores, (B,): both sweeps."""
    check_lengths(lengths, log_scores.shape[-1])
    if on_device:
        return elimination.log_partition_and_marginals(log_scores, lengths, SPACES.get(space).single_root)
    batch = _batch(log_scores, lengths, space)
    found = sums.log_partitions_and_marginals(batch, torch.get_num_threads())
    log_z, marginals, relative = map(torch.from_numpy, found)
    return log_z.to(log_scores), marginals.to(log_scores.device), relative.to(log_scores)


def arc_covariance(log_scores: Tensor, lengths: Tensor, values: Tensor, space: str, on_device: bool) -> Tensor:
    """Return the derivative of the marginals in the direction of values (B, N, N): both sweeps on dual numbers."""
    if on_device:
        return elimination.arc_covariance(log_scores, lengths, values, SPACES.get(space).single_root)
    batch = _batch(log_scores, lengths, space)
    found = sums.covariances(batch, _array(values), torch.get_num_threads())
    return torch.from_numpy(found).to(log_scores.device)


def _batch(log_scores: Tensor, lengths: Tensor, space: str) -> Batch:
    return Batch(_array(log_scores), lengths.cpu().contiguous().numpy(), SPACES.get(space))


def _array(tensor: Tensor) -> Array:
    array: Array = tensor.detach().cpu().contiguous().numpy()
    return array
