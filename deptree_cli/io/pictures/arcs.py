"""What a picture of a sentence shows: its words, the arcs of a tree and the arcs that might stand in their place."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from deptree_cli.core.dtypes import Float, Int, Integers
from deptree_cli.core.errors import counted, plural
from deptree_cli.io.pictures.choice import LEAST, chosen, heavier
from deptree_cli.io.pictures.forms import among_others

ROOT = "ROOT"

TREE, OTHER = "tree", "other"

# An arc without a number is at least this probable; any other has one, however improbable it is.
SURE = 0.99


@dataclass(frozen=True)
class Arc:
    """An arc as it is drawn.

    Attributes:
        head, dependent: 0 is ROOT, words count from 1.
        probability: the marginal.
        label: the relation, empty where nobody knows.
        kind: `TREE` or `OTHER`.
        count, share: in how many of the samples it stands; None where none were drawn.
    """

    head: int
    dependent: int
    probability: float
    label: str = ""
    kind: str = TREE
    count: int | None = None
    share: float | None = None

    @property
    def weight(self) -> float:
        """How strongly it is drawn, 0 to 1: the share of the samples if there are any, else the probability."""
        return self.probability if self.share is None else self.share

    @cached_property
    def left(self) -> int:
        """The end nearer to the beginning of the sentence; an arc from ROOT stands over its word alone."""
        return min(self.head or self.dependent, self.dependent)

    @cached_property
    def right(self) -> int:
        """The other end."""
        return max(self.head, self.dependent)

    @cached_property
    def tag(self) -> str:
        """What is written on it: the label, ROOT's name where that has none, and the weight unless it is nearly 1."""
        return " ".join(filter(None, [self.label or ("" if self.head else ROOT), self._number]))

    @property
    def _number(self) -> str:
        if self.weight >= SURE:
            return ""
        if self.weight < LEAST:
            return f"<{LEAST:.2f}".replace("0.", ".") if self.weight else "0"
        return f"{self.weight:.2f}".removeprefix("0")


@dataclass(frozen=True)
class Picture:
    """A sentence to be drawn.

    Attributes:
        name: the sentence's.
        forms: the n words as they can be shown.
        arcs: one of kind `TREE` for each word, in order, then those of kind `OTHER`.
        caption: what is shown, in a line.
        samples: how many samples the arcs' counts are of; 0 where none were drawn.
        hidden: how many arcs of some weight are not drawn.
        heaviest_hidden: the weight of the heaviest of these.
    """

    name: str
    forms: Sequence[str]
    arcs: Sequence[Arc]
    caption: str
    samples: int = 0
    hidden: int = 0
    heaviest_hidden: float = 0.0

    @property
    def hidden_note(self) -> str:
        """How many arcs are hidden and what they weigh at most, in a few words; empty if none are."""
        if not self.hidden:
            return ""
        unit = "share of the samples" if self.samples else "probability"
        most = f"at most {self.heaviest_hidden:.2g}" if self.hidden > 1 else f"{self.heaviest_hidden:.2g}"
        return f"{self.hidden:,} {plural(self.hidden, 'arc')} hidden ({unit} {most})"

    @property
    def full_caption(self) -> str:
        """The caption, and what is hidden."""
        return "; ".join(filter(None, [self.caption, self.hidden_note]))

    def of_kind(self, kind: str) -> list[Arc]:
        """The arcs of a kind."""
        return [arc for arc in self.arcs if arc.kind == kind]

    def word(self, number: int) -> str:
        """The form of a word, and ROOT's name for 0."""
        return self.forms[number - 1] if number else ROOT

    def note(self, arc: Arc) -> str:
        """What there is to say about an arc: ``saw -> man (obj): 0.9996``."""
        label = f" ({arc.label})" if arc.label else ""
        number = f"{arc.probability:.4g}"
        if arc.count is not None:
            number = f"{arc.count} of {counted(self.samples, 'sample')}, probability {number}"
        head, word = (among_others(self.word(end)) for end in (arc.head, arc.dependent))
        return f"{head} -> {word}{label}: {number}"


def picture_of(
    name: str,
    forms: Sequence[str],
    marginals: Float,
    tree: Sequence[int],
    labels: Mapping[tuple[int, int], str],
    caption: str,
    above: float | None = None,
    samples: Integers | None = None,
) -> Picture:
    """Return the picture of a sentence, which counts what it hides; arguments as for `Picture` and `arcs_of`."""
    arcs = arcs_of(marginals, tree, labels, above, samples)
    hidden = _weights(marginals, samples).copy()
    hidden[:, 0] = 0
    for arc in arcs:
        hidden[arc.head, arc.dependent] = 0
    number = 0 if samples is None else len(samples)
    return Picture(name, forms, arcs, caption, number, int(np.count_nonzero(hidden > 0)), float(hidden.max(initial=0)))


def arcs_of(
    marginals: Float,
    tree: Sequence[int],
    labels: Mapping[tuple[int, int], str],
    above: float | None = None,
    samples: Integers | None = None,
) -> list[Arc]:
    """Return the arcs of a tree, and those others that matter, or all of more than a weight.

    Args:
        marginals: (n+1, n+1), ``[head, dependent]``.
        tree: n heads, 0 = ROOT.
        labels: of some arcs, by (head, dependent).
        above: what an arc that is not the tree's must exceed; None leaves the choice to `choice.chosen`.
        samples: (k, n) heads; arcs then weigh their share of these.
    """
    counts = None if samples is None else _counts(samples)
    weights = _weights(marginals, samples)

    def arc(head: int, dependent: int, kind: str) -> Arc:
        probability = min(float(marginals[head, dependent]), 1.0)
        label = labels.get((head, dependent), "")
        if counts is None:
            return Arc(head, dependent, probability, label, kind)
        count, share = int(counts[head, dependent]), float(weights[head, dependent])
        return Arc(head, dependent, probability, label, kind, count, share)

    others = chosen(weights, tree) if above is None else heavier(weights, tree, above)
    return [
        *(arc(head, dependent, TREE) for dependent, head in enumerate(tree, 1)),
        *(arc(head, dependent, OTHER) for dependent, head in np.argwhere(others.T).tolist()),
    ]


def _weights(marginals: Float, samples: Integers | None) -> Float:
    return marginals if samples is None else _counts(samples) / len(samples)


def _counts(samples: Integers) -> Int:
    n = samples.shape[1]
    counts = np.zeros((n + 1, n + 1), dtype=np.int64)
    np.add.at(counts, (samples, np.arange(1, n + 1)), 1)
    return counts
