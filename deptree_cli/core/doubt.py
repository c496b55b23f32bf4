"""Which annotated heads and trees a distribution doubts: what to look at first, what to annotate next, what to keep."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from deptree_cli.core.dtypes import Float, Heads, Int, Integers


class WordDoubts(NamedTuple):
    """What distributions make of each word's annotation, (..., n) each; NaN where the word has none.

    Attributes:
        probs: of the annotated head, or of the annotated head with its label.
        doubts: 1 - probs, summed over the others, so that it is exact where probs are nearly 1.
        best: the most probable head, or the most probable label under that head.
        best_probs: of `best`, or of the most probable head with that label.
    """

    probs: Float
    doubts: Float
    best: Int
    best_probs: Float


def doubts_of_heads(marginals: Float, heads: Heads) -> WordDoubts:
    """The doubts about annotated heads (..., n), -1 where none is, by marginals of arcs (..., n+1, n+1)."""
    columns, known = marginals[..., 1:], heads >= 0
    best, others = columns.argmax(axis=-2), without(columns, heads)
    probs, doubts = (np.where(known, each, np.nan) for each in (heads_in(columns, heads), others.sum(axis=-2)))
    return WordDoubts(probs, doubts, best, heads_in(columns, best))


def heads_in(columns: Float, heads: Integers) -> Float:
    """What heads (..., n) have in arrays of arcs (..., n+1, n): each word its own number."""
    return np.take_along_axis(columns, heads[..., None, :], axis=-2)[..., 0, :]


def without(columns: Float, heads: Integers) -> Float:
    """The same arrays with 0 for these heads."""
    found = columns.copy()
    np.put_along_axis(found, heads[..., None, :], 0.0, axis=-2)
    return found


def doubts_of_labels(arcs: WordDoubts, heads: Heads, labels: Heads, log_probs: Float) -> WordDoubts:
    """The doubts about a sentence's annotated heads and labels (..., n), -1 for none; log_probs: log P(label | arc)."""
    words, known = np.arange(1, heads.shape[-1] + 1), (labels >= 0) & (heads >= 0)
    given, numbers = np.exp(log_probs[heads, words]), labels[..., None]
    label_probs = np.where(arcs.probs > 0, np.take_along_axis(given, numbers, axis=-1)[..., 0], 0.0)
    np.put_along_axis(given, numbers, 0.0, axis=-1)
    other_labels = np.where(arcs.probs > 0, given.sum(axis=-1), 0.0)  # those of forbidden arcs mean nothing
    doubts = np.minimum(arcs.doubts + arcs.probs * other_labels, 1.0)
    probs, doubts = (np.where(known, each, np.nan) for each in (arcs.probs * label_probs, doubts))
    under_best = log_probs[arcs.best, words]
    return WordDoubts(probs, doubts, under_best.argmax(axis=-1), arcs.best_probs * np.exp(under_best.max(axis=-1)))


def expected_errors(doubts: Float) -> Float:
    """The number of annotated words that are expected to be wrong, of (..., n) doubts; NaN of none."""
    found = np.nansum(np.minimum(doubts, 1.0), axis=-1)
    return np.where(np.isnan(doubts).all(axis=-1), np.nan, found)


def least_margin(marginals: Float, heads: Heads) -> Float:
    """The least of P(annotated head) - P(most probable other head) over annotated words, from -1 to 1; NaN of none.

    It is negative where the most probable head of a word is another one. Heads are -1 where none is annotated.
    """
    columns, known = marginals[..., 1:], heads >= 0
    rivals = without(columns, heads).max(axis=-2)
    margins = np.where(known, heads_in(columns, heads) - rivals, np.inf).min(axis=-1)
    return np.where(known.any(axis=-1), margins, np.nan)


def disagreement(marginals: Float) -> Float:
    """The expected number of words with different heads in two independent trees, by marginals (..., n+1, n+1).

    It is the sum over words of 1 - sum over heads of P(head)^2, here of P(head) (1 - P(head)), which does not cancel;
    no annotation is needed. O(n^2).
    """
    columns = marginals[..., 1:]
    differ = np.maximum(columns * (1.0 - columns), 0.0)
    return differ.reshape(*differ.shape[:-2], -1).sum(axis=-1)
