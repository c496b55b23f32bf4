"""Trees of many sentences as output: `Trees` of each, with what lines of JSON have in common written at once."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain, repeat

import numpy as np

from deptree_cli.core.batches.ragged import RaggedTrees
from deptree_cli.core.dtypes import Array, Float, Heads, Integers, smallest
from deptree_cli.io.conllu.blocks import Block
from deptree_cli.io.conllu.trees import Note, Style, Trees, json_lines, quoted


def _no_misc() -> Mapping[str, Float]:
    return {}


@dataclass(frozen=True, eq=False)
class TreesOfMany:
    """K trees of each of some sentences.

    Attributes:
        sent_ids: their names.
        blocks: the CoNLL-U sentences, None where there is none.
        trees: their trees.
        notes: makes the notes on trees, with a value for each tree of all sentences.
        ranked: whether the trees of a sentence are one after another, and not the one tree.
        misc: makes probabilities of words, as of `Trees`, one after another.
    """

    sent_ids: Sequence[str]
    blocks: Sequence[Block | None]
    trees: RaggedTrees
    notes: Callable[[], Sequence[Note]]
    ranked: bool = True
    misc: Callable[[], Mapping[str, Float]] = field(default=_no_misc)

    def each(self) -> list[TreesOfOne]:
        """What is written of each sentence."""
        return [TreesOfOne(self, number) for number in range(len(self.sent_ids))]

    @cached_property
    def heads(self) -> list[Heads]:
        """The trees of each sentence, (K, n)."""
        return list(self.trees)

    @cached_property
    def lines(self) -> list[bytes]:
        """The lines of each sentence."""
        size = self.trees.size
        sent_ids = chain.from_iterable(repeat(quoted(sent_id), size) for sent_id in self.sent_ids)
        ranks = list(range(1, size + 1)) * len(self.sent_ids) if self.ranked else None
        lines = json_lines(sent_ids, ranks, self.trees.heads, self.trees.lengths.repeat(size), self._notes)
        ended = list(map(b"".join, lines))
        return ended if size == 1 else [b"".join(ended[at : at + size]) for at in range(0, len(ended), size)]

    @cached_property
    def _notes(self) -> Sequence[Note]:
        return self.notes()

    @cached_property
    def _misc(self) -> Mapping[str, Float]:
        return self.misc()

    def trees_of(self, number: int) -> Trees:
        """The trees of one sentence with their notes."""
        size = self.trees.size
        notes = [replace(note, values=note.values[number * size : (number + 1) * size]) for note in self._notes]
        misc = {name: self._words_of(values, number) for name, values in self._misc.items()}
        sentence = self.sent_ids[number], self.blocks[number], self.heads[number]
        return Trees(*sentence, notes, ranked=self.ranked, misc=misc)

    def _words_of(self, values: Array, number: int) -> Array:
        """Of values of all words those of one sentence, (K, n)."""
        heads = self.heads[number]
        start = int(self._starts[number])
        return values[start : start + heads.size].reshape(heads.shape)

    @cached_property
    def _starts(self) -> Array:
        sizes = self.trees.lengths * self.trees.size
        return np.cumsum(sizes) - sizes


@dataclass(frozen=True, eq=False, slots=True)
class TreesOfOne:
    """The trees of one of them, to be written."""

    of: TreesOfMany
    number: int

    def to_jsonl(self) -> bytes:
        """See `Trees`."""
        return self.of.lines[self.number]

    def to_conllu(self, style: Style) -> bytes:
        """See `Trees`."""
        return self.of.trees_of(self.number).to_conllu(style)

    def arrays(self) -> list[tuple[str, Integers, str]]:
        """The heads, of a single tree (n,)."""
        heads = self.of.heads[self.number]
        return [(self.of.sent_ids[self.number], smallest(heads if self.of.ranked else heads[0]), "")]
