"""Sums over all trees by elimination (`factors.py`), crossing arcs or not."""

from __future__ import annotations

from collections.abc import Callable

import jax.numpy as jnp
from jax import Array

from deptree_cli.jax.batches import Batch
from deptree_cli.jax.factors import APART, eliminate, flows
from deptree_cli.jax.wide import Wide, logarithm


def sums(batch: Batch) -> tuple[Array, Callable[[], Array]]:
    """Return log Z of shifted scores, (...,), and what gives the probabilities of arcs, (..., n+1, n). O(n^3).

    log Z is the sum of the logarithms of pivots, ROOT's arcs brought back to their weight: -inf where a word has no
    pivot, and where there is to be one arc from ROOT and two are needed.
    """
    factors = eliminate(batch.log_scores, batch.single_root)
    mantissa, exponent = factors.pivots
    by_root = (mantissa > 0) & (exponent < -(APART // 2))
    pivots = Wide(mantissa, exponent + jnp.where(by_root, APART, 0).astype(exponent.dtype))
    log_z = jnp.where(batch.words, logarithm(pivots), 0).sum(-1)
    too_many = batch.single_root & (by_root.sum(-1) > 1)
    return jnp.where(too_many, -jnp.inf, log_z), lambda: flows(factors) * factors.direct
