"""Stochastic beam search in JAX: k distinct trees at once, on any device, exact (Stanojevic 2022, section 5).

As in `deptree_cli/core/swor/beam.py`, every tree gets a log-probability perturbed by Gumbel noise of its own, and those
with the k largest are drawn (Kool, van Hoof, Welling 2019). With a single root the word that hangs on ROOT comes first;
then trees grow word by word. A prefix carries the largest of its trees'. One prefix more is followed than trees are
wanted: what comes next says how to weigh them, and whether a tree too rare for the float type could be among them.
"""

from __future__ import annotations

import math
from functools import partial
from typing import NamedTuple, Unpack

import jax
import jax.numpy as jnp
from jax import Array, lax
from jax.typing import ArrayLike

from deptree_cli.core.errors import DeptreeError
from deptree_cli.core.spaces import Short, SpaceLike
from deptree_cli.jax import elimination
from deptree_cli.jax.batches import Sentences, require_trees, sentences_of, shifted
from deptree_cli.jax.conditionals import (
    INSIDE,
    Level,
    half_of,
    halvings,
    log_head_probs_of,
    of_trees,
    to_blocks,
    whole,
)
from deptree_cli.jax.decoding import count_of, rows_for
from deptree_cli.jax.sampling import one_key

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
        tops: (size, beams), as of `conditionals.py`.
        parents: for each level that has been entered (beams,), the beam that each had grown from when it was made.
    """

    log_probs: Array
    rest: Array
    perturbed: Array
    heads: Array
    tops: Array
    parents: tuple[Array, ...]


class Sentence(NamedTuple):
    """What does not change.

    Attributes:
        weights: (n+1, n), of arcs, ROOT last; of its arcs there are none with a single root.
        words: (n,), which positions are words.
        key: a source of noise.
    """

    weights: Array
    words: Array
    key: Array


def stochastic_beam_search(
    key: Array,
    log_scores: ArrayLike,
    k: int,
    lengths: ArrayLike | None = None,
    space: SpaceLike = None,
    **short: Unpack[Short],
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
    log_z, marginals = elimination.sums(sentences)
    own, _ = shifted(sentences)
    weights = jnp.roll(jnp.exp(own.log_scores), -1, -2)[..., 1:]
    if single_root:
        weights = weights.at[..., -1, :].set(0)
    of_root = jnp.log(marginals[..., 0, 1:]) if single_root else None
    each = Sentence(weights, sentences.words[..., 1:], keys), of_root
    flat = jax.tree.map(lambda part: part.reshape(-1, *part.shape[len(shape) :]), each)
    found = jax.vmap(partial(_search_one, k=k), out_axes=-1)(*flat)
    heads, log_probs, perturbed = (part.reshape(*part.shape[:-1], *shape) for part in found)
    limit = math.log(elimination.floor_of(log_probs.dtype))
    enough = _loses_nothing(own, limit) | (perturbed[k] > limit + APART)
    known = jnp.where(enough & ~jnp.isnan(log_probs).any(0), log_z, jnp.nan)
    log_probs, perturbed = (
        jnp.where(jnp.isfinite(known), part, jnp.where(jnp.isnan(known), jnp.nan, -jnp.inf))
        for part in (log_probs, perturbed)
    )
    heads = jnp.moveaxis(jnp.where(log_probs > -jnp.inf, heads, -1), 0, -1)
    return BeamSample(heads[:k], log_probs[:k], perturbed[:k], perturbed[k])


def _loses_nothing(sentences: Sentences, limit: float) -> Array:
    """Whether no sum or product over parts of trees can be below e^limit, (...,); of sentences with shifted scores."""
    scores, n = sentences.log_scores, sentences.lengths
    deepest = jnp.where(jnp.isfinite(scores), -scores, 0).max((-2, -1))
    return n * (deepest + jnp.log(n + 1.0)) < -limit


def _search_one(sentence: Sentence, of_root: Array | None, k: int) -> tuple[Array, Array, Array]:
    """Return heads (N, beams), log-probabilities and perturbed ones, (beams,): k + 1 beams or a few more."""
    words, dtype = sentence.words, sentence.weights.dtype
    n, beams = words.shape[0], to_blocks(k + 1)
    times, size = halvings(n)
    is_first = jnp.arange(beams) == 0
    noise = jax.random.gumbel(jax.random.fold_in(sentence.key, size), (), dtype)
    is_word = jnp.pad(words, (0, size - n))
    tops = jnp.where(is_word, jnp.arange(size, dtype=jnp.int32), size)
    start = Beams(
        log_probs=jnp.where(is_first, jnp.zeros((), dtype), -jnp.inf),
        rest=jnp.zeros(beams, dtype),
        perturbed=jnp.where(is_first, noise, -jnp.inf),
        heads=jnp.full((size, beams), -1, jnp.int32),
        tops=jnp.broadcast_to(tops[:, None], (size, beams)),
        parents=(jnp.zeros(beams, jnp.int32),),
    )
    if of_root is not None:
        start = _hang_on_root(sentence, start, jnp.where(words, of_root, -jnp.inf))
    found = _go_through(sentence, whole(sentence.weights, words, size), start, times)
    return jnp.pad(found.heads[:n], [(1, 0), (0, 0)], constant_values=-1), found.log_probs + found.rest, found.perturbed


def _hang_on_root(sentence: Sentence, beams: Beams, log_probs: Array) -> Beams:
    """Return the best choices of the word that hangs on ROOT, from log-probabilities (n,)."""
    size = len(beams.tops)
    options = jnp.broadcast_to(log_probs[:, None], (len(log_probs), len(beams.log_probs)))
    word, old = _best(jax.random.fold_in(sentence.key, size + 1), beams, options)
    is_chosen = jnp.arange(size)[:, None] == word
    return old._replace(heads=jnp.where(is_chosen, 0, old.heads), tops=jnp.where(is_chosen, size, old.tops))


def _go_through(sentence: Sentence, level: Level, beams: Beams, times: int) -> Beams:
    """Give heads to the words of an interval that is to be halved so many times."""

    def in_half(beams: Beams, which: Array) -> tuple[Beams, None]:
        half = half_of(level, which, beams.parents[-1], beams.tops)
        own = jnp.arange(len(beams.log_probs), dtype=jnp.int32)
        beams = _go_through(sentence, half, beams._replace(parents=(*beams.parents, own)), times - 1)
        return beams._replace(parents=beams.parents[:-1]), None

    def at_word(beams: Beams, word: Array) -> tuple[Beams, None]:
        log_probs = log_head_probs_of(level, sentence.weights, word, beams.parents[-1], beams.tops)
        return _grow(sentence, beams, word, log_probs), None

    if times:
        return lax.scan(in_half, beams, jnp.arange(2, dtype=jnp.int32))[0]
    return lax.scan(at_word, beams, level.start + jnp.arange(level.width, dtype=jnp.int32))[0]


def _grow(sentence: Sentence, beams: Beams, word: Array, log_probs: Array) -> Beams:
    """Return the best of all prefixes with a head for one word more; log_probs: (n+1, beams), ROOT last."""
    n, size = len(sentence.words), len(beams.tops)
    is_open = beams.tops[word] == word
    is_root = jnp.arange(n + 1)[:, None] == n
    log_probs = jnp.where(is_open, log_probs, jnp.where(is_root, 0.0, -jnp.inf).astype(log_probs.dtype))
    head, old = _best(jax.random.fold_in(sentence.key, word), beams, log_probs)
    above = jnp.take_along_axis(old.tops, jnp.minimum(head, n - 1)[None], 0, INSIDE)[0]
    top = jnp.where(head == n, size, above)
    is_open = old.tops[word] == word
    return old._replace(
        heads=old.heads.at[word].set(jnp.where(is_open, (head + 1) % (n + 1), old.heads[word])),
        tops=jnp.where(old.tops == word, top, old.tops),
    )


def _best(key: Array, beams: Beams, log_probs: Array) -> tuple[Array, Beams]:
    """Return the options that the best of all larger prefixes have chosen, (beams,), and what these have grown from.

    log_probs: (options, beams). The beams have the probabilities of what they grow into.
    """
    log_probs = jnp.where(beams.perturbed == -jnp.inf, -jnp.inf, log_probs)
    noise = jax.random.gumbel(key, log_probs.shape, log_probs.dtype)
    perturbed, best = lax.top_k(_perturb(log_probs, noise, beams).ravel(), log_probs.shape[1])
    option, parent = best // log_probs.shape[1], best % log_probs.shape[1]
    old = of_trees(beams, parent)
    total, rest = _two_sum(old.log_probs, jnp.where(perturbed == -jnp.inf, -jnp.inf, log_probs.ravel()[best]))
    return option, old._replace(log_probs=total, rest=old.rest + rest, perturbed=perturbed)


def _two_sum(a: Array, b: Array) -> tuple[Array, Array]:
    """Return sums and what they round off, 0 where they are infinite (Knuth)."""
    high = a + b
    back = high - a
    low = (a - (high - back)) + (b - back)
    return high, jnp.where(jnp.isfinite(high), low, 0)


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
