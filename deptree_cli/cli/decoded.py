"""A sentence's best trees: how many are asked for, what their probabilities are, and whether they are too few."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

import click
import numpy as np

from deptree_cli.cli.folds import Fold
from deptree_cli.cli.options import size_option
from deptree_cli.cli.params import FloatRange
from deptree_cli.cli.sections import Decorator, bound, option
from deptree_cli.core.arc_factored import ArcFactored
from deptree_cli.core.constraints.relaxation import GivenUp
from deptree_cli.core.decoding import MOST_RANKED, best_trees, covering, probability_of, within
from deptree_cli.core.dtypes import Float, Heads, Integers, smallest
from deptree_cli.core.errors import counted
from deptree_cli.io.conllu.notes import probability
from deptree_cli.io.conllu.splicing import Spliced
from deptree_cli.io.conllu.trees import AsTrees, Note, Style, Trees, label_notes, log_prob_note, relaxed_notes
from deptree_cli.io.scores.records import ScoredSentence

# So many sentences are named.
NAMED = 3


@dataclass(frozen=True)
class StoppingRule:
    """How many of the best trees are written.

    Attributes:
        size: at most so many; None: the best one.
        mass: as many as have this probability together.
        nats: all within so many nats of the best one.
    """

    size: int | None = None
    mass: float | None = None
    nats: float | None = None

    @property
    def option(self) -> str:
        """The option that says when there are enough; empty if `size` alone does."""
        if self.mass is not None:
            return f"--mass {self.mass:g}"
        return f"--within {self.nats:g}" if self.nats is not None else ""

    @property
    def signature_fields(self) -> dict[str, object]:
        """What of these a run must repeat to give the same result."""
        return {"size": self.size, "mass": self.mass, "within": self.nats}

    def trees_of(self, distribution: ArcFactored) -> tuple[Heads, bool | None]:
        """The best trees, (k, n), and whether these are enough; None if nothing but `size` decides."""
        size = self.size or 1
        if not self.option:
            return best_trees(distribution, size), None
        ranked = (
            within(distribution, self.nats or 0.0, size)
            if self.mass is None
            else covering(distribution, self.mass, size)
        )
        return ranked.heads, ranked.complete


def _rule(*, size: int | None, mass: float | None, within: float | None) -> StoppingRule:
    if mass is not None and within is not None:
        raise click.UsageError("--mass and --within are two ways to choose trees. Remove one.")
    return StoppingRule(size if (mass, within) == (None, None) else size or MOST_RANKED, mass, within)


_OPTIONS = [
    size_option(None, "The N best trees.", f"1; {MOST_RANKED:,} with --mass"),
    option(
        "--mass",
        type=FloatRange(0, 1, min_open=True),
        metavar="P",
        help="The fewest trees with a probability of P together; labels are found afterwards.",
    ),
    option(
        "--within",
        type=FloatRange(0),
        metavar="NATS",
        often=False,
        help="Write all trees at most NATS below the best in log-probability, up to -k.",
    ),
]

# Gives a command -k, --mass and --within, as one `rule: StoppingRule`.
stopping_options: Decorator[Any] = bound("rule", _OPTIONS, _rule)


@dataclass
class NamedSentences:
    """Counts sentences, and names the first of them."""

    count: int = 0
    names: tuple[str, ...] = ()

    def add(self, sent_id: str) -> None:
        """Count one."""
        self.count += 1
        self.names = (*self.names, sent_id)[:NAMED]

    def __str__(self) -> str:
        return f"{counted(self.count, 'sentence')} ({', '.join(self.names)}{', ...' * (self.count > NAMED)})"


class TruncatedLists(Fold[str]):
    """Which sentences have more trees that are wanted than -k allows."""

    attribute = "truncated"

    def __init__(self, rule: StoppingRule) -> None:
        self._rule = rule
        self._sentences = NamedSentences()

    def add(self, counts: str) -> None:
        self._sentences.add(counts)

    def lines(self) -> Iterator[str]:
        if self._sentences.count:
            best = f"the best {counted(self._rule.size or 1, 'tree')}"
            yield f"{self._sentences}: {best} are not all that {self._rule.option} takes: raise -k"


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
            given_arc = np.exp(labels.log_probs[self.heads, np.arange(1, self.heads.shape[1] + 1), self.labels])
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
