"""log Z and marginals as functions that autograd, `torch.func` and `torch.compile` know.

The gradient of log Z in the log-scores are the marginals of arcs, and the gradient of a function of the marginals are
covariances in its direction (Zmigrod et al. 2021b, section 4), so that nothing is differentiated by machine. All are
functions of (log_scores, lengths, [values], space, precision), as those of `sums.py`.

Eager code takes `_Sums`. What `torch.func` transforms must have a `setup_context`, for which PyTorch binds arguments to
a signature, and what is compiled must be an operator: either would cost a batch of short sentences a third of its time.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import torch
from torch import Tensor
from torch.autograd.forward_ad import unpack_dual

from deptree_cli.core.errors import DeptreeError
from deptree_cli.torch import sums

Gradients = tuple[Tensor | None, ...]


def _remember(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
    """Keep what sums were made of, and the marginals, which are log Z's gradient."""
    log_scores, lengths, *rest = inputs
    ctx.how = rest[-2:]
    ctx.set_materialize_grads(False)  # where only log Z is used there are no covariances to work out
    kept = (log_scores, lengths, *output[1:]) if isinstance(output, tuple) else (log_scores, lengths)
    ctx.save_for_backward(*kept)


def _remember_both_ways(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
    """Keep them for derivatives forward too."""
    _remember(ctx, inputs, output)
    ctx.save_for_forward(*ctx.to_save)


def _of_sums(covariance: Any, ctx: Any, of_log_z: Tensor | None, of_marginals: Tensor | None) -> Gradients:
    """From gradients of log Z and of marginals, None where one was not used, to that of the scores."""
    log_scores, lengths, marginals = ctx.saved_tensors
    total = None if of_log_z is None else of_log_z.view(-1, 1, 1) * marginals
    if of_marginals is not None:
        second = covariance(log_scores, lengths, of_marginals, *ctx.how)
        total = second if total is None else total + second
    return total, None, None, None


def _of_covariance(covariance: Any, ctx: Any, given: Tensor) -> Gradients:
    """In the values, of which a covariance is a symmetric linear function."""
    _refuse_third(ctx.needs_input_grad[0])
    return None, None, covariance(*ctx.saved_tensors, given, *ctx.how), None, None


def _refuse_third(wanted: bool) -> None:
    """Raise a DeptreeError if the scores of a covariance are to be differentiated too."""
    if wanted:
        raise DeptreeError(
            "log Z can be differentiated twice and marginals once; this asks for one derivative more",
            "Detach what need not be differentiated, or leave out create_graph=True",
        )


def _as_larger_batch(function: Any, info: Any, in_dims: tuple[int | None, ...], *given: Any) -> tuple[Any, Any]:
    """Return a function's results for one more dimension of its tensors: their sentences make one larger batch."""
    tensors = [
        each.expand(info.batch_size, *each.shape) if dim is None else each.movedim(dim, 0)
        for each, dim in zip(given, in_dims, strict=True)
        if isinstance(each, Tensor)
    ]
    found = function(*(each.flatten(0, 1) for each in tensors), *given[len(tensors) :])
    if isinstance(found, Tensor):
        return found.reshape(info.batch_size, -1, *found.shape[1:]), 0
    return tuple(each.reshape(info.batch_size, -1, *each.shape[1:]) for each in found), (0,) * len(found)


log_partition_op = torch.library.custom_op("deptree::log_partition", sums.log_partition, mutates_args=())
sums_op = torch.library.custom_op(
    "deptree::log_partition_and_marginals", sums.log_partition_and_marginals, mutates_args=()
)
covariance_op = torch.library.custom_op("deptree::arc_covariance", sums.arc_covariance, mutates_args=())
log_partition_op.register_fake(lambda log_scores, *_: log_scores.new_empty(len(log_scores)))
sums_op.register_fake(lambda log_scores, *_: (log_scores.new_empty(len(log_scores)), torch.empty_like(log_scores)))
covariance_op.register_fake(lambda log_scores, *_: torch.empty_like(log_scores))
sums_op.register_autograd(partial(_of_sums, covariance_op), setup_context=_remember)
covariance_op.register_autograd(partial(_of_covariance, covariance_op), setup_context=_remember)


class _Covariance(torch.autograd.Function):
    """`sums.arc_covariance`, by its operator, which PyTorch can call for many directions at once."""

    forward = staticmethod(covariance_op)
    setup_context = staticmethod(_remember_both_ways)

    @staticmethod
    def backward(ctx: Any, *given: Any) -> Gradients:
        return _of_covariance(_Covariance.apply, ctx, *given)

    @staticmethod
    def jvp(ctx: Any, of_scores: Tensor | None, _: None, of_values: Tensor, *__: None) -> Tensor:
        _refuse_third(of_scores is not None)
        return _Covariance.apply(*ctx.saved_tensors, of_values, *ctx.how)  # type: ignore[no-untyped-call]

    @staticmethod
    def vmap(*given: Any) -> tuple[Any, Any]:
        return _as_larger_batch(_Covariance.apply, *given)


def _is_transformed(*tensors: Tensor) -> bool:
    """Whether tensors have no numbers of their own, as inside `torch.func` and batched gradients, or forward tangents.

    To be known beforehand: the error that PyTorch raises then is a RuntimeError, as real ones in sums are.
    """
    return torch._C._are_functorch_transforms_active() or any(
        torch._C._functorch.is_legacy_batchedtensor(each) or unpack_dual(each).tangent is not None  # type: ignore[no-untyped-call]
        for each in tensors
    )


def _covariance(log_scores: Tensor, lengths: Tensor, values: Tensor, space: str, precision: str) -> Tensor:
    """Return `sums.arc_covariance`, by itself where no derivative is asked for, backward or forward."""
    given = log_scores, lengths, values, space, precision
    if torch.is_grad_enabled() or _is_transformed(log_scores, values):
        return _Covariance.apply(*given)  # type: ignore[no-untyped-call]
    return sums.arc_covariance(*given)


class _Sums(torch.autograd.Function):
    """`sums.log_partition_and_marginals` of eager code."""

    @staticmethod
    def forward(ctx: Any, *given: Any) -> tuple[Tensor, Tensor]:
        found = sums.log_partition_and_marginals(*given)
        _remember(ctx, given, found)
        return found

    @staticmethod
    def backward(ctx: Any, *given: Any) -> Gradients:
        return _of_sums(_covariance, ctx, *given)


class _TransformedSums(_Sums):
    """The same inside `torch.func`, and with derivatives forward."""

    forward = staticmethod(sums.log_partition_and_marginals)  # type: ignore[assignment]
    setup_context = staticmethod(_remember_both_ways)

    @staticmethod
    def jvp(ctx: Any, of_scores: Tensor, *_: None) -> tuple[Tensor, Tensor]:
        log_scores, lengths, marginals = ctx.saved_tensors
        of_marginals = _Covariance.apply(log_scores, lengths, of_scores, *ctx.how)  # type: ignore[no-untyped-call]
        return (marginals * of_scores).sum((1, 2)), of_marginals

    @staticmethod
    def vmap(*given: Any) -> tuple[Any, Any]:
        return _as_larger_batch(_TransformedSums.apply, *given)


def log_partition(*given: Any) -> Tensor:
    """Return log Z, (B,), of the arguments of `sums.log_partition`; without a gradient."""
    if torch.compiler.is_compiling():
        return log_partition_op(*given)
    return log_partition_and_marginals(*given)[0] if _is_transformed(given[0]) else sums.log_partition(*given)


def log_partition_and_marginals(*given: Any) -> tuple[Tensor, Tensor]:
    """Return what `sums.log_partition_and_marginals` does of its arguments; differentiable."""
    found: tuple[Tensor, Tensor]
    if torch.compiler.is_compiling():
        found = sums_op(*given)
    else:
        found = (_TransformedSums if _is_transformed(given[0]) else _Sums).apply(*given)  # type: ignore[no-untyped-call]
    return found
