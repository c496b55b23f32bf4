"""Stochastic beam search in JAX: k distinct trees at once, on any device, exact (Stanojevic 2022, section 5).

As in `deptree_cli/core/conditionals.py`, every tree gets a log-probability perturbed by Gumbel noise of its own, and
those with the k largest are drawn (Kool, van Hoof, Welling 2019). With a single root the word that hangs on ROOT comes
first; then trees grow word by word. A prefix carries the largest of its trees'. One prefix more is followed than trees
are wanted: what comes next says how to weigh them, and whether a tree too rare for the float type could be among them.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import NamedTuple, TypeVar, Unpack

import jax
import jax.numpy as jnp
from jax import Array, lax
from jax.typing import ArrayLike

from deptree_cli.core.errors import DeptreeError
from deptree_cli.core.spaces import Short, SpaceLike
from deptree_cli.jax.sums import Lengths, Sentences, floor_of, require_trees, sentences_of, shifted, sums
from deptree_cli.jax.trees import count_of, one_key, rows_for

# The head distributions of a sentence's words along many trees at once, each given the heads of the words before.
#
# One elimination per word would take n^4 / 3 a tree. As in `kernels/head_path.py` an interval of words is halved
# again and again, and one half is left out while the other is gone through: O(n^3) a tree. A word is left out of the
# walk "go to your head" by sending all that would go to it where it would go next: Gauss-Jordan without a subtraction
# (Grassmann, Taksar, Heyman 1985: from a word on to itself is not subtracted from 1, but what leads elsewhere is
# added up). A sum of ways that is too small for the digits of its type (`floor_of`) becomes NaN.
#
# Positions 0..size-1 are words, `size` is ROOT; size is n or a little more, to be halved. A *top* is the position of
# the tree that a position is in as yet: its own while it has no head, `size` where it descends from ROOT. With a
# single root the word that hangs on ROOT is chosen before all others, and ROOT's other arcs have no weight. Trees are
# along the last axis, which is long.


# So many words are gone through one by one, the others of them left out anew each time: fewer levels to compile.
SHORTEST = 13

# So many trees are worked on at once on a CPU.
BLOCK = 128

# Indices are never beyond an array.
INSIDE = "promise_in_bounds"

Arrays = TypeVar("Arrays")


# The walk "go to your head" as seen from an interval of words: arcs (size, width + 1, trees), the weight of reaching
# each word of the interval, and last ROOT, from each position, where words without a head outside of the interval are
# left out; and where the interval starts.
Level = tuple[Array, Array]


def half_of(level: Level, which: Array, parents: Array, tops: Array) -> Level:
    """Return the level of the first half (which = 0) of an interval, or of the second (1).

    Args:
        parents: (trees,), the tree of `level` that each tree has grown from.
        tops: (size, trees).
    """
    arcs, start = level
    half = (arcs.shape[1] - 1) // 2
    kept, left_out = which * half, (1 - which) * half

    def left_out_first(part: Array) -> Array:
        cut = lax.dynamic_slice_in_dim
        return jnp.concatenate([cut(part, left_out, half, 1), cut(part, kept, half, 1), part[:, 2 * half :]], 1)

    def of_block(parents: Array, tops: Array) -> Array:
        own = of_trees(arcs, parents)
        ends = absorb(left_out_first(rows_of(own, start, start + left_out, half, tops)))
        return _put_rows(pass_through(left_out_first(own), ends), ends, start + left_out)

    return in_blocks(of_block, parents, tops), start + kept


def log_head_probs(level: Level, weights: Array, word: Array, parents: Array, tops: Array) -> Array:
    """Return the log-probabilities of the heads of a word of an interval, (n+1, trees), ROOT last.

    weights: arcs (n+1, n), ROOT last; the rest as of `half_of`. The words before this one have heads.
    """
    (arcs, start), n = level, weights.shape[1]

    def of_block(parents: Array, tops: Array) -> Array:
        size, trees = tops.shape
        reached = reaching_root(of_trees(arcs, parents), start, word, tops)
        reached = jnp.concatenate([reached, jnp.ones((1, trees), reached.dtype)])
        own = jnp.concatenate([tops[:n], jnp.full((1, trees), size, tops.dtype)])
        beyond = jnp.take_along_axis(reached, own, 0, INSIDE)
        return jnp.log(_parts(lax.dynamic_slice_in_dim(weights, word, 1, 1) * beyond, 0))

    return in_blocks(of_block, parents, tops)


def in_blocks(make: Callable[[Array, Array], Array], parents: Array, tops: Array) -> Array:
    """Return an array (..., trees) that is made of parents (trees,) and tops (size, trees).

    On a CPU block after block, each small enough for its cache: more than twice as fast from 1,000 trees on.
    """
    blocks = -(-len(parents) // BLOCK)
    if blocks == 1:
        return make(parents, tops)

    def one_by_one(parents: Array, tops: Array) -> Array:
        split = parents.reshape(blocks, -1), jnp.moveaxis(tops.reshape(len(tops), blocks, -1), 1, 0)
        made = lax.map(lambda block: make(*block), split)
        return jnp.moveaxis(made, 0, -2).reshape(*made.shape[1:-1], -1)

    found: Array = lax.platform_dependent(parents, tops, cpu=one_by_one, default=make)
    return found


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


# Below this logarithm x / (1 - exp(-x)) is 1 + x / 2.
RARE = -10.0

# So many nats above what a float type loses the last of the trees has to be: a chance of e^-14 that more digits would
# have changed the draw is none.
APART = 14


class BeamSample(NamedTuple):
    """Distinct trees in the order in which sampling with replacement would first find them.

    Attributes:
        heads: (k, ..., N) int32; all -1 if there are fewer than k trees.
        log_probs: (k, ...), of each tree; -inf if there is none.
        perturbed: (k, ...), the same with Gumbel noise, decreasing: minus the logarithm of the time at which each tree
            was found.
        log_threshold: (...), the perturbed log-probability of the next tree; -inf if there is none.
    """

    heads: Array
    log_probs: Array
    perturbed: Array
    log_threshold: Array

    @property
    def weights(self) -> Array:
        """The weight of each tree in estimates, (k, ...): sums of weight * value are unbiased (`core/estimate.py`).

        p / (1 - exp(-p / exp(log_threshold))), which is p if all trees were sampled; 0 if there is no tree.
        """
        is_tree = self.log_probs > -jnp.inf
        log_p = jnp.where(is_tree, self.log_probs, 0.0)
        log_expected = log_p - self.log_threshold
        log_chance = jnp.log(-jnp.expm1(-jnp.exp(log_expected)))
        # of a rare tree 1 - exp(-x) is x (1 - x / 2), and its own probability cancels
        rare = self.log_threshold + jnp.exp(jnp.minimum(log_expected, RARE)) / 2
        return jnp.where(is_tree, jnp.exp(jnp.where(log_expected < RARE, rare, log_p - log_chance)), 0.0)


class Beams(NamedTuple):
    """Prefixes of trees: the words before some word have heads.

    Attributes:
        log_probs, rest: (beams,), the log-probability of each and what this rounds off; -inf for no prefix.
        perturbed: (beams,), the largest perturbed log-probability of its trees, decreasing.
        heads: (size, beams), nodes; -1 where there is none yet.
        tops: (size, beams), the top of every position.
        parents: for each level that has been entered (beams,), the beam that each had grown from when it was made.
    """

    log_probs: Array
    rest: Array
    perturbed: Array
    heads: Array
    tops: Array
    parents: tuple[Array, ...]


def stochastic_beam_search(
    key: Array, log_scores: ArrayLike, k: int, lengths: Lengths = None, space: SpaceLike = None, **short: Unpack[Short]
) -> BeamSample:
    """Sample k distinct trees of each sentence, all at once; O(k n^3).

    Log-probabilities have all digits of their type (float32: errors of about 1e-7 of them). Trees so rare that the type
    loses them (e^-50 in float32, e^-650 in float64) are never drawn, and a sentence where that may matter is an error.
    There are no gradients: take those of `log_prob`.

    Args:
        key, k: as in `sample`.
        log_scores, lengths, space: as in `log_partition`; not for projective trees, see `sample_without_replacement`.

    Returns:
        trees with k as the first axis, -1 after the last if there are fewer. For k above 10,000 there are at most as
            many rows as N - 1 words have trees.

    Raises:
        DeptreeError: key or k is invalid, shapes do not fit, the space is projective; or, outside of jit and vmap, a
            sentence has no tree, or trees too rare for its type. Compiled code gives these NaN, and no heads.
    """
    k, key = count_of(k), one_key(key)
    sentences = lax.stop_gradient(sentences_of(log_scores, lengths, space, **short))
    if sentences.space.projective:
        raise DeptreeError("beam search draws non-projective trees only", "Use sample_without_replacement instead")
    k, shape = rows_for(k, sentences), sentences.lengths.shape
    keys = jax.random.split(key, sentences.lengths.size).reshape(shape) if shape else key
    found = _search(keys, sentences, k)
    require_trees(found.log_probs[0], sentences)
    return found


@partial(jax.jit, static_argnums=2)
def _search(keys: Array, sentences: Sentences, k: int) -> BeamSample:
    """Search all sentences, with a key for each, (...,)."""
    single_root, shape = sentences.space.single_root, sentences.lengths.shape
    log_z, marginals = sums(sentences)
    own, _ = shifted(sentences)
    weights = jnp.roll(jnp.exp(own.log_scores), -1, -2)[..., 1:]
    if single_root:
        weights = weights.at[..., -1, :].set(0)
    of_root = jnp.log(marginals[..., 0, 1:]) if single_root else None
    each = keys, weights, sentences.words[..., 1:], of_root
    flat = jax.tree.map(lambda part: part.reshape(-1, *part.shape[len(shape) :]), each)
    found = jax.vmap(partial(_search_one, k=k), out_axes=-1)(*flat)
    heads, log_probs, perturbed = (part.reshape(*part.shape[:-1], *shape) for part in found)
    limit, finite = math.log(floor_of(log_probs.dtype)), jnp.isfinite(own.log_scores)
    deepest = jnp.where(finite, -own.log_scores, 0).max((-2, -1))
    # no sum or product over parts of trees can be too small, or the last tree is far from such
    loses_nothing = own.lengths * (deepest + jnp.log(own.lengths + 1.0)) < -limit
    enough = loses_nothing | (perturbed[k] > limit + APART)
    known = jnp.where(enough & ~jnp.isnan(log_probs).any(0), log_z, jnp.nan)
    log_probs, perturbed = (
        jnp.where(jnp.isfinite(known), part, jnp.where(jnp.isnan(known), jnp.nan, -jnp.inf))
        for part in (log_probs, perturbed)
    )
    heads = jnp.moveaxis(jnp.where(log_probs > -jnp.inf, heads, -1), 0, -1)
    return BeamSample(heads[:k], log_probs[:k], perturbed[:k], perturbed[k])


def _search_one(key: Array, weights: Array, words: Array, of_root: Array | None, k: int) -> tuple[Array, Array, Array]:
    """Return heads (N, beams), log-probabilities and perturbed ones, (beams,): k + 1 beams or a few more.

    Args:
        weights: (n+1, n), of arcs, ROOT last; of its arcs there are none with a single root.
        words: (n,), which positions are words.
        of_root: (n,), log-probabilities of being the word that hangs on ROOT; None with several roots.
    """
    n, dtype = words.shape[0], weights.dtype
    times = max(0, math.ceil(math.log2(n / SHORTEST)))
    size = -(-n // 2**times) * 2**times
    blocks = -(-(k + 1) // BLOCK)
    beams = -(-(k + 1) // blocks) * blocks
    positions = jnp.arange(size, dtype=jnp.int32)

    def grow(beams: Beams, word: Array, log_probs: Array) -> Beams:
        """Return the best of all prefixes with a head for one word more; log_probs: (n+1, beams), ROOT last."""
        is_open = beams.tops[word] == word
        is_root = jnp.arange(n + 1)[:, None] == n
        log_probs = jnp.where(is_open, log_probs, jnp.where(is_root, 0.0, -jnp.inf).astype(dtype))
        head, old = _best(jax.random.fold_in(key, word), beams, log_probs)
        above = jnp.take_along_axis(old.tops, jnp.minimum(head, n - 1)[None], 0, INSIDE)[0]
        top = jnp.where(head == n, size, above)
        is_open = old.tops[word] == word
        return old._replace(
            heads=old.heads.at[word].set(jnp.where(is_open, (head + 1) % (n + 1), old.heads[word])),
            tops=jnp.where(old.tops == word, top, old.tops),
        )

    def go_through(level: Level, beams: Beams, times: int) -> Beams:
        """Give heads to the words of an interval that is to be halved this many times."""

        def in_half(beams: Beams, which: Array) -> tuple[Beams, None]:
            half = half_of(level, which, beams.parents[-1], beams.tops)
            own = jnp.arange(len(beams.log_probs), dtype=jnp.int32)
            beams = go_through(half, beams._replace(parents=(*beams.parents, own)), times - 1)
            return beams._replace(parents=beams.parents[:-1]), None

        def at_word(beams: Beams, word: Array) -> tuple[Beams, None]:
            return grow(beams, word, log_head_probs(level, weights, word, beams.parents[-1], beams.tops)), None

        if times:
            return lax.scan(in_half, beams, jnp.arange(2, dtype=jnp.int32))[0]
        return lax.scan(at_word, beams, level[1] + jnp.arange(level[0].shape[1] - 1, dtype=jnp.int32))[0]

    is_first, is_word = jnp.arange(beams) == 0, jnp.pad(words, (0, size - n))
    noise = jax.random.gumbel(jax.random.fold_in(key, size), (), dtype)
    start = Beams(
        log_probs=jnp.where(is_first, jnp.zeros((), dtype), -jnp.inf),
        rest=jnp.zeros(beams, dtype),
        perturbed=jnp.where(is_first, noise, -jnp.inf),
        heads=jnp.full((size, beams), -1, jnp.int32),
        tops=jnp.broadcast_to(jnp.where(is_word, positions, size)[:, None], (size, beams)),
        parents=(jnp.zeros(beams, jnp.int32),),
    )
    if of_root is not None:  # the word that hangs on ROOT comes first
        options = jnp.broadcast_to(jnp.where(words, of_root, -jnp.inf)[:, None], (n, beams))
        word, start = _best(jax.random.fold_in(key, size + 1), start, options)
        is_chosen = positions[:, None] == word
        start = start._replace(heads=jnp.where(is_chosen, 0, start.heads), tops=jnp.where(is_chosen, size, start.tops))
    # what is not a word hangs on ROOT, and nothing on it
    arcs = jnp.pad(weights.T[:, :n], [(0, size - n), (0, size - n)])
    arcs = jnp.concatenate([arcs, jnp.pad(weights[n], (0, size - n))[:, None]], 1)
    to_root = (jnp.arange(size + 1) == size).astype(dtype)
    arcs = jnp.where(is_word[:, None], arcs, to_root)[..., None]
    found = go_through((arcs, jnp.int32(0)), start, times)
    return jnp.pad(found.heads[:n], [(1, 0), (0, 0)], constant_values=-1), found.log_probs + found.rest, found.perturbed


def _best(key: Array, beams: Beams, log_probs: Array) -> tuple[Array, Beams]:
    """Return the options that the best of all larger prefixes have chosen, (beams,), and what these have grown from.

    log_probs: (options, beams). The beams have the probabilities of what they grow into.
    """
    log_probs = jnp.where(beams.perturbed == -jnp.inf, -jnp.inf, log_probs)
    noise = jax.random.gumbel(key, log_probs.shape, log_probs.dtype)
    perturbed, best = lax.top_k(_perturb(log_probs, noise, beams).ravel(), log_probs.shape[1])
    option, parent = best // log_probs.shape[1], best % log_probs.shape[1]
    old = of_trees(beams, parent)
    longer = jnp.where(perturbed == -jnp.inf, -jnp.inf, log_probs.ravel()[best])
    total = old.log_probs + longer
    back = total - old.log_probs
    rest = (old.log_probs - (total - back)) + (longer - back)  # what the sum rounds off (Knuth)
    rest = old.rest + jnp.where(jnp.isfinite(total), rest, 0)
    return option, old._replace(log_probs=total, rest=rest, perturbed=perturbed)


def _perturb(log_probs: Array, noise: Array, beams: Beams) -> Array:
    """Return perturbed log-probabilities, (n+1, beams), of which the largest of each beam is what the beam has.

    Kool et al. 2019, appendix B.3: without a difference of large exponentials.
    """
    is_beam, is_possible = beams.perturbed > -jnp.inf, log_probs > -jnp.inf
    free = jnp.where(is_possible, log_probs + noise, -jnp.inf)
    below = jnp.where(is_possible, free - jnp.where(is_beam, free.max(0), 0.0), -1.0)
    largest = jnp.where(is_beam, beams.perturbed - beams.log_probs, 0.0)
    gap = largest - jnp.where(is_possible, free, 0.0) + jnp.log1p(-jnp.exp(below))
    given = beams.perturbed - jnp.maximum(gap, 0.0) - jnp.log1p(jnp.exp(-jnp.abs(gap)))
    return jnp.where(is_possible, given, -jnp.inf)
