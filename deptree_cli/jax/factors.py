"""Elimination of words one by one, and the sweep backwards that gives the probabilities of arcs; tangents of both.

Numbers have exponents of their own (`wide.py`), so that float32 suffices for scores of any scale. A single root costs
nothing: ROOT's arcs are made so light, by a power of two beyond all weights, that trees with two of them vanish. Then
every pivot includes ROOT's arc, and no order of elimination fails. Arc matrices have shape (..., n+1, n): rows are
heads, the words first and ROOT last; columns are dependents.

The sweeps backwards and along a tangent work on flows and on relative changes, which are bounded, where adjoints and
tangents alone would overflow. A flow is a weight times its adjoint: the probability that a tree takes an arc or one of
the detours that were added to its weight. The tangents are linear loops over the factors, so that to differentiate them
backwards takes no matrix per word.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array, lax

from deptree_cli.jax.wide import (
    Wide,
    add_product,
    divide,
    each,
    exponential,
    normalised,
    power_of_2,
    total,
    where,
    zero_like,
)

# The least weight of an arc beside the largest into its word, in bits, and its logarithm: about 180,000 nats.
LIGHTEST = -(2**18)
LEAST = LIGHTEST * math.log(2)

# By how many bits ROOT's arcs are lighter where there is to be one of them: more than products of others span.
APART = 2**27


class Shifted(NamedTuple):
    """Log-scores less constants that no distribution changes by.

    Attributes:
        high, low: (..., n+1, n), what is left, and what that rounds off.
        constants: (..., n + 2), of each word, and of ROOT a pair; they are constants to derivatives too.
    """

    high: Array
    low: Array
    constants: Array


class Factors(NamedTuple):
    """An arc matrix after elimination.

    Attributes:
        arcs: (..., n+1, n), each weight as it was when the first of its two ends was eliminated; the diagonal means
            nothing.
        pivots: (..., n), the weight of all arcs into a word when it was eliminated.
        direct: (..., n+1, n), which part of `arcs` is the direct arc's, from 0 to 1.
    """

    arcs: Wide
    pivots: Wide
    direct: Array


class Detours(NamedTuple):
    """How much of an arc's weight leads through a word that was eliminated before its ends.

    Attributes:
        shares: (..., n+1, n), the part that an arc has in its dependent's pivot; 0 unless the head comes later.
        onward: (..., n, n), the arcs to words that come later than their head.
        inverse: (..., n+1, n), 1 over the mantissa of an arc, 0 where there is none.
        exponent: (..., n+1, n), of the arcs.
    """

    shares: Wide
    onward: Wide
    inverse: Array
    exponent: Array

    def through(self, m: Array) -> tuple[Array, Array]:
        """Return the shares in word m's pivot (..., n+1), and which part of each arc leads through m (..., n+1, n)."""
        heads = each(lambda part: lax.dynamic_slice_in_dim(part, m, 1, -1), self.shares)
        dependents = each(lambda part: lax.dynamic_slice_in_dim(part, m, 1, -2), self.onward)
        power = power_of_2(heads.exponent + dependents.exponent - self.exponent, self.inverse.dtype)
        return number(heads)[..., 0], heads.mantissa * dependents.mantissa * self.inverse * power


@jax.custom_jvp
def eliminate(log_scores: Array, single_root: Array) -> Factors:
    """Return the factors of an arc matrix of log-scores, -inf where an arc is forbidden; single_root is a bool. O(n^3).

    Positive numbers are added, multiplied and divided, never subtracted (Grassmann, Taksar, Heyman 1985).
    """
    n = log_scores.shape[-1]
    weights = weights_of(log_scores, single_root)

    def step(m: Array, arcs: Wide) -> Wide:
        heads, dependents = _line(arcs, m, -1), _line(arcs, m, -2)
        shares = divide(heads, each(lambda part: part[..., None], total(heads, -2)))
        return add_product(arcs, shares, dependents)

    arcs = normalised(lax.fori_loop(0, n, step, weights))
    pivots = total(where(_heads_are_later(n), arcs, zero_like(arcs)), -2)
    return Factors(arcs, pivots, number(divide(weights, arcs)))


