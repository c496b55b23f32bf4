"""Trees of many sentences in one array."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from deptree_cli.core.batches.blocks import starts_of
from deptree_cli.core.dtypes import Heads, Int


@dataclass(frozen=True, eq=False)
class RaggedTrees:
    """K trees of each sentence.

    Attributes:
        heads: int32, those of all trees one after another.
        lengths: (B,), of the sentences.
        size: K.
    """

    heads: Heads
    lengths: Int
    size: int

    @classmethod
    def empty(cls, lengths: Int, size: int) -> RaggedTrees:
        """Trees to be filled in."""
        return cls(np.empty(size * int(lengths.sum()), dtype=np.int32), lengths, size)

    @cached_property
    def starts(self) -> Int:
        """(B,), where the trees of each sentence begin."""
        return starts_of(self.lengths * self.size)

    def of(self, b: int) -> Heads:
        """The trees of a sentence, (K, n)."""
        n, start = int(self.lengths[b]), int(self.starts[b])
        return self.heads[start : start + n * self.size].reshape(self.size, n)

    def __iter__(self) -> Iterator[Heads]:
        """The trees of each sentence, (K, n)."""
        return map(self.of, range(len(self.lengths)))
