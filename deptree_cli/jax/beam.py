"""Stochastic beam search in JAX: k distinct trees at once, on any device, exact (Stanojevic 2022, section 5).

As in `deptree_cli/core/swor/beam.py`, every tree gets a log-probability perturbed by Gumbel noise of its own, and those
with the k largest are drawn (Kool, van Hoof, Welling 2019). Trees grow word by word; a prefix carries the largest of
its trees'. One prefix more is followed than trees are wanted: what comes next says how to weigh them.
"""

from __future__ import annotations

from functools import partial
from typing import NamedTuple, Unpack

import jax
import jax.numpy as jnp
from jax import Array, lax
from jax.typing import ArrayLike

from deptree_cli.core.errors import DeptreeError
from deptree_cli.core.spaces import Short, SpaceLike
from deptree_cli.jax.arguments import count_of, one_key, rows_for
from deptree_cli.jax.batches import batch_of, require_trees
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
from deptree_cli.jax.factors import is_known, two_sum, weights_of
from deptree_cli.jax.wide import Wide

# Below this logarithm x / (1 - exp(-x)) is 1 + x / 2.
RARE = -10.0


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
    """What does not change: arcs (n+1, n), ROOT last, which of them are words, (n,), and a source of noise."""

    weights: Wide
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

    Log-probabilities have all digits of their type (float32: errors of about 1e-7 of them) at any scale of scores. Arcs
    180,000 nats or more below the best of their word are left out. There are no gradients: take those of `log_prob`.

    Args:
        key, k: as in `sample`.
        log_scores, lengths, space: as in `log_partition`; not for projective trees, see `sample_without_replacement`.

    Returns:
        trees with k as the first axis, -1 after the last if there are fewer. For k above 10,000 there are at most as
            many rows as N - 1 words have trees.

    Raises:
        DeptreeError: key or k is invalid, shapes do not fit, the space is projective; or, outside of jit and vmap, a
            sentence has no tree.
    """
    k, key = count_of(k), one_key(key)
    batch = lax.stop_gradient(batch_of(log_scores, lengths, space, **short))
    if batch.projective:
        raise DeptreeError("beam search draws non-projective trees only", "Use sample_without_replacement instead")
    k, shape = rows_for(k, batch), batch.words.shape[:-1]
    scores, words = (part.reshape(-1, *part.shape[len(shape) :]) for part in (batch.log_scores, batch.words))
    keys = jax.random.split(key, len(words)) if shape else key[None]
    found = _search(keys, scores, words, batch.single_root, k)
    heads, log_probs, perturbed = (part.reshape(part.shape[0], *shape, *part.shape[2:]) for part in found)
    known = is_known(log_probs[0], batch.log_scores, batch.single_root)
    log_probs = jnp.where(known, log_probs, jnp.nan)  # no number is an error
    require_trees(log_probs[0], batch)
    return BeamSample(heads[:k], log_probs[:k], perturbed[:k], perturbed[k])


@partial(jax.jit, static_argnums=4)
def _search(keys: Array, log_scores: Array, words: Array, single_root: Array, k: int) -> tuple[Array, ...]:
    """Return heads (k + 1, sentences, N), log-probabilities and perturbed ones of a batch (sentences, ...)."""
    search = jax.vmap(partial(_search_one, k=k), in_axes=(0, 0, 0, None), out_axes=1)
    return search(keys, log_scores, words, single_root)


def _search_one(key: Array, log_scores: Array, words: Array, single_root: Array, k: int) -> tuple[Array, ...]:
    n, beams = words.shape[0], to_blocks(k + 1)
    times, size = halvings(n)
    dtype = log_scores.dtype
    is_first = jnp.arange(beams) == 0
    noise = jax.random.gumbel(jax.random.fold_in(key, size), (), dtype)
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
    sentence = Sentence(weights_of(log_scores, single_root), words, key)
    found = _go_through(sentence, whole(sentence.weights, words, size), start, times)
    log_probs = found.log_probs + found.rest
    heads = jnp.where(log_probs > -jnp.inf, found.heads[:n], -1).T
    return jnp.pad(heads, [(0, 0), (1, 0)], constant_values=-1), log_probs, found.perturbed


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
    is_word = (word < n) & sentence.words[jnp.minimum(word, n - 1)]
    is_root = jnp.arange(n + 1)[:, None] == n
    log_probs = jnp.where(is_word, log_probs, jnp.where(is_root, 0.0, -jnp.inf).astype(log_probs.dtype))
    log_probs = jnp.where(beams.perturbed > -jnp.inf, log_probs, -jnp.inf)
    noise = jax.random.gumbel(jax.random.fold_in(sentence.key, word), log_probs.shape, log_probs.dtype)
    perturbed, best = lax.top_k(_perturb(log_probs, noise, beams).ravel(), log_probs.shape[1])
    head, parent = best // log_probs.shape[1], best % log_probs.shape[1]
    old = of_trees(beams, parent)
    total, rest = two_sum(old.log_probs, jnp.where(perturbed > -jnp.inf, log_probs.ravel()[best], -jnp.inf))
    above = jnp.take_along_axis(old.tops, jnp.minimum(head, n - 1)[None], 0, INSIDE)[0]
    return Beams(
        log_probs=total,
        rest=old.rest + rest,
        perturbed=perturbed,
        heads=old.heads.at[word].set(jnp.where(is_word, (head + 1) % (n + 1), -1)),
        tops=jnp.where(old.tops == word, jnp.where(head == n, size, above), old.tops),
        parents=old.parents,
    )


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
