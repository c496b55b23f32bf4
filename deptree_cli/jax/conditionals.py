"""The head distributions of a sentence's words along many trees at once, each given the heads of the words before.

One elimination per word would take n^4 / 3 a tree. As in `kernels/elimination/head_path.py` an interval of words
is halved again and again, and one half is left out while the other is gone through: O(n^3) a tree. A word is left out
of the walk "go to your head" by sending all that would go to it where it would go next: Gauss-Jordan without a
subtraction (Grassmann, Taksar, Heyman 1985: from a word on to itself is not subtracted from 1, but what leads elsewhere
is added up). A sum of ways that is too small for the digits of its type (`elimination.floor_of`) becomes NaN.

Positions 0..size-1 are words, `size` is ROOT; size is n or a little more, to be halved. A *top* is the position of the
tree that a position is in as yet: its own while it has no head, `size` where it descends from ROOT. With a single root
the word that hangs on ROOT is chosen before all others, and ROOT's other arcs have no weight. Trees are along the last
axis, which is long.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import NamedTuple, TypeVar

import jax
import jax.numpy as jnp
from jax import Array, lax

from deptree_cli.jax.elimination import floor_of

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

    arcs: Array
    start: Array

    @property
    def width(self) -> int:
        """The number of words in the interval."""
        return self.arcs.shape[1] - 1


def halvings(n: int) -> tuple[int, int]:
    """Return how often n words are halved, and the size that allows it."""
    times = max(0, math.ceil(math.log2(n / SHORTEST)))
    return times, -(-n // 2**times) * 2**times


def whole(weights: Array, words: Array, size: int) -> Level:
    """Return the level of all words, for one tree without heads.

    weights: arcs (n+1, n), ROOT last. What is no word hangs on ROOT, and nothing on it.
    """
    n, more = words.shape[0], size - words.shape[0]
    arcs = jnp.pad(weights.T[:, :n], [(0, more), (0, more)])
    arcs = jnp.concatenate([arcs, jnp.pad(weights[n], (0, more))[:, None]], 1)
    to_root = (jnp.arange(size + 1) == size).astype(arcs.dtype)
    is_word = jnp.pad(words, (0, more))
    return Level(jnp.where(is_word[:, None], arcs, to_root)[..., None], jnp.int32(0))


def half_of(level: Level, which: Array, parents: Array, tops: Array) -> Level:
    """Return the level of the first half (which = 0) of an interval, or of the second (1).

    Args:
        parents: (trees,), the tree of `level` that each tree has grown from.
        tops: (size, trees).
    """
    half = level.width // 2
    arcs = in_blocks(partial(_half_of, level, which * half, (1 - which) * half), parents, tops)
    return Level(arcs, level.start + which * half)


def _half_of(level: Level, kept: Array, left_out: Array, parents: Array, tops: Array) -> Array:
    """Return the arcs as seen from the half that is kept; offsets from the interval's start."""
    half = level.width // 2

    def left_out_first(part: Array) -> Array:
        cut = lax.dynamic_slice_in_dim
        return jnp.concatenate([cut(part, left_out, half, 1), cut(part, kept, half, 1), part[:, 2 * half :]], 1)

    arcs = of_trees(level.arcs, parents)
    ends = absorb(left_out_first(rows_of(arcs, level.start, level.start + left_out, half, tops)))
    return _put_rows(pass_through(left_out_first(arcs), ends), ends, level.start + left_out)


def log_head_probs_of(level: Level, weights: Array, word: Array, parents: Array, tops: Array) -> Array:
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


def rows_of(arcs: Array, start: Array, first: Array, count: int, tops: Array) -> Array:
    """Return the rows of `count` words from `first` on, (count, width + 1, trees); one with a head goes to its top."""
    size, columns, _ = arcs.shape
    own = lax.dynamic_slice_in_dim(tops, first, count, 0)
    rows = jnp.take_along_axis(arcs, jnp.minimum(own, size - 1)[:, None], 0, INSIDE)
    has_head = own != first + jnp.arange(count)[:, None]
    column = jnp.where(own == size, columns - 1, own - start)
    is_seen = (column >= 0) & (column < columns - 1) | (own == size)  # else the top goes on to where its own row says
    there = jnp.arange(columns)[:, None] == column[:, None]
    return jnp.where((has_head & is_seen)[:, None], there.astype(arcs.dtype), rows)


