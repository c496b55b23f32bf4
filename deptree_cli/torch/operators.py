"""The operators of PyTorch behind the sums: opaque to autograd and to `torch.compile`, with derivatives of their own.

The gradient of log Z in the log-scores are the marginals of arcs, and the gradient of a function of the marginals are
covariances in its direction (Zmigrod et al. 2021b, section 3): each is an operator, so that nothing is differentiated
by machine. All take padded log-scores (B, N, N) and lengths (B,), compute in float64 by kernels or, `on_device`, in
the scores' own type where they are, and return the scores' type.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor

from deptree_cli.core.batches import sums
from deptree_cli.core.batches.packed import Batch
from deptree_cli.core.dtypes import Array
from deptree_cli.core.errors import DeptreeError
from deptree_cli.core.spaces import space
from deptree_cli.torch import elimination


@torch.library.custom_op("deptree::log_partition", mutates_args=())
def log_partition(log_scores: Tensor, lengths: Tensor, single_root: bool, projective: bool, on_device: bool) -> Tensor:
    """Return log Z, (B,): the forward sweep alone."""
    _check_lengths(log_scores, lengths)
    if on_device:
        return elimination.log_partition(log_scores, lengths, single_root)
    log_z = sums.log_partitions(_batch(log_scores, lengths, single_root, projective), torch.get_num_threads())
    return torch.from_numpy(log_z).to(log_scores)


@torch.library.custom_op("deptree::log_partition_and_marginals", mutates_args=())
def log_partition_and_marginals(
    log_scores: Tensor, lengths: Tensor, single_root: bool, projective: bool, on_device: bool
) -> tuple[Tensor, Tensor]:
    """Return log Z, (B,), and its gradient, the marginals, (B, N, N): both sweeps."""
    _check_lengths(log_scores, lengths)
    if on_device:
        return elimination.log_partition_and_marginals(log_scores, lengths, single_root)
    batch = _batch(log_scores, lengths, single_root, projective)
    log_z, marginals = sums.log_partitions_and_marginals(batch, torch.get_num_threads())
    return torch.from_numpy(log_z).to(log_scores), torch.from_numpy(marginals).to(log_scores)


@torch.library.custom_op("deptree::arc_covariance", mutates_args=())
def arc_covariance(
    log_scores: Tensor, lengths: Tensor, values: Tensor, single_root: bool, projective: bool, on_device: bool
) -> Tensor:
    """Return the derivative of the marginals in the direction of values (B, N, N): both sweeps on dual numbers."""
    if on_device:
        return elimination.arc_covariance(log_scores, lengths, values, single_root)
    batch = _batch(log_scores, lengths, single_root, projective)
    found = sums.covariances(batch, _array(values), torch.get_num_threads())
    return torch.from_numpy(found).to(log_scores)


def _batch(log_scores: Tensor, lengths: Tensor, single_root: bool, projective: bool) -> Batch:
    return Batch(_array(log_scores), lengths.cpu().numpy(), space(single_root, projective))


def _array(tensor: Tensor) -> Array:
    array: Array = np.ascontiguousarray(tensor.detach().cpu().numpy())
    return array


def _check_lengths(log_scores: Tensor, lengths: Tensor) -> None:
    """Raise a DeptreeError where a sentence has no words, or more than there are scores of."""
    most = log_scores.shape[-1] - 1
    wrong = (lengths < 1) | (lengths > most)
    if wrong.any():
        b = int(wrong.nonzero()[0])
        problem = f"sentence {b} of the batch has length {int(lengths[b])}, where there are scores of {most} words"
        raise DeptreeError(problem, "Give how many words it has, ROOT not counted, from 1 on")


@log_partition.register_fake
def _(log_scores: Tensor, *_: object) -> Tensor:
    return log_scores.new_empty(log_scores.shape[0])


@log_partition_and_marginals.register_fake
def _(log_scores: Tensor, *_: object) -> tuple[Tensor, Tensor]:
    return log_scores.new_empty(log_scores.shape[0]), torch.empty_like(log_scores)


@arc_covariance.register_fake
def _(log_scores: Tensor, *_: object) -> Tensor:
    return torch.empty_like(log_scores)


def _remember_scores(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
    log_scores, lengths, *ctx.how = inputs
    ctx.save_for_backward(log_scores, lengths)


def _return_log_z(ctx: Any, of_log_z: Tensor) -> tuple[Tensor | None, ...]:
    """The reverse sweep was not asked for, so it comes now, with the forward sweep once more."""
    marginals = log_partition_and_marginals(*ctx.saved_tensors, *ctx.how)[1]
    return of_log_z[:, None, None] * marginals, None, None, None, None


def _remember_marginals(ctx: Any, inputs: tuple[Any, ...], output: tuple[Tensor, Tensor]) -> None:
    log_scores, lengths, *ctx.how = inputs
    ctx.set_materialize_grads(False)  # where only log Z is used there are no covariances to work out
    ctx.save_for_backward(log_scores, lengths, output[1])


def _return_both(ctx: Any, of_log_z: Tensor | None, of_marginals: Tensor | None) -> tuple[Tensor | None, ...]:
    log_scores, lengths, marginals = ctx.saved_tensors
    parts = []
    if of_log_z is not None:
        parts.append(of_log_z[:, None, None] * marginals)
    if of_marginals is not None:
        parts.append(arc_covariance(log_scores, lengths, of_marginals, *ctx.how))
    return sum(parts) if parts else None, None, None, None, None


def _remember_all(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
    log_scores, lengths, _, *ctx.how = inputs
    ctx.save_for_backward(log_scores, lengths)


def _return_covariance(ctx: Any, of_covariance: Tensor) -> tuple[Tensor | None, ...]:
    """In the values, of which it is a symmetric linear function."""
    if ctx.needs_input_grad[0]:
        raise DeptreeError(
            "log Z can be differentiated twice and marginals once; this asks for one derivative more",
            "Detach what need not be differentiated, or leave out create_graph=True",
        )
    return None, None, arc_covariance(*ctx.saved_tensors, of_covariance, *ctx.how), None, None, None


log_partition.register_autograd(_return_log_z, setup_context=_remember_scores)
log_partition_and_marginals.register_autograd(_return_both, setup_context=_remember_marginals)
arc_covariance.register_autograd(_return_covariance, setup_context=_remember_all)
