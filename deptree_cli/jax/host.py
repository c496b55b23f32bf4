"""The core's sums over padded batches, as functions of NumPy arrays that compiled code calls back.

No error is raised about a sentence, which would stop the whole program: one without a tree has a log Z of -inf, one
whose scores or length are none has NaN.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from deptree_cli.core.batches.tree_batch import TreeBatch
from deptree_cli.core.dtypes import Array as Numbers
from deptree_cli.core.dtypes import Int
from deptree_cli.core.errors import DeptreeError
from deptree_cli.core.spaces import TreeSpace
from deptree_cli.core.workers import cores
from deptree_cli.jax.batches import seen


def call(function: Callable[..., Sequence[Numbers]], results: Sequence[tuple[Any, Any]], *given: Array) -> list[Array]:
    """Return what a function of NumPy arrays says, arrays of these shapes and types.

    At once where the numbers are there; when compiled code runs otherwise, and under `vmap` of all at once.
    """
    numbers = [seen(each) for each in given]
    if not any(each is None for each in numbers):
        return [jnp.asarray(each) for each in function(*numbers)]
    shapes: Any = [jax.ShapeDtypeStruct(*each) for each in results]  # type: ignore[no-untyped-call]
    checked = partial(_with_types, function, tuple(np.dtype(each.dtype) for each in given))
    found: list[Array] = jax.pure_callback(checked, shapes, *given, vmap_method="broadcast_all")
    return found


def _with_types(function: Callable[..., Any], types: tuple[np.dtype[Any], ...], *given: Any) -> Any:
    """Call back with arrays of these types: a thread of JAX's own knows the settings of the whole program only."""
    numbers = [np.asarray(each) for each in given]
    if [each.dtype for each in numbers] != list(types):
        problem = "float64 is enabled for a part of the program, and compiled code calls back from outside of it"
        raise DeptreeError(problem, 'Call jax.config.update("jax_enable_x64", True)')
    return function(*numbers)


def log_partitions(space: TreeSpace, precision: str, log_scores: Numbers, lengths: Int) -> list[Numbers]:
    """Return log Z, (...,), of log-scores (..., N, N) and lengths (...,), in the scores' type."""
    return _sums(space, precision, log_scores, lengths, with_marginals=False)


def log_partitions_and_marginals(space: TreeSpace, precision: str, log_scores: Numbers, lengths: Int) -> list[Numbers]:
    """Return log Z, (...,), and the marginals of arcs, (..., N, N), 0 where there is no tree."""
    return _sums(space, precision, log_scores, lengths, with_marginals=True)


def _sums(
    space: TreeSpace, precision: str, log_scores: Numbers, lengths: Int, *, with_marginals: bool
) -> list[Numbers]:
    scores, words, known = _in_a_row(log_scores, lengths)
    batch = TreeBatch(scores[known], words[known], space, precision, cores())
    answers: tuple[Numbers, ...] = (
        batch.log_partitions_and_marginals(raises=False) if with_marginals else (batch.log_partitions(raises=False),)
    )
    found = [np.full(each, np.nan, scores.dtype) for each in (words.shape, scores.shape)[: 1 + with_marginals]]
    for out, answer in zip(found, answers, strict=True):
        out[known] = answer
    return [out.reshape((*lengths.shape, *out.shape[1:])) for out in found]


def covariances(space: TreeSpace, log_scores: Numbers, lengths: Int, direction: Numbers) -> list[Numbers]:
    """Return the derivative of the marginals in a direction (..., N, N): 0 where there is no tree."""
    scores, words, known = _in_a_row(log_scores, lengths)
    values, found = direction.reshape(scores.shape), np.full(scores.shape, np.nan, scores.dtype)
    batch = TreeBatch(scores[known], words[known], space, threads=cores())
    found[known] = batch.covariances(values[known], raises=False)
    return [found.reshape(log_scores.shape)]


def _in_a_row(log_scores: Numbers, lengths: Int) -> tuple[Numbers, Int, Any]:
    """Scores (B, N, N) and lengths (B,) of all sentences, and an index of those whose lengths are such."""
    words = lengths.reshape(-1)
    known = (words > 0) & (words < log_scores.shape[-1])
    return log_scores.reshape(-1, *log_scores.shape[-2:]), words, slice(None) if known.all() else known