@eliminate.defjvp
def _eliminate_jvp(primals: tuple[Array, Array], tangents: tuple[Array, Array]) -> tuple[Factors, Factors]:
    factors = eliminate(*primals)
    arcs, pivots, direct = factors
    detours = detours_of(factors)

    @jax.checkpoint
    def step(m: Array, changes: Array) -> Array:
        shares, part = detours.through(m)
        return changes + part * _change_through(changes, shares, m)

    changes = lax.fori_loop(0, direct.shape[-1], step, direct * tangents[0])
    of_pivots = (number(detours.shares) * changes).sum(-2)
    return factors, Factors(
        relative_tangent(arcs, changes), relative_tangent(pivots, of_pivots), direct * (tangents[0] - changes)
    )


@jax.custom_jvp
def flows(factors: Factors) -> Array:
    """Return the probability that a tree takes an arc, or a detour in its place: (..., n+1, n), from factors. O(n^3).

    The derivative of log Z in the logarithm of each weight as it was when the first of its ends was eliminated.
    """
    detours, n = detours_of(factors), factors.direct.shape[-1]

    def step(k: Array, flow: Array) -> Array:
        m = n - 1 - k
        shares, part = detours.through(m)
        through = flow * part
        out = through.sum(-1)
        return _with_word(flow, m, out + shares * (1 - out.sum(-1, keepdims=True)), through.sum(-2))

    return lax.fori_loop(0, n, step, jnp.zeros_like(factors.direct))


@flows.defjvp
def _flows_jvp(primals: tuple[Factors], tangents: tuple[Factors]) -> tuple[Array, Array]:
    flow, detours, n = flows(primals[0]), detours_of(primals[0]), primals[0].direct.shape[-1]
    changes = tangents[0].arcs.mantissa * detours.inverse

    @jax.checkpoint
    def step(k: Array, tangent: Array) -> Array:
        m = n - 1 - k
        shares, part = detours.through(m)
        through = flow * part
        moved = tangent * part + through * (_change_through(changes, shares, m) - changes)
        out = moved.sum(-1)
        of_shares = shares * _change_of_shares(changes, shares, m)[..., 0]
        own = out + of_shares * (1 - through.sum((-2, -1))[..., None]) - shares * out.sum(-1, keepdims=True)
        return _with_word(tangent, m, own, moved.sum(-2))

    return flow, lax.fori_loop(0, n, step, jnp.zeros_like(flow))


def detours_of(factors: Factors) -> Detours:
    """Return how much of each arc's weight leads through each word, from factors. O(n^2)."""
    arcs, pivots, _ = factors
    later = _heads_are_later(pivots.mantissa.shape[-1])
    shares = Wide(
        arcs.mantissa * _inverse(pivots.mantissa)[..., None, :], arcs.exponent - pivots.exponent[..., None, :]
    )
    words = each(lambda part: part[..., :-1, :], arcs)
    return Detours(
        where(later, shares, zero_like(shares)),
        where(later[:-1].T, words, zero_like(words)),
        _inverse(arcs.mantissa),
        arcs.exponent,
    )


def weights_of(log_scores: Array, single_root: Array) -> Wide:
    """Return the arc matrix of log-scores (..., n+1, n), shifted, ROOT's arcs apart if there is to be one of them."""
    mantissa, exponent = light_left_out(log_scores, single_root)
    is_root = jnp.arange(log_scores.shape[-2])[:, None] == log_scores.shape[-1]
    weights = Wide(mantissa, exponent - jnp.where(is_root & single_root, APART, 0).astype(exponent.dtype))
    return where(mantissa > 0, weights, zero_like(weights))


def light_left_out(log_scores: Array, single_root: Array) -> Wide:
    """Return the weights of log-scores (..., n+1, n), shifted; 0 for arcs that are too light."""
    high, low, _ = shift(log_scores, single_root)
    return exponential(jnp.where(is_light(high), -jnp.inf, high), low)


def is_light(high: Array) -> Array:
    """Return which arcs are so light that no tree of theirs counts, unless all trees have one; forbidden ones too."""
    return high < LEAST


def is_known(log_z: Array, log_scores: Array, single_root: Array) -> Array:
    """Return which sentences have numbers for scores, and a tree without light arcs or no light arcs at all, (...,)."""
    some = (is_light(shift(log_scores, single_root).high) & (log_scores > -jnp.inf)).any((-2, -1))
    return (log_scores < jnp.inf).all((-2, -1)) & ~(some & (log_z == -jnp.inf))


