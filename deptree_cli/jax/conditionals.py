"""The head distributions of a sentence's words along many trees at once, each given the heads of the words before.

One elimination per word would take n^4 / 3 a tree. As in `kernels/elimination/head_path.py` an interval of words
is halved again and again, and one half is left out while the other is gone through: O(n^3) a tree. Nothing is
subtracted, and numbers have exponents of their own, so that no probability is too small.

Positions 0..size-1 are words, `size` is ROOT; size is n or a little more, to be halved. A *top* is the position of the
tree that a position is in as yet: its own while it has no head, `size` where it descends from ROOT. A single root costs
nothing: ROOT's arcs are lighter than any product of others (`factors.py`), so that trees with two of them vanish.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import NamedTuple, TypeVar

import jax
import jax.numpy as jnp
from jax import Array, lax

from deptree_cli.jax.factors import APART
from deptree_cli.jax.walks import absorb, pass_through, put_rows
from deptree_cli.jax.wide import Wide, constant, each, joined, log_ratio, multiply, total, where

# So many words are gone through one by one, the others of them left out anew each time: fewer levels to compile.
SHORTEST = 13

# So many trees are worked on at once on a CPU.
BLOCK = 128

# Indices are never beyond an array.
INSIDE = "promise_in_bounds"

Arrays = TypeVar("Arrays")


class Level(NamedTuple):
    """The walk "go to your head" as seen from an interval of words.

    Attributes:
        arcs: (size, width + 1, trees), the weight of reaching each word of the interval, and last ROOT, from each
            position; words without a head outside of the interval are left out.
        start: (), the position of the interval's first word.
    """

    arcs: Wide
    start: Array

    @property
    def width(self) -> int:
        """The number of words in the interval."""
        return self.arcs.mantissa.shape[1] - 1


def halvings(n: int) -> tuple[int, int]:
    """Return how often n words are halved, and the size that allows it."""
    times = max(0, math.ceil(math.log2(n / SHORTEST)))
    return times, -(-n // 2**times) * 2**times


def whole(weights: Wide, words: Array, size: int) -> Level:
    """Return the level of all words, for one tree without heads.

    weights: arcs (n+1, n), ROOT last. What is no word hangs on ROOT, and nothing on it.
    """
    n, more = words.shape[0], size - words.shape[0]
    dtype = weights.mantissa.dtype
    arcs = each(lambda part: part.T[:, :, None], weights)
    none = constant(0, (n, more, 1), dtype)
    arcs = joined([each(lambda part: part[:, :n], arcs), none, each(lambda part: part[:, n:], arcs)], 1)
    arcs = joined([arcs, constant(0, (more, size + 1, 1), dtype)], 0)
    is_word = jnp.pad(words, (0, more))[:, None, None]
    to_root = (jnp.arange(size + 1) == size)[:, None]
    return Level(where(is_word, arcs, _one_where(to_root, dtype)), jnp.int32(0))


def half_of(level: Level, which: Array, parents: Array, tops: Array) -> Level:
    """Return the level of the first half (which = 0) of an interval, or of the second (1).

    Args:
        parents: (trees,), the tree of `level` that each tree has grown from.
        tops: (size, trees).
    """
    half = level.width // 2
    arcs = in_blocks(partial(_half_of, level, which * half, (1 - which) * half), parents, tops)
    return Level(arcs, level.start + which * half)


def _half_of(level: Level, kept: Array, left_out: Array, parents: Array, tops: Array) -> Wide:
    """Return the arcs as seen from the half that is kept; offsets from the interval's start."""
    half = level.width // 2

    def left_out_first(part: Array) -> Array:
        cut = lax.dynamic_slice_in_dim
        return jnp.concatenate([cut(part, left_out, half, 1), cut(part, kept, half, 1), part[:, 2 * half :]], 1)

    arcs = of_trees(level.arcs, parents)
    rows = rows_of(arcs, level.start, level.start + left_out, half, tops)
    ends = absorb(each(left_out_first, rows))
    return put_rows(pass_through(each(left_out_first, arcs), ends), ends, level.start + left_out)


def log_head_probs_of(level: Level, weights: Wide, word: Array, parents: Array, tops: Array) -> Array:
    """Return the log-probabilities of the heads of a word of an interval, (n+1, trees), ROOT last.

    weights: arcs (n+1, n), ROOT last; the rest as of `half_of`.
    """

    def of_block(parents: Array, tops: Array) -> Array:
        reached = reaching_root(of_trees(level.arcs, parents), level.start, word, tops)
        return log_head_probs(weights, reached, tops, word)

    return in_blocks(of_block, parents, tops)


