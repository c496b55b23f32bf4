"""Parsed trees beside gold ones: what each counts for, and what all of them come to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from deptree_cli.core.calibration import Calibration
from deptree_cli.core.dtypes import Bool, Float, Heads
from deptree_cli.hpyp.model.accuracy import ALL, WORDS_ONLY, Accuracy
from deptree_cli.hpyp.model.annotated import UNKNOWN, Annotated
from deptree_cli.kernels.text.columns import NO_HEAD


class Compared(NamedTuple):
    """A tree compared with the gold one.

    Attributes:
        accuracy: counts.
        probs, right: the probabilities of heads (none if not asked for), and which are right.
        unseen: of the gold tree, the ``labels`` and, if they were predicted, ``tags`` that the parser does not know,
            as often as they are there.
    """

    accuracy: Accuracy
    probs: Float
    right: Bool
    unseen: dict[str, list[str]]


class Names(NamedTuple):
    """The labels or tags of a tree's n words, and all that there are; both empty where there are none."""

    of_words: Sequence[str] = ()
    vocabulary: Sequence[str] = ()

    def without(self, symbols: Sequence[str]) -> list[str]:
        """Return those symbols that are not in the vocabulary, if there is one."""
        return [symbol for symbol in symbols if self.vocabulary and symbol not in (UNKNOWN, *self.vocabulary)]


def compare(gold: Annotated, heads: Heads, labels: Names, tags: Names, marginals: Float | None) -> Compared:
    """Compare a tree of n heads, labels and tags with the gold one; marginals: of arcs, (n+1, n+1)."""
    observed = gold.heads != NO_HEAD
    probs = np.empty(0) if marginals is None else marginals[heads, np.arange(1, len(heads) + 1)][observed]
    unseen = {"labels": labels.without(gold.deprels), "tags": tags.without(gold.tags)}
    accuracy = Accuracy.of(gold, heads, labels.of_words, tags.of_words)
    return Compared(accuracy, probs, (heads == gold.heads)[observed], unseen)


@dataclass
class Comparison:
    """The counts of all trees.

    Attributes:
        unseen: labels and tags that the parser does not know, as often as they are there.
    """

    sentences: int = 0
    accuracy: Accuracy = field(default_factory=Accuracy)
    calibration: Calibration = field(default_factory=Calibration)
    unseen: dict[str, Counter[str]] = field(default_factory=lambda: {"labels": Counter(), "tags": Counter()})

    def add(self, compared: Compared) -> None:
        """Count a tree."""
        self.sentences += 1
        self.accuracy += compared.accuracy
        if len(compared.probs):
            self.calibration.add(compared.probs, compared.right)
        for what, symbols in compared.unseen.items():
            self.unseen[what].update(symbols)

    def row(self) -> dict[str, Any]:
        """All numbers by name."""
        found = {"sentences": self.sentences, **self.accuracy.attachment()}
        found["without_punctuation"] = self.accuracy.attachment(WORDS_ONLY)
        if self.accuracy.tag_accuracy is not None:
            found["tag_accuracy"] = self.accuracy.tag_accuracy
        if self.calibration.words.any():
            found["calibration"] = self.calibration.summary()
        return found

    @property
    def is_empty(self) -> bool:
        """Whether no head was known."""
        return not self.accuracy.words[ALL]
