"""The log-partition function and its derivatives: edge marginals, and their covariance, which is linear.

The values come from the core's kernels on the CPU, called back, or from elimination in plain JAX; the second derivative
always from the kernels.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import jax
from jax import Array
from jax.extend.core import Primitive
from jax.interpreters import ad, batching, mlir

from deptree_cli.core.errors import DeptreeError
from deptree_cli.core.spaces import TreeSpace
from deptree_cli.jax import elimination, host
from deptree_cli.jax.batches import Sentences

# Who computes: plain JAX, or the kernels in one of these precisions.
DEVICE = "device"


@partial(jax.custom_jvp, nondiff_argnums=(1,))
def log_partition(sentences: Sentences, how: str) -> Array:
    """Return log Z, (...,): -inf where there is no tree, NaN where scores or length are none; its gradient is 0 there.

    how: "float32" or "float64", by kernels, or `DEVICE`.
    """
    if how == DEVICE:
        return elimination.sums(sentences)[0]
    return _by_kernels(lambda batch: (batch.log_partitions(raises=False),), sentences, how, sentences.lengths)[0]


@log_partition.defjvp
def _log_partition_jvp(how: str, primals: Any, tangents: Any) -> tuple[Array, Array]:
    log_z, marginals = log_partition_and_marginals(primals[0], how)
    return log_z, (marginals * tangents[0].log_scores).sum((-2, -1))


@partial(jax.custom_jvp, nondiff_argnums=(1,))
def log_partition_and_marginals(sentences: Sentences, how: str) -> tuple[Array, Array]:
    """Return log Z, (...,), and the probabilities of arcs, (..., N, N), 0 where there is no tree."""
    if how == DEVICE:
        return elimination.sums(sentences)
    shapes = sentences.lengths, sentences.log_scores
    log_z, found = _by_kernels(lambda batch: batch.log_partitions_and_marginals(raises=False), sentences, how, *shapes)
    return log_z, found


def _by_kernels(question: Any, sentences: Sentences, how: str, *shapes: Array) -> list[Array]:
    """Return what a `TreeBatch` answers, arrays of these shapes."""
    given = sentences.log_scores, sentences.lengths
    results = [(each.shape, given[0].dtype) for each in shapes]
    return host.call(partial(host.ask, question, sentences.space, how), results, *given)


@log_partition_and_marginals.defjvp
def _marginals_jvp(how: str, primals: Any, tangents: Any) -> Any:
    own, changes = primals[0], tangents[0].log_scores
    log_z, marginals = log_partition_and_marginals(own, how)
    changed = covariance(own.log_scores, own.lengths, changes, space=own.space)
    return (log_z, marginals), ((marginals * changes).sum((-2, -1)), changed)


# From log-scores (..., N, N), lengths (...,) and a direction (..., N, N) to the derivative of the marginals in it:
# linear in the direction and, as a matrix of covariances is symmetric, its own transpose.
COVARIANCE = Primitive("deptree_covariance")


def covariance(log_scores: Array, lengths: Array, direction: Array, *, space: TreeSpace) -> Array:
    """Return Cov(1[arc in tree], sum of the direction's numbers over the tree) of every arc, (..., N, N)."""
    found: Array = COVARIANCE.bind(log_scores, lengths, direction, space=space)  # type: ignore[no-untyped-call]
    return found


def _covariance(log_scores: Array, lengths: Array, direction: Array, *, space: TreeSpace) -> Array:
    asked = partial(host.ask, lambda batch, values: (batch.covariances(values, raises=False),), space, "float64")
    return host.call(asked, [(log_scores.shape, log_scores.dtype)], log_scores, lengths, direction)[0]


def _jvp(primals: Any, tangents: Any, *, space: TreeSpace) -> tuple[Array, Any]:
    if type(tangents[0]) is not ad.Zero:
        problem = "a third derivative of log Z is asked for, as the second one of an entropy is"
        raise DeptreeError(problem, "Differentiate once less")
    log_scores, lengths, direction = primals
    found, changes = covariance(log_scores, lengths, direction, space=space), tangents[2]
    return found, changes if type(changes) is ad.Zero else covariance(log_scores, lengths, changes, space=space)


def _transposed(adjoint: Any, log_scores: Array, lengths: Array, _: Any, *, space: TreeSpace) -> tuple[None, None, Any]:
    is_zero = type(adjoint) is ad.Zero
    return None, None, adjoint if is_zero else covariance(log_scores, lengths, adjoint, space=space)


def _batched(given: Any, axes: Any, *, space: TreeSpace) -> tuple[Array, int]:
    return covariance(*host.in_front(given, axes)[1], space=space), 0


COVARIANCE.def_impl(_covariance)  # type: ignore[no-untyped-call]
COVARIANCE.def_abstract_eval(lambda log_scores, *_, space: log_scores)  # type: ignore[no-untyped-call]
mlir.register_lowering(COVARIANCE, mlir.lower_fun(_covariance, multiple_results=False))
ad.primitive_jvps[COVARIANCE] = _jvp
ad.primitive_transposes[COVARIANCE] = _transposed
batching.primitive_batchers[COVARIANCE] = _batched
