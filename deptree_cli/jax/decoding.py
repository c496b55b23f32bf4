"""What core's `TreeDistribution` answers of each sentence of a batch, called back from compiled code on the CPU.

The best trees of each; `sampling.py` asks for random ones.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Unpack

import jax.numpy as jnp
import numpy as np
from jax import Array, lax
from jax.typing import ArrayLike

from deptree_cli.core.arc_factored import FEW
from deptree_cli.core.counts import MOST, how_many, room_for_trees
from deptree_cli.core.dtypes import Array as Numbers
from deptree_cli.core.errors import DeptreeError
from deptree_cli.core.spaces import Short, SpaceLike
from deptree_cli.jax.batches import Sentences, distribution_of, sentences_of
from deptree_cli.jax.host import call

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
    return ask(lambda sentence: [sentence.argmax()[None]], 1, sentences_of(log_scores, lengths, space, **short))[0][0]


def mbr(
    log_scores: ArrayLike, lengths: ArrayLike | None = None, space: SpaceLike = None, **short: Unpack[Short]
) -> Array:
    """Return the tree with the highest expected attachment score, (..., N): minimum-Bayes-risk decoding. O(n^3).

    Arguments and errors as in `argmax`.
    """
    return ask(lambda sentence: [sentence.mbr()[None]], 1, sentences_of(log_scores, lengths, space, **short))[0][0]


def top_k(
    log_scores: ArrayLike, k: int, lengths: ArrayLike | None = None, space: SpaceLike = None, **short: Unpack[Short]
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
    """Return how many trees are asked for, or a number that is too large too.

    Raises:
        DeptreeError: k is no integer of 1 or more that is known when code is compiled.
    """
    try:
        return min(how_many(k, least=1), MOST)
    except DeptreeError as error:
        error.remedy = error.remedy if isinstance(k, int) else "Ask for an integer of 1 or more, static under jit"
        raise


def rows_for(k: int, sentences: Sentences) -> int:
    """Return for how many distinct trees to have memory: k, but of many no more than so many words can have."""
    n = sentences.log_scores.shape[-1] - 1
    return k if k <= FEW else min(k, (n + 1) ** max(n - 1, 0))
