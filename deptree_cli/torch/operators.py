"""Sums as functions that autograd knows, and as operators of PyTorch that `torch.compile` leaves whole.

They do the same, by the same rules: the gradient of log Z in the log-scores are the marginals of arcs, and the gradient
of a function of the marginals are covariances in its direction (Zmigrod et al. 2021b, section 4), so that nothing is
differentiated by machine. All are functions of (log_scores, lengths, [values], space, how), as of
`sums.py`.

An operator costs a batch a tenth of a millisecond that short sentences would feel, so it is taken only where something
is being compiled.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from torch import Tensor

from deptree_cli.core.errors import DeptreeError
from deptree_cli.torch import sums

Gradients = tuple[Tensor | None, ...]


def _remember_inputs(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
    """Keep what log Z or a covariance was made of."""
    log_scores, lengths, *rest = inputs
    ctx.how = rest[-2:]
    ctx.save_for_backward(log_scores, lengths)


def _remember_marginals(ctx: Any, inputs: tuple[Any, ...], output: tuple[Tensor, Tensor, Tensor]) -> None:
    """Keep what log Z and marginals were made of, and the marginals: they are log Z's gradient."""
    log_scores, lengths, *ctx.how = inputs
    ctx.set_materialize_grads(False)  # where only log Z is used there are no covariances to work out
    ctx.save_for_backward(log_scores, lengths, output[1])


def _of_log_partition(sums: Callable[..., tuple[Tensor, Tensor, Tensor]], ctx: Any, of_log_z: Tensor) -> Gradients:
    """The reverse sweep was not asked for, so it comes now, with the forward sweep once more."""
    marginals = sums(*ctx.saved_tensors, *ctx.how)[1]
    return _weighted(of_log_z, marginals), None, None, None


def _backward_sums(
    covariance: Callable[..., Tensor],
    ctx: Any,
    of_log_z: Tensor | None,
    of_marginals: Tensor | None,
    of_relative: Tensor | None,
) -> Gradients:
    """From gradients of log Z, of marginals and of log Z of shifted scores, None where one was not used, to that of the
    scores."""
    log_scores, lengths, marginals = ctx.saved_tensors
    sums = [each for each in (of_log_z, of_relative) if each is not None]
    total = _weighted(sum(sums[1:], sums[0]), marginals) if sums else None
    if of_marginals is not None:
        second = covariance(log_scores, lengths, of_marginals, *ctx.how)
        total = second if total is None else total + second
    return total, None, None, None


def _weighted(of_log_z: Tensor, marginals: Tensor) -> Tensor:
    """Return each sentence's marginals times the gradient of its log Z: by NumPy, in one thread, where it can.

    PyTorch would multiply in all its threads, and these would go on spinning where ours want to run next.
    """
    if not torch.is_grad_enabled():
        try:
            return torch.from_numpy(of_log_z.detach().numpy()[:, None, None] * marginals.detach().numpy())
        except (RuntimeError, TypeError):  # a tensor of another device, or one that is traced
            pass
    return of_log_z[:, None, None] * marginals


def _of_covariance(covariance: Callable[..., Tensor], ctx: Any, given: Tensor) -> Gradients:
    """In the values, of which a covariance is a symmetric linear function.

    Raises:
        DeptreeError: the scores are to be differentiated too, for the third time.
    """
    if ctx.needs_input_grad[0]:
        raise DeptreeError(
            "log Z can be differentiated twice and marginals once; this asks for one derivative more",
            "Detach what need not be differentiated, or leave out create_graph=True",
        )
    return None, None, covariance(*ctx.saved_tensors, given, *ctx.how), None, None


def _apply(function: type[torch.autograd.Function], *given: Any) -> Any:
    """Call a function that autograd knows.

    Unless `torch.func` has it, by what `apply` itself ends in, once it has bound arguments to a signature: that takes
    as long as short sentences do.
    """
    if torch._C._are_functorch_transforms_active():
        return function.apply(*given)  # type: ignore[no-untyped-call]
    return super(torch.autograd.Function, function).apply(*given)  # type: ignore[misc]


class _Covariance(torch.autograd.Function):
    forward = staticmethod(sums.arc_covariance)
    setup_context = staticmethod(_remember_inputs)
    vmap = jvp = staticmethod(sums.refuse)  # type: ignore[assignment]

    @staticmethod
    def backward(ctx: Any, *given: Any) -> Gradients:
        return _of_covariance(partial(_apply, _Covariance), ctx, *given)


class _Sums(torch.autograd.Function):
    forward = staticmethod(sums.log_partition_and_marginals)
    setup_context = staticmethod(_remember_marginals)
    vmap = jvp = staticmethod(sums.refuse)  # type: ignore[assignment]

    @staticmethod
    def backward(ctx: Any, *given: Any) -> Gradients:
        return _backward_sums(partial(_apply, _Covariance), ctx, *given)


log_partition_op = torch.library.custom_op("deptree::log_partition", sums.log_partition, mutates_args=())
sums_op = torch.library.custom_op(
    "deptree::log_partition_and_marginals", sums.log_partition_and_marginals, mutates_args=()
)
covariance_op = torch.library.custom_op("deptree::arc_covariance", sums.arc_covariance, mutates_args=())


@sums_op.register_fake
def _(log_scores: Tensor, *_: object) -> tuple[Tensor, Tensor, Tensor]:
    of_sentences, of_arcs = log_scores.shape[0], log_scores.shape
    return log_scores.new_empty(of_sentences), log_scores.new_empty(of_arcs), log_scores.new_empty(of_sentences)


log_partition_op.register_fake(lambda log_scores, *_: log_scores.new_empty(log_scores.shape[0]))
covariance_op.register_fake(lambda log_scores, *_: log_scores.new_empty(log_scores.shape))
log_partition_op.register_autograd(partial(_of_log_partition, sums_op), setup_context=_remember_inputs)
sums_op.register_autograd(partial(_backward_sums, covariance_op), setup_context=_remember_marginals)
covariance_op.register_autograd(partial(_of_covariance, covariance_op), setup_context=_remember_inputs)


def log_partition(*given: Any) -> Tensor:
    """Return log Z, (B,), of the arguments of `sums.log_partition`; without a gradient unless it is compiled."""
    return log_partition_op(*given) if torch.compiler.is_compiling() else sums.log_partition(*given)


def log_partition_and_marginals(*given: Any) -> tuple[Tensor, Tensor, Tensor]:
    """Return what `sums.log_partition_and_marginals` does of its arguments."""
    found: tuple[Tensor, Tensor, Tensor] = sums_op(*given) if torch.compiler.is_compiling() else _apply(_Sums, *given)
    return found
