"""Which annotated heads and trees a distribution doubts: what to look at first, what to annotate next, what to keep."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from deptree_cli.core.dtypes import Bool, Float, Heads, Int, Integers
from deptree_cli.core.register import Register


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
    others = columns.copy()
    np.put_along_axis(others, heads[..., None, :], 0.0, axis=-2)
    best = columns.argmax(axis=-2)
    probs, doubts = _of_known(heads_in(columns, heads), known), _of_known(others.sum(axis=-2), known)
    return WordDoubts(probs, doubts, best, heads_in(columns, best))


def heads_in(columns: Float, heads: Integers) -> Float:
    """What heads (..., n) have in arrays of arcs (..., n+1, n): each word its own number."""
    return np.take_along_axis(columns, heads[..., None, :], axis=-2)[..., 0, :]


def doubts_of_labels(arcs: WordDoubts, heads: Heads, labels: Heads, log_probs: Float) -> WordDoubts:
    """The doubts about annotated heads (n,) with their labels (n,), -1 for none; log_probs: log P(label | arc)."""
    words, known = np.arange(len(heads)), (labels >= 0) & (heads >= 0)
    given = np.exp(log_probs[heads, words + 1])
    label_probs = np.where(arcs.probs > 0, given[words, labels], 0.0)  # those of forbidden arcs mean nothing
    given[words, labels] = 0.0
    other_labels = np.where(arcs.probs > 0, given.sum(axis=1), 0.0)
    doubts = np.minimum(arcs.doubts + arcs.probs * other_labels, 1.0)
    under_best = log_probs[arcs.best, words + 1]
    best = under_best.argmax(axis=1)
    best_probs = arcs.best_probs * np.exp(under_best[words, best])
    return WordDoubts(_of_known(arcs.probs * label_probs, known), _of_known(doubts, known), best, best_probs)


def _of_known(values: Float, known: Bool) -> Float:
    return np.where(known, values, np.nan)


def expected_errors(doubts: Float) -> Float:
    """The number of annotated words of sentences, (..., n) doubts, to be expected wrong, if the distribution is right;
    NaN of none."""
    found = np.nansum(np.minimum(doubts, 1.0), axis=-1)
    return np.where(np.isnan(doubts).all(axis=-1), np.nan, found)


def least_margin(marginals: Float, heads: Heads) -> Float:
    """The least of P(annotated head) - P(most probable other head) over annotated words, from -1 to 1; NaN of none.

    It is negative where the most probable head of a word is another one. Heads are -1 where none is annotated.
    """
    columns, known = marginals[..., 1:].copy(), heads >= 0
    annotated = heads_in(columns, heads)
    np.put_along_axis(columns, heads[..., None, :], 0.0, axis=-2)
    margins = np.where(known, annotated - columns.max(axis=-2), np.inf).min(axis=-1)
    return np.where(known.any(axis=-1), margins, np.nan)


def disagreement(marginals: Float) -> Float:
    """The expected number of words that have different heads in two trees drawn independently, by marginals
    (..., n+1, n+1).

    It is the sum over words of 1 - sum over heads of P(head)^2, here of P(head) (1 - P(head)), which does not cancel;
    no annotation is needed. O(n^2).
    """
    columns = marginals[..., 1:]
    differ = np.maximum(columns * (1.0 - columns), 0.0)
    return differ.reshape(*differ.shape[:-2], -1).sum(axis=-1)


@dataclass(frozen=True)
class Criterion:
    """What sentences may be ranked by.

    Attributes:
        field: its name in rows and in comments of CoNLL-U.
        help: what it is, in a few words.
        highest_first: whether the highest is the most doubtful.
        of_annotation: whether it needs annotated heads.
        order: the field of numbers of the same order that tell more values apart; empty: its own.
    """

    name: str
    field: str
    help: str
    highest_first: bool = True
    of_annotation: bool = True
    order: str = ""

    @property
    def line(self) -> str:
        return f"{self.name} ({self.help})"

    def key(self, value: float) -> float:
        return -value if self.highest_first else value


CRITERIA = Register(
    "criterion",
    (
        Criterion("expected-errors", "expected_errors", "wrong heads; the default"),
        Criterion("entropy", "entropy", "in nats; no HEADs needed", of_annotation=False),
        Criterion("margin", "least_margin", "to the best rival, of the worst word", False),
        Criterion("tree-prob", "tree_prob", "of the annotated tree", False, order="tree_logprob"),
        Criterion("disagreement", "disagreement", "words that differ in two samples; no HEADs", of_annotation=False),
    ),
)
