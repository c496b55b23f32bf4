"""Padded batches of sentences as they come: looked at, and what counts of their scores."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any, Unpack

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array, core, lax
from jax.typing import ArrayLike

from deptree_cli.core.distribution import TreeDistribution
from deptree_cli.core.dtypes import Array as Numbers
from deptree_cli.core.errors import DeptreeError, in_batch, name_in_batch
from deptree_cli.core.scores import MASK
from deptree_cli.core.spaces import Short, SpaceLike, TreeSpace, tree_space
from deptree_cli.core.spaces.shifted import constant_of, shift_batch


@partial(jax.tree_util.register_dataclass, data_fields=("log_scores", "lengths"), meta_fields=("space",))
@dataclass(frozen=True)
class Sentences:
    """A padded batch.

    Attributes:
        log_scores: float32 or float64, (..., N, N), ``[head, dependent]``, of any numbers.
        lengths: (...,), how many words each has; none of 1 to N - 1 where it could not be looked at.
        space: which trees; what is compiled is of one kind.
    """

    log_scores: Array
    lengths: Array
    space: TreeSpace

    @property
    def words(self) -> Array:
        """Which nodes are words, (..., N)."""
        nodes = jnp.arange(self.log_scores.shape[-1])
        return (nodes > 0) & (nodes <= self.lengths[..., None])

    @property
    def possible(self) -> Array:
        """The arcs between nodes of a sentence that are not forbidden, (..., N, N); a NaN is not."""
        nodes = self.words | (jnp.arange(self.log_scores.shape[-1]) == 0)
        arcs = nodes[..., :, None] & self.words[..., None, :] & ~jnp.eye(nodes.shape[-1], dtype=bool)
        return arcs & ~(self.log_scores <= -MASK)

    @property
    def are_lengths(self) -> Array:
        """Of which sentences the length is one, (...,)."""
        return (self.lengths >= 1) & (self.lengths < self.log_scores.shape[-1])


def sentences_of(
    log_scores: ArrayLike, lengths: ArrayLike | None = None, name: SpaceLike = None, **short: Unpack[Short]
) -> Sentences:
    """Return the sentences of log-scores (..., N, N), ``[head, dependent]``, and lengths (...,), all N - 1 if None.

    float32 and float64 stay what they are, all else becomes float32.

    Raises:
        DeptreeError: shapes do not fit, or numbers are not real; a length that can be looked at is none; there is no
            such tree space, or none in JAX; or which one is traced.
    """
    trees = _space_of(name, short)
    try:
        scores = jnp.asarray(log_scores)
    except (TypeError, ValueError):
        raise DeptreeError("the log-scores are not an array of numbers", "Give real numbers, (..., N, N)") from None
    if jnp.issubdtype(scores.dtype, jnp.complexfloating) or jnp.issubdtype(scores.dtype, jax.dtypes.prng_key):
        raise DeptreeError(f"the log-scores are {scores.dtype}, not real numbers", "Give real numbers")
    if scores.dtype not in (jnp.float32, jnp.float64):
        scores = scores.astype(jnp.float32)
    if scores.ndim < 2 or scores.shape[-1] != scores.shape[-2] or scores.shape[-1] < 2:
        problem = f"the log-scores have shape {scores.shape}, not (..., N, N) with N of at least 2"
        raise DeptreeError(problem, "Give a square matrix per sentence, ROOT included")
    return Sentences(scores, _lengths(lengths, scores.shape), trees)


def _space_of(name: SpaceLike, short: Any) -> TreeSpace:
    for option, value in short.items():
        if isinstance(value, core.Tracer):
            raise DeptreeError(f"`{option}` is traced", "Pass True or False, static under jit")
    trees = tree_space(name if name is None or isinstance(name, TreeSpace) else str(name), **short)
    if not trees.has_short_name:
        raise DeptreeError(f"JAX has no sums over {trees.trees}", "Ask TreeDistribution of deptree_cli")
    return trees


def _lengths(lengths: ArrayLike | None, shape: tuple[int, ...]) -> Array:
    most, batch_shape = shape[-1] - 1, shape[:-2]
    if lengths is None:
        return jnp.full(batch_shape, most)
    found = jnp.asarray(lengths)
    if found.shape != batch_shape or not jnp.issubdtype(found.dtype, jnp.integer):
        problem = f"the lengths have shape {found.shape} and type {found.dtype}, not {batch_shape} and integers"
        raise DeptreeError(problem, "Give the number of words of each sentence")
    for b, length in enumerate(() if (numbers := seen(found)) is None else numbers.ravel().tolist()):
        _check_length(length, most, b)
    return found


def _check_length(length: int, most: int, b: int) -> None:
    if not 1 <= length <= most:
        problem = f"the length is {length}, not from 1 to {most}"
        raise DeptreeError(problem, "Give the number of words, ROOT not included", sent_id=name_in_batch(b))


@jax.jit
def shifted(sentences: Sentences) -> tuple[Sentences, Array]:
    """Return the sentences with each word's best score shifted to 0, and by how much all trees of each change, (...,).

    No distribution changes by it, and the digits of large scores are kept. Arcs that do not count become -inf. With a
    single root the best is over words as heads, and ROOT's row is shifted as a whole (`core/spaces/shifted.py`). The
    shifts are constants to derivatives.
    """
    scores = jnp.where(sentences.possible, sentences.log_scores, -jnp.inf)
    below, parts = shift_batch(jnp, lax.stop_gradient(scores), sentences.space.single_root)
    finite = jnp.where(below == -jnp.inf, 0, scores)
    own = Sentences(below + (finite - lax.stop_gradient(finite)), sentences.lengths, sentences.space)
    return own, constant_of(jnp, parts)


def require_trees(log_z: Array, sentences: Sentences) -> None:
    """Look at log Z (...,), where it is a number yet.

    Raises:
        DeptreeError: names a sentence that has no tree, or a score that is NaN or infinite; or one whose sums leave
            the range of the scores' type in plain JAX.
    """
    values = seen(log_z)
    if values is None or np.isfinite(values).all():
        return
    b = int(np.flatnonzero(~np.isfinite(values))[0])
    distribution_of(sentences, b)
    problem = f"its sums leave the range of {sentences.log_scores.dtype} in plain JAX"
    remedy = "Give float64 scores, or ask the kernels: `log_partition`, `sample_without_replacement`"
    raise DeptreeError(problem, remedy, sent_id=name_in_batch(b))


def distribution_of(sentences: Sentences, b: int) -> TreeDistribution:
    """Return core's distribution of sentence b of a batch whose numbers are there, counted through its shape."""
    scores: Numbers = np.asarray(sentences.log_scores)
    n = int(np.asarray(sentences.lengths).ravel()[b])
    _check_length(n, scores.shape[-1] - 1, b)
    with in_batch(name_in_batch(b)):
        matrix = scores.reshape(-1, *scores.shape[-2:])[b, : n + 1, : n + 1]
        return TreeDistribution(matrix, space=sentences.space, id=name_in_batch(b))


def seen(array: Array) -> Numbers | None:
    """Return an array as numbers, None where it stands for numbers that are not there yet: under jit, vmap or grad."""
    return None if isinstance(array, core.Tracer) else np.asarray(jax.device_get(array))
