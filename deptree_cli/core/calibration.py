"""How well probabilities of heads tell whether heads are right: reliability bins and expected calibration error."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from deptree_cli.core.dtypes import Float

BINS = 10

# What is known of each tenth of probability.
COLUMNS = ("probability", "words", "confidence", "accuracy")


@dataclass
class Calibration:
    """Counts over words, by tenths of the probability of the head that was predicted."""

    words: Float = field(default_factory=lambda: np.zeros(BINS))
    right: Float = field(default_factory=lambda: np.zeros(BINS))
    confidence: Float = field(default_factory=lambda: np.zeros(BINS))

    def add(self, probs: ArrayLike, right: ArrayLike) -> None:
        """Count words: the probabilities of their heads, and whether those are right."""
        probs = np.asarray(probs, dtype=np.float64)
        bins = np.minimum((probs * BINS).astype(np.int64), BINS - 1)
        np.add.at(self.words, bins, 1.0)
        np.add.at(self.right, bins, np.asarray(right, dtype=np.float64))
        np.add.at(self.confidence, bins, probs)

    @property
    def accuracy(self) -> float:
        """The share of words whose prediction is right: of heads, the attachment score."""
        return float(self.right.sum() / max(self.words.sum(), 1.0))

    @property
    def mean_confidence(self) -> float:
        """The mean probability of predictions: the share that the parser expects to be right."""
        return float(self.confidence.sum() / max(self.words.sum(), 1.0))

    @property
    def gaps(self) -> Float:
        """By how much confidence is above accuracy in each tenth, times its words: those of several counts add up."""
        return self.confidence - self.right

    @property
    def error(self) -> float:
        """Expected calibration error (Naeini et al. 2015): the mean gap between confidence and accuracy over words."""
        return float(np.abs(self.gaps).sum() / max(self.words.sum(), 1.0))

    def summary(self) -> dict[str, Any]:
        """All numbers by name, with the tenths that have words as `bins`."""
        return {
            "calibration_error": self.error,
            "accuracy": self.accuracy,
            "confidence": self.mean_confidence,
            "bins": [dict(zip(COLUMNS, row, strict=True)) for row in self.rows()],
        }

    def rows(self) -> list[list[object]]:
        """A line per tenth that has words: its range, words, mean confidence, accuracy."""
        return [
            [f"{i / BINS:.1f} to {(i + 1) / BINS:.1f}", int(words), float(confidence / words), float(right / words)]
            for i, (words, confidence, right) in enumerate(zip(self.words, self.confidence, self.right, strict=True))
            if words
        ]
