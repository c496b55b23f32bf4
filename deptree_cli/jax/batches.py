"""From log-scores as they come, padded, to what elimination takes; and back."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Unpack

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array, core
from jax.typing import ArrayLike

from deptree_cli.core.dtypes import Float, Int
from deptree_cli.core.errors import DeptreeError, in_batch, name_in_batch
from deptree_cli.core.nearest import did_you_mean, one_of
from deptree_cli.core.scores import MASK, checked_log_scores
from deptree_cli.core.spaces import Short, SpaceLike, TreeSpace, refuse_unknown, space, tree_space

# Where work is done: by our kernels on the CPU, which compiled code calls back; in plain JAX, where the scores are; or
# as the default backend of JAX suggests.
IMPLEMENTATIONS = ("auto", "kernels", "device")


@partial(
    jax.tree_util.register_dataclass,
    data_fields=("log_scores", "lengths", "single_root"),
    meta_fields=("projective",),
)
@dataclass(frozen=True)
class Padded:
    """Sentences as they come.

    Attributes:
        log_scores: float32 or float64, (..., N, N), ``[head, dependent]``, of any numbers.
        lengths: (...,), how many words each has; none of 1 to N - 1 where it could not be looked at.
        single_root, projective: see `Batch`.
    """

    log_scores: Array
    lengths: Array
    single_root: Array
    projective: bool


@partial(
    jax.tree_util.register_dataclass,
    data_fields=("log_scores", "words", "single_root"),
    meta_fields=("projective",),
)
@dataclass(frozen=True)
class Batch:
    """Sentences of up to n = N - 1 words.

    Attributes:
        log_scores: (..., n+1, n), heads by dependents, ROOT last among the heads; -inf for arcs that are forbidden or
            none: those of padding and the diagonal.
        words: (..., n), which positions are words.
        single_root: whether trees have exactly one arc from ROOT, (): what is compiled does for both.
        projective: whether trees have no arcs that cross: what is compiled is of one kind of trees.
    """

    log_scores: Array
    words: Array
    single_root: Array
    projective: bool


def batch_of(
    log_scores: ArrayLike, lengths: ArrayLike | None = None, name: SpaceLike = None, **short: Unpack[Short]
) -> Batch:
    """Return the same as elimination takes it.

    Sentences whose length is none have scores of NaN, where that can be seen only when it runs.
    """
    return arranged(padded(log_scores, lengths, name, **short))


def padded(
    log_scores: ArrayLike, lengths: ArrayLike | None = None, name: SpaceLike = None, **short: Unpack[Short]
) -> Padded:
    """Return the sentences of log-scores (..., N, N), ``[head, dependent]``, and lengths (...,), all N - 1 if None.

    float32 and float64 stay what they are, all else becomes float32.

    Raises:
        DeptreeError: shapes do not fit, or numbers are not real; a length that can be looked at is none; there is no
            such tree space, or none in JAX; or projective is traced.
    """
    single_root, projective = _kind_of_trees(name, **short)
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
    return Padded(scores, _lengths(lengths, scores.shape), jnp.asarray(single_root).astype(bool), projective)


def is_on_device(implementation: str) -> bool:
    """Return whether an implementation is plain JAX.

    Raises:
        DeptreeError: there is none of this name.
    """
    if implementation not in IMPLEMENTATIONS:
        remedy = did_you_mean(str(implementation), IMPLEMENTATIONS, one_of(IMPLEMENTATIONS))
        raise DeptreeError(f"unknown implementation {implementation!r}", remedy)
    return implementation == "device" or (implementation == "auto" and jax.default_backend() != "cpu")


def _kind_of_trees(
    name: SpaceLike, single_root: bool | None = None, projective: bool | None = None, **unknown: object
) -> tuple[bool, bool]:
    """Whether trees have a single root, which may be traced unless a name says so, and whether they are projective."""
    refuse_unknown(unknown)
    try:
        crossing_free = None if projective is None else bool(projective)
    except jax.errors.TracerBoolConversionError:
        raise DeptreeError("`projective` is traced", "Pass True or False, static under jit") from None
    if name is None:
        return True if single_root is None else single_root, bool(crossing_free)
    trees = tree_space(name if isinstance(name, TreeSpace) else str(name), single_root, crossing_free)
    if not trees.has_short_name:
        raise DeptreeError(f"JAX has no sums over {trees.trees}", "Ask TreeDistribution of deptree_cli")
    return trees.single_root, trees.projective


@jax.jit
def arranged(sentences: Padded) -> Batch:
    """Return sentences as elimination takes them."""
    log_scores, lengths = sentences.log_scores, sentences.lengths
    nodes, last = jnp.arange(log_scores.shape[-1]), lengths[..., None]
    inside = (nodes <= last)[..., :, None] & (nodes <= last)[..., None, :]
    arcs = inside & (nodes > 0) & (nodes[:, None] != nodes)
    possible = arcs & ~(log_scores <= -MASK)  # NaN is not forbidden
    is_length = ((lengths >= 1) & (lengths < len(nodes)))[..., None, None]  # where it could not be looked at
    given = jnp.where(is_length, jnp.where(possible, log_scores, -jnp.inf), jnp.nan)
    rolled = jnp.roll(given[..., 1:], -1, axis=-2)
    return Batch(
        rolled,
        jnp.broadcast_to(nodes[1:] <= last, rolled.shape[:-2] + rolled.shape[-1:]),
        sentences.single_root,
        sentences.projective,
    )


def _lengths(lengths: ArrayLike | None, shape: tuple[int, ...]) -> Array:
    most, batch_shape = shape[-1] - 1, shape[:-2]
    if lengths is None:
        return jnp.full(batch_shape, most)
    found = jnp.asarray(lengths)
    if found.shape != batch_shape or not jnp.issubdtype(found.dtype, jnp.integer):
        problem = f"the lengths have shape {found.shape} and type {found.dtype}, not {batch_shape} and integers"
        raise DeptreeError(problem, "Give the number of words of each sentence")
    numbers = seen(found)
    if numbers is not None and ((numbers < 1) | (numbers > most)).any():
        b = int(np.flatnonzero((numbers < 1) | (numbers > most))[0])
        problem = f"the length is {numbers.ravel()[b]}, not from 1 to {most}"
        raise DeptreeError(problem, "Give the number of words, ROOT not included", sent_id=name_in_batch(b))
    return found


def matrix_of(arcs: Array) -> Array:
    """Return numbers of arcs (..., n+1, n) as (..., N, N), ``[head, dependent]``, 0 in column 0."""
    return jnp.pad(jnp.roll(arcs, 1, axis=-2), [(0, 0)] * (arcs.ndim - 1) + [(1, 0)])


def require_trees(log_z: Array, batch: Batch) -> None:
    """Look at log Z (...,), where it is a number yet.

    Raises:
        DeptreeError: names a sentence that has no tree, or a score that is NaN or infinite; or whose trees all need a
            mask.
    """
    values = seen(log_z)
    if values is None or np.isfinite(values).all():
        return
    b = int(np.flatnonzero(~np.isfinite(values))[0])
    scores = matrix_at(np.asarray(batch.log_scores), b)
    nodes = int(np.asarray(batch.words).reshape(-1, batch.words.shape[-1])[b].sum()) + 1
    with in_batch(name_in_batch(b)):
        trees = space(bool(batch.single_root), batch.projective)
        trees.check_feasible(np.isfinite(checked_log_scores(scores[:nodes, :nodes], "log")))
    problem = "every tree has a score 180,000 or more below the best of its word, where trees are not told apart"
    remedy = "Raise such masks, forbid arcs by -inf, or ask TreeDistribution of deptree_cli"
    raise DeptreeError(problem, remedy, sent_id=name_in_batch(b))


def require_numbers(values: Array, problem: str, remedy: str) -> None:
    """Raise a DeptreeError that names the first sentence whose result (...,) is NaN, where that can be looked at."""
    found = seen(values)
    if found is not None and np.isnan(found).any():
        raise DeptreeError(problem, remedy, sent_id=name_in_batch(int(np.flatnonzero(np.isnan(found))[0])))


def matrix_at(log_scores: Float, b: int) -> Float:
    """Return the scores of sentence b of a batch, counted through its shape, (N, N)."""
    rolled = np.roll(log_scores.reshape(-1, *log_scores.shape[-2:])[b], 1, axis=0)
    return np.pad(rolled, [(0, 0), (1, 0)])


def seen(array: Array) -> Int | Float | None:
    """Return an array as numbers, None where it stands for numbers that are not there yet: under jit, vmap or grad."""
    return None if isinstance(array, core.Tracer) else np.asarray(jax.device_get(array))
