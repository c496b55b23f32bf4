"""The logarithm of the sum over all trees and the probabilities of arcs, by elimination or by Eisner's chart."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Unpack

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array, lax
from jax.typing import ArrayLike

from deptree_cli.core.spaces import Short, SpaceLike
from deptree_cli.jax import eisner
from deptree_cli.jax.batches import (
    Batch,
    Padded,
    arranged,
    is_on_device,
    matrix_of,
    padded,
    require_numbers,
    require_trees,
    seen,
)
from deptree_cli.jax.factors import APART, eliminate, flows, is_known, shift, two_sum
from deptree_cli.jax.sums import by_kernels
from deptree_cli.jax.wide import Wide, logarithm

# How many units in the last place of 1, or of itself, log Z may be off by because words' constants cancel.
ROUNDINGS = 16


def log_partition(
    log_scores: ArrayLike,
    lengths: ArrayLike | None = None,
    space: SpaceLike = None,
    implementation: str = "auto",
    **short: Unpack[Short],
) -> Array:
    """Return the natural logarithm of the sum of all trees' weights, (...,). O(n^3); its gradient is the marginals.

    Args:
        log_scores: (..., N, N), ``[head, dependent]``; -inf forbids an arc.
        lengths: (...,), the number of words of each sentence; it may be traced.
        space: which trees: a name in `core.spaces.SPACES`, single-root by default, static under jit. Or pass
            `single_root` (exactly one ROOT arc, or one or more; may be traced) and `projective` (no two arcs may
            cross).
        implementation: "kernels": our kernels on the CPU, called back from compiled code; "device": plain JAX on any
            device, always used for second derivatives. It leaves out trees with an arc 180,000 or more below the best
            of its word. A sentence without other trees is an error, and so is one whose best scores cancel and leave no
            digits. "auto": kernels if JAX's default backend is the CPU.

    Returns:
        numbers of the scores' type, float32 for all but float64. Under jit, vmap and grad no error can be raised: a
            sentence without a tree gives -inf, with gradient 0; any other bad sentence gives NaN.

    Raises:
        DeptreeError: shapes do not fit, the implementation is unknown, or a sentence has no tree, a NaN or infinite
            score, or cannot be computed on the device (see `implementation`).
    """
    sentences = padded(log_scores, lengths, space, **short)
    if not is_on_device(implementation):
        return _with_trees(_log_partition_by_kernels(sentences), sentences)
    batch = arranged(sentences)
    relative, log_z = _log_partition(batch)
    require_trees(relative, batch)
    problem = f"the best scores of words cancel, and leave no digits of {log_z.dtype}"
    require_numbers(log_z, problem, "Give float64, or scores without such offsets")
    return log_z


def marginals(
    log_scores: ArrayLike,
    lengths: ArrayLike | None = None,
    space: SpaceLike = None,
    implementation: str = "auto",
    **short: Unpack[Short],
) -> Array:
    """Return the probability of every arc, (..., N, N). O(n^3).

    Arguments and errors as in `log_partition`; all are 0 if that returns -inf.
    """
    sentences = padded(log_scores, lengths, space, **short)
    if not is_on_device(implementation):
        log_z, found = _sums_by_kernels(sentences)
        _with_trees(log_z, sentences)
        return found
    batch = arranged(sentences)
    relative, found = _marginals(batch)
    require_trees(relative, batch)
    return found


def _with_trees(log_z: Array, sentences: Padded) -> Array:
    """The same; see `require_trees`."""
    values = seen(log_z)
    if values is not None and not np.isfinite(values).all():
        require_trees(log_z, arranged(sentences))
    return log_z


@jax.custom_jvp
def _log_partition_by_kernels(sentences: Padded) -> Array:
    return by_kernels(sentences, with_marginals=False)[0]


@_log_partition_by_kernels.defjvp
def _log_partition_by_kernels_jvp(primals: tuple[Padded], tangents: tuple[Padded]) -> tuple[Array, Array]:
    log_z, found = _sums_by_kernels(primals[0])
    return log_z, (found * tangents[0].log_scores).sum((-2, -1))


@jax.custom_jvp
def _sums_by_kernels(sentences: Padded) -> tuple[Array, Array]:
    """Return log Z, (...,), and the marginals, (..., N, N), whose derivatives plain JAX has."""
    log_z, found = by_kernels(sentences, with_marginals=True)
    return log_z, found


@_sums_by_kernels.defjvp
def _sums_by_kernels_jvp(
    primals: tuple[Padded], tangents: tuple[Padded]
) -> tuple[tuple[Array, Array], tuple[Array, Array]]:
    own, changes = primals[0], tangents[0].log_scores
    log_z, found = _sums_by_kernels(own)

    def on_device(log_scores: Array) -> Array:
        return _marginals(arranged(replace(own, log_scores=log_scores)))[1]

    covariances = jax.jvp(on_device, (own.log_scores,), (changes,))[1]
    return (log_z, found), ((found * changes).sum((-2, -1)), covariances)


@jax.custom_jvp
def relative_log_partition(batch: Batch) -> Array:
    """Return log Z of shifted scores (`factors.py`), (...,), which has digits that log Z of large scores lacks.

    -inf where there is no tree; NaN where trees are not told apart.
    """
    return _sums(batch)[0]


@relative_log_partition.defjvp
def _relative_log_partition_jvp(primals: tuple[Batch], tangents: tuple[Batch]) -> tuple[Array, Array]:
    relative, found = relative_sums(primals[0])
    return relative, (found * tangents[0].log_scores).sum((-2, -1))


def relative_sums(batch: Batch) -> tuple[Array, Array]:
    """Return the same and the marginals of arcs, (..., n+1, n), which are 0 where there is no tree."""
    relative, probabilities = _sums(batch)
    known = jnp.where(jnp.isnan(relative), jnp.nan, 1)[..., None, None]
    return relative, at_least_zero(jnp.where((relative == -jnp.inf)[..., None, None], 0, probabilities() * known))


def at_least_zero(values: Array) -> Array:
    """Return values that are below 0 by rounding only, without that; derivatives stay as they are."""
    return values - lax.stop_gradient(jnp.minimum(values, 0))


@jax.jit
def _log_partition(batch: Batch) -> tuple[Array, Array]:
    relative = relative_log_partition(batch)
    constants, eps = shift(batch.log_scores, batch.single_root).constants, float(np.finfo(relative.dtype).eps)
    (total, rest), _ = lax.scan(_add, (jnp.zeros_like(relative), relative), jnp.moveaxis(constants, -1, 0))
    found = total + rest
    lost = jnp.abs(constants).sum(-1) * constants.shape[-1] * eps  # in units of the last place of 1
    unknown = lost > ROUNDINGS / eps * jnp.maximum(1, jnp.abs(found))
    return relative, found + jnp.where(unknown, jnp.nan, 0)  # its gradient is known


def _add(pair: tuple[Array, Array], constant: Array) -> tuple[tuple[Array, Array], None]:
    """Add a constant to a sum and what it has rounded off."""
    high, low = two_sum(pair[0], constant)
    return (high, pair[1] + low), None


@jax.jit
def _marginals(batch: Batch) -> tuple[Array, Array]:
    relative, found = relative_sums(batch)
    return relative, matrix_of(found)


def _sums(batch: Batch) -> tuple[Array, Callable[[], Array]]:
    """log Z of shifted scores, (...,), NaN where trees are not told apart; and what gives probabilities of arcs."""
    log_z, probabilities = (eisner.sums if batch.projective else _by_elimination)(batch)
    return jnp.where(is_known(log_z, batch.log_scores, batch.single_root), log_z, jnp.nan), probabilities


def _by_elimination(batch: Batch) -> tuple[Array, Callable[[], Array]]:
    """The same over all trees, crossing arcs or not. O(n^3).

    log Z is the sum of the logarithms of pivots, ROOT's arcs brought back to their weight: -inf where a word has no
    pivot, and where there is to be one arc from ROOT and two are needed.
    """
    factors = eliminate(batch.log_scores, batch.single_root)
    mantissa, exponent = factors.pivots
    by_root = (mantissa > 0) & (exponent < -(APART // 2))
    pivots = Wide(mantissa, exponent + jnp.where(by_root, APART, 0).astype(exponent.dtype))
    log_z = jnp.where(batch.words, logarithm(pivots), 0).sum(-1)
    too_many = batch.single_root & (by_root.sum(-1) > 1)
    return jnp.where(too_many, -jnp.inf, log_z), lambda: flows(factors) * factors.direct
