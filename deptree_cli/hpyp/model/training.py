"""Training: Gibbs sampling of a treebank, then words of text without trees."""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from hashlib import blake2b
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deptree_cli.core.dtypes import Heads, Int
from deptree_cli.core.errors import ITERATIONS, RESUME, STATES, UNLABELLED, DeptreeError, Setting
from deptree_cli.core.streams import kernel_state, sentence_stream
from deptree_cli.hpyp.kernels.configurations import (
    WORDS,
    Model,
    derive_all,
    new_contexts,
    projectivise,
    read_actions,
    record_all_events,
)
from deptree_cli.hpyp.kernels.filter import draw_parse
from deptree_cli.hpyp.kernels.latent import Grammar, Treebank, are_derivations, resample_derivations
from deptree_cli.hpyp.kernels.restaurants import NONE, resample_levels
from deptree_cli.hpyp.kernels.search import search
from deptree_cli.hpyp.model.process import Events32, Paths, Process, Snapshot, keys_of, predictions
from deptree_cli.hpyp.model.sentences import Annotated, Contexts, Symbols

# Sentences as numbers, laid end to end: a text, or a treebank with its trees.


@dataclass(frozen=True, eq=False)
class Text:
    """Sentences of which only the words count; `cuts` (sentences + 1,): where each sentence's words begin."""

    cuts: Int
    words: Heads

    @classmethod
    def of(cls, sentences: Sequence[Annotated], symbols: Symbols) -> Text:
        """The numbers of sentences; there is one at least."""
        lengths = [sentence.n for sentence in sentences]
        return cls(np.cumsum([0, *lengths]), np.concatenate([symbols.words_of(sentence) for sentence in sentences]))

    @property
    def size(self) -> int:
        return len(self.cuts) - 1

    @property
    def digest(self) -> str:
        """A name for exactly these numbers: training can go on with no others."""
        found = blake2b(digest_size=8)
        for value in vars(self).values():
            if isinstance(value, np.ndarray):
                found.update(np.ascontiguousarray(value).tobytes())
        return found.hexdigest()


@dataclass(frozen=True, eq=False)
class Corpus(Text):
    """Sentences with their trees; all arrays are (words,) int32, and heads count within each sentence, 0 = ROOT.

    Heads are projective: so many sentences were `lifted` to be so. `deprels` are labels from 0.
    """

    tags: Heads
    heads: Heads
    deprels: Heads
    lifted: int

    @classmethod
    def of(cls, sentences: Sequence[Annotated], symbols: Symbols) -> Corpus:
        """The numbers of a treebank of complete sentences that were checked (`Annotated.check_trainable`).

        Arcs that cross others are lifted (`hpyp/kernels/configurations.py`).
        """
        text = Text.of(sentences, symbols)
        trees = [sentence.heads.astype(np.int32) for sentence in sentences]
        lifted = sum(projectivise(heads) > 0 for heads in trees)
        numbers = symbols.label_numbers
        return cls(
            text.cuts,
            text.words,
            np.concatenate([symbols.tags_of(sentence) for sentence in sentences]),
            np.concatenate(trees),
            np.array([numbers[label] for sentence in sentences for label in sentence.deprels], dtype=np.int32),
            lifted,
        )


# The derivations of a treebank's trees, and the events that they consist of.


# Particles that a derivation is drawn with (Buys and Blunsom 2015, section 5.1).
PARTICLES = 100

# Sentences whose derivations are drawn at once: there is room for all that they may add.
TOGETHER = 64


