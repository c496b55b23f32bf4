"""The derivatives of sums, as autograd wants them: what to remember, and what to hand back.

The gradient of log Z in the log-scores are the marginals of arcs, and the gradient of a function of the marginals are
covariances in its direction (Zmigrod et al. 2021b, section 4), so that nothing is differentiated by machine. The rules
serve functions (log_scores, lengths, [values], space, on_device).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from deptree_cli.core.errors import DeptreeError

Gradients = tuple[Tensor | None, ...]


def remember_inputs(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
    """Keep what log Z or a covariance was made of."""
    log_scores, lengths, *rest = inputs
    ctx.how = rest[-2:]
    ctx.save_for_backward(log_scores, lengths)


def remember_marginals(ctx: Any, inputs: tuple[Any, ...], output: tuple[Tensor, Tensor, Tensor]) -> None:
    """Keep what log Z and marginals were made of, and the marginals: they are log Z's gradient."""
    log_scores, lengths, *ctx.how = inputs
    ctx.set_materialize_grads(False)  # where only log Z is used there are no covariances to work out
    ctx.save_for_backward(log_scores, lengths, output[1])


def of_log_partition(sums: Callable[..., tuple[Tensor, Tensor, Tensor]], ctx: Any, of_log_z: Tensor) -> Gradients:
    """The reverse sweep was not asked for, so it comes now, with the forward sweep once more."""
    marginals = sums(*ctx.saved_tensors, *ctx.how)[1]
    return _weighted(of_log_z, marginals), None, None, None


def backward_sums(
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


def of_covariance(covariance: Callable[..., Tensor], ctx: Any, given: Tensor) -> Gradients:
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
