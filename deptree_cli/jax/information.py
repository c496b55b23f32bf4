"""What follows from log Z and the marginals: log-probabilities of trees, entropies and divergences, in nats.

Scores are shifted first (`batches.shifted`), so that digits are kept that log Z of large scores lacks; and sums are in
float64, by the kernels, whatever the scores' type: what rounding leaves of a probability is multiplied by scores here.
"""

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
from deptree_cli.jax import sums
from deptree_cli.jax.batches import Sentences, require_trees, sentences_of, shifted

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

    It is their score minus `log_partition`, with digits that this difference loses for large scores: in float32, seven
    digits of the distance between a tree's scores and the largest of their columns. Other arguments and errors as in
    `log_partition`.

    Args:
        heads: (..., N) integers, entry j is the head of node j; those of ROOT and padding are ignored. Axes before
            those of the batch are for several trees, as from `sample`.

    Returns:
        -inf, with gradient 0, if heads are not a tree or have a forbidden arc; NaN if `log_partition` is.
    """
    sentences, trees = sentences_of(log_scores, lengths, space, **short), jnp.asarray(heads)
    words = sentences.words
    if not jnp.issubdtype(trees.dtype, jnp.integer):
        raise DeptreeError(f"the heads have type {trees.dtype}, not integers", "Give the number of each node's head")
    if trees.shape[trees.ndim - words.ndim :] != words.shape:
        problem = f"the heads have shape {trees.shape}, not (..., {', '.join(map(str, words.shape))})"
        raise DeptreeError(problem, "Give a head for every node, -1 for ROOT and padding")
    return _log_probs(*_summed(sentences), trees)


@jax.jit
def _log_probs(own: Sentences, log_z: Array, trees: Array) -> Array:
    words = own.words
    scores = own.log_scores.reshape((1,) * (trees.ndim - words.ndim) + own.log_scores.shape)
    inside = jnp.clip(trees, 0, words.shape[-1] - 1)
    chosen = jnp.take_along_axis(scores, inside[..., None, :], -2)[..., 0, :]
    possible = (~words | (chosen != -jnp.inf)).all(-1) & _are_trees(trees, own)
    total = jnp.where(words & possible[..., None], chosen, 0).sum(-1)
    found = 0 - _at_least_zero(jnp.where(log_z == -jnp.inf, 0, log_z) - total)
    return jnp.where(possible | jnp.isnan(log_z), found, -jnp.inf)


def entropy(
    log_scores: ArrayLike, lengths: ArrayLike | None = None, space: SpaceLike = None, **short: Unpack[Short]
) -> Array:
    """Return the Shannon entropy of each sentence's distribution over trees, in nats, (...,). O(n^3).

    NaN, with gradient 0, if `log_partition` returns -inf. It has a gradient, and no second derivative. Arguments and
    errors as in `log_partition`.
    """
    sentences = sentences_of(log_scores, lengths, space, **short)
    found = _entropy(shifted(sentences)[0])
    require_trees(found, sentences)
    return found


@jax.custom_jvp
def _entropy(own: Sentences) -> Array:
    log_z, marginals = sums.log_partition_and_marginals(own, "float64")
    value = jnp.maximum(log_z - (marginals * _finite(own)).sum((-2, -1)), 0)
    return jnp.where(log_z == -jnp.inf, jnp.nan, value)


@_entropy.defjvp
def _entropy_jvp(primals: Any, tangents: Any) -> tuple[Array, Array]:
    """The marginals that log Z and the expected score change by cancel: what is left is that of the marginals."""
    own = primals[0]
    changed = sums.covariance(own.log_scores, own.lengths, _finite(own), space=own.space)
    return _entropy(own), -(changed * tangents[0].log_scores).sum((-2, -1))


def cross_entropy(
    log_scores: ArrayLike,
    other: ArrayLike,
    lengths: ArrayLike | None = None,
    space: SpaceLike = None,
    **short: Unpack[Short],
) -> Array:
    """Return E[-log q(tree)] in nats, (...,): trees from `log_scores`, q from `other`, both (..., N, N). O(n^3).

    Infinite, with gradient 0, if q has no tree or forbids an arc whose probability is above 0 by more than rounding.
    NaN, with gradient 0, if `log_scores` have no tree. Derivatives, other arguments and errors as in `entropy`.
    """
    return _compared(
        sentences_of(log_scores, lengths, space, **short), sentences_of(other, lengths, space, **short), False
    )


def kl(
    log_scores: ArrayLike,
    other: ArrayLike,
    lengths: ArrayLike | None = None,
    space: SpaceLike = None,
    **short: Unpack[Short],
) -> Array:
    """Return the Kullback-Leibler divergence D(p || q) in nats, (...,): p from `log_scores`, q from `other`. O(n^3).

    It is the cross-entropy minus the entropy, with more digits if the two are nearly the same. Arguments and errors as
    in `cross_entropy`.
    """
    return _compared(
        sentences_of(log_scores, lengths, space, **short), sentences_of(other, lengths, space, **short), True
    )


def _compared(ours: Sentences, theirs: Sentences, less_entropy: bool) -> Array:
    if ours.log_scores.shape != theirs.log_scores.shape:
        problem = f"scores of shape {ours.log_scores.shape} are compared with scores of shape {theirs.log_scores.shape}"
        raise DeptreeError(problem, "Compare distributions over the same sentences, padded alike")
    return _cross_entropies(_summed_with_marginals(ours), _summed(theirs), less_entropy)


@partial(jax.jit, static_argnums=2)
def _cross_entropies(
    ours: tuple[Sentences, Array, Array], theirs: tuple[Sentences, Array], less_entropy: bool
) -> Array:
    (own, our_log_z, marginals), (other, log_z) = ours, theirs
    scores, constant = -_finite(other), log_z
    if less_entropy:  # differences of scores before they are summed up, and of log Z: more digits
        scores, constant = scores + _finite(own), log_z - our_log_z
    value = (marginals * scores).sum((-2, -1)) + constant
    value = _at_least_zero(value) if less_entropy else value
    likely = marginals > ROUNDINGS * np.finfo(marginals.dtype).eps
    beyond = (likely & (other.log_scores == -jnp.inf)).any((-2, -1)) | (log_z == -jnp.inf)
    value = jnp.where(beyond, jnp.inf, value) * jnp.where(jnp.isnan(our_log_z + log_z), jnp.nan, 1)
    return jnp.where(our_log_z == -jnp.inf, jnp.nan, value)


def _summed(sentences: Sentences) -> tuple[Sentences, Array]:
    """The sentences with shifted scores, and log Z of these."""
    own, _ = shifted(sentences)
    log_z = sums.log_partition(own, "float64")
    require_trees(log_z, sentences)
    return own, log_z


def _summed_with_marginals(sentences: Sentences) -> tuple[Sentences, Array, Array]:
    own, _ = shifted(sentences)
    log_z, marginals = sums.log_partition_and_marginals(own, "float64")
    require_trees(log_z, sentences)
    return own, log_z, marginals


def _finite(sentences: Sentences) -> Array:
    """Log-scores, 0 where arcs are forbidden, whose marginals are 0."""
    return jnp.where(sentences.log_scores == -jnp.inf, 0, sentences.log_scores)


def _at_least_zero(values: Array) -> Array:
    """Return values that are below 0 by rounding only, without that; derivatives stay as they are."""
    return values - lax.stop_gradient(jnp.minimum(values, 0))


def _are_trees(heads: Array, sentences: Sentences) -> Array:
    """Return whether heads (..., N) are trees of sentences (...,): every word descends from ROOT.

    Each word is sent to its head, then twice as far, and again. O(n log n), n^2 if projective.
    """
    words, space = sentences.words, sentences.space
    are_nodes = (((heads >= 0) & (heads <= sentences.lengths[..., None])) | ~words).all(-1)
    own = jnp.where(words & are_nodes[..., None], heads, 0)
    above = own
    for _ in range(words.shape[-1].bit_length()):
        above = jnp.take_along_axis(above, above, -1)
    roots = (words & (own == 0)).sum(-1)
    found = are_nodes & (above == 0).all(-1) & ((roots == 1) | (not space.single_root))
    return found & ~_some_cross(own) if space.projective else found


def _some_cross(heads: Array) -> Array:
    """Return whether arcs from heads (..., N) cross, (...,): one begins before another, and ends inside it."""
    nodes = jnp.arange(heads.shape[-1])
    first, last = jnp.minimum(heads, nodes), jnp.maximum(heads, nodes)
    begins, ends = first[..., :, None], last[..., :, None]
    first, last = first[..., None, :], last[..., None, :]
    return ((begins < first) & (first < ends) & (ends < last)).any((-2, -1))
