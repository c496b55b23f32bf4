"""Training: Gibbs sampling of a treebank, then words of text without trees."""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from hashlib import blake2b
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from deptree_cli.core.dtypes import Heads, Int
from deptree_cli.core.errors import ITERATIONS, RESUME, STATES, UNLABELLED, DeptreeError, Setting
from deptree_cli.core.streams import kernel_state, sentence_stream
from deptree_cli.hpyp.kernels.columns import SHIFT
from deptree_cli.hpyp.kernels.configurations import (
    EVENTS,
    WORDS,
    Model,
    derive,
    projectivise,
    read_actions,
    record_events,
)
from deptree_cli.hpyp.kernels.filter import Grammar, Treebank, draw_parse, resample_derivations
from deptree_cli.hpyp.kernels.restaurants import NONE, Paths, resample_levels
from deptree_cli.hpyp.kernels.search import search
from deptree_cli.hpyp.model.process import Int32, Process, Snapshot, keys_of, predictions
from deptree_cli.hpyp.model.sentences import Annotated, Contexts
from deptree_cli.hpyp.model.unknown import Symbols

# Sentences as numbers, laid end to end: a text, or a treebank with its trees; and the events of their derivations.


def text_of(sentences: Sequence[Annotated], symbols: Symbols) -> Treebank:
    """The words of one or more sentences, without their trees."""
    none = np.empty(0, dtype=np.int32)
    cuts = np.cumsum([0, *(sentence.n for sentence in sentences)])
    return Treebank(cuts, np.concatenate([symbols.words_of(sentence) for sentence in sentences]), none, none, none)


def treebank_of(sentences: Sequence[Annotated], symbols: Symbols) -> tuple[Treebank, int]:
    """Complete sentences that were checked (`Annotated.check_trainable`), and how many had crossing arcs.

    These are lifted (`hpyp/kernels/configurations.py`).
    """
    trees = [sentence.heads.astype(np.int32) for sentence in sentences]
    lifted = sum(projectivise(heads) > 0 for heads in trees)
    numbers = symbols.label_numbers
    found = text_of(sentences, symbols)._replace(
        tags=np.concatenate([symbols.tags_of(sentence) for sentence in sentences]),
        heads=np.concatenate(trees),
        deprels=np.array([numbers[label] for sentence in sentences for label in sentence.deprels], dtype=np.int32),
    )
    return found, lifted


def digest_of(treebank: Treebank) -> str:
    """A name for exactly these numbers: training can go on with no others."""
    found = blake2b(digest_size=8)
    for array in treebank:
        found.update(np.ascontiguousarray(array).tobytes())
    return found.hexdigest()


def derivations(treebank: Treebank, symbols: Symbols) -> Heads:
    """The derivations of all trees that make every arc as soon as they can, (2 words,) actions."""
    actions = np.empty(2 * len(treebank.words), dtype=np.int32)
    derive(treebank.cuts, treebank.heads, treebank.deprels, len(symbols.labels), actions)
    return actions


def contexts_of(treebank: Treebank, symbols: Symbols, tags: Heads, actions: Heads) -> tuple[Int32, ...]:
    """The contexts (events, length) of actions, tags and words in derivations, two actions for every word.

    Raises:
        ValueError: kernels cannot follow these derivations.
    """
    cuts, words, labels = treebank.cuts, treebank.words, len(symbols.labels)
    if len(actions) != 2 * len(words) or not are_derivations(cuts, labels, actions):
        raise ValueError("the derivations are damaged")
    if tags.shape != words.shape:
        raise ValueError("the parses are damaged")
    contexts: tuple[Int32, ...] = record_events(cuts, words, tags, labels, actions, symbols.codes)
    return contexts


def are_derivations(cuts: Int, labels: int, actions: Heads) -> bool:
    """Whether the actions (2 words,) of every sentence lead from ROOT alone to ROOT alone, words all shifted."""
    shifted = np.concatenate([[0], np.cumsum(actions == SHIFT)])
    if not np.array_equal(shifted[2 * cuts], cuts):  # as many are shifted as reduced
        return False
    before, on_stack = shifted[:-1], (2 * shifted - np.arange(len(shifted)))[:-1]
    words_left = before < np.repeat(cuts[1:], 2 * np.diff(cuts))
    lowest = np.where((actions <= labels) | words_left, 2, 1)  # ROOT has no head, and one dependent
    return bool(((actions == SHIFT) | ((actions > 0) & (actions <= 2 * labels) & (on_stack >= lowest))).all())


# A trained parser at rest: its symbols, its processes, and how it was trained.


# What derivations of trees are made by: always the same, or drawn anew in every iteration but the first.
STATIC, SAMPLED = "static", "sampled"
ORACLES = STATIC, SAMPLED


@dataclass(frozen=True)
class TrainingSettings:
    seed: int
    oracle: str
    tagset: str


@dataclass(frozen=True)
class Progress(TrainingSettings):
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


class Parses(NamedTuple):
    """Tags (words,) and actions (2 words,) int32 that were found for a text without trees, sentences end to end."""

    tags: Heads
    actions: Heads


