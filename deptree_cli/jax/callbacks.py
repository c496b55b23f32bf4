"""What core's `TreeDistribution` answers of each sentence of a batch, called back from compiled code on the CPU."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from deptree_cli.core.distribution import TreeDistribution
from deptree_cli.core.dtypes import Array as Numbers
from deptree_cli.jax.batches import Batch, matrix_at, name_of, seen

# From a sentence and what else belongs to it to an array for each result.
Answer = Callable[..., Sequence[Numbers]]

# The shape of what is answered of a sentence, and its type.
Result = tuple[tuple[int, ...], Any]


def ask(answer: Answer, results: Sequence[Result], batch: Batch, *others: Any) -> list[jax.Array]:
    """Return what a function says of each sentence of a batch: arrays (..., *shape) for each result's shape and type.

    It is called at once where numbers can be looked at, and when the compiled code runs otherwise. Derivatives are 0.

    Args:
        others: arrays (..., *) of which the function gets each sentence's.

    Raises:
        DeptreeError: names the sentence; in an error of JAX's own where compiled code runs.
    """
    lengths = batch.words.sum(-1)
    single_root = jnp.broadcast_to(batch.single_root, lengths.shape)

    def of_all(log_scores: Any, lengths: Any, single_root: Any, *others: Any) -> list[Numbers]:
        counts, modes = np.asarray(lengths), np.asarray(single_root).ravel().tolist()
        found = [np.empty((counts.size, *shape), dtype) for shape, dtype in results]
        each = [np.asarray(other).reshape(counts.size, *np.shape(other)[counts.ndim :]) for other in others]
        for b, n in enumerate(counts.ravel().tolist()):
            matrix = matrix_at(np.asarray(log_scores), b)[: n + 1, : n + 1]
            distribution = TreeDistribution(matrix, single_root=modes[b], projective=batch.projective, id=name_of(b))
            for out, value in zip(found, answer(distribution, *(other[b] for other in each)), strict=True):
                out[b] = value
        return [out.reshape((*counts.shape, *out.shape[1:])) for out in found]

    given = [lax.stop_gradient(part) for part in (batch.log_scores, lengths, single_root, *others)]
    if all(seen(part) is not None for part in given):
        return [jnp.asarray(out) for out in of_all(*given)]
    shapes = [_aval((*lengths.shape, *shape), dtype) for shape, dtype in results]
    return jax.pure_callback(of_all, shapes, *given, vmap_method="broadcast_all")


def _aval(shape: tuple[int, ...], dtype: Any) -> jax.ShapeDtypeStruct:
    return jax.ShapeDtypeStruct(shape, dtype)  # type: ignore[no-untyped-call]


def padded(rows: Numbers, size: int, fill: float) -> Numbers:
    """Return rows (m, ...) and as many of `fill` behind them as make `size`."""
    return np.concatenate([rows, np.full((size - len(rows), *rows.shape[1:]), fill, rows.dtype)])


def padded_trees(trees: Numbers, size: int, nodes: int) -> Numbers:
    """Return trees (m, n) of heads as (size, nodes), -1 for ROOT, padding and where there is no tree."""
    heads = np.pad(trees.astype(np.int32), [(0, 0), (1, nodes - 1 - trees.shape[1])], constant_values=-1)
    return padded(heads, size, -1)
