"""A treebank as numbers, sentences laid end to end."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b

import numpy as np

from deptree_cli.core.dtypes import Heads, Int
from deptree_cli.core.hpyp.annotated import Annotated
from deptree_cli.core.hpyp.symbols import Symbols
from deptree_cli.kernels.hpyp.projectivise import projectivise


@dataclass(frozen=True, eq=False)
class Corpus:
    """Sentences as numbers.

    Attributes:
        cuts: (sentences + 1,), where each sentence's words begin.
        words, tags: (words,) int32, numbers of symbols.
        heads: (words,) int32, within each sentence, 0 = ROOT; projective.
        deprels: (words,) int32, labels from 0.
        lifted: how many sentences were made projective.
    """

    cuts: Int
    words: Heads
    tags: Heads
    heads: Heads
    deprels: Heads
    lifted: int = 0

    @classmethod
    def of(cls, treebank: Sequence[Annotated], symbols: Symbols) -> Corpus:
        """The numbers of a treebank of complete sentences that were checked (`Annotated.check_trainable`).

        Arcs that cross others are lifted (`kernels/hpyp/projectivise.py`).
        """
        trees = [sentence.heads.astype(np.int32) for sentence in treebank]
        lifted = sum(projectivise(heads) > 0 for heads in trees)
        numbers = symbols.label_numbers
        return cls(
            np.cumsum([0, *(sentence.n for sentence in treebank)]),
            np.concatenate([symbols.words_of(sentence) for sentence in treebank]),
            np.concatenate([symbols.tags_of(sentence) for sentence in treebank]),
            np.concatenate(trees),
            np.array([numbers[label] for sentence in treebank for label in sentence.deprels], dtype=np.int32),
            lifted,
        )

    @property
    def size(self) -> int:
        """How many sentences there are."""
        return len(self.cuts) - 1

    @property
    def digest(self) -> str:
        """A name for exactly these numbers: training can go on with no others."""
        found = blake2b(digest_size=8)
        for array in (self.cuts, self.words, self.tags, self.heads, self.deprels):
            found.update(np.ascontiguousarray(array).tobytes())
        return found.hexdigest()
