"""What core's `TreeDistribution` answers of each sentence of a batch, called back from compiled code on the CPU.

The best trees of each; `sampling.py` asks for random ones.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Unpack

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array, lax
from jax.typing import ArrayLike

from deptree_cli.core.counts import room_for_trees
from deptree_cli.core.distribution import TreeDistribution
from deptree_cli.core.dtypes import Array as Numbers
from deptree_cli.core.errors import in_batch, name_in_batch
from deptree_cli.core.spaces import Short, SpaceLike
from deptree_cli.jax.arguments import count_of, rows_for
from deptree_cli.jax.batches import Batch, batch_of, matrix_at, seen

# From a sentence and what else belongs to it to trees (m, n), and an array for each other result.
Answer = Callable[..., Sequence[Any]]

# The shape of what is answered of a sentence, its type, and what stands where the answer is smaller.
Result = tuple[tuple[int, ...], Any, float]


def argmax(
    log_scores: ArrayLike, lengths: ArrayLike | None = None, space: SpaceLike = None, **short: Unpack[Short]
) -> Array:
    """Return the most probable tree of each sentence, (..., N), int32 heads, -1 for ROOT and padding.

    O(n^2), or O(n^3) if projective. Arguments as in `log_partition`.

    Raises:
        DeptreeError: names a sentence without a tree; in compiled code, inside an error of JAX's own.
    """
    return ask(lambda sentence: [sentence.argmax()[None]], 1, batch_of(log_scores, lengths, space, **short))[0][0]


def mbr(
    log_scores: ArrayLike, lengths: ArrayLike | None = None, space: SpaceLike = None, **short: Unpack[Short]
) -> Array:
    """Return the tree with the highest expected attachment score, (..., N): minimum-Bayes-risk decoding. O(n^3).

    Arguments and errors as in `argmax`.
    """
    return ask(lambda sentence: [sentence.mbr()[None]], 1, batch_of(log_scores, lengths, space, **short))[0][0]


def top_k(
    log_scores: ArrayLike, k: int, lengths: ArrayLike | None = None, space: SpaceLike = None, **short: Unpack[Short]
) -> Array:
    """Return the k most probable trees, the best first, (k, ..., N); all -1 if a sentence has fewer.

    k is 1 or more, and static under jit; above 10,000 there are at most as many rows as N - 1 words have trees. Other
    arguments and errors as in `argmax`.
    """
    k, batch = count_of(k), batch_of(log_scores, lengths, space, **short)
    size = rows_for(k, batch)
    return ask(lambda sentence: [sentence.top_k(size)], size, batch)[0]


def ask(answer: Answer, size: int, batch: Batch, *others: Any, also: Sequence[Result] = ()) -> list[Array]:
    """Return what a function says of each sentence of a batch: trees (size, ..., N), and arrays (..., *shape).

    Trees are int32 heads, -1 for ROOT, padding, and where there are fewer. The function is called at once where numbers
    can be looked at, and when the compiled code runs otherwise. Derivatives are 0.

    Args:
        others: arrays (..., *) of which the function gets each sentence's.
        also: the results of each sentence beside its trees.

    Raises:
        DeptreeError: names the sentence; in an error of JAX's own where compiled code runs.
    """
    lengths, nodes = batch.words.sum(-1), batch.words.shape[-1] + 1
    single_root = jnp.broadcast_to(batch.single_root, lengths.shape)
    results: list[Result] = [((size, nodes), np.dtype(np.int32), -1), *also]

    def of_all(log_scores: Any, lengths: Any, single_root: Any, *others: Any) -> list[Numbers]:
        counts, modes = np.asarray(lengths), np.asarray(single_root).ravel().tolist()
        found = [np.full((counts.size, *shape), fill, dtype) for shape, dtype, fill in results]
        each = [np.asarray(other).reshape(counts.size, *np.shape(other)[counts.ndim :]) for other in others]
        for b, n in enumerate(counts.ravel().tolist()):
            matrix = matrix_at(np.asarray(log_scores), b)[: n + 1, : n + 1]
            with in_batch(name_in_batch(b)):
                kind = {"single_root": modes[b], "projective": batch.projective}
                distribution = TreeDistribution(matrix, id=name_in_batch(b), **kind)
            trees, *rest = answer(distribution, *(other[b] for other in each))
            found[0][b, : len(trees), 1 : n + 1] = trees
            for out, value in zip(found[1:], rest, strict=True):
                out[b, ...][tuple(slice(count) for count in np.shape(value))] = value
        return [out.reshape((*counts.shape, *out.shape[1:])) for out in found]

    given = [lax.stop_gradient(part) for part in (batch.log_scores, lengths, single_root, *others)]
    with room_for_trees(size):
        if all(seen(part) is not None for part in given):
            heads, *rest = map(jnp.asarray, of_all(*given))
        else:
            shapes: Any = [_aval((*lengths.shape, *shape), dtype) for shape, dtype, _ in results]
            heads, *rest = jax.pure_callback(of_all, shapes, *given, vmap_method="broadcast_all")
    return [jnp.moveaxis(heads, -2, 0), *rest]


def _aval(shape: tuple[int, ...], dtype: Any) -> jax.ShapeDtypeStruct:
    return jax.ShapeDtypeStruct(shape, dtype)  # type: ignore[no-untyped-call]
