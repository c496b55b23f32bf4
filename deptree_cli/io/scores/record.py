"""One sentence as it was read: its scores, and what belongs to it from other files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from deptree_cli.core.dtypes import Array, Heads
from deptree_cli.io.conllu.blocks import Block
from deptree_cli.io.conllu.malformed import no_sentences


@dataclass(slots=True, eq=False)  # not frozen, which costs a microsecond a sentence
class Record:
    """One sentence as it was read.

    Attributes:
        sent_id: the CoNLL-U's, else the key of the scores, else the running number.
        number: the running number, from 1.
        scores: as read (any orientation), cut to the sentence's length.
        block: the CoNLL-U sentence if there is one, else the words if they stand beside the scores.
        place: of the scores, for messages.
        key: the name of the scores, where they have one.
        padded: whether the scores are a whole slice of a batch, taken as it is for want of a length.
        other: the same sentence's scores from another file, if there is one.
        labels: the scores of its labels from a file of their own, if there is one.
        gold: the same sentence with the heads that are known to be right, if there is such a file.
        named: whether the sentence or its scores have a name, and not a running number alone.
    """

    sent_id: str
    number: int
    scores: Array
    block: Block | None
    place: str
    key: str | None = None
    padded: bool = False
    other: Array | None = None
    labels: Array | None = None
    gold: Block | None = None
    named: bool = True

    @property
    def names(self) -> Sequence[str]:
        """What it may be called in other files, likeliest first."""
        key = () if self.key is None else (self.key,)
        return tuple(dict.fromkeys((self.sent_id, *key))) if self.named else key

    @property
    def weight(self) -> int:
        """How many numbers it has."""
        return self.scores.size

    @property
    def known_heads(self) -> Heads:
        """The heads that are known to be right, (n,), -1 where none is: those of `gold`, else those of the sentence."""
        block = self.gold or self.block
        heads = block.heads if block else []
        return np.array([-1 if head is None else head for head in heads], dtype=np.int32)

    @property
    def sentence(self) -> Block:
        """The CoNLL-U sentence.

        Raises:
            DeptreeError: there is none.
        """
        if self.block is None:
            raise no_sentences()
        return self.block
