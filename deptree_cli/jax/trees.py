"""Trees as arrays of heads: whether they are some."""

from __future__ import annotations

import jax.numpy as jnp
from jax import Array


def positions_of(heads: Array) -> Array:
    """Return the rows of arc matrices (`factors.py`) in which the heads of words stand, (..., n), from (..., N).

    Heads that are none of the nodes are those of ROOT here; `are_trees` tells.
    """
    n = heads.shape[-1] - 1
    own = heads[..., 1:]
    return jnp.where((own > 0) & (own <= n), own - 1, n)


def are_trees(heads: Array, words: Array, single_root: Array) -> Array:
    """Return whether heads (..., N) of the words (..., n) are trees, (...,): every word descends from ROOT. O(n log n).

    Each word is sent to its head, then twice as far, and again.
    """
    n = heads.shape[-1] - 1
    own = heads[..., 1:]
    are_nodes = ((own >= 0) & (own <= words.sum(-1, keepdims=True))) | ~words
    above = jnp.where(words, positions_of(heads), n)
    above = jnp.concatenate([above, jnp.full((*above.shape[:-1], 1), n)], -1)
    for _ in range(n.bit_length()):
        above = jnp.take_along_axis(above, above, -1)
    roots = ((own == 0) & words).sum(-1)
    return are_nodes.all(-1) & (above == n).all(-1) & ((roots == 1) | ~single_root)
