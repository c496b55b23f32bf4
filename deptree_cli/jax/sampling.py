"""Trees at random, independent or distinct, by the samplers of the core, called back: the key's data is the seed."""

from __future__ import annotations

from typing import Any, NamedTuple, Unpack

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from jax.typing import ArrayLike

from deptree_cli.core.distribution import TreeDistribution
from deptree_cli.core.dtypes import Array as Numbers
from deptree_cli.core.errors import DeptreeError
from deptree_cli.core.estimate import weights
from deptree_cli.core.spaces import Short, SpaceLike
from deptree_cli.jax.batches import Sentences, sentences_of
from deptree_cli.jax.decoding import Result, ask, count_of, rows_for


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
    key: Array,
    log_scores: ArrayLike,
    k: int,
    lengths: ArrayLike | None = None,
    space: SpaceLike = None,
    **short: Unpack[Short],
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
    key: Array,
    log_scores: ArrayLike,
    k: int,
    lengths: ArrayLike | None = None,
    space: SpaceLike = None,
    **short: Unpack[Short],
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
    """The stream of core's samplers that a sentence's random numbers begin."""
    return np.random.Generator(np.random.PCG64(np.random.SeedSequence(seed.tolist())))


def one_key(key: Any) -> Array:
    """Return a key of `jax.random`, typed or of raw numbers, as a typed one, ().

    Raises:
        DeptreeError: it is none, or there are several.
    """
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
