"""The elimination sampler in plain JAX: words come back in reverse order of elimination (docs/how_it_works.md).

An arc of the partial tree has the weight that it had when the first of its ends was eliminated: that of the direct arc
and of detours through words eliminated before. Drawing which of them it is, the arc's `via`, is the whole algorithm. A
number that is drawn with a float of b bits knows no chance below 2^-b: 2^-23 of float32.
"""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import Array, lax

from deptree_cli.jax.factors import Detours, Factors, detours_of, number
from deptree_cli.jax.wide import each, power_of_2

DIRECT = -1


class Partial(NamedTuple):
    """Trees that are being put together, by position: words 0..n-1, ROOT is n.

    Attributes:
        heads: (k, n+1); ROOT's own is ROOT.
        vias: (k, n), through which word the arc into each word leads, `DIRECT` if through none.
    """

    heads: Array
    vias: Array


def sample_trees(key: Array, factors: Factors, k: int) -> Array:
    """Draw k trees of one sentence, (k, n) heads by position, from its factors. O(n^3) a tree, without a branch.

    Padding and sentences without a tree have heads that mean nothing.
    """
    n = factors.direct.shape[-1]
    detours = detours_of(factors)
    shares = number(detours.shares)

    def step(i: Array, trees: Partial) -> Partial:
        m = n - 1 - i
        noise = jax.random.uniform(jax.random.fold_in(key, m), (k, n + 2), shares.dtype)
        anew = trees.vias == m
        drawn = _draw(lax.dynamic_index_in_dim(shares, m, 1, False).cumsum(), noise[:, n])
        head = jnp.where(anew.any(1), _head_of_last(trees.heads, anew), drawn)
        from_m = _chances(detours, factors.direct, m, 0)
        vias = jnp.where(anew, _draw(from_m, noise[:, :n]) + DIRECT, trees.vias)
        into_m = _chances(detours, factors.direct, m, 1)
        own = _draw(into_m[head], noise[:, n + 1]) + DIRECT
        heads = jnp.where(jnp.pad(anew, [(0, 0), (0, 1)]), m, trees.heads)
        return Partial(heads.at[:, m].set(head), vias.at[:, m].set(own))

    start = Partial(jnp.full((k, n + 1), n), jnp.full((k, n), DIRECT))
    return lax.fori_loop(0, n, step, start).heads[:, :n]


def _chances(detours: Detours, direct: Array, m: Array, end: int) -> Array:
    """Return cumulated chances of the vias of arcs: from m to each dependent (end 0), or to m from each head (1).

    (n, n+1) or (n+1, n+1); the first chance is that of the direct arc, then those of the words.
    """
    if end == 0:
        heads = each(lambda part: lax.dynamic_index_in_dim(part, m, 0, True), detours.shares)
        dependents = each(lambda part: part.T, detours.onward)
    else:
        heads = detours.shares
        dependents = each(lambda part: lax.dynamic_index_in_dim(part, m, 1, False)[None], detours.onward)
    inverse, exponent, own = (
        lax.dynamic_index_in_dim(part, m, end, False)[:, None] for part in (detours.inverse, detours.exponent, direct)
    )
    power = power_of_2(heads.exponent + dependents.exponent - exponent, inverse.dtype)
    return jnp.concatenate([own, heads.mantissa * dependents.mantissa * inverse * power], 1).cumsum(1)


def _draw(sums: Array, noise: Array) -> Array:
    """Return which of the chances cumulated along the last axis of sums (..., c) uniform noise (...) falls on.

    What rounding leaves over goes to the last possible one, never to one of chance 0.
    """
    total = sums[..., -1:]
    below = (sums <= noise[..., None] * total).sum(-1)
    return jnp.minimum(below, (sums < total).sum(-1))


def _head_of_last(heads: Array, anew: Array) -> Array:
    """Return the head of the last of the words marked anew (k, n) on the way from the first of them to ROOT, (k,).

    It is in ROOT's component, which its own arc leads to. Heads: (k, n+1).
    """
    n = anew.shape[1]
    trees = jnp.arange(len(heads))
    is_anew = jnp.pad(anew, [(0, 0), (0, 1)])

    def climb(state: tuple[Array, Array]) -> tuple[Array, Array]:
        at, last = state
        return heads[trees, at], jnp.where(is_anew[trees, at], at, last)

    first = jnp.where(anew.any(1), anew.argmax(1), n)
    _, last = lax.while_loop(lambda state: (state[0] != n).any(), climb, (first, first))
    return heads[trees, last]
