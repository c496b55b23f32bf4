"""The logarithm of the sum over all trees and the probabilities of arcs, by elimination (`factors.py`)."""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jax import Array, lax
from jax.typing import ArrayLike

from deptree_cli.jax.batches import Batch, batch_of, matrix_of, require_trees
from deptree_cli.jax.factors import APART, Factors, eliminate, flows, tops_of
from deptree_cli.jax.wide import Wide, constant, log_ratio


def log_partition(log_scores: ArrayLike, lengths: ArrayLike | None = None, single_root: bool = True) -> Array:
    """Return the natural logarithm of the sum of all trees' weights, (...,). O(n^3); its gradient are the marginals.

    Args:
        log_scores: (..., N, N), ``[head, dependent]``; -inf forbids an arc. Scores count as not more than 180,000
            below the largest of their sentence, or 90,000 below that of their column, whichever is lower.
        lengths: (...,), the number of words of each sentence; it may be traced.
        single_root: True for trees with exactly one arc from ROOT, False for one or more.

    Returns:
        numbers of the scores' type, float32 for all but float64. Of a sentence without a tree -inf, with gradient 0,
        where no error can be raised: under jit, vmap and grad.

    Raises:
        DeptreeError: shapes do not fit; or a sentence has no tree, or a score that is NaN or infinite.
    """
    batch = batch_of(log_scores, lengths, single_root)
    relative, log_z = _log_partition(batch)
    require_trees(relative, batch)
    return log_z


def marginals(log_scores: ArrayLike, lengths: ArrayLike | None = None, single_root: bool = True) -> Array:
    """Return the probability of each arc to be in a tree, (..., N, N). O(n^3).

    Arguments and errors as of `log_partition`; all are 0 where that returns -inf.
    """
    batch = batch_of(log_scores, lengths, single_root)
    relative, found = _marginals(batch)
    require_trees(relative, batch)
    return found


@jax.custom_jvp
def relative_log_partition(batch: Batch) -> Array:
    """Return log Z less the largest score of each column, (...,), which has digits that log Z of large scores lacks.

    -inf where there is no tree.
    """
    return _log_z(eliminate(batch.log_scores, batch.single_root), batch)


@relative_log_partition.defjvp
def _relative_log_partition_jvp(primals: tuple[Batch], tangents: tuple[Batch]) -> tuple[Array, Array]:
    relative, found = relative_sums(primals[0])
    return relative, (found * tangents[0].log_scores).sum((-2, -1))


def relative_sums(batch: Batch) -> tuple[Array, Array]:
    """Return the same and the marginals of arcs, (..., n+1, n), which are 0 where there is no tree."""
    factors = eliminate(batch.log_scores, batch.single_root)
    relative = _log_z(factors, batch)
    found = flows(factors) * factors.direct
    found = jnp.where(
        (relative > -jnp.inf)[..., None, None], found, jnp.where(jnp.isnan(relative), jnp.nan, 0)[..., None, None]
    )
    return relative, found - lax.stop_gradient(jnp.minimum(found, 0))  # what is below 0 is rounding


@jax.jit
def _log_partition(batch: Batch) -> tuple[Array, Array]:
    relative = relative_log_partition(batch)
    return relative, relative + jnp.where(batch.words, tops_of(batch.log_scores), 0).sum(-1)


@jax.jit
def _marginals(batch: Batch) -> tuple[Array, Array]:
    relative, found = relative_sums(batch)
    return relative, matrix_of(found)


def _log_z(factors: Factors, batch: Batch) -> Array:
    """The sum of the logarithms of pivots, ROOT's arcs brought back to their weight.

    -inf where a word has no pivot, and where there is to be one arc from ROOT and two are needed; NaN of such scores.
    """
    mantissa, exponent = factors.pivots
    by_root = (mantissa > 0) & (exponent < -(APART // 2))
    pivots = Wide(mantissa, exponent + jnp.where(by_root, APART, 0).astype(exponent.dtype))
    logs = log_ratio(pivots, constant(1, (), mantissa.dtype))
    log_z = jnp.where(batch.words, logs, 0).sum(-1)
    too_many = batch.single_root & (by_root.sum(-1) > 1)
    are_numbers = (batch.log_scores < jnp.inf).all((-2, -1))
    return jnp.where(are_numbers, jnp.where(too_many, -jnp.inf, log_z), jnp.nan)
