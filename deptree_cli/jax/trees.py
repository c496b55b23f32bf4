"""Entropies, best trees and samples of batches."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple, Unpack

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array, lax
from jax.typing import ArrayLike

from deptree_cli.core.arc_factored import FEW
from deptree_cli.core.counts import MOST, how_many, room_for_trees
from deptree_cli.core.distribution import TreeDistribution
from deptree_cli.core.dtypes import Array as Numbers
from deptree_cli.core.errors import DeptreeError
from deptree_cli.core.estimate import weights
from deptree_cli.core.padded import hung
from deptree_cli.core.spaces import Short, SpaceLike
from deptree_cli.jax.sums import (
    Lengths,
    Sentences,
    call,
    distribution_of,
    log_partition_and_marginals,
    log_partition_of,
    require_trees,
    sentences_of,
    shifted,
)

# What follows from log Z and the marginals: log-probabilities of trees, entropies and divergences, in nats.
#
# Scores are shifted first (`sums.shifted`), so that digits are kept that log Z of large scores lacks; and sums are
# in float64, by the kernels, whatever the scores' type: what rounding leaves of a probability is multiplied by scores
# here.


# Marginals up to this many roundings may be of arcs that are in no tree.
ROUNDINGS = 64


def log_prob(
    log_scores: ArrayLike, heads: ArrayLike, lengths: Lengths = None, space: SpaceLike = None, **short: Unpack[Short]
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
    own, _ = shifted(sentences)
    log_z = log_partition_of(own, "float64")
    require_trees(log_z, sentences)
    return _log_probs(own, log_z, trees)


@jax.jit
def _log_probs(own: Sentences, log_z: Array, trees: Array) -> Array:
    words, space = own.words, own.space
    whole, sound = hung(jnp, trees, own.lengths)

    def are_trees(heads: Numbers) -> list[Numbers]:
        return [space.contains(heads.reshape(-1, heads.shape[-1])).reshape(heads.shape[:-1])]

    sound &= call(are_trees, [(whole.shape[:-1], np.bool_)], whole)[0]
    scores = own.log_scores.reshape((1,) * (trees.ndim - words.ndim) + own.log_scores.shape)
    inside = jnp.clip(trees, 0, words.shape[-1] - 1)
    chosen = jnp.take_along_axis(scores, inside[..., None, :], -2)[..., 0, :]
    possible = (~words | (chosen != -jnp.inf)).all(-1) & sound
    total = jnp.where(words & possible[..., None], chosen, 0).sum(-1)
    found = 0 - _at_least_zero(jnp.where(log_z == -jnp.inf, 0, log_z) - total)
    return jnp.where(possible | jnp.isnan(log_z), found, -jnp.inf)


def entropy(log_scores: ArrayLike, lengths: Lengths = None, space: SpaceLike = None, **short: Unpack[Short]) -> Array:
    """Return the Shannon entropy of each sentence's distribution over trees, in nats, (...,). O(n^3).

    NaN, with gradient 0, if `log_partition` returns -inf. It has a gradient, and no second derivative. Arguments and
    errors as in `log_partition`.
    """
    sentences = sentences_of(log_scores, lengths, space, **short)
    found = _entropy(shifted(sentences)[0])
    require_trees(found, sentences)
    return found


def _entropy(own: Sentences) -> Array:
    """The marginals by which log Z and the expected score change cancel: what is left is by how they change."""
    log_z, marginals = log_partition_and_marginals(own, "float64")
    log_z, scores = lax.stop_gradient((log_z, _finite(own)))
    return jnp.where(log_z == -jnp.inf, jnp.nan, _at_least_zero(log_z - (marginals * scores).sum((-2, -1))))


def cross_entropy(
    log_scores: ArrayLike, other: ArrayLike, lengths: Lengths = None, space: SpaceLike = None, **short: Unpack[Short]
) -> Array:
    """Return E[-log q(tree)] in nats, (...,): trees from `log_scores`, q from `other`, both (..., N, N). O(n^3).

    Infinite, with gradient 0, if q has no tree or forbids an arc whose probability is above 0 by more than rounding.
    NaN, with gradient 0, if `log_scores` have no tree. Derivatives, other arguments and errors as in `entropy`.
    """
    return _compared(
        sentences_of(log_scores, lengths, space, **short), sentences_of(other, lengths, space, **short), False
    )


def kl(
    log_scores: ArrayLike, other: ArrayLike, lengths: Lengths = None, space: SpaceLike = None, **short: Unpack[Short]
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
    (own, _), (other, _) = shifted(ours), shifted(theirs)
    our_log_z, marginals = log_partition_and_marginals(own, "float64")
    require_trees(our_log_z, ours)
    log_z = log_partition_of(other, "float64")
    require_trees(log_z, theirs)
    return _cross_entropies(own, our_log_z, marginals, other, log_z, less_entropy)


@partial(jax.jit, static_argnums=5)
def _cross_entropies(
    own: Sentences, our_log_z: Array, marginals: Array, other: Sentences, log_z: Array, less_entropy: bool
) -> Array:
    scores, constant = -_finite(other), log_z
    if less_entropy:  # differences of scores before they are summed up, and of log Z: more digits
        scores, constant = scores + _finite(own), log_z - our_log_z
    value = (marginals * scores).sum((-2, -1)) + constant
    value = _at_least_zero(value) if less_entropy else value
    likely = marginals > ROUNDINGS * np.finfo(marginals.dtype).eps
    beyond = (likely & (other.log_scores == -jnp.inf)).any((-2, -1)) | (log_z == -jnp.inf)
    value = jnp.where(beyond, jnp.inf, value) * jnp.where(jnp.isnan(our_log_z + log_z), jnp.nan, 1)
    return jnp.where(our_log_z == -jnp.inf, jnp.nan, value)


def _finite(sentences: Sentences) -> Array:
    """Log-scores, 0 where arcs are forbidden, whose marginals are 0."""
    return jnp.where(sentences.log_scores == -jnp.inf, 0, sentences.log_scores)


def _at_least_zero(values: Array) -> Array:
    """Return values that are below 0 by rounding only, without that; derivatives stay as they are."""
    return values - lax.stop_gradient(jnp.minimum(values, 0))


# What core's `TreeDistribution` answers of each sentence of a batch, called back from compiled code on the CPU.


# From a sentence and what else belongs to it to trees (m, n), and an array for each other result.
Answer = Callable[..., Sequence[Any]]

# The shape of what is answered of a sentence, its type, and what stands where the answer is smaller.
Result = tuple[tuple[int, ...], Any, float]


def argmax(log_scores: ArrayLike, lengths: Lengths = None, space: SpaceLike = None, **short: Unpack[Short]) -> Array:
    """Return the most probable tree of each sentence, (..., N), int32 heads, -1 for ROOT and padding.

    O(n^2), or O(n^3) if projective. Arguments as in `log_partition`.

    Raises:
        DeptreeError: names a sentence without a tree; in compiled code, inside an error of JAX's own.
    """
    return ask(lambda sentence: [sentence.argmax()[None]], 1, sentences_of(log_scores, lengths, space, **short))[0][0]


def mbr(log_scores: ArrayLike, lengths: Lengths = None, space: SpaceLike = None, **short: Unpack[Short]) -> Array:
    """Return the tree with the highest expected attachment score, (..., N): minimum-Bayes-risk decoding. O(n^3).

    Arguments and errors as in `argmax`.
    """
    return ask(lambda sentence: [sentence.mbr()[None]], 1, sentences_of(log_scores, lengths, space, **short))[0][0]


def top_k(
    log_scores: ArrayLike, k: int, lengths: Lengths = None, space: SpaceLike = None, **short: Unpack[Short]
) -> Array:
    """Return the k most probable trees, the best first, (k, ..., N); all -1 if a sentence has fewer.

    k is 1 or more, and static under jit; above 10,000 there are at most as many rows as N - 1 words have trees. Other
    arguments and errors as in `argmax`.
    """
    k, sentences = count_of(k), sentences_of(log_scores, lengths, space, **short)
    size = rows_for(k, sentences)
    return ask(lambda sentence: [sentence.top_k(size)], size, sentences)[0]


def ask(answer: Answer, size: int, sentences: Sentences, *others: Any, also: Sequence[Result] = ()) -> list[Array]:
    """Return what a function says of each sentence: trees (size, ..., N), and arrays (..., *shape).

    Trees are int32 heads, -1 for ROOT, padding, and where there are fewer. Derivatives are 0.

    Args:
        others: arrays (..., *) of which the function gets each sentence's.
        also: the results of each sentence beside its trees.

    Raises:
        DeptreeError: names the sentence; in an error of JAX's own where compiled code runs.
    """
    batch, nodes = sentences.lengths.shape, sentences.log_scores.shape[-1]
    results: list[Result] = [((size, nodes), np.dtype(np.int32), -1), *also]

    def of_all(log_scores: Any, lengths: Any, *others: Any) -> list[Numbers]:
        own = replace(sentences, log_scores=log_scores, lengths=lengths)
        found = [np.full((lengths.size, *shape), fill, dtype) for shape, dtype, fill in results]
        each = [other.reshape(lengths.size, *other.shape[lengths.ndim :]) for other in others]
        for b, n in enumerate(lengths.ravel().tolist()):
            trees, *rest = answer(distribution_of(own, b), *(other[b] for other in each))
            found[0][b, : len(trees), 1 : n + 1] = trees
            for out, value in zip(found[1:], rest, strict=True):
                out[b, ...][tuple(slice(count) for count in np.shape(value))] = value
        return [out.reshape((*lengths.shape, *out.shape[1:])) for out in found]

    given = [lax.stop_gradient(part) for part in (sentences.log_scores, sentences.lengths, *others)]
    with room_for_trees(size):
        heads, *rest = call(of_all, [((*batch, *shape), dtype) for shape, dtype, _ in results], *given)
    return [jnp.moveaxis(heads, -2, 0), *rest]


def count_of(k: Any) -> int:
    """Return how many trees are asked for, or a number that is too large too."""
    try:
        return min(how_many(k, least=1), MOST)
    except DeptreeError as error:
        error.remedy = error.remedy if isinstance(k, int) else "Ask for an integer of 1 or more, static under jit"
        raise


def rows_for(k: int, sentences: Sentences) -> int:
    """Return for how many distinct trees to have memory: k, but of many no more than this many words can have."""
    n = sentences.log_scores.shape[-1] - 1
    return k if k <= FEW else min(k, (n + 1) ** max(n - 1, 0))


# Trees at random, independent or distinct, by the samplers of the core, called back: the key's data is the seed.


class DistinctTrees(NamedTuple):
    """Distinct trees of each sentence, in the order in which sampling with replacement would first find them.

    The sum of weight times value over the trees is an unbiased estimate of the value's expectation. All fields are
    constants to derivatives; `log_prob` of the heads is not.

    Attributes:
        heads: (k, ..., N) int32; all -1 if a sentence has fewer than k trees.
        log_probs: (k, ...); -inf if there is no tree.
        weights: (k, ...), probabilities divided by those of being among the k (Kool et al. 2019); 0 if there is no
            tree.
        exhausted: (...,) bool, whether these are all the trees that the sentence has.
    """

    heads: Array
    log_probs: Array
    weights: Array
    exhausted: Array


def sample(
    key: Array, log_scores: ArrayLike, k: int, lengths: Lengths = None, space: SpaceLike = None, **short: Unpack[Short]
) -> Array:
    """Sample k independent trees of each sentence, (k, ..., N), int32 heads, -1 for ROOT and padding.

    Exact, by our kernels on the CPU, called back from compiled code. The same key gives the same trees.

    Args:
        key: a key of `jax.random`, one for all sentences.
        k: 1 or more; static under jit.
        lengths, space: as in `log_partition`.

    Raises:
        DeptreeError: key or k is invalid, or a sentence has no tree; in compiled code, inside an error of JAX's own.
    """
    k, sentences = count_of(k), sentences_of(log_scores, lengths, space, **short)
    return ask(lambda sentence, seed: [sentence.sample(k, _stream(seed))], k, sentences, _seeds(key, sentences))[0]


def sample_without_replacement(
    key: Array, log_scores: ArrayLike, k: int, lengths: Lengths = None, space: SpaceLike = None, **short: Unpack[Short]
) -> DistinctTrees:
    """Sample k distinct trees of each sentence, or all if it has fewer, by our kernels on the CPU.

    For k above 10,000 there are at most as many rows as N - 1 words have trees. Arguments and errors as in `sample`.
    On accelerators see `stochastic_beam_search`.
    """
    k, sentences = count_of(k), sentences_of(log_scores, lengths, space, **short)
    k, dtype = rows_for(k, sentences), sentences.log_scores.dtype

    def draw(sentence: TreeDistribution, seed: Numbers) -> tuple[Any, ...]:
        draws = sentence.sample_without_replacement(k, _stream(seed))
        return draws.heads, draws.log_probs, weights(draws.log_probs, draws.window), draws.exhausted

    also: list[Result] = [((k,), dtype, -np.inf), ((k,), dtype, 0.0), ((), np.bool_, False)]
    heads, log_probs, counts_for, exhausted = ask(draw, k, sentences, _seeds(key, sentences), also=also)
    return DistinctTrees(heads, jnp.moveaxis(log_probs, -1, 0), jnp.moveaxis(counts_for, -1, 0), exhausted)


def _seeds(key: Array, sentences: Sentences) -> Array:
    """Four random numbers of 32 bits for each sentence, (..., 4), which do not depend on how many there are."""
    shape = sentences.lengths.shape
    numbers = jnp.arange(int(np.prod(shape)), dtype=jnp.uint32)
    keys = jax.vmap(jax.random.fold_in, (None, 0))(one_key(key), numbers)
    return jax.vmap(lambda own: jax.random.bits(own, (4,), jnp.uint32))(keys).reshape(*shape, 4)


def _stream(seed: Numbers) -> np.random.Generator:
    return np.random.Generator(np.random.PCG64(np.random.SeedSequence(seed.tolist())))


def one_key(key: Any) -> Array:
    """Return a key of `jax.random`, typed or of raw numbers, as a typed one, ()."""
    dtype: Any = getattr(key, "dtype", None)
    is_typed = jnp.issubdtype(dtype, jax.dtypes.prng_key)
    try:
        typed: Array = key if is_typed else jax.random.wrap_key_data(key)
    except TypeError:
        problem = f"the key, of type {type(key).__name__}, is none of jax.random"
        raise DeptreeError(problem, "Give a key of jax.random") from None
    if typed.shape:
        remedy = "Give a key of jax.random, one for all sentences: it is split for them"
        raise DeptreeError(f"keys of shape {typed.shape} are given", remedy)
    return typed
