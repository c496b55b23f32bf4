"""A sentence's best trees with what their probabilities are, as all formats have them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial

import numpy as np

from deptree_cli.core.constraints.relaxation import GivenUp
from deptree_cli.core.decoding import probability_of
from deptree_cli.core.dtypes import Float, Heads, Integers, smallest
from deptree_cli.io.conllu.misc import probability
from deptree_cli.io.conllu.splicing import Spliced
from deptree_cli.io.conllu.trees import AsTrees, Note, Style, Trees, label_notes, log_prob_note, relaxed_notes
from deptree_cli.io.scores.records import ScoredSentence


@dataclass(frozen=True, eq=False)
class Decoded(AsTrees):
    """A sentence's best trees.

    Attributes:
        heads: (k, n).
        labels: their numbers, (k, n), if there are labels.
        ranked: whether there may be several, which have ranks.
        gaps: under rules, by how much better trees may be better.
        complete: whether these are all that was asked for, if a number alone does not say that.
    """

    sentence: ScoredSentence
    heads: Heads
    labels: Heads | None
    ranked: bool
    gaps: Sequence[float] | None = None
    complete: bool | None = None

    @cached_property
    def probs(self) -> Float:
        """The probability of every word's head in each tree, (k, n)."""
        distribution = self.sentence.distribution
        return distribution.marginals()[self.heads, np.arange(1, distribution.n + 1)]

    @property
    def relaxed(self) -> tuple[str, str, GivenUp] | None:
        """Its place and id with the rules that were given up for it, if some were."""
        record, given_up = self.sentence.record, self.sentence.given_up
        return None if given_up is None else (record.place, record.sent_id, given_up)

    @property
    def truncated(self) -> str | None:
        """Its id, if its trees are not enough."""
        return self.sentence.id if self.complete is False else None

    def arrays(self) -> list[tuple[str, Integers, str]]:
        """The heads, of a single tree (n,)."""
        return [(self.sentence.id, smallest(self.heads if self.ranked else self.heads[0]), "")]

    def trees(self) -> Trees:
        """The trees with what their probabilities are."""
        distribution = self.sentence.distribution
        others = label_notes(distribution, self.heads, self.labels)
        if self.gaps is not None:
            others += [Note("certified", "certified", [gap == 0 for gap in self.gaps]), Note("gap", "gap", self.gaps)]
        if self.sentence.interpretation.relax:
            others += relaxed_notes(self.sentence.given_up, len(self.heads))
        log_probs = distribution.tree_log_probs(self.heads)
        notes = probability_notes(log_probs, [distribution.entropy()] * len(self.heads), others)
        closing = [] if self.complete is None else _on_all(log_probs, self.complete)
        return self.sentence.as_trees(self.heads, self.labels, notes, ranked=self.ranked, closing=closing)

    def to_conllu(self, style: Style) -> Spliced:
        """The same with the probabilities of each word's head, and of head and label, in MISC."""
        misc, labels = {"HeadProb": self.probs}, self.sentence.distribution.labels
        if labels and self.labels is not None:
            given_arc = labels.probs[self.heads, np.arange(1, self.heads.shape[1] + 1), self.labels]
            misc["LabelProb"] = self.probs * given_arc
        return replace(self.trees(), misc=misc).to_conllu(style)


def probability_notes(log_probs: Float, entropies: Sequence[float], others: Iterable[Note] = ()) -> list[Note]:
    """Return the log-probabilities and probabilities of trees, and the entropies of what they were chosen from."""
    return [
        log_prob_note(log_probs),
        Note(None, "tree_prob", np.exp(log_probs).tolist(), partial(probability, digits=6)),
        *others,
        Note("entropy", "entropy", entropies, "{:.6f}"),
    ]


def _on_all(log_probs: Float, complete: bool) -> list[Note]:
    """The probability of all trees that were taken, and whether they are enough."""
    mass = Note("mass", "trees_mass", [probability_of(log_probs)], partial(probability, digits=6))
    return [mass, Note("complete", "trees_complete", [complete])]
