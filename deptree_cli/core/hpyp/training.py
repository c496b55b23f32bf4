"""Training: Gibbs sampling of who sits where, given the derivations of a treebank's trees."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from deptree_cli.core.dtypes import Heads
from deptree_cli.core.errors import DeptreeError
from deptree_cli.core.hpyp.corpus import Corpus
from deptree_cli.core.hpyp.process import Process
from deptree_cli.core.hpyp.symbols import Symbols
from deptree_cli.core.hpyp.trained import Progress, Trained
from deptree_cli.core.streams import kernel_state, sentence_stream
from deptree_cli.kernels.hpyp.hyperparameters import resample_levels
from deptree_cli.kernels.hpyp.oracle import derive_all, record_all_events

# Discounts and strengths are drawn anew after every iteration but the first; where derivations are sampled too, which
# need time to settle, after every fifth.
EVERY = {"static": 1, "sampled": 5}

ORACLES = tuple(EVERY)


class Training:
    """A treebank on its way to a parser, iteration by iteration.

    Args:
        symbols: of the treebank.
        corpus: the treebank.
        progress: the seed, the oracle, ...; and how many iterations there were, if training goes on.
        trained: where it goes on from.

    Raises:
        DeptreeError: `trained` is of another treebank.
    """

    def __init__(self, symbols: Symbols, corpus: Corpus, progress: Progress, trained: Trained | None = None) -> None:
        if trained is not None and trained.progress.digest != corpus.digest:
            remedy = "Give the treebank, tags and contexts that it was trained on, or train anew without --resume"
            raise DeptreeError("the model was trained on another treebank", remedy)
        self._symbols = symbols
        self._corpus = corpus
        self._progress = progress
        self._events = Events(symbols, corpus, None if trained is None else trained.derivations)
        if trained is None:
            sizes = zip(symbols.codes, symbols.choices, strict=False)
            self._processes = [Process(len(codes), choices) for codes, choices in sizes]
        else:
            self._processes = [Process.restored(snapshot) for snapshot in trained.processes]
        self._paths = [
            process.index(contexts, dishes)
            for process, contexts, dishes in zip(
                self._processes, self._events.contexts, self._events.dishes, strict=False
            )
        ]

    @property
    def progress(self) -> Progress:
        """How far it has come."""
        return self._progress

    def iterate(self) -> float:
        """Seat every event anew, once; return the sum of their log-probabilities as they were seated, in nats."""
        done = self._progress.iterations
        log_likelihood = 0.0
        for number, (process, paths) in enumerate(zip(self._processes, self._paths, strict=True)):
            rng = sentence_stream(self._progress.seed, f"iteration {done} of process {number}")
            cuts = self._events.cuts[number]
            order = rng.permutation(self._corpus.size)
            log_likelihood += process.sweep(paths, cuts, order, done > 0, kernel_state(rng))
            if done > 0 and done % EVERY[self._progress.oracle] == 0:
                resample_levels(process.restaurants, kernel_state(rng))
        so_far = self._progress.log_likelihoods
        self._progress = replace(self._progress, log_likelihoods=(*so_far, log_likelihood))
        return log_likelihood

    def trained(self) -> Trained:
        """The parser as it is now."""
        at_rest = tuple(process.at_rest() for process in self._processes)
        return Trained(self._symbols, at_rest, self._progress)


class Events:
    """What happens in the derivations of a treebank's trees: dishes in contexts, for actions, tags and words.

    Attributes:
        actions: (2 words,) int32, the derivations.
        contexts: of each process, (events, length) int32.
        dishes: of each process, (events,) int32.
        cuts: of each process, (sentences + 1,), where each sentence's events begin.
    """

    def __init__(self, symbols: Symbols, corpus: Corpus, actions: Heads | None = None) -> None:
        words = len(corpus.words)
        if actions is None or not len(actions):
            actions = np.empty(2 * words, dtype=np.int32)
            derived = np.empty(corpus.size, dtype=np.bool_)
            derive_all(corpus.cuts, corpus.heads, corpus.deprels, len(symbols.labels), actions, derived)
        self.actions = actions
        self.contexts = tuple(
            np.empty((events, len(codes)), dtype=np.int32)
            for events, codes in zip((2 * words, words, words), symbols.codes, strict=True)
        )
        record_all_events(
            corpus.cuts, corpus.words, corpus.tags, len(symbols.labels), actions, symbols.codes, self.contexts
        )
        self.dishes = (actions, corpus.tags, corpus.words)
        self.cuts = (2 * corpus.cuts, corpus.cuts, corpus.cuts)
