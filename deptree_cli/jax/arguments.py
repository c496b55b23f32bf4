"""What those who ask for trees hand over beside scores: a key of random numbers, and how many trees they want."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
from jax import Array

from deptree_cli.core.arc_factored import FEW
from deptree_cli.core.counts import MOST, how_many
from deptree_cli.core.errors import DeptreeError
from deptree_cli.jax.batches import Sentences


def one_key(key: Any) -> Array:
    """Return a key of `jax.random`, typed or of raw numbers, as a typed one, ().

    Raises:
        DeptreeError: it is none, or there are several.
    """
    dtype: Any = getattr(key, "dtype", None)
    is_typed = jnp.issubdtype(dtype, jax.dtypes.prng_key)
    try:
        typed: Array = key if is_typed else jax.random.wrap_key_data(key)
    except TypeError:
        problem = f"the key, of type {type(key).__name__}, is none of jax.random"
        raise DeptreeError(problem, "Give a key of jax.random") from None
    if typed.shape:
        remedy = "Give a key of jax.random, one for all sentences: it is split for them"
        raise DeptreeError(f"keys of shape {typed.shape} are given", remedy)
    return typed


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
