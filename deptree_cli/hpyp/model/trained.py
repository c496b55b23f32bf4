"""A trained parser at rest: its symbols, its processes, and how it was trained."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from deptree_cli.core.dtypes import Heads
from deptree_cli.hpyp.kernels.model import WORDS, Model
from deptree_cli.hpyp.kernels.restaurants import NONE
from deptree_cli.hpyp.model.predicting import predictions
from deptree_cli.hpyp.model.snapshot import Snapshot
from deptree_cli.hpyp.model.symbols import Symbols

# What derivations of trees are made by: always the same, or drawn anew in every iteration but the first.
STATIC, SAMPLED = "static", "sampled"
ORACLES = STATIC, SAMPLED


@dataclass(frozen=True)
class Settings:
    """How to train.

    Attributes:
        seed: of all random numbers.
        oracle: one of `ORACLES`.
        tagset: the column that tags came from, `upos` or `xpos`.
    """

    seed: int
    oracle: str
    tagset: str


@dataclass(frozen=True)
class Progress(Settings):
    """How far training has come.

    Attributes:
        digest: of the treebank, which is needed again to go on (`Corpus.digest`).
        sentences, lifted: of the treebank; how many had crossing arcs, which were lifted.
        log_likelihoods: of every iteration, in nats.
        text_digest, text_sentences: of the text without trees (`Text.digest`); empty and 0 if there is none.
        text_log_likelihoods: of the words of the text, in every pass over it, in nats.
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
        """How many iterations there were."""
        return len(self.log_likelihoods)

    @property
    def passes(self) -> int:
        """How often the text without trees was read."""
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

    Attributes:
        symbols: what its numbers mean.
        processes: of actions and tags and, if words are generated, of words.
        progress: how it was trained.
        derivations: (2 words,) int32, the actions of all trees of the treebank, where they are sampled.
        parses: by which the words of text without trees are seated, where there is any.
        earlier: states of the sampler before the last one, over which parses and surprisals are averaged too.
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
        """What kernels need to parse."""
        tables, roots = predictions(self.processes, self.symbols.dishes)
        roots = np.append(roots, [NONE] * (WORDS + 1 - len(roots))).astype(np.int64)
        return Model(tables, roots, self.symbols.codes, len(self.symbols.labels), self.symbols.tags.size)

    def __getstate__(self) -> dict[str, Any]:
        """Without the tables, which are made in less time than they travel."""
        return {name: value for name, value in vars(self).items() if name not in ("model", "states")}
