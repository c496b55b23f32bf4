"""Training: Gibbs sampling of who sits where, given the derivations of a treebank's trees, or of these too."""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import replace

import numpy as np

from deptree_cli.core.errors import RESUME, DeptreeError
from deptree_cli.core.streams import kernel_state, sentence_stream
from deptree_cli.hpyp.kernels.hyperparameters import resample_levels
from deptree_cli.hpyp.kernels.model import WORDS
from deptree_cli.hpyp.model.annotated import Annotated
from deptree_cli.hpyp.model.contexts import Contexts
from deptree_cli.hpyp.model.corpus import Corpus, Text
from deptree_cli.hpyp.model.derivations import Derivations
from deptree_cli.hpyp.model.process import Paths, Process
from deptree_cli.hpyp.model.resuming import check_resumable, check_seated
from deptree_cli.hpyp.model.snapshot import Snapshot
from deptree_cli.hpyp.model.symbols import Symbols
from deptree_cli.hpyp.model.trained import SAMPLED, STATIC, Progress, Settings, State, Trained
from deptree_cli.hpyp.model.unlabelled import Reader

# Discounts and strengths are drawn anew after every iteration but the first; where derivations are drawn too, which
# need time to settle, after every fifth.
EVERY = 5


class Training:
    """A treebank on its way to a parser, iteration by iteration; then, if there is any, text without trees.

    Args:
        treebank: complete sentences that were checked (`Annotated.check_trainable`), one at least.
        text: sentences of which only the words count.
        trained: a parser to go on from (`hpyp/model/resuming.py`).

    Attributes:
        symbols: of the treebank and the text.
        progress: how far it has come.

    Raises:
        DeptreeError: `trained` was trained with other settings or on other data, or is damaged.
    """

    def __init__(
        self,
        treebank: Sequence[Annotated],
        contexts: Contexts,
        settings: Settings,
        text: Sequence[Annotated] = (),
        trained: Trained | None = None,
    ) -> None:
        self.symbols = symbols = Symbols.of(treebank, contexts, text)
        self._corpus = corpus = Corpus.of(treebank, symbols)
        self._text = Text.of(text, symbols) if text else None
        self.progress = Progress(
            **vars(settings),
            digest=corpus.digest,
            sentences=corpus.size,
            lifted=corpus.lifted,
            text_digest=self._text.digest if self._text else "",
            text_sentences=len(text),
        )
        if trained is None:
            sizes = zip(symbols.codes, symbols.choices, strict=False)
            self._processes = [Process(len(codes), choices) for codes, choices in sizes]
        else:
            check_resumable(trained, symbols, self.progress)
            self.progress = trained.progress
            self._processes = [Process.restored(snapshot) for snapshot in trained.processes]
        self._earlier = trained.earlier if trained else ()
        try:
            self._index(trained)
        except ValueError as error:
            problem, remedy = f"the model is damaged ({error})", f"Train again without {RESUME}"
            raise DeptreeError(problem, remedy, options=[RESUME]) from None

    def _index(self, trained: Trained | None) -> None:
        """Look up all events; they are seated already if `trained` is not None.

        Raises:
            ValueError: they are not.
        """
        processes = self._processes
        self._derivations = Derivations(self.symbols, self._corpus, trained.derivations if trained else None)
        events = self._derivations.events()[: len(processes)]
        self._paths = [process.index(*each) for process, each in zip(processes, events, strict=True)]
        self._reader = None
        if self._text is not None:
            parses = trained.parses if trained else None
            self._reader = Reader(self.symbols, self._text, processes[WORDS], parses)
        if trained is not None and trained.progress.iterations:
            seated: list[Sequence[Paths]] = [[each] for each in self._paths]
            if self._reader and self._reader.paths:
                seated[WORDS] = [*seated[WORDS], self._reader.paths]
            for snapshot, paths in zip(trained.processes, seated, strict=True):
                check_seated(snapshot, paths)

    @property
    def words(self) -> int:
        """How many words the treebank has."""
        return len(self._corpus.words)

    def iterate(self, kept: Container[int] = ()) -> float:
        """Seat every event anew, once; return the sum of their log-probabilities as they were seated, in nats.

        The state that it is in is kept beside those to come, if it has done one of these numbers of iterations.

        With sampled derivations these are drawn first, after the first iteration.
        """
        done = self.progress.iterations
        if done in kept:
            self._earlier = (*self._earlier, State(done, self._at_rest()))
        if done > 0 and self.progress.oracle == SAMPLED:
            self._draw_derivations(done)
        log_likelihood = self._sweep(done)
        so_far = self.progress.log_likelihoods
        self.progress = replace(self.progress, log_likelihoods=(*so_far, log_likelihood))
        return log_likelihood

    def _draw_derivations(self, done: int) -> None:
        rng = self._stream(f"iteration {done}")
        order = rng.permutation(self._corpus.size)
        self._derivations.resample(self._processes, self._paths, order, kernel_state(rng))

    def _sweep(self, done: int) -> float:
        """Seat the events of the derivations, given these."""
        settled = done > 0 and (self.progress.oracle == STATIC or done % EVERY == 0)
        log_likelihood = 0.0
        for number, (process, paths) in enumerate(zip(self._processes, self._paths, strict=True)):
            rng = self._stream(f"iteration {done} of process {number}")
            order = rng.permutation(self._corpus.size)
            cuts, state = self._derivations.cuts[number], kernel_state(rng)
            log_likelihood += process.sweep(paths, cuts, order, done > 0, state)
            if settled:
                resample_levels(process.restaurants, kernel_state(rng))
        return log_likelihood

    def _at_rest(self) -> tuple[Snapshot, ...]:
        return tuple(process.at_rest() for process in self._processes)

    def read(self) -> float:
        """Read the text as the parser is now, and seat its words; return the sum of their log-probabilities, in nats.

        Raises:
            ValueError: there is none.
        """
        if self._reader is None:
            raise ValueError("there is no text to read")
        so_far = self.progress.text_log_likelihoods
        rng = self._stream(f"pass {len(so_far)}")
        order = rng.permutation(self._text.size if self._text else 0)
        log_likelihood = self._reader.read(self.trained(), order, kernel_state(rng))
        resample_levels(self._processes[WORDS].restaurants, kernel_state(rng))
        self.progress = replace(self.progress, text_log_likelihoods=(*so_far, log_likelihood))
        return log_likelihood

    def _stream(self, name: str) -> np.random.Generator:
        return sentence_stream(self.progress.seed, name)

    def trained(self) -> Trained:
        """The parser as it is now."""
        derivations = self._derivations.actions.copy() if self.progress.oracle == SAMPLED else None
        parses = self._reader.parses if self._reader else None
        return Trained(self.symbols, self._at_rest(), self.progress, derivations, parses, self._earlier)