class State(NamedTuple):
    """What the sampler had drawn after this many iterations: the processes that it had then."""

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
    parses: Parses | None = None
    earlier: tuple[State, ...] = ()

    @cached_property
    def states(self) -> tuple[Trained, ...]:
        """A parser of every state that was kept, in order; the parser itself if it is the only one."""
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


# Training continues where it stopped only with the same data and settings, and from a consistent model.


def check_resumable(trained: Trained, symbols: Symbols, wanted: Progress) -> None:
    """Raise unless training can go on from a parser with the symbols of these data and the settings `wanted`."""
    had = trained.progress
    for name, attribute in ("column", "tagset"), ("oracle", "oracle"), ("seed", "seed"):
        had_set = Setting(name, getattr(had, attribute))
        if had_set.value != getattr(wanted, attribute):
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
    (had, now), (before, after) = (trained.symbols, symbols), (trained.progress, wanted)
    return (before.tagset, before.digest, before.text_digest) == (after.tagset, after.digest, after.text_digest) and (
        (had.lexicon.vocabulary, had.tags, had.labels) == (now.lexicon.vocabulary, now.tags, now.labels)
    )


def check_targets(trained: Trained, kept: Sequence[int], passes: int) -> None:
    """Make sure that there is a way from a parser to this many passes, states being kept after these iterations."""
    progress, iterations = trained.progress, kept[-1]
    for done, wanted, option in [(progress.iterations, iterations, "iterations"), (progress.passes, passes, "passes")]:
        if done > wanted:
            reached = Setting(option, done)
            raise _refused(f"the model is already at {reached}", "Pass this number or more", reached)
    if progress.passes and progress.iterations < iterations:
        reached = Setting("iterations", progress.iterations)
        problem = f"the model read its text after {reached}, and no iterations can follow"
        raise _refused(problem, "Pass this number", reached)
    had = [state.iterations for state in trained.earlier]
    if had != [each for each in kept if each < progress.iterations]:
        problem = f"the model kept states after iterations {had or 'none'}, which does not match these options"
        raise _refused(problem, f"Pass the same {ITERATIONS} and {STATES}", ITERATIONS, STATES)


def _refused(problem: str, remedy: str, *settings: Setting) -> DeptreeError:
    return DeptreeError(problem, f"{remedy}, or train again without {RESUME}", options=[RESUME, *settings])


def check_seated(process: Snapshot, seated: Sequence[Paths]) -> None:
    """Raise unless exactly the customers of these events are seated: kernels unseat customers without a check."""
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
        raise ValueError("its counts do not match the treebank")


# Training: Gibbs sampling of who sits where, given the derivations of a treebank's trees, or of these too.


# Discounts and strengths are drawn anew after every iteration but the first; where derivations are drawn too, which
# need time to settle, after every fifth.
EVERY = 5

# Particles that a derivation is drawn with (Buys and Blunsom 2015, section 5.1), and that a text is read with.
PARTICLES = 100

# Sentences whose derivations are drawn at once: there is room for all that they may add.
TOGETHER = 64


