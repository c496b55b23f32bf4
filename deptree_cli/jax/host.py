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


def ask(
    question: Callable[..., tuple[Numbers, ...]],
    space: TreeSpace,
    precision: str,
    log_scores: Numbers,
    lengths: Int,
    *values: Numbers,
) -> list[Numbers]:
    """Return what a `TreeBatch` answers about log-scores (..., N, N), lengths and values, in the scores' type.

    Where a length is none the answer is NaN.
    """
    words, square = lengths.reshape(-1), (-1, *log_scores.shape[-2:])
    is_length = (words > 0) & (words < log_scores.shape[-1])
    batch = TreeBatch(log_scores.reshape(square), np.where(is_length, words, 1), space, precision, cores())
    found = []
    for answer in question(batch, *(each.reshape(square) for each in values)):
        answer[~is_length] = np.nan
        found.append(answer.astype(log_scores.dtype, copy=False).reshape((*lengths.shape, *answer.shape[1:])))
    return found
