"""Trees at random: independent ones, by our kernels or on the device, and distinct ones by our kernels."""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple, Unpack

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array, lax
from jax.typing import ArrayLike

from deptree_cli.core.distribution import TreeDistribution
from deptree_cli.core.dtypes import Array as Numbers
from deptree_cli.core.errors import DeptreeError
from deptree_cli.core.estimate import weights
from deptree_cli.core.spaces import Short, SpaceLike
from deptree_cli.jax.arguments import count_of, one_key, rows_for
from deptree_cli.jax.batches import Batch, batch_of, is_on_device, require_trees
from deptree_cli.jax.decoding import Result, ask
from deptree_cli.jax.factors import eliminate
from deptree_cli.jax.partition import relative_log_partition
from deptree_cli.jax.sampler import sample_trees


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
    implementation: str = "auto",
    **short: Unpack[Short],
) -> Array:
    """Sample k independent trees of each sentence, (k, ..., N), int32 heads, -1 for ROOT and padding.

    The same key gives the same trees for the same implementation.

    Args:
        key: a key of `jax.random`, one for all sentences.
        k: 1 or more; static under jit.
        lengths, space: as in `log_partition`.
        implementation: "kernels": exact, by our kernels on the CPU, called back from compiled code; "device": plain JAX
            on any device, O(n^3) per tree; choices with a probability below 2^-23 (2^-52 in float64) are never sampled.
            "auto": kernels for projective trees and if JAX's default backend is the CPU, else device.

    Raises:
        DeptreeError: key, k or implementation is invalid, or a sentence has no tree. In compiled code, "kernels" then
            raises it inside an error of JAX's own, and "device" returns heads of -1.
    """
    k, batch = count_of(k), batch_of(log_scores, lengths, space, **short)
    keys = _keys(key, batch)
    if _is_on_device(implementation, batch.projective):
        relative, heads = _on_device(keys, batch, k)
        require_trees(relative, batch)
        return heads
    return ask(lambda sentence, seed: [sentence.sample(k, _stream(seed))], k, batch, _seeds(keys))[0]


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
    k, batch = count_of(k), batch_of(log_scores, lengths, space, **short)
    k, dtype = rows_for(k, batch), batch.log_scores.dtype

    def draw(sentence: TreeDistribution, seed: Numbers) -> tuple[Any, ...]:
        draws = sentence.sample_without_replacement(k, _stream(seed))
        return draws.heads, draws.log_probs, weights(draws.log_probs, draws.window), draws.exhausted

    also: list[Result] = [((k,), dtype, -np.inf), ((k,), dtype, 0.0), ((), np.bool_, False)]
    heads, log_probs, counts_for, exhausted = ask(draw, k, batch, _seeds(_keys(key, batch)), also=also)
    return DistinctTrees(heads, jnp.moveaxis(log_probs, -1, 0), jnp.moveaxis(counts_for, -1, 0), exhausted)


def _is_on_device(implementation: str, projective: bool) -> bool:
    if implementation == "device" and projective:
        raise DeptreeError("projective trees are drawn by kernels only", "Leave out the implementation")
    return is_on_device(implementation) and not projective


@partial(jax.jit, static_argnums=2)
def _on_device(keys: Array, batch: Batch, k: int) -> tuple[Array, Array]:
    """Return relative log Z (...,) and trees (k, ..., N), nothing but -1 of a sentence without any."""
    n, relative = batch.words.shape[-1], relative_log_partition(batch)
    words = (batch.words & (relative > -jnp.inf)[..., None]).reshape(-1, n)
    factors = eliminate(lax.stop_gradient(batch.log_scores).reshape(-1, n + 1, n), batch.single_root)
    trees = jax.vmap(sample_trees, (0, 0, None))(keys.reshape(-1), factors, k)
    heads = jnp.where(words[:, None], jnp.where(trees == n, 0, trees + 1), -1).astype(jnp.int32)
    heads = jnp.pad(heads, [(0, 0), (0, 0), (1, 0)], constant_values=-1)
    return relative, jnp.moveaxis(heads, 1, 0).reshape(k, *batch.words.shape[:-1], n + 1)


def _keys(key: Array, batch: Batch) -> Array:
    """A key for each sentence, (...,), which does not depend on how many there are."""
    shape = batch.words.shape[:-1]
    numbers = jnp.arange(int(np.prod(shape)), dtype=jnp.uint32)
    return jax.vmap(jax.random.fold_in, (None, 0))(one_key(key), numbers).reshape(shape)


def _seeds(keys: Array) -> Array:
    """Four random numbers of 32 bits for each key, (..., 4)."""
    return jax.vmap(lambda key: jax.random.bits(key, (4,), jnp.uint32))(keys.reshape(-1)).reshape(*keys.shape, 4)


def _stream(seed: Numbers) -> np.random.Generator:
    """The stream of core's samplers that a sentence's random numbers begin."""
    return np.random.Generator(np.random.PCG64(np.random.SeedSequence(seed.tolist())))
