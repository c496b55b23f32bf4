"""Elimination of words one by one, and the sweep backwards for edge marginals, in plain JAX on any device.

Arc matrices have shape (n+1, n): rows are heads, the words first and ROOT last; columns are dependents. Positive
numbers are only added, multiplied and divided (Grassmann, Taksar, Heyman 1985), as in `kernels/elimination`. The word
with the most ways out goes next. With a single root the ways do not include ROOT's arcs, and the word that is left
hangs on ROOT: none of its arcs can be missing earlier.

The sweep backwards works on flows: a flow is a weight times its adjoint, the probability that a tree takes an arc or
one of the detours that were added to its weight.

A float's range is the limit. Weights are at most 1, and what is below the smallest float is lost; while every pivot is
above `floor_of` its digits, that costs none. Where one is not, the sums are unknown, NaN.
"""

from __future__ import annotations

import math
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array, lax

from deptree_cli.jax.batches import Sentences, shifted


class Factors(NamedTuple):
    """An arc matrix after elimination.

    Attributes:
        order: (n,), the words in the order of elimination; after them anything.
        pivots: (n,), the weight of all arcs into a word when it was eliminated; 1 for what is no word.
        shares: (n+1, n), the part of the pivot that was each head's; of ROOT, where it does not count, beside it.
        arcs: (n+1, n), each weight as it was when the first of its two ends was eliminated.
    """

    order: Array
    pivots: Array
    shares: Array
    arcs: Array


def floor_of(dtype: Any) -> float:
    """Return the smallest sum of which what is lost below the smallest float is less than a rounding."""
    limits = np.finfo(dtype)
    return 1000 * float(limits.smallest_normal) / float(limits.eps)


@jax.jit
def sums(sentences: Sentences) -> tuple[Array, Array]:
    """Return log Z, (...,), and the marginals of arcs, (..., N, N). O(n^3).

    -inf and 0 where there is no tree; NaN where scores or length are none, or sums leave the range of their type.
    """
    single_root = sentences.space.single_root
    own, constants = shifted(sentences)
    weights = jnp.roll(jnp.exp(own.log_scores), -1, -2)[..., 1:]
    is_known = (own.log_scores < jnp.inf).all((-2, -1)) & sentences.are_lengths
    given = weights, sentences.words[..., 1:]
    flat = [part.reshape(-1, *part.shape[constants.ndim :]) for part in given]
    log_z, found = jax.vmap(partial(_of_one, single_root=single_root))(*flat)
    log_z, found = log_z.reshape(constants.shape), found.reshape(weights.shape)
    has_tree = _has_tree(own.log_scores > -jnp.inf, sentences)
    known = jnp.where(is_known, 0, jnp.nan)
    log_z = jnp.where(has_tree, log_z, -jnp.inf) + known
    found = jnp.where(has_tree[..., None, None], found, 0) + known[..., None, None]
    padding = [(0, 0)] * (found.ndim - 1) + [(1, 0)]
    return log_z + constants, jnp.pad(jnp.roll(found, 1, -2), padding)


def _of_one(weights: Array, words: Array, *, single_root: bool) -> tuple[Array, Array]:
    """log Z of weights (n+1, n), and their marginals, of which those of ROOT have all digits with a single root."""
    factors = eliminate(weights, words, single_root)
    in_range = ((factors.pivots >= floor_of(weights.dtype)) & jnp.isfinite(factors.pivots)).all()
    known = jnp.where(in_range, 0, jnp.nan)
    direct = weights * _inverse(factors.arcs)
    return jnp.log(factors.pivots).sum() + known, flows(factors, words, single_root) * direct + known


def eliminate(weights: Array, words: Array, single_root: bool) -> Factors:
    """Return the factors of weights (n+1, n), of which `words` (n,) says which are words. O(n^3)."""
    n = len(words)

    def step(k: Array, state: tuple[Factors, Array]) -> tuple[Factors, Array]:
        (order, pivots, shares, arcs), left = state
        root_counts = (left.sum() == 1) | (not single_root)
        others = left[:, None] & ~jnp.eye(n, dtype=bool)
        ways = jnp.where(others, arcs[:n], 0).sum(0) + jnp.where(root_counts, arcs[n], 0)
        m = jnp.where(left, ways, -1).argmax()
        is_word = left.any()
        heads = jnp.where(jnp.append(others[:, m], is_word), arcs[:, m], 0)
        share = heads / jnp.where(ways[m] > 0, ways[m], 1)
        arcs = arcs + share[:, None] * jnp.where(others[:, m], arcs[m], 0)
        pivots = pivots.at[m].set(jnp.where(is_word, ways[m], pivots[m]))
        shares = shares.at[:, m].set(jnp.where(is_word, share, shares[:, m]))
        return Factors(order.at[k].set(m), pivots, shares, arcs), left & (jnp.arange(n) != m)

    start = Factors(jnp.zeros(n, int), jnp.ones(n, weights.dtype), jnp.zeros_like(weights), weights)
    return lax.fori_loop(0, n, step, (start, words))[0]


def flows(factors: Factors, words: Array, single_root: bool) -> Array:
    """Return the probability that a tree takes an arc, or a detour in its place: (n+1, n), from factors. O(n^3)."""
    order, _, shares, arcs = factors
    n, count = len(words), words.sum()

    def step(i: Array, state: tuple[Array, Array]) -> tuple[Array, Array]:
        flow, back = state
        k = n - 1 - i
        m, is_word = order[k], k < count
        onward = jnp.where(back, arcs[m], 0)
        through = flow * shares[:, m, None] * onward * _inverse(arcs)
        out = through.sum(1)
        root_counts = (k == count - 1) | (not single_root)
        own = shares[:, m] * jnp.where(jnp.arange(n + 1) < n, 1, root_counts)
        into = out + own * (1 - out.sum())
        changed = flow.at[:, m].set(into).at[m].set(through.sum(0))
        return jnp.where(is_word, changed, flow), back | (is_word & (jnp.arange(n) == m))

    start = jnp.zeros_like(arcs), jnp.zeros(n, bool)
    return lax.fori_loop(0, n, step, start)[0]


def _has_tree(arcs: Array, sentences: Sentences) -> Array:
    """Whether arcs (..., N, N) make up a tree of every sentence, (...,): some node is above all words."""
    words, n = sentences.words, arcs.shape[-1] - 1
    single_root = sentences.space.single_root
    above = (arcs.at[..., 0, :].set(False) if single_root else arcs) | jnp.eye(n + 1, dtype=bool)
    for _ in range(max(1, math.ceil(math.log2(n + 1)))):
        steps = above.astype(jnp.float32)
        above = steps @ steps > 0
    is_above = (above | ~words[..., None, :]).all(-1)
    return (is_above & words & arcs[..., 0, :]).any(-1) if single_root else is_above[..., 0]


def _inverse(numbers: Array) -> Array:
    """Return 1 over each number, 0 over 0."""
    return jnp.where(numbers > 0, 1 / jnp.where(numbers > 0, numbers, 1), 0)
