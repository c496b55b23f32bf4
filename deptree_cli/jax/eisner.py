"""Eisner's (1996) chart of projective trees in one loop over widths of spans, and its derivatives.

Nodes stand in a row, ROOT first. The items are those of `kernels/charts/eisner.py`, both directions alike:

    between[i, j] = sum over i <= k < j of complete[i, k] * complete[j, k+1]
    arc[i, j], arc[j, i] = weight * between[i, j]
    complete[i, j] = sum over k of arc[i, k] * complete[k, j]     k: the last dependent of i on the side of j

Numbers have exponents of their own (`wide.py`). Which part of an item each of its splits is, from 0 to 1, is worked out
again from the finished chart. So a tangent is the same loop over relative changes, averaged over splits; it is linear,
and its transpose gives the probabilities of arcs. Sentences are along the last axis, as trees are in `walks.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import Array, lax

from deptree_cli.jax.batches import Batch, matrix_of
from deptree_cli.jax.factors import light_left_out, relative_tangent
from deptree_cli.jax.wide import Wide, constant, each, logarithm, multiply, normalised, power_of_2, where, zero_like


class Chart(NamedTuple):
    """The items of all sentences, `Wide`, or their relative changes, arrays.

    Attributes:
        complete: (N, N, sentences), ``[end, head]``: a head with everything on one side of it, out to a node.
        arcs: (N, N, sentences), ``[dependent, head]``, with everything between the two.
    """

    complete: Any
    arcs: Any


# From a chart to the two items (N, N, sentences), ``[split, item]``, that those of one width are put together from.
Sides = Callable[[Chart], tuple[Any, Any]]

# From these and which splits are possible to the items (N, sentences).
Combine = Callable[[Chart, Sides, Array], Any]


def sums(batch: Batch) -> tuple[Array, Callable[[], Array]]:
    """Return log Z of shifted scores, (...,), and what gives the probabilities of arcs, (..., n+1, n). O(n^3)."""
    n = batch.words.shape[-1]
    scores, lengths = batch.log_scores.reshape(-1, n + 1, n), batch.words.sum(-1).reshape(1, -1)
    chart = inside(scores, batch.single_root)

    def of_all_words(items: Array) -> Array:
        return jnp.take_along_axis(items[:, 0], lengths, 0)[0]

    def marginals() -> Array:
        change = jax.linear_transpose(lambda x: of_all_words(_changes(chart, batch.single_root, x).complete), scores)
        return change(jnp.ones(len(scores), scores.dtype))[0].reshape(batch.log_scores.shape)

    return logarithm(each(of_all_words, chart.complete)).reshape(batch.words.shape[:-1]), marginals


@jax.custom_jvp
def inside(log_scores: Array, single_root: Array) -> Chart:
    """Return the chart of log-scores (sentences, n+1, n), ROOT last, -inf where an arc is forbidden. O(n^3)."""
    weights = normalised(each(_by_dependent, light_left_out(log_scores, single_root)))
    nothing, is_node = zero_like(weights), jnp.eye(len(weights.mantissa), dtype=bool)[..., None]
    start = Chart(where(is_node, constant(1, (), log_scores.dtype), nothing), nothing)

    def total(chart: Chart, sides: Sides, possible: Array) -> Wide:
        terms, top = _terms(chart, sides, possible)
        return normalised(Wide(terms.sum(0), top))

    return _by_width(start, single_root, total, partial(multiply, weights))


@inside.defjvp
def _inside_jvp(primals: tuple[Array, Array], tangents: tuple[Array, Array]) -> tuple[Chart, Chart]:
    chart = inside(*primals)
    changes = _changes(chart, primals[1], tangents[0])
    return chart, Chart(*map(relative_tangent, chart, changes))


def _changes(chart: Chart, single_root: Array, tangents: Array) -> Chart:
    """Return the relative changes of all items from those of weights, (sentences, n+1, n); linear."""
    of_weights = _by_dependent(tangents)

    def mean(changes: Chart, sides: Sides, possible: Array) -> Array:
        terms, _ = _terms(chart, sides, possible)
        total = terms.sum(0)
        first, second = sides(changes)
        return (terms / jnp.where(total > 0, total, 1) * (first + second)).sum(0)

    start = Chart(jnp.zeros_like(of_weights), jnp.zeros_like(of_weights))
    return _by_width(start, single_root, mean, partial(jnp.add, of_weights))


def _by_width(start: Chart, single_root: Array, combine: Combine, times_weights: Callable[[Any], Any]) -> Chart:
    """Fill a chart from narrow items to wide ones; if there is a single root, nothing is between ROOT and its arc."""
    count = jax.tree.leaves(start)[0].shape[0]
    item = jnp.arange(count)[:, None]
    split = item[..., None]

    def put(condition: Array, items: Any, axis: int, others: Any) -> Any:
        return jax.tree.map(lambda a, b: jnp.where(condition, jnp.expand_dims(a, axis), b), items, others)

    @jax.checkpoint
    def step(width: Array, chart: Chart) -> Chart:
        possible = (item <= split) & (split < item + width) & (item + width < count)
        possible = possible & (~single_root | (item > 0) | (split == 0))
        between = combine(chart, partial(_between, width), possible)
        between = put(split > item, between, 0, jax.tree.map(lambda part: part[:, None], between))
        arcs = jax.tree.map(partial(jnp.where, abs(split - item) == width), times_weights(between), chart.arcs)
        chart = chart._replace(arcs=arcs)
        for offset in (width, -width):
            way, end = jnp.sign(offset) * (split - item), item + offset
            possible = (way > 0) & (way <= width) & (end >= 0) & (end < count)
            found = combine(chart, partial(_complete, offset), possible)
            chart = chart._replace(complete=put(split == end, found, 0, chart.complete))
        return chart

    return lax.fori_loop(1, count, step, start)


def _between(width: Array, chart: Chart) -> tuple[Any, Any]:
    return chart.complete, jax.tree.map(lambda part: jnp.roll(jnp.roll(part, -1, 0), -width, 1), chart.complete)


def _complete(offset: Array, chart: Chart) -> tuple[Any, Any]:
    return chart.arcs, jax.tree.map(lambda part: jnp.roll(jnp.swapaxes(part, 0, 1), -offset, 1), chart.complete)


def _terms(chart: Chart, sides: Sides, possible: Array) -> tuple[Array, Array]:
    """Return the products of both sides, (N, N, sentences), as multiples of powers of 2, (N, sentences)."""
    first, second = sides(chart)
    products = Wide(first.mantissa * second.mantissa, first.exponent + second.exponent)
    products = where(possible, products, zero_like(products))
    top = products.exponent.max(0)
    return products.mantissa * power_of_2(products.exponent - top, products.mantissa.dtype), top


def _by_dependent(arcs: Array) -> Array:
    """Numbers of arcs (sentences, n+1, n), ROOT last, as (N, N, sentences), ``[dependent, head]``."""
    return matrix_of(arcs).transpose(2, 1, 0)
