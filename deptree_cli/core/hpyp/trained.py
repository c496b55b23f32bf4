"""A trained parser at rest: its symbols, its processes, and how it was trained."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from deptree_cli.core.dtypes import Heads
from deptree_cli.core.hpyp.predicting import predictions
from deptree_cli.core.hpyp.snapshot import Snapshot
from deptree_cli.core.hpyp.symbols import Symbols
from deptree_cli.kernels.hpyp.model import WORDS, Model
from deptree_cli.kernels.hpyp.restaurants import MOST_LEVELS, NONE


@dataclass(frozen=True)
class Progress:
    """How far training has come, and how.

    Attributes:
        seed: of all random numbers.
        oracle: `static` or `sampled` (`core/hpyp/training.py`).
        tagset: the column that tags came from, `upos` or `xpos`.
        digest: of the treebank, which is needed again to go on (`Corpus.digest`).
        sentences, lifted: of the treebank; how many had crossing arcs, which were lifted.
        log_likelihoods: of every iteration, in nats.
    """

    seed: int
    oracle: str
    tagset: str
    digest: str
    sentences: int
    lifted: int
    log_likelihoods: tuple[float, ...] = ()

    @property
    def iterations(self) -> int:
        """How many iterations there were."""
        return len(self.log_likelihoods)


@dataclass(frozen=True, eq=False)
class Trained:
    """A trained parser.

    Attributes:
        symbols: what its numbers mean.
        processes: of actions and tags and, if words are generated, of words.
        progress: how it was trained.
        derivations: (2 words,) int32, the actions of all trees of the treebank where they are sampled; else empty.
    """

    symbols: Symbols
    processes: tuple[Snapshot, ...]
    progress: Progress
    derivations: Heads = field(default_factory=lambda: np.empty(0, dtype=np.int32))

    @cached_property
    def model(self) -> Model:
        """What kernels need to parse."""
        tables, roots = predictions(self.processes, self.symbols.dishes)
        codes = np.zeros((WORDS + 1, MOST_LEVELS), dtype=np.int64)
        for row, elements in zip(codes, self.symbols.codes, strict=True):
            row[: len(elements)] = elements
        return Model(
            tables,
            np.append(roots, [NONE] * (WORDS + 1 - len(roots))).astype(np.int64),
            codes,
            np.array([len(elements) for elements in self.symbols.codes], dtype=np.int64),
            len(self.symbols.labels),
            self.symbols.tags.size,
        )

    def __getstate__(self) -> dict[str, Any]:
        """Without the tables, which are made in less time than they travel."""
        return {name: value for name, value in vars(self).items() if name != "model"}
