"""What follows from log Z and the marginals: log-probabilities of trees, entropies and divergences, in nats."""

from __future__ import annotations

from functools import partial
from typing import Any, Unpack

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array, lax
from jax.typing import ArrayLike

from deptree_cli.core.errors import DeptreeError
from deptree_cli.core.spaces import Short, SpaceLike
from deptree_cli.jax.batches import Batch, batch_of, require_numbers, require_trees
from deptree_cli.jax.factors import is_light, shift
from deptree_cli.jax.partition import at_least_zero, relative_log_partition, relative_sums

# Marginals up to so many roundings may be of arcs that are in no tree.
ROUNDINGS = 64


def log_prob(
    log_scores: ArrayLike,
    heads: ArrayLike,
    lengths: ArrayLike | None = None,
    space: SpaceLike = None,
    **short: Unpack[Short],
) -> Array:
    """Return the log-probability of trees, (...,).

    It is their score less `log_partition`, and has digits that the difference lacks where scores are large: of float32
    seven of how far below the largest scores of columns trees are. Other arguments and errors as of `log_partition`.

    Args:
        heads: (..., N) integers, entry j is the head of node j; those of ROOT and padding are ignored. Axes before
            those of the batch are of trees, as those that `sample` returns.

    Returns:
        -inf, with gradient 0, where heads are no tree or have a forbidden arc; NaN where `log_partition` is.
    """
    batch, trees = batch_of(log_scores, lengths, space, **short), jnp.asarray(heads)
    shape = batch.words.shape
    if not jnp.issubdtype(trees.dtype, jnp.integer):
        raise DeptreeError(f"the heads have type {trees.dtype}, not integers", "Give the number of each node's head")
    if trees.shape[trees.ndim - len(shape) :] != (*shape[:-1], shape[-1] + 1):
        problem = f"the heads have shape {trees.shape}, not (..., {', '.join(map(str, (*shape[:-1], shape[-1] + 1)))})"
        raise DeptreeError(problem, "Give a head for every node, -1 for ROOT and padding")
    relative, found = _log_probs(batch, trees)
    require_trees(relative, batch)
    return found


@jax.jit
def _log_probs(batch: Batch, trees: Array) -> tuple[Array, Array]:
    relative = relative_log_partition(batch)
    extra = (1,) * (trees.ndim - batch.words.ndim)
    scores = _shifted_scores(batch).reshape(extra + batch.log_scores.shape)
    chosen = jnp.take_along_axis(scores, _positions_of(trees)[..., None, :], -2)[..., 0, :]
    allowed = (~batch.words | (chosen != -jnp.inf)).all(-1)
    possible = allowed & _are_trees(trees, batch)
    total = jnp.where(batch.words & possible[..., None], chosen, 0).sum(-1)
    found = 0 - at_least_zero(jnp.where(relative == -jnp.inf, 0, relative) - total)
    return relative, jnp.where(possible | jnp.isnan(relative), found, -jnp.inf)


def entropy(
    log_scores: ArrayLike, lengths: ArrayLike | None = None, space: SpaceLike = None, **short: Unpack[Short]
) -> Array:
    """Return Shannon's entropy of each sentence's distribution over trees, (...,). O(n^3).

    Where `log_partition` returns -inf there is no distribution: NaN, with gradient 0. Arguments and errors as of
    `log_partition`.
    """
    batch = batch_of(log_scores, lengths, space, **short)
    relative, value = _entropy(batch)
    require_trees(relative, batch)
    return value


def cross_entropy(
    log_scores: ArrayLike,
    other: ArrayLike,
    lengths: ArrayLike | None = None,
    space: SpaceLike = None,
    **short: Unpack[Short],
) -> Array:
    """Return E[-log q(tree)] in nats, (...,), trees from `log_scores`, q from `other`, both (..., N, N). O(n^3).

    It is infinite, with gradient 0, if q has no tree, or forbids an arc whose probability is larger than rounding. It
    is NaN, with gradient 0, if `log_scores` have no tree. Other arguments and errors as of `log_partition`. If q has a
    mask such as -1e9, not -inf, on an arc that may have a probability, it is refused, or NaN under jit.
    """
    return _compared(False, log_scores, other, lengths, space, **short)


def kl(
    log_scores: ArrayLike,
    other: ArrayLike,
    lengths: ArrayLike | None = None,
    space: SpaceLike = None,
    **short: Unpack[Short],
) -> Array:
    """Return KL(distribution of `log_scores` || distribution of `other`), (...,), in nats. O(n^3).

    It is the cross-entropy less the entropy, with more digits if the two are nearly the same. Arguments and errors as
    of `cross_entropy`.
    """
    return _compared(True, log_scores, other, lengths, space, **short)


def _compared(
    less_entropy: bool, log_scores: ArrayLike, other: ArrayLike, *which: Any, **short: Unpack[Short]
) -> Array:
    ours, theirs = (batch_of(scores, *which, **short) for scores in (log_scores, other))
    if ours.log_scores.shape != theirs.log_scores.shape:
        problem = f"scores of shape {np.shape(log_scores)} are compared with scores of shape {np.shape(other)}"
        raise DeptreeError(problem, "Compare distributions over the same sentences, padded alike")
    our_relative, their_relative, value = _cross_entropy(ours, theirs, less_entropy)
    require_trees(our_relative, ours)
    require_trees(their_relative, theirs)
    problem = "an arc that may have a probability scores 180,000 or more below the best of its word"
    require_numbers(value, problem, "Forbid such arcs by -inf, or ask TreeDistribution of deptree_cli")
    return value


