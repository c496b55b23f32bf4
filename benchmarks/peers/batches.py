"""Whom the training loop is timed beside: log Z of single-root non-projective trees and its derivatives, in batches.

Each takes float32 log-scores of a batch of sentences, as a user of that library has them.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchmarks.peers.layouts import with_root_on_diagonal, with_root_row

Float = NDArray[Any]


class Contender(NamedTuple):
    """What is asked of one.

    Attributes:
        given: from log-scores (b, n+1, n+1), ``[head, dependent]``, to what it takes; random weights of arcs too.
        gradient: log Z of the batch and from it the gradient, in what it was given.
        second: the same, and then the gradient of the sum of that gradient times weights.
        by_arc: from such a gradient back to (b, n+1, n+1).
    """

    given: Callable[[Float], Any]
    gradient: Callable[[Any], Any]
    second: Callable[[Any, Any], Any]
    by_arc: Callable[[Any], Float]


def kernels() -> Contender:
    """Ours in PyTorch, which sums float32 scores in float32."""
    from deptree_cli.torch import log_partition

    return _in_torch(log_partition, np.copy, np.copy)


def double() -> Contender:
    """Ours in PyTorch, by kernels in float64."""
    from deptree_cli.torch import log_partition

    return _in_torch(partial(log_partition, precision="float64"), np.copy, np.copy)


def torch_struct() -> Contender:
    """torch-struct's NonProjectiveDependencyCRF, ROOT's scores on the diagonal."""
    from torch_struct import NonProjectiveDependencyCRF

    def log_z(scores: Any) -> Any:
        return NonProjectiveDependencyCRF(scores).partition

    return _in_torch(log_z, with_root_on_diagonal, with_root_row)


def supar() -> Contender:
    """SuPar's MatrixTree, ``[dependent, head]``; it computes in float64."""
    from supar.structs import MatrixTree

    def turned(arcs: Float) -> Float:
        return arcs.swapaxes(1, 2).copy()

    return _in_torch(lambda scores: MatrixTree(scores).log_partition, turned, turned)


def _in_torch(
    log_z: Callable[[Any], Any], given: Callable[[Float], Float], by_arc: Callable[[Float], Float]
) -> Contender:
    import torch

    def first(scores: Any, create_graph: bool) -> tuple[Any, Any]:
        leaf = scores.detach().requires_grad_()
        return leaf, torch.autograd.grad(log_z(leaf).sum(), leaf, create_graph=create_graph)[0]

    def second(scores: Any, weights: Any) -> Any:
        leaf, gradient = first(scores, create_graph=True)
        return torch.autograd.grad((gradient * weights).sum(), leaf)[0]

    return Contender(
        lambda scores: torch.tensor(given(scores)),
        lambda scores: first(scores, create_graph=False)[1],
        second,
        lambda gradient: by_arc(gradient.numpy()),
    )


def ours_in_jax() -> Contender:
    """Ours in JAX."""
    from deptree_cli.jax import log_partition

    return _in_jax(log_partition, -np.inf)


def synjax() -> Contender:
    """SynJax's SpanningTreeCRF."""
    from synjax import SpanningTreeCRF

    def log_z(logits: Any) -> Any:
        return SpanningTreeCRF(logits, directed=True, single_root_edge=True, projective=False).log_partition()

    return _in_jax(log_z, -1e5)  # no arc, as in the other benchmarks


def _in_jax(log_z: Callable[[Any], Any], least: float) -> Contender:
    """Compiled; a call is over when its results are there."""
    import jax

    def total(scores: Any) -> Any:
        return log_z(scores).sum()

    first = jax.jit(jax.value_and_grad(total))
    second = jax.jit(jax.grad(lambda scores, weights: (jax.grad(total)(scores) * weights).sum()))
    return Contender(
        lambda scores: jax.numpy.asarray(np.maximum(scores, least)),
        lambda scores: jax.block_until_ready(first(scores))[1],
        lambda scores, weights: jax.block_until_ready(second(scores, weights)),
        np.asarray,
    )


LAPLACIAN: dict[str, Callable[[], Contender]] = {"torch-struct": torch_struct, "SuPar": supar}
CONTENDERS: dict[str, Callable[[], Contender]] = {
    "deptree, kernels": kernels,
    "deptree, kernels in float64": double,
    "deptree, JAX": ours_in_jax,
    **LAPLACIAN,
    "SynJax": synjax,
}
