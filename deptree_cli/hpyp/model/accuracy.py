"""How many words get the right head, label and tag."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np

from deptree_cli.core.dtypes import Heads, Int
from deptree_cli.core.evaluation.attachment import universal
from deptree_cli.hpyp.model.annotated import UNKNOWN, Annotated
from deptree_cli.kernels.text.columns import NO_HEAD

# The label of punctuation, which is often left out of attachment scores.
PUNCTUATION = "punct"

# What is counted: all words whose head is known, and those of them that are no punctuation.
ALL, WORDS_ONLY = range(2)


def _zeros() -> Int:
    return np.zeros(2, dtype=np.int64)


@dataclass(frozen=True, eq=False)
class Accuracy:
    """Counts over sentences; they can be added.

    Attributes:
        words: (2,), how many words have a known head: all of them, and without punctuation (label ``punct`` or
            ``punct:...`` in the gold tree).
        heads: (2,), how many of them got it.
        labelled: (2,), how many of the words have a known label.
        labels: (2,), how many of these got their head with the right label.
        tagged: how many words have a known tag.
        tags: how many of them got it.
    """

    words: Int = field(default_factory=_zeros)
    heads: Int = field(default_factory=_zeros)
    labelled: Int = field(default_factory=_zeros)
    labels: Int = field(default_factory=_zeros)
    tagged: int = 0
    tags: int = 0

    @classmethod
    def of(cls, gold: Annotated, heads: Heads, deprels: Sequence[str], tags: Sequence[str]) -> Accuracy:
        """The counts of one sentence from its n heads, labels and tags; no tags where they are not compared."""
        observed = gold.heads != NO_HEAD
        counted = np.stack([observed, observed & [universal(label) != PUNCTUATION for label in gold.deprels]])
        right_head = heads == gold.heads
        right_label = right_head & [label == own for label, own in zip(deprels, gold.deprels, strict=True)]
        labelled = [label != UNKNOWN for label in gold.deprels]
        tagged = [(tag, own) for tag, own in zip(tags, gold.tags, strict=False) if own != UNKNOWN]
        return cls(
            counted.sum(axis=1),
            (counted & right_head).sum(axis=1),
            (counted & labelled).sum(axis=1),
            (counted & right_label).sum(axis=1),
            len(tagged),
            sum(tag == own for tag, own in tagged),
        )

    def __add__(self, other: Accuracy) -> Accuracy:
        return Accuracy(*(getattr(self, each.name) + getattr(other, each.name) for each in fields(self)))

    def attachment(self, which: int = ALL) -> dict[str, Any]:
        """The number of words, and the shares with the right head (uas) and also the right label (las).

        The latter is of words whose label is known, None if there are none; how many, if these are not all words.
        """
        words, labelled = int(self.words[which]), int(self.labelled[which])
        las = None if words and not labelled else float(self.labels[which] / max(labelled, 1))
        found = {"words": words, "uas": float(self.heads[which] / max(words, 1)), "las": las}
        return found if labelled == words else found | {"labelled": labelled}

    @property
    def tag_accuracy(self) -> float | None:
        """The share of words with the right tag, None where no tag is known."""
        return self.tags / self.tagged if self.tagged else None
