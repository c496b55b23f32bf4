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
from jax.core import ShapedArray
from jax.extend.core import Primitive
from jax.interpreters import batching, mlir

from deptree_cli.core.batches.tree_batch import TreeBatch
from deptree_cli.core.dtypes import Array as Numbers
from deptree_cli.core.dtypes import Int
from deptree_cli.core.errors import DeptreeError
from deptree_cli.core.spaces import TreeSpace
from deptree_cli.core.workers import cores

# From arrays with the axes of a batch in front to the results of a function of NumPy arrays, which go over all of these
# axes at once. JAX's own pure callback makes JAX arrays of NumPy's first, which takes longer than many sentences do.
CALL = Primitive("deptree_call")
CALL.multiple_results = True


def call(function: Callable[..., Sequence[Numbers]], results: Sequence[tuple[Any, Any]], *given: Array) -> list[Array]:
    """Return what a function of NumPy arrays says, arrays of these shapes and types.

    At once where the numbers are there; when compiled code runs otherwise, and under `vmap` of all at once.
    """
    shapes = tuple((tuple(shape), np.dtype(dtype)) for shape, dtype in results)
    found: list[Array] = CALL.bind(*given, function=function, results=shapes)  # type: ignore[no-untyped-call]
    return found


def _at_once(*given: Array, function: Callable[..., Sequence[Numbers]], results: Any) -> list[Array]:
    return [jnp.asarray(each) for each in function(*map(np.asarray, given))]


def _compiled(context: Any, *operands: Any, function: Callable[..., Sequence[Numbers]], results: Any) -> Any:
    """Lowering: a call from compiled code, free to be left out or made once more."""
    types, called = (context.avals_in, context.avals_out), partial(_called, function)
    emit = partial(mlir.emit_python_callback, has_side_effect=False, returns_token=False)
    return emit(context, called, None, operands, *types)[0]


def _called(function: Callable[..., Sequence[Numbers]], *given: Numbers) -> tuple[Numbers, ...]:
    """Call back: a thread of JAX's own, which knows the settings of the whole program only."""
    found = tuple(function(*given))
    if any(jax.dtypes.canonicalize_dtype(each.dtype) != each.dtype for each in found):
        problem = "float64 is enabled for a part of the program, and compiled code calls back from outside of it"
        raise DeptreeError(problem, 'Call jax.config.update("jax_enable_x64", True)')
    return found


def in_front(given: Any, axes: Any) -> tuple[int, list[Array]]:
    """Return the size of the axis that `vmap` is over, and all arrays with it in front."""
    size = next(each.shape[axis] for each, axis in zip(given, axes, strict=True) if axis is not None)
    return size, [
        jnp.broadcast_to(each, (size, *each.shape)) if axis is None else jnp.moveaxis(each, axis, 0)
        for each, axis in zip(given, axes, strict=True)
    ]


def _batched(given: Any, axes: Any, *, function: Callable[..., Any], results: Any) -> tuple[list[Array], list[int]]:
    size, moved = in_front(given, axes)
    found = call(function, [((size, *shape), dtype) for shape, dtype in results], *moved)
    return found, [0] * len(found)


CALL.def_impl(_at_once)  # type: ignore[no-untyped-call]
CALL.def_abstract_eval(lambda *_, function, results: [ShapedArray(*each) for each in results])  # type: ignore[no-untyped-call]
mlir.register_lowering(CALL, _compiled)
batching.primitive_batchers[CALL] = _batched


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