class Training:
    """A treebank on its way to a parser, iteration by iteration; then, if there is any, text without trees.

    The treebank has one complete sentence at least, and was checked (`Annotated.check_trainable`). `trained` is a
    parser to go on from; it is an error if it had other settings or data, or is damaged.
    """

    def __init__(
        self,
        treebank: Sequence[Annotated],
        contexts: Contexts,
        settings: TrainingSettings,
        text: Sequence[Annotated] = (),
        trained: Trained | None = None,
    ) -> None:
        self.symbols = symbols = Symbols.of(treebank, contexts, text)
        self._treebank, lifted = treebank_of(treebank, symbols)
        self._text = text_of(text, symbols) if text else None
        self.progress = Progress(
            **vars(settings),
            digest=digest_of(self._treebank),
            sentences=len(treebank),
            lifted=lifted,
            text_digest=digest_of(self._text) if self._text else "",
            text_sentences=len(text),
        )
        if trained is None:
            sizes = zip(symbols.codes, symbols.choices, strict=False)
            self._processes = [Process(len(codes), choices) for codes, choices in sizes]
        else:
            check_resumable(trained, symbols, self.progress)
            self.progress = trained.progress
            self._processes = [Process.restored(snapshot) for snapshot in trained.processes]
        self._earlier, self._parses = (trained.earlier, trained.parses) if trained else ((), None)
        try:
            self._look_up(trained)
        except ValueError as error:
            problem, remedy = f"the model is damaged ({error})", f"Train again without {RESUME}"
            raise DeptreeError(problem, remedy, options=[RESUME]) from None

    def _look_up(self, trained: Trained | None) -> None:
        """Look up all events; they must be seated already if `trained` is not None."""
        treebank, had = self._treebank, trained.derivations if trained else None
        self._actions = derivations(treebank, self.symbols) if had is None or not len(had) else had.copy()
        contexts = contexts_of(treebank, self.symbols, treebank.tags, self._actions)
        dishes = self._actions, treebank.tags, treebank.words
        events = zip(self._processes, contexts, dishes, strict=False)
        self._paths = [process.index(*each) for process, *each in events]
        self._text_paths = self._paths_of(self._text, self._parses) if self._text and self._parses else None
        if trained is not None and trained.progress.iterations:
            seated: list[Sequence[Paths]] = [[each] for each in self._paths]
            if self._text_paths:
                seated[WORDS] = [*seated[WORDS], self._text_paths]
            for snapshot, paths in zip(trained.processes, seated, strict=True):
                check_seated(snapshot, paths)

    def _paths_of(self, text: Treebank, parses: Parses) -> Paths:
        """The paths of the words of text in these parses."""
        return self._processes[WORDS].index(contexts_of(text, self.symbols, *parses)[WORDS], text.words)

    @property
    def words(self) -> int:
        return len(self._treebank.words)

    def iterate(self, kept: Container[int] = ()) -> float:
        """Seat every event anew, once; return the sum of their log-probabilities as they were seated, in nats.

        A state after one of the `kept` numbers of iterations is kept. Sampled derivations are drawn first, after the
        first iteration.
        """
        done, is_drawn = self.progress.iterations, self.progress.oracle == SAMPLED
        if done in kept:
            self._earlier = (*self._earlier, State(done, self._at_rest()))
        if done > 0 and is_drawn:
            self._draw_derivations(done)
        log_likelihood = 0.0
        for number, (process, paths) in enumerate(zip(self._processes, self._paths, strict=True)):
            rng = self._stream(f"iteration {done} of process {number}")
            order = rng.permutation(self.progress.sentences)
            cuts = EVENTS[number] * self._treebank.cuts
            log_likelihood += process.sweep(paths, cuts, order, done > 0, kernel_state(rng))
            if done > 0 and (done % EVERY == 0 or not is_drawn):
                resample_levels(process.restaurants, kernel_state(rng))
        so_far = self.progress.log_likelihoods
        self.progress = replace(self.progress, log_likelihoods=(*so_far, log_likelihood))
        return log_likelihood

    def _draw_derivations(self, done: int) -> None:
        rng = self._stream(f"iteration {done}")
        order, state = rng.permutation(self.progress.sentences), kernel_state(rng)
        cuts, processes, codes = self._treebank.cuts, self._processes, self.symbols.codes
        missing = 3 - len(processes)  # kernels take three, and leave the words alone that are not generated
        for start in range(0, len(order), TOGETHER):
            some = order[start : start + TOGETHER]
            for events, process in zip(EVENTS, processes, strict=False):
                room = events * process.levels * int((cuts[some + 1] - cuts[some]).sum())
                process.make_room(room, room, 2 * room)
            restaurants = tuple(process.restaurants for process in [*processes, *processes[:missing]])
            grammar, paths = (
                Grammar(restaurants, codes, len(self.symbols.labels)),
                (*self._paths, *self._paths[:missing]),
            )
            resample_derivations(grammar, self._treebank, paths, some, PARTICLES, self._actions, state)

    def read(self) -> float:
        """Read the text as the parser is now, and seat its words; return the sum of their log-probabilities (nats).

        The parser reads a first time by its search, later by drawing derivations, tags predicted (Buys and Blunsom
        2015, section 5.4). Words of earlier parses make way for those of the new ones, sentence by sentence, and then
        each of them is seated again given all others.
        """
        if self._text is None:
            raise ValueError("there is no text to read")
        words, cuts, so_far = self._text.words, self._text.cuts, self.progress.text_log_likelihoods
        rng = self._stream(f"pass {len(so_far)}")
        order, state = rng.permutation(len(cuts) - 1), kernel_state(rng)
        model, process = self.trained().model, self._processes[WORDS]
        parses = Parses(np.empty(len(words), dtype=np.int32), np.empty(2 * len(words), dtype=np.int32))
        for first, last in pairwise(cuts.tolist()):
            own = words[first:last]
            if self._parses is None:
                arena, record, _ = search(model, own, np.zeros_like(own), PARTICLES, False)
            else:
                arena, record = draw_parse(model, own, PARTICLES, state)
            read_actions(arena, record, parses.actions[2 * first : 2 * last], parses.tags[first:last])
        old, new = self._text_paths, self._paths_of(self._text, parses)
        self._parses, self._text_paths = parses, new
        if old is not None:
            process.sweep(new, cuts, order, False, state, old)
        log_likelihood = process.sweep(new, cuts, order, old is not None, state)
        resample_levels(process.restaurants, kernel_state(rng))
        self.progress = replace(self.progress, text_log_likelihoods=(*so_far, log_likelihood))
        return log_likelihood

    def _stream(self, name: str) -> np.random.Generator:
        return sentence_stream(self.progress.seed, name)

    def _at_rest(self) -> tuple[Snapshot, ...]:
        return tuple(process.at_rest() for process in self._processes)

    def trained(self) -> Trained:
        actions = self._actions.copy() if self.progress.oracle == SAMPLED else None
        return Trained(self.symbols, self._at_rest(), self.progress, actions, self._parses, self._earlier)
