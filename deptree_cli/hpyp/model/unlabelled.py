"""Sentences without trees, from which the process of words learns too (Buys and Blunsom 2015, section 5.4).

A parser that was trained on trees reads them: a first time by its search, later by drawing derivations, tags predicted.
Their words are then seated in the contexts that these parses give them.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from deptree_cli.core.dtypes import Int
from deptree_cli.hpyp.kernels.configurations import read_actions
from deptree_cli.hpyp.kernels.filter import draw_parse
from deptree_cli.hpyp.kernels.model import WORDS
from deptree_cli.hpyp.kernels.search import search
from deptree_cli.hpyp.model.corpus import Text
from deptree_cli.hpyp.model.derivations import check_derivations, recorded
from deptree_cli.hpyp.model.process import Paths, Process
from deptree_cli.hpyp.model.symbols import Symbols
from deptree_cli.hpyp.model.trained import SampledParses, Trained

# Particles that a sentence is read with.
PARTICLES = 100


class Reader:
    """A text on its way into the process of words.

    Args:
        process: of words.
        parses: those by which its words are seated already; None if they are not.

    Attributes:
        parses: the same, or the last ones.
        paths: of the words that are seated; None if none are.

    Raises:
        ValueError: the parses are none of this text.
    """

    def __init__(self, symbols: Symbols, text: Text, process: Process, parses: SampledParses | None = None) -> None:
        self._symbols, self._text, self._process = symbols, text, process
        self.parses = parses
        self.paths = None if parses is None else self._paths_of(parses)

    def read(self, trained: Trained, order: Int, state: NDArray[np.uint64]) -> float:
        """Read all sentences by a parser as it is now, then seat their words anew, sentences in this order.

        Words of earlier parses make way for those of the new ones, sentence by sentence, and then each of them is
        seated again given all others.

        Returns:
            the sum of the log-probabilities of words as they were seated, in nats.
        """
        parses, cuts = self._read(trained, state), self._text.cuts
        old, new = self.paths, self._paths_of(parses)
        self.parses, self.paths = parses, new
        if old is not None:
            self._process.sweep(new, cuts, order, False, state, old)
        return self._process.sweep(new, cuts, order, old is not None, state)

    def _read(self, trained: Trained, state: NDArray[np.uint64]) -> SampledParses:
        words, cuts, model = self._text.words, self._text.cuts.tolist(), trained.model
        parses = SampledParses(np.empty(len(words), dtype=np.int32), np.empty(2 * len(words), dtype=np.int32))
        for first, last in pairwise(cuts):
            own = words[first:last]
            if self.parses is None:
                arena, last_record, _ = search(model, own, np.zeros_like(own), PARTICLES)
            else:
                arena, last_record = draw_parse(model, own, PARTICLES, state)
            read_actions(arena, last_record, parses.actions[2 * first : 2 * last], parses.tags[first:last])
        return parses

    def _paths_of(self, parses: SampledParses) -> Paths:
        text = self._text
        check_derivations(text.cuts, len(self._symbols.labels), parses.actions)
        if parses.tags.shape != text.words.shape:
            raise ValueError("the parses are damaged")
        contexts = recorded(self._symbols, text.cuts, text.words, parses.tags, parses.actions)[WORDS]
        return self._process.index(contexts, text.words)