@jax.jit
def _entropy(batch: Batch) -> tuple[Array, Array]:
    relative, found = relative_sums(batch)
    value = at_least_zero(relative - (found * _expected_scores(batch)).sum((-2, -1)))
    return relative, jnp.where(relative == -jnp.inf, jnp.nan, _unless(_has_light(found, batch), value))


@partial(jax.jit, static_argnums=2)
def _cross_entropy(ours: Batch, theirs: Batch, less_entropy: bool) -> tuple[Array, Array, Array]:
    """Return log Z of both batches' shifted scores, and their cross-entropy or divergence."""
    our_relative, found = relative_sums(ours)
    relative = relative_log_partition(theirs)
    light, scores, log_z = _has_light(found, theirs), -_expected_scores(theirs), relative
    if less_entropy:  # differences of scores before they are summed up, and of log Z: more digits
        light, scores = light | _has_light(found, ours), scores + _expected_scores(ours)
        log_z = log_z - our_relative
    value = (found * scores).sum((-2, -1)) + log_z
    value = _unless(light, at_least_zero(value) if less_entropy else value)
    beyond = ((found > ROUNDINGS * np.finfo(found.dtype).eps) & (theirs.log_scores == -jnp.inf)).any((-2, -1))
    value = jnp.where(beyond | (relative == -jnp.inf), jnp.inf, value)
    value = _unless(jnp.isnan(our_relative + relative), value)
    return our_relative, relative, jnp.where(our_relative == -jnp.inf, jnp.nan, value)


def _shifted_scores(batch: Batch) -> Array:
    """Shifted log-scores, (..., n+1, n), with the derivatives of those that are not; -inf where arcs are forbidden."""
    possible = batch.log_scores != -jnp.inf
    given = jnp.where(possible, batch.log_scores, 0)
    high, low, _ = lax.stop_gradient(shift(batch.log_scores, batch.single_root))
    return jnp.where(possible, (high + low) + (given - lax.stop_gradient(given)), -jnp.inf)


def _expected_scores(batch: Batch) -> Array:
    """The same for those whose marginals are summed up with them: 0 for forbidden arcs and light ones, which have none.

    Else what rounding leaves of a covariance would be multiplied by a mask.
    """
    scores = _shifted_scores(batch)
    return jnp.where(is_light(scores), 0, scores)


def _has_light(found: Array, batch: Batch) -> Array:
    """Whether light arcs count with these marginals (..., n+1, n), which may be rounding: what they add is unknown."""
    high = shift(batch.log_scores, batch.single_root).high
    counted = is_light(high) & (batch.log_scores > -jnp.inf) & (found > 0)
    sums = jnp.where(counted, found * -high, 0).sum((-2, -1))
    return lax.stop_gradient(sums) > ROUNDINGS * float(np.finfo(found.dtype).eps)


def _unless(unknown: Array, value: Array) -> Array:
    """Values, NaN with gradients that are NaN where they are unknown."""
    return value * jnp.where(unknown, jnp.nan, 1)


def _positions_of(heads: Array) -> Array:
    """Return the rows of arc matrices (`factors.py`) in which the heads of words stand, (..., n), from (..., N).

    Heads that are none of the nodes are those of ROOT here; `_are_trees` tells.
    """
    n = heads.shape[-1] - 1
    own = heads[..., 1:]
    return jnp.where((own > 0) & (own <= n), own - 1, n)


def _are_trees(heads: Array, batch: Batch) -> Array:
    """Return whether heads (..., N) are trees of a batch (...,): every word descends from ROOT.

    Each word is sent to its head, then twice as far, and again. O(n log n), n^2 if projective.
    """
    n, words = heads.shape[-1] - 1, batch.words
    own = heads[..., 1:]
    are_nodes = ((own >= 0) & (own <= words.sum(-1, keepdims=True))) | ~words
    above = jnp.where(words, _positions_of(heads), n)
    above = jnp.concatenate([above, jnp.full((*above.shape[:-1], 1), n)], -1)
    for _ in range(n.bit_length()):
        above = jnp.take_along_axis(above, above, -1)
    roots = ((own == 0) & words).sum(-1)
    found = are_nodes.all(-1) & (above == n).all(-1) & ((roots == 1) | ~batch.single_root)
    return found & ~_some_cross(jnp.where(words, own, 0)) if batch.projective else found


def _some_cross(heads: Array) -> Array:
    """Return whether arcs from heads (..., n) cross, (...,): one begins before another, and ends inside it."""
    words = jnp.arange(1, heads.shape[-1] + 1)
    first, last = jnp.minimum(heads, words), jnp.maximum(heads, words)
    begins, ends = first[..., :, None], last[..., :, None]
    first, last = first[..., None, :], last[..., None, :]
    return ((begins < first) & (first < ends) & (ends < last)).any((-2, -1))
