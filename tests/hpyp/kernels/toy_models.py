"""Small parsers trained on random trees: what kernels predict from, and the same distributions for the reference."""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum
from functools import cache

import numpy as np
from numpy.typing import NDArray

from deptree_cli.hpyp.kernels.configurations import Model
from deptree_cli.hpyp.kernels.restaurants import NONE
from deptree_cli.hpyp.model.process import Process, predictions
from deptree_cli.hpyp.model.sentences import LEXICALISED, NAMES, UNLEXICALISED
from tests.hpyp.kernels.processes import franchise_of
from tests.hpyp.model import reference_parser as reference
from tests.hpyp.model.reference_hpyp import Event


class Known(Enum):
    """Which words have a tag that is known."""

    ALL, NONE, SOME = "all tags", "no tags", "some tags"

    def of(self, place: int) -> bool:
        """Whether the word in this place has."""
        return self is Known.ALL or (self is Known.SOME and place % 2 == 0)


FIRST = 2  # 0 and 1 stand for what is missing and for the root


class Toy:
    """A trained parser with words and tags from 2 on.

    Attributes:
        model: for kernels.
        restaurants: of actions, tags and words, which the model was made of.
        reference: for enumerations; the same probabilities, computed by dictionaries.
        labels, tags, words: how many labels there are, and symbols with those of numbers 0 and 1.
    """

    def __init__(self, seed: int, labels: int = 2, tags: int = 5, words: int = 6, lexicalised: bool = True) -> None:
        self.labels, self.tags, self.words, self.lexicalised = labels, tags, words, lexicalised
        self.rng = np.random.default_rng(seed)
        self.contexts = LEXICALISED if lexicalised else UNLEXICALISED
        events: dict[str, list[Event]] = {"action": [], "tag": [], "word": []}
        for _ in range(12):
            for name, event in self._events():
                events[name].append(event)
        choices = {"action": 2 * labels + 1, "tag": tags - 1, "word": words - 1}
        sizes = {"action": 2 * labels + 1, "tag": tags, "word": words}
        processes = {name: self._trained(events[name], choices[name]) for name in events}
        self.restaurants = tuple(process.restaurants for process in processes.values())
        if not lexicalised:
            del processes["word"]
        self.model = self._at_rest(processes, sizes)
        distributions = [read_off(process, sizes[name]) for name, process in processes.items()]
        elements = [getattr(self.contexts, name) for name in events]
        self.reference = reference.Model(labels, *distributions, *[None] * (3 - len(distributions)), *elements)

    def _at_rest(self, processes: dict[str, Process], sizes: dict[str, int]) -> Model:
        """What kernels predict from."""
        snapshots = [process.at_rest() for process in processes.values()]
        tables, roots = predictions(snapshots, [sizes[name] for name in processes])
        codes = tuple(self.contexts.codes(name) for name in NAMES)
        all_roots = np.array([*roots, NONE][:3], dtype=np.int64)
        return Model(tables, all_roots, codes, self.labels, self.tags)

    def sentence(self, n: int, known: Known = Known.ALL) -> tuple[list[int], list[int]]:
        """Random words and tags, null for those that are not known."""
        words, tags = (self.rng.integers(FIRST, high, n).tolist() for high in (self.words, self.tags))
        return words, [tag if known.of(place) else 0 for place, tag in enumerate(tags)]

    def candidates(self, tags: list[int]) -> list[list[int]]:
        """All tags for each word whose own is not known."""
        return [[tag] if tag else list(range(FIRST, self.tags)) for tag in tags]

    def _events(self) -> Iterator[tuple[str, Event]]:
        """Those of a random derivation of a random sentence; half of its actions are the first that are legal."""
        words, tags = self.sentence(int(self.rng.integers(1, 6)))
        configuration = reference.Configuration(len(words), self.labels)
        while legal := configuration.legal():
            action = int(self.rng.choice(legal)) if self.rng.random() < 0.5 else legal[0]
            shifted = configuration.shifted
            yield "action", (configuration.context(self.contexts.action, words, tags), action)
            if action == reference.SHIFT:
                yield "tag", (configuration.context(self.contexts.tag, words, tags), tags[shifted])
                yield "word", (configuration.context(self.contexts.word, words, tags), words[shifted])
            configuration = configuration.after(action)

    def _trained(self, events: list[Event], choices: int) -> Process:
        """A process with everybody seated, and some level-specific discounts and strengths."""
        length = len(events[0][0])
        process = Process(length, choices)
        process.restaurants.discounts[:] = self.rng.uniform(0.2, 0.9, length + 1)
        process.restaurants.strengths[:] = self.rng.uniform(0, 2, length + 1)
        contexts = np.array([context for context, _ in events], dtype=np.int32)
        paths = process.index(contexts, np.array([dish for _, dish in events], dtype=np.int32))
        cuts, order = np.array([0, len(events)]), np.zeros(1, dtype=np.int64)
        state = self.rng.integers(2**63, size=4).astype(np.uint64)
        process.sweep(paths, cuts, order, False, state)
        process.sweep(paths, cuts, order, True, state)
        return process


def read_off(process: Process, size: int) -> reference.Distribution:
    """The distribution of a process by the reference's formula, each context worked out once."""
    franchise = franchise_of(process.restaurants)
    return cache(lambda context: [franchise.prob(context, dish) for dish in range(size)])


def as_arrays(*sequences: list[int]) -> list[NDArray[np.int32]]:
    """Numbers as kernels take them."""
    return [np.array(sequence, dtype=np.int32) for sequence in sequences]
