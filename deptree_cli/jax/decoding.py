"""The best trees of each sentence, by our kernels on the CPU (`callbacks.py`)."""

from __future__ import annotations

from collections.abc import Callable

import jax.numpy as jnp
import numpy as np
from jax import Array
from jax.typing import ArrayLike

from deptree_cli.core.counts import room_for_trees
from deptree_cli.core.distribution import TreeDistribution
from deptree_cli.core.dtypes import Heads
from deptree_cli.jax.arguments import count_of, rows_for
from deptree_cli.jax.batches import batch_of
from deptree_cli.jax.callbacks import ask, padded_trees


def argmax(
    log_scores: ArrayLike, lengths: ArrayLike | None = None, single_root: bool = True, projective: bool = False
) -> Array:
    """Return the most probable tree of each sentence, (..., N), int32 heads, -1 for ROOT and padding.

    O(n^2), n^3 if projective. Arguments as of `log_partition`.

    Raises:
        DeptreeError: names a sentence that has no tree; where compiled code runs, within an error of JAX's own.
    """
    return _best(lambda sentence, _: sentence.argmax()[None], 1, log_scores, lengths, single_root, projective)[0]


def mbr(
    log_scores: ArrayLike, lengths: ArrayLike | None = None, single_root: bool = True, projective: bool = False
) -> Array:
    """Return the tree with the highest expected attachment score, (..., N): minimum-Bayes-risk decoding. O(n^3).

    Arguments and errors as of `argmax`.
    """
    return _best(lambda sentence, _: sentence.mbr()[None], 1, log_scores, lengths, single_root, projective)[0]


def top_k(
    log_scores: ArrayLike, k: int, lengths: ArrayLike | None = None, single_root: bool = True, projective: bool = False
) -> Array:
    """Return the k most probable trees, the best first, (k, ..., N); nothing but -1 where a sentence has fewer.

    k is 1 or more, and static under jit; above 10,000 there are no more rows than sentences of N - 1 words can have
    trees. Other arguments and errors as of `argmax`.
    """
    k = count_of(k)
    return _best(lambda sentence, size: sentence.top_k(size), k, log_scores, lengths, single_root, projective)


def _best(
    trees_of: Callable[[TreeDistribution, int], Heads],
    size: int,
    log_scores: ArrayLike,
    lengths: ArrayLike | None,
    single_root: bool,
    projective: bool,
) -> Array:
    batch = batch_of(log_scores, lengths, single_root, projective)
    nodes, size = batch.words.shape[-1] + 1, rows_for(size, batch)
    with room_for_trees(size):
        (found,) = ask(
            lambda sentence: [padded_trees(trees_of(sentence, size), size, nodes)],
            [((size, nodes), np.int32)],
            batch,
        )
    return jnp.moveaxis(found, -2, 0)