def reaching_root(arcs: Array, start: Array, word: Array, tops: Array) -> Array:
    """Return the weight of reaching ROOT but not `word` from each position, (size, trees).

    arcs: (size, width + 1, trees) of an interval of which the words before `word` have heads.
    """
    size, columns = arcs.shape[:2]
    width = columns - 1
    is_word = (jnp.arange(columns) == word - start)[:, None]
    rows = rows_of(arcs, start, start, width, tops)
    ending = lax.dynamic_slice_in_dim(rows, word - start, 1, 1)
    others = jnp.where(is_word, 0, rows)
    ends = absorb(jnp.concatenate([others[:, :width], ending, others[:, width:]], 1))[:, 1:]
    reached = _put_rows(pass_through(jnp.where(is_word, 0, arcs), ends), ends, start)
    return jnp.where((jnp.arange(size) == word)[:, None], 0, reached[:, 0])


def log_head_probs(weights: Array, reached: Array, tops: Array, word: Array) -> Array:
    """Return the log-probabilities of the heads of a word, (n+1, trees), ROOT last.

    Args:
        weights: arcs (n+1, n), ROOT last.
        reached: (size, trees), the weight of reaching ROOT but not the word.
        tops: (size, trees).
    """
    n = weights.shape[1]
    size, trees = tops.shape
    reached = jnp.concatenate([reached, jnp.ones((1, trees), reached.dtype)])
    own = jnp.concatenate([tops[:n], jnp.full((1, trees), size, tops.dtype)])
    beyond = jnp.take_along_axis(reached, own, 0, INSIDE)
    ways = lax.dynamic_slice_in_dim(weights, word, 1, 1) * beyond
    return jnp.log(_parts(ways, 0))


def absorb(rows: Array) -> Array:
    """Return where a walk from each of m words ends once it has left them: probabilities, (m, columns - m, trees).

    rows: (m, columns, trees), the columns of the m words first. O(m^2 columns) a tree. The pivot's row and column are
    made a step ahead, or the compiler works them out anew for each number of the update.
    """
    count = rows.shape[0]

    def eliminate(i: Array, state: tuple[Array, Array, Array]) -> tuple[Array, Array, Array]:
        rows, row, column = state
        rows = _put_rows(rows + column * row, row, i)
        following = jnp.minimum(i + 1, count - 1)
        return rows, _onward(rows, following), _into(rows, following)

    rows, _, _ = lax.fori_loop(0, count, eliminate, (rows, _onward(rows, 0), _into(rows, 0)))
    return rows[:, count:]


def pass_through(arcs: Array, ends: Array) -> Array:
    """Leave m words out whose walks end as of `absorb`, (m, columns - m, trees): (positions, columns - m, trees).

    arcs: (positions, columns, trees), the columns of the m words first. O(positions m (columns - m)) a tree.
    """
    count = ends.shape[0]

    def add(i: Array, sums: Array) -> Array:
        cut = lax.dynamic_slice_in_dim
        return sums + cut(arcs, i, 1, 1) * cut(ends, i, 1, 0)

    return lax.fori_loop(0, count, add, arcs[:, count:])


def _put_rows(arcs: Array, rows: Array, start: Array) -> Array:
    """Return arcs with rows in the place of those from `start` on."""
    return lax.dynamic_update_slice_in_dim(arcs, rows, start, 0)


def _onward(rows: Array, i: Array | int) -> Array:
    """Return where a walk goes from word i that may not stay or go back: probabilities, (1, columns, trees)."""
    row = lax.dynamic_slice_in_dim(rows, i, 1, 0)
    return _parts(jnp.where((jnp.arange(rows.shape[1]) > i)[:, None], row, 0), 1)


def _into(rows: Array, i: Array | int) -> Array:
    """Return the weights of going to word i from all others, (m, 1, trees)."""
    column = lax.dynamic_slice_in_dim(rows, i, 1, 1)
    return jnp.where((jnp.arange(rows.shape[0]) == i)[:, None, None], 0, column)


def _parts(ways: Array, axis: int) -> Array:
    """Return ways as parts of their sum, NaN where that is too small to have digits."""
    total = ways.sum(axis, keepdims=True)
    return ways / jnp.where(total >= floor_of(ways.dtype), total, jnp.nan)
