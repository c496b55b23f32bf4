"""The derivations of a treebank's trees, and the events that they consist of."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from deptree_cli.core.dtypes import Heads, Int
from deptree_cli.hpyp.kernels.latent import Grammar, Treebank, are_derivations, resample_derivations
from deptree_cli.hpyp.kernels.oracle import derive_all, new_contexts, record_all_events
from deptree_cli.hpyp.model.corpus import Corpus
from deptree_cli.hpyp.model.process import Events32, Paths, Process
from deptree_cli.hpyp.model.symbols import Symbols

# Particles that a derivation is drawn with (Buys and Blunsom 2015, section 5.1).
PARTICLES = 100

# Sentences whose derivations are drawn at once: there is room for all that they may add.
TOGETHER = 64


class Derivations:
    """A derivation of every tree of a treebank.

    Args:
        actions: (2 words,) int32; None or empty for the static oracle's.

    Attributes:
        actions: the same, sentences end to end.
        cuts: of actions, tags and words, (sentences + 1,) each, where each sentence's events begin.

    Raises:
        ValueError: the actions are no derivations of so many words.
    """

    def __init__(self, symbols: Symbols, corpus: Corpus, actions: Heads | None = None) -> None:
        self._symbols, self._corpus = symbols, corpus
        self.actions = self._static() if actions is None or not len(actions) else actions.copy()
        check_derivations(corpus.cuts, len(symbols.labels), self.actions)
        self.cuts = (2 * corpus.cuts, corpus.cuts, corpus.cuts)

    def _static(self) -> Heads:
        corpus = self._corpus
        actions = np.empty(2 * len(corpus.words), dtype=np.int32)
        derive_all(corpus.cuts, corpus.heads, corpus.deprels, len(self._symbols.labels), actions)
        return actions

    def events(self) -> list[tuple[Events32, Heads]]:
        """The contexts (events, length) and dishes (events,) of actions, tags and words, two actions for every word."""
        corpus = self._corpus
        contexts = recorded(self._symbols, corpus.cuts, corpus.words, corpus.tags, self.actions)
        return list(zip(contexts, (self.actions, corpus.tags, corpus.words), strict=True))

    def resample(
        self, processes: Sequence[Process], paths: Sequence[Paths], order: Int, state: NDArray[np.uint64]
    ) -> None:
        """Draw the derivations of all sentences in this order anew (see the kernel); their events move with them.

        Args:
            paths: of the events of each process, overwritten.
        """
        corpus, symbols = self._corpus, self._symbols
        treebank = Treebank(corpus.words, corpus.tags, corpus.heads, corpus.deprels)
        missing = 3 - len(processes)  # kernels take three, and leave the words alone that are not generated
        all_paths = tuple((each.nodes, each.entries) for each in [*paths, *paths[:missing]])
        for start in range(0, len(order), TOGETHER):
            some = order[start : start + TOGETHER]
            for process, cuts in zip(processes, self.cuts, strict=False):
                room = process.levels * int((cuts[some + 1] - cuts[some]).sum())
                process.make_room(room, room, 2 * room)
            restaurants = tuple(process.restaurants for process in [*processes, *processes[:missing]])
            grammar = Grammar(restaurants, symbols.codes, len(symbols.labels))
            resample_derivations(grammar, treebank, self.cuts, all_paths, some, PARTICLES, self.actions, state)


def recorded(symbols: Symbols, cuts: Int, words: Heads, tags: Heads, actions: Heads) -> tuple[Events32, ...]:
    """The contexts of the events of derivations, (events, length) of actions, tags and words."""
    contexts: tuple[Events32, ...] = new_contexts(symbols.codes, len(words))
    record_all_events(cuts, words, tags, len(symbols.labels), actions, symbols.codes, contexts)
    return contexts


def check_derivations(cuts: Int, labels: int, actions: Heads) -> None:
    """Make sure that kernels can follow derivations, (2 words,).

    Raises:
        ValueError: they are none, or of other sentences.
    """
    if len(actions) != 2 * cuts[-1] or not are_derivations(cuts, labels, actions):
        raise ValueError("the derivations are damaged")
