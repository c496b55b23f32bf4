"""The logarithm of the sum over all trees and the probabilities of arcs, by elimination or by Eisner's chart."""

from __future__ import annotations

from collections.abc import Callable
from typing import Unpack

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array, lax
from jax.typing import ArrayLike

from deptree_cli.core.spaces import Short, SpaceLike
from deptree_cli.jax import eisner
from deptree_cli.jax.batches import Batch, batch_of, matrix_of, require_numbers, require_trees
from deptree_cli.jax.factors import APART, eliminate, flows, is_known, shift, two_sum
from deptree_cli.jax.wide import Wide, logarithm

# How many units in the last place of 1, or of itself, log Z may be off by because words' constants cancel.
ROUNDINGS = 16


def log_partition(
    log_scores: ArrayLike, lengths: ArrayLike | None = None, space: SpaceLike = None, **short: Unpack[Short]
) -> Array:
    """Return the natural logarithm of the sum of all trees' weights, (...,). O(n^3); its gradient are the marginals.

    Args:
        log_scores: (..., N, N), ``[head, dependent]``; -inf forbids an arc. Trees with a score 180,000 or more below
            the largest of its word count for nothing; a sentence that has no others is refused.
        lengths: (...,), the number of words of each sentence; it may be traced.
        space: which trees: a name in `core.spaces.SPACES`, single-root if none is given, static under jit; the short
            names are `single_root` (exactly one ROOT arc, or one or more; may be traced) and `projective` (whether no
            two arcs may cross).

    Returns:
        numbers of the scores' type, float32 for all but float64. Where no error can be raised (under jit, vmap and
        grad), -inf of a sentence without a tree, with gradient 0; NaN of one that is refused, or whose length is none.

    Raises:
        DeptreeError: shapes do not fit; or a sentence has no tree, a score that is NaN or infinite, or a mask in every
            tree.
    """
    batch = batch_of(log_scores, lengths, space, **short)
    relative, log_z = _log_partition(batch)
    require_trees(relative, batch)
    problem = f"the best scores of words cancel, and leave no digits of {log_z.dtype}"
    require_numbers(log_z, problem, "Give float64, or scores without such offsets")
    return log_z


def marginals(
    log_scores: ArrayLike, lengths: ArrayLike | None = None, space: SpaceLike = None, **short: Unpack[Short]
) -> Array:
    """Return the probability of each arc to be in a tree, (..., N, N). O(n^3).

    Arguments and errors as of `log_partition`; all are 0 where that returns -inf.
    """
    batch = batch_of(log_scores, lengths, space, **short)
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