def to_blocks(trees: int) -> int:
    """Return the least number from `trees` on that equal blocks add up to."""
    blocks = -(-trees // BLOCK)
    return -(-trees // blocks) * blocks


def in_blocks(make: Callable[[Array, Array], Arrays], parents: Array, tops: Array) -> Arrays:
    """Return arrays (..., trees) that are made of parents (trees,) and tops (size, trees).

    On a CPU block after block, each small enough for its cache: more than twice as fast from 1,000 trees on.
    """
    blocks = -(-len(parents) // BLOCK)
    if blocks == 1:
        return make(parents, tops)

    def one_by_one(parents: Array, tops: Array) -> Arrays:
        split = parents.reshape(blocks, -1), jnp.moveaxis(tops.reshape(len(tops), blocks, -1), 1, 0)
        made = lax.map(lambda block: make(*block), split)
        return jax.tree.map(lambda part: jnp.moveaxis(part, 0, -2).reshape(*part.shape[1:-1], -1), made)

    return lax.platform_dependent(parents, tops, cpu=one_by_one, default=make)


def of_trees(arrays: Arrays, parents: Array) -> Arrays:
    """Return arrays (..., trees) of these trees from those of the trees that they have grown from."""
    return jax.tree.map(lambda part: part.at[..., parents].get(mode=INSIDE), arrays)


def rows_of(arcs: Wide, start: Array, first: Array, count: int, tops: Array) -> Wide:
    """Return the rows of `count` words from `first` on, (count, width + 1, trees); one with a head goes to its top."""
    size, columns, _ = arcs.mantissa.shape
    own = lax.dynamic_slice_in_dim(tops, first, count, 0)
    rows = each(lambda part: jnp.take_along_axis(part, jnp.minimum(own, size - 1)[:, None], 0, INSIDE), arcs)
    has_head = own != first + jnp.arange(count)[:, None]
    is_seen = (own == size) | (own < start + columns - 1)  # a top that is left out goes on to where its own row says
    column = jnp.where(own == size, columns - 1, own - start)
    there = jnp.arange(columns)[:, None] == column[:, None]
    return where((has_head & is_seen)[:, None], _one_where(there, arcs.mantissa.dtype), rows)


def reaching_root(arcs: Wide, start: Array, word: Array, tops: Array) -> Wide:
    """Return the weight of reaching ROOT but not `word` from each position, (size, trees).

    arcs: (size, width + 1, trees) of an interval of which the words before `word` have heads.
    """
    size, columns = arcs.mantissa.shape[:2]
    width = columns - 1
    zero = constant(0, (), arcs.mantissa.dtype)
    is_word = (jnp.arange(columns) == word - start)[:, None]
    rows = rows_of(arcs, start, start, width, tops)
    ending = each(lambda part: lax.dynamic_slice_in_dim(part, word - start, 1, 1), rows)
    others = where(is_word, zero, rows)
    ends = absorb(
        joined([each(lambda part: part[:, :width], others), ending, each(lambda part: part[:, width:], others)], 1)
    )
    ends = each(lambda part: part[:, 1:], ends)
    reached = put_rows(pass_through(where(is_word, zero, arcs), ends), ends, start)
    return where((jnp.arange(size) == word)[:, None], zero, each(lambda part: part[:, 0], reached))


def log_head_probs(weights: Wide, reached: Wide, tops: Array, word: Array) -> Array:
    """Return the log-probabilities of the heads of a word, (n+1, trees), ROOT last.

    Args:
        weights: arcs (n+1, n), ROOT last.
        reached: (size, trees), the weight of reaching ROOT but not the word.
        tops: (size, trees).
    """
    n = weights.mantissa.shape[1]
    size, trees = tops.shape
    reached = joined([reached, constant(1, (1, trees), reached.mantissa.dtype)], 0)
    own = jnp.concatenate([tops[:n], jnp.full((1, trees), size, tops.dtype)])
    beyond = each(lambda part: jnp.take_along_axis(part, own, 0, INSIDE), reached)
    ways = multiply(each(lambda part: lax.dynamic_slice_in_dim(part, word, 1, 1), weights), beyond)
    log_probs = log_ratio(ways, total(ways, 0))
    return jnp.where(log_probs > -APART / 2 * math.log(2), log_probs, -jnp.inf)  # below: a second root


def _one_where(condition: Array, dtype: object) -> Wide:
    """Return 1 or 0."""
    return where(condition, constant(1, (), dtype), constant(0, (), dtype))
