"""Sums as functions that autograd knows, and as operators of PyTorch that `torch.compile` leaves whole.

They do the same, by the same rules (`derivatives.py`). An operator costs a batch a tenth of a millisecond that short
sentences would feel, so it is taken only where something is being compiled.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from inspect import signature
from typing import Any

import torch
from torch import Tensor

from deptree_cli.torch import derivatives, sums


def _forward(function: Callable[..., Any]) -> Any:
    """Return a function that remembers its signature: autograd looks it up at every call, which takes long."""
    function.__signature__ = signature(function)  # type: ignore[attr-defined]
    return staticmethod(function)


class _Covariance(torch.autograd.Function):
    forward = _forward(sums.arc_covariance)
    setup_context = staticmethod(derivatives.remember_inputs)

    @staticmethod
    def backward(ctx: Any, *given: Any) -> derivatives.Gradients:
        return derivatives.of_covariance(_Covariance.apply, ctx, *given)


class _Sums(torch.autograd.Function):
    forward = _forward(sums.log_partition_and_marginals)
    setup_context = staticmethod(derivatives.remember_marginals)

    @staticmethod
    def backward(ctx: Any, *given: Any) -> derivatives.Gradients:
        return derivatives.backward_sums(_Covariance.apply, ctx, *given)


log_partition_op = torch.library.custom_op("deptree::log_partition", sums.log_partition, mutates_args=())
sums_op = torch.library.custom_op(
    "deptree::log_partition_and_marginals", sums.log_partition_and_marginals, mutates_args=()
)
covariance_op = torch.library.custom_op("deptree::arc_covariance", sums.arc_covariance, mutates_args=())


@log_partition_op.register_fake
def _(log_scores: Tensor, *_: object) -> Tensor:
    return log_scores.new_empty(log_scores.shape[0])


@sums_op.register_fake
def _(log_scores: Tensor, *_: object) -> tuple[Tensor, Tensor, Tensor]:
    of_sentences, of_arcs = log_scores.shape[0], log_scores.shape
    return log_scores.new_empty(of_sentences), log_scores.new_empty(of_arcs), log_scores.new_empty(of_sentences)


@covariance_op.register_fake
def _(log_scores: Tensor, *_: object) -> Tensor:
    return log_scores.new_empty(log_scores.shape)


log_partition_op.register_autograd(
    partial(derivatives.of_log_partition, sums_op), setup_context=derivatives.remember_inputs
)
sums_op.register_autograd(
    partial(derivatives.backward_sums, covariance_op), setup_context=derivatives.remember_marginals
)
covariance_op.register_autograd(
    partial(derivatives.of_covariance, covariance_op), setup_context=derivatives.remember_inputs
)


def log_partition(*given: Any) -> Tensor:
    """Return log Z, (B,), of the arguments of `sums.log_partition`; without a gradient unless it is compiled."""
    return log_partition_op(*given) if torch.compiler.is_compiling() else sums.log_partition(*given)


def log_partition_and_marginals(*given: Any) -> tuple[Tensor, Tensor, Tensor]:
    """Return what `sums.log_partition_and_marginals` does of its arguments."""
    function = sums_op if torch.compiler.is_compiling() else _Sums.apply
    found: tuple[Tensor, Tensor, Tensor] = function(*given)  # type: ignore[no-untyped-call]
    return found
