"""Trees as arrays of heads: whether they are some."""

from __future__ import annotations

import jax.numpy as jnp
from jax import Array

from deptree_cli.jax.batches import Batch


def positions_of(heads: Array) -> Array:
    """Return the rows of arc matrices (`factors.py`) in which the heads of words stand, (..., n), from (..., N).

    Heads that are none of the nodes are those of ROOT here; `are_trees` tells.
    """
    n = heads.shape[-1] - 1
    own = heads[..., 1:]
    return jnp.where((own > 0) & (own <= n), own - 1, n)


def are_trees(heads: Array, batch: Batch) -> Array:
    """Return whether heads (..., N) are trees of a batch (...,): every word descends from ROOT.

    Each word is sent to its head, then twice as far, and again. O(n log n), n^2 if projective.
    """
    n, words = heads.shape[-1] - 1, batch.words
    own = heads[..., 1:]
    are_nodes = ((own >= 0) & (own <= words.sum(-1, keepdims=True))) | ~words
    above = jnp.where(words, positions_of(heads), n)
    above = jnp.concatenate([above, jnp.full((*above.shape[:-1], 1), n)], -1)
    for _ in range(n.bit_length()):
        above = jnp.take_along_axis(above, above, -1)
    roots = ((own == 0) & words).sum(-1)
    found = are_nodes.all(-1) & (above == n).all(-1) & ((roots == 1) | ~batch.single_root)
    return found & ~_some_cross(jnp.where(words, own, 0)) if batch.projective else found


def _some_cross(heads: Array) -> Array:
    """Return whether arcs from heads (..., n) cross, (...,): one begins before another, and ends inside it."""
    words = jnp.arange(1, heads.shape[-1] + 1)
    first, last = jnp.minimum(heads, words), jnp.maximum(heads, words)
    begins, ends = first[..., :, None], last[..., :, None]
    first, last = first[..., None, :], last[..., None, :]
    return ((begins < first) & (first < ends) & (ends < last)).any((-2, -1))
