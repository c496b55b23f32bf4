"""The logarithm of the sum over all trees and the probabilities of arcs, by elimination or by Eisner's chart."""

from __future__ import annotations

from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array, lax
from jax.typing import ArrayLike

from deptree_cli.jax import eisner, elimination
from deptree_cli.jax.batches import Batch, batch_of, matrix_of, require_numbers, require_trees
from deptree_cli.jax.factors import is_known, shift, two_sum

# How many units in the last place of 1, or of itself, log Z may be off by because words' constants cancel.
ROUNDINGS = 16


def log_partition(
    log_scores: ArrayLike, lengths: ArrayLike | None = None, single_root: bool = True, projective: bool = False
) -> Array:
    """Return the natural logarithm of the sum of all trees' weights, (...,). O(n^3); its gradient are the marginals.

    Args:
        log_scores: (..., N, N), ``[head, dependent]``; -inf forbids an arc. Trees with a score 180,000 or more below
            the largest of its word count for nothing; a sentence that has no others is refused.
        lengths: (...,), the number of words of each sentence; it may be traced.
        single_root: True for trees with exactly one arc from ROOT, False for one or more.
        projective: whether to take only trees in which no two arcs cross; static under jit.

    Returns:
        numbers of the scores' type, float32 for all but float64. Where no error can be raised (under jit, vmap and
        grad), -inf of a sentence without a tree, with gradient 0; NaN of one that is refused, or whose length is none.

    Raises:
        DeptreeError: shapes do not fit; or a sentence has no tree, a score that is NaN or infinite, or a mask in every
            tree.
    """
    batch = batch_of(log_scores, lengths, single_root, projective)
    relative, log_z = _log_partition(batch)
    require_trees(relative, batch)
    problem = f"the best scores of words cancel, and leave no digits of {log_z.dtype}"
    require_numbers(log_z, problem, "Give float64, or scores without such offsets")
    return log_z


def marginals(
    log_scores: ArrayLike, lengths: ArrayLike | None = None, single_root: bool = True, projective: bool = False
) -> Array:
    """Return the probability of each arc to be in a tree, (..., N, N). O(n^3).

    Arguments and errors as of `log_partition`; all are 0 where that returns -inf.
    """
    batch = batch_of(log_scores, lengths, single_root, projective)
    relative, found = _marginals(batch)
    require_trees(relative, batch)
    return found


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
    found = jnp.where((relative == -jnp.inf)[..., None, None], 0, probabilities() * known)
    return relative, found - lax.stop_gradient(jnp.minimum(found, 0))  # what is below 0 is rounding


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
    log_z, probabilities = eisner.sums(batch) if batch.projective else elimination.sums(batch)
    return jnp.where(is_known(log_z, batch.log_scores, batch.single_root), log_z, jnp.nan), probabilities
