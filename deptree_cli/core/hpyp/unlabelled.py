"""Sentences without trees, from which the process of words learns too (Buys and Blunsom 2015, section 5.4).

A parser that was trained on trees reads them: a first time by its search, later by drawing derivations, tags predicted.
Their words are then seated in the contexts that these readings give them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from deptree_cli.core.dtypes import Heads, Int
from deptree_cli.core.hpyp.annotated import Annotated
from deptree_cli.core.hpyp.derivations import check_derivations, recorded
from deptree_cli.core.hpyp.process import Paths, Process
from deptree_cli.core.hpyp.symbols import Symbols
from deptree_cli.core.hpyp.trained import Readings, Trained
from deptree_cli.kernels.hpyp.configurations import read_actions
from deptree_cli.kernels.hpyp.filter import draw_reading
from deptree_cli.kernels.hpyp.model import WORDS
from deptree_cli.kernels.hpyp.search import search

# Particles that a sentence is read with.
PARTICLES = 100


@dataclass(frozen=True, eq=False)
class Text:
    """Sentences of which only the words count.

    Attributes:
        cuts: (sentences + 1,), where each sentence's words begin.
        words: (words,) int32, numbers of symbols.
    """

    cuts: Int
    words: Heads

    @classmethod
    def of(cls, sentences: Sequence[Annotated], symbols: Symbols) -> Text:
        """The numbers of sentences; there is one at least."""
        lengths = [sentence.n for sentence in sentences]
        return cls(np.cumsum([0, *lengths]), np.concatenate([symbols.words_of(sentence) for sentence in sentences]))

    @property
    def size(self) -> int:
        """How many sentences there are."""
        return len(self.cuts) - 1

    @property
    def digest(self) -> str:
        """A name for exactly these numbers: training can go on with no others."""
        return blake2b(self.cuts.tobytes() + self.words.tobytes(), digest_size=8).hexdigest()


class Reader:
    """A text on its way into the process of words.

    Args:
        process: of words.
        readings: those by which its words are seated already; None if they are not.

    Attributes:
        readings: the same, or the last ones.
        paths: of the words that are seated; None if none are.

    Raises:
        ValueError: the readings are none of this text.
    """

    def __init__(self, symbols: Symbols, text: Text, process: Process, readings: Readings | None = None) -> None:
        self._symbols, self._text, self._process = symbols, text, process
        self.readings = readings
        self.paths = None if readings is None else self._paths_of(readings)

    def read(self, trained: Trained, order: Int, state: NDArray[np.uint64]) -> float:
        """Read all sentences by a parser as it is now, then seat their words anew, sentences in this order.

        Words of an earlier reading make way for those of the new one, sentence by sentence, and then each of them is
        seated again given all others.

        Returns:
            the sum of the log-probabilities of words as they were seated, in nats.
        """
        readings, cuts = self._read(trained, state), self._text.cuts
        old, new = self.paths, self._paths_of(readings)
        self.readings, self.paths = readings, new
        if old is not None:
            self._process.sweep(new, cuts, order, False, state, old)
        return self._process.sweep(new, cuts, order, old is not None, state)

    def _read(self, trained: Trained, state: NDArray[np.uint64]) -> Readings:
        words, cuts, model = self._text.words, self._text.cuts.tolist(), trained.model
        readings = Readings(np.empty(len(words), dtype=np.int32), np.empty(2 * len(words), dtype=np.int32))
        for first, last in pairwise(cuts):
            own = words[first:last]
            if self.readings is None:
                records, last_record, _ = search(model, own, np.zeros_like(own), PARTICLES)
            else:
                records, last_record = draw_reading(model, own, PARTICLES, state)
            read_actions(records, last_record, readings.actions[2 * first : 2 * last], readings.tags[first:last])
        return readings

    def _paths_of(self, readings: Readings) -> Paths:
        text = self._text
        check_derivations(text.cuts, len(self._symbols.labels), readings.actions)
        if readings.tags.shape != text.words.shape:
            raise ValueError("the readings are damaged")
        contexts = recorded(self._symbols, text.cuts, text.words, readings.tags, readings.actions)[WORDS]
        return self._process.index(contexts, text.words)