class Derivations:
    """A derivation of every tree of a treebank; without `actions` the static oracle's.

    `actions` (2 words,) int32: sentences end to end. `cuts` of actions, tags and words, (sentences + 1,) each: where
    each sentence's events begin.
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
        """Draw the derivations of all sentences in this order anew (see the kernel); paths are overwritten."""
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
    """Make sure that kernels can follow derivations, (2 words,)."""
    if len(actions) != 2 * cuts[-1] or not are_derivations(cuts, labels, actions):
        raise ValueError("the derivations are damaged")


# A trained parser at rest: its symbols, its processes, and how it was trained.


# What derivations of trees are made by: always the same, or drawn anew in every iteration but the first.
STATIC, SAMPLED = "static", "sampled"
ORACLES = STATIC, SAMPLED


@dataclass(frozen=True)
class Settings:
    seed: int
    oracle: str
    tagset: str


@dataclass(frozen=True)
class Progress(Settings):
    """How far training has come, with the log-likelihoods of every iteration and of every pass over text, in nats.

    The digests name the treebank and the text, which are needed again to go on; that of no text is empty. `lifted`:
    sentences with crossing arcs, which were lifted.
    """

    digest: str
    sentences: int
    lifted: int
    log_likelihoods: tuple[float, ...] = ()
    text_digest: str = ""
    text_sentences: int = 0
    text_log_likelihoods: tuple[float, ...] = ()

    @property
    def iterations(self) -> int:
        return len(self.log_likelihoods)

    @property
    def passes(self) -> int:
        return len(self.text_log_likelihoods)


@dataclass(frozen=True, eq=False)
class SampledParses:
    """Tags (words,) and actions (2 words,) int32 that were found for a text without trees, sentences end to end."""

    tags: Heads
    actions: Heads


@dataclass(frozen=True, eq=False)
class State:
    """What the sampler had drawn after so many iterations: the processes that it had then."""

    iterations: int
    processes: tuple[Snapshot, ...]


@dataclass(frozen=True, eq=False)
class Trained:
    """A trained parser.

    `derivations` (2 words,) int32 are the actions of all trees of the treebank, where they are sampled; by `parses` the
    words of text are seated. Parses and surprisals are averaged over `earlier` states of the sampler, too.
    """

    symbols: Symbols
    processes: tuple[Snapshot, ...]
    progress: Progress
    derivations: Heads | None = None
    parses: SampledParses | None = None
    earlier: tuple[State, ...] = ()

    @cached_property
    def states(self) -> tuple[Trained, ...]:
        """A parser of every state that was kept, the last one being last: itself, where there are no others."""
        if not self.earlier:
            return (self,)
        processes = [*(state.processes for state in self.earlier), self.processes]
        return tuple(Trained(self.symbols, each, self.progress) for each in processes)

    @cached_property
    def model(self) -> Model:
        tables, roots = predictions(self.processes, self.symbols.dishes)
        roots = np.append(roots, [NONE] * (WORDS + 1 - len(roots))).astype(np.int64)
        return Model(tables, roots, self.symbols.codes, len(self.symbols.labels), self.symbols.tags.size)

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name not in ("model", "states")}


# Training that goes on where it stopped: only with the same data and settings, and from a model that adds up.


def check_resumable(trained: Trained, symbols: Symbols, wanted: Progress) -> None:
    """Raise unless training can go on from a parser with the symbols of these data and the settings `wanted`."""
    had = trained.progress
    for name, before, now in [
        ("column", had.tagset, wanted.tagset),
        ("oracle", had.oracle, wanted.oracle),
        ("seed", had.seed, wanted.seed),
    ]:
        if before != now:
            had_set = Setting(name, before)
            raise _refused(f"the model was trained with {had_set}", "Use that", had_set)
    if trained.symbols.contexts != symbols.contexts:
        raise _refused("the model was trained with other contexts", "Use the same contexts")
    if bool(had.text_digest) != bool(wanted.text_digest):
        how = "with" if had.text_digest else "without"
        raise _refused(f"the model was trained {how} {UNLABELLED}", "Do this again", UNLABELLED)
    if not is_of(trained, symbols, wanted):
        raise _refused("the model was trained on other data", "Use the same treebank and text")


def is_of(trained: Trained, symbols: Symbols, wanted: Progress) -> bool:
    """Whether a parser was trained on this data: the same words, tags, trees and text, in the same order."""
    return _data(trained.symbols, trained.progress) == _data(symbols, wanted)


def check_targets(progress: Progress, iterations: int, passes: int) -> None:
    """Make sure that there is a way from where training is to so many iterations and passes."""
    for done, wanted, option in [(progress.iterations, iterations, "iterations"), (progress.passes, passes, "passes")]:
        if done > wanted:
            reached = Setting(option, done)
            raise _refused(f"the model is already at {reached}", "Pass this number or more", reached)
    if progress.passes and progress.iterations < iterations:
        reached = Setting("iterations", progress.iterations)
        problem = f"the model read its text after {reached}, and no iterations can follow"
        raise _refused(problem, "Pass this number", reached)


def check_kept(trained: Trained | None, kept: Sequence[int]) -> None:
    """Make sure that a parser to go on from, if there is one, has kept the states after these iterations so far."""
    if trained is None:
        return
    had = [state.iterations for state in trained.earlier]
    if had != [each for each in kept if each < trained.progress.iterations]:
        problem = f"the model kept states after iterations {had or 'none'}, which does not match these options"
        raise _refused(problem, f"Pass the same {ITERATIONS} and {STATES}", ITERATIONS, STATES)


def _refused(problem: str, remedy: str, *settings: Setting) -> DeptreeError:
    return DeptreeError(problem, f"{remedy}, or train again without {RESUME}", options=[RESUME, *settings])


def _data(symbols: Symbols, progress: Progress) -> tuple[Any, ...]:
    numbered = symbols.lexicon.vocabulary, symbols.tags, symbols.labels
    return progress.tagset, progress.digest, progress.text_digest, numbered


def check_seated(process: Snapshot, seated: Sequence[Paths]) -> None:
    """Make sure that exactly the customers of these events are seated: kernels send away whom they are told to."""
    size = len(process.places)
    expected = np.zeros(size)
    for paths in seated:
        deepest = paths.entries[:, -1]
        expected += np.bincount(deepest, minlength=size)[:size] if deepest.max() < size else np.nan
    below = np.flatnonzero(process.places > 0)
    above = keys_of(process.parents[process.places[below]], process.dishes[below])
    order = np.argsort(process.entry_keys)
    keys = process.entry_keys[order]
    places = np.minimum(np.searchsorted(keys, above), size - 1)
    expected += np.bincount(order[places], process.served[below], size)
    if not np.array_equal(keys[places], above) or not np.array_equal(expected, process.seated):
        raise ValueError("its customers are not those of the treebank")


# Sentences without trees, from which the process of words learns too (Buys and Blunsom 2015, section 5.4).
#
# A parser that was trained on trees reads them: a first time by its search, later by drawing derivations, tags
# predicted. Their words are then seated in the contexts that these parses give them.


# Particles that a sentence is read with.
TEXT_PARTICLES = 100


class Reader:
    """A text on its way into the process of words; `parses` and `paths` are of its seated words, None if none are."""

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
                arena, last_record, _ = search(model, own, np.zeros_like(own), TEXT_PARTICLES)
            else:
                arena, last_record = draw_parse(model, own, TEXT_PARTICLES, state)
            read_actions(arena, last_record, parses.actions[2 * first : 2 * last], parses.tags[first:last])
        return parses

    def _paths_of(self, parses: SampledParses) -> Paths:
        text = self._text
        check_derivations(text.cuts, len(self._symbols.labels), parses.actions)
        if parses.tags.shape != text.words.shape:
            raise ValueError("the parses are damaged")
        contexts = recorded(self._symbols, text.cuts, text.words, parses.tags, parses.actions)[WORDS]
        return self._process.index(contexts, text.words)


# Training: Gibbs sampling of who sits where, given the derivations of a treebank's trees, or of these too.


# Discounts and strengths are drawn anew after every iteration but the first; where derivations are drawn too, which
# need time to settle, after every fifth.
EVERY = 5


class Training:
    """A treebank on its way to a parser, iteration by iteration; then, if there is any, text without trees.

    The treebank has one complete sentence at least, and was checked (`Annotated.check_trainable`). `trained` is a
    parser to go on from; it is an error if it had other settings or data, or is damaged.
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
        """Look up all events; they must be seated already if `trained` is not None."""
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
        return len(self._corpus.words)

    def iterate(self, kept: Container[int] = ()) -> float:
        """Seat every event anew, once; return the sum of their log-probabilities as they were seated, in nats.

        A state after one of the `kept` numbers of iterations is kept. Sampled derivations are drawn first, after the
        first iteration.
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
        """Read the text as the parser is now, and seat its words; return the sum of their log-probabilities (nats)."""
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
        derivations = self._derivations.actions.copy() if self.progress.oracle == SAMPLED else None
        parses = self._reader.parses if self._reader else None
        return Trained(self.symbols, self._at_rest(), self.progress, derivations, parses, self._earlier)
