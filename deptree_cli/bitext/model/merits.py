"""What a simpler model says of a sentence pair: which links are likely, and what parts of both sentences go together.

The simpler model links every word of one side with a word of the other or with none, independently of all other words:
IBM model 1 with the scores at hand, in both directions.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from deptree_cli.bitext.model.scores import LinkScores
from deptree_cli.core.dtypes import Float

# A word that the simpler model is certain of is not quite so certain: merits stay finite.
DOUBT = 1e-12


class Direction(NamedTuple):
    """One direction of the simpler model: P(link) given a word, (words, other words), and P(none), (words,)."""

    links: Float
    nulls: Float


def directions(scores: LinkScores) -> tuple[Direction, Direction]:
    """The simpler model of source words and, transposed, that of target words."""
    return _direction(scores.links, scores.source_nulls), _direction(scores.links.T, scores.target_nulls)


def _direction(links: Float, nulls: Float) -> Direction:
    choices = np.concatenate([links, nulls[:, None]], axis=1)
    highest = choices.max(axis=1, keepdims=True)
    weights = np.exp(choices - np.where(np.isfinite(highest), highest, 0.0))
    shares = weights / np.maximum(weights.sum(axis=1, keepdims=True), np.finfo(float).tiny)
    return Direction(shares[:, :-1], shares[:, -1])


def confidences(scores: LinkScores) -> Float:
    """P(link) in the direction that is less sure of it, (p, q). Above 1/2 it is the best link of both its words."""
    source, target = directions(scores)
    found: Float = np.minimum(source.links, target.links.T)
    return found


def bispan_merits(scores: LinkScores) -> Float:
    """Log-probabilities that both halves of a cut are linked within, (source spans, target spans), of spans of words.

    Tic-tac-toe (Zhang and Gildea 2005): the words within a bispan stay within, those outside of it outside, in the
    product of both directions. O(p^2 q^2)
    """
    source, target = directions(scores)
    return _staying(source) + _staying(target).T


def _staying(direction: Direction) -> Float:
    """The same in one direction: of the given words, (spans of words, spans of other words)."""
    words, others = direction.links.shape
    sums = np.concatenate([np.zeros((words, 1)), np.cumsum(direction.links, axis=1)], axis=1)
    first, last = np.triu_indices(others + 1, 1)
    inside = sums[:, last] - sums[:, first]
    nulls = direction.nulls[:, None] + DOUBT
    within = np.log(nulls + np.maximum(inside, 0.0))
    outside = np.log(nulls + np.maximum(sums[:, -1:] - inside, 0.0))
    gains = np.concatenate([np.zeros((1, len(first))), np.cumsum(within - outside, axis=0)])
    begin, end = np.triu_indices(words + 1, 1)
    found: Float = gains[end] - gains[begin] + outside.sum(axis=0)
    return found