def shift(log_scores: Array, single_root: Array) -> Shifted:
    """Shift log-scores (..., n+1, n), each word's column to a maximum of 0, as `core/spaces/shifted.py` does.

    With a single root the maximum is over words as heads, and ROOT's row is shifted as a whole.
    """
    given = lax.stop_gradient(log_scores)
    tops = jnp.where(single_root, given[..., :-1, :].max(-2, initial=-jnp.inf), given.max(-2))
    tops = jnp.where(tops == -jnp.inf, given[..., -1, :], tops)  # a word that only ROOT may govern
    tops = jnp.where(tops == -jnp.inf, 0, tops)
    high, low = two_sum(log_scores, -tops[..., None, :])
    of_root, of_rest = _highest(lax.stop_gradient(high[..., -1, :]), lax.stop_gradient(low[..., -1, :]))
    of_root, of_rest = (jnp.where(single_root, part, 0)[..., None] for part in (of_root, of_rest))
    root, rest = two_sum(high[..., -1, :], -of_root)
    root, rest = two_sum(root, rest + (low[..., -1, :] - of_rest))
    return Shifted(
        high.at[..., -1, :].set(root), low.at[..., -1, :].set(rest), jnp.concatenate([tops, of_root, of_rest], -1)
    )


def _highest(high: Array, low: Array) -> tuple[Array, Array]:
    """Return the largest of pairs (..., n), two arrays (...,); 0 if all are -inf."""
    top = high.max(-1)
    rest = jnp.where(high == top[..., None], low, -jnp.inf).max(-1)
    return jnp.where(top == -jnp.inf, 0, top), jnp.where(top == -jnp.inf, 0, rest)


def two_sum(a: Array, b: Array) -> tuple[Array, Array]:
    """Return sums and what they round off, 0 where they are infinite (Knuth)."""
    high = a + b
    back = high - a
    low = (a - (high - back)) + (b - back)
    return high, jnp.where(jnp.isfinite(high), lax.stop_gradient(low), 0)


def number(numbers: Wide) -> Array:
    """Return numbers of at most about 1 as floats."""
    return numbers.mantissa * power_of_2(numbers.exponent, numbers.mantissa.dtype)


def _heads_are_later(n: int) -> Array:
    """A mask (n+1, n) of the arcs that are left into a word when it is eliminated; ROOT comes after all."""
    return jnp.arange(n + 1)[:, None] > jnp.arange(n)


def _line(arcs: Wide, m: Array, axis: int) -> Wide:
    """Return column (axis -1) or row (-2) m of the arcs, without those from and to words that are eliminated."""
    line = normalised(each(lambda part: lax.dynamic_slice_in_dim(part, m, 1, axis), arcs))
    other = -3 - axis
    positions = jnp.expand_dims(jnp.arange(line.mantissa.shape[other]), axis)
    return where(positions > m, line, zero_like(line))


def _change_of_shares(changes: Array, shares: Array, m: Array) -> Array:
    """Return the relative change of each share in m's pivot, (..., n+1, 1), from those of arcs (..., n+1, n)."""
    into = lax.dynamic_slice_in_dim(changes, m, 1, -1)
    return into - (shares[..., None] * into).sum(-2, keepdims=True)


def _change_through(changes: Array, shares: Array, m: Array) -> Array:
    """Return the relative change of what leads through m, (..., n+1, n)."""
    return _change_of_shares(changes, shares, m) + lax.dynamic_slice_in_dim(changes, m, 1, -2)


def _with_word(flow: Array, m: Array, into: Array, onward: Array) -> Array:
    """Put the flows of the arcs into word m (..., n+1) and of those from it (..., n) in their places."""
    flow = lax.dynamic_update_index_in_dim(flow, into, m, -1)
    return lax.dynamic_update_index_in_dim(flow, onward, m, -2)


def _inverse(mantissa: Array) -> Array:
    """Return 1 over each mantissa, 0 over 0."""
    return jnp.where(mantissa > 0, 1 / jnp.where(mantissa > 0, mantissa, 1), 0)


def relative_tangent(numbers: Wide, changes: Array) -> Wide:
    """Return the tangent of numbers that change by these parts of themselves; exponents have none."""
    none: Any = np.zeros(numbers.exponent.shape, jax.dtypes.float0)
    return Wide(numbers.mantissa * changes, none)
