"""Sentences as numbers, laid end to end: a text, or a treebank with its trees."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b

import numpy as np

from deptree_cli.core.dtypes import Heads, Int
from deptree_cli.hpyp.kernels.projectivise import projectivise
from deptree_cli.hpyp.model.annotated import Annotated
from deptree_cli.hpyp.model.symbols import Symbols


@dataclass(frozen=True, eq=False)
class Text:
    """Sentences of which only the words count.

    Attributes:
        cuts: (sentences + 1,), where each sentence's words begin.
        words: (words,) int32, numbers of symbols.
    """

    cuts: Int
    words: Heads

    @classmethod
    def of(cls, sentences: Sequence[Annotated], symbols: Symbols) -> Text:
        """The numbers of sentences; there is one at least."""
        lengths = [sentence.n for sentence in sentences]
        return cls(np.cumsum([0, *lengths]), np.concatenate([symbols.words_of(sentence) for sentence in sentences]))

    @property
    def size(self) -> int:
        """How many sentences there are."""
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
    """Sentences with their trees.

    Attributes:
        tags: (words,) int32, numbers of symbols.
        heads: (words,) int32, within each sentence, 0 = ROOT; projective.
        deprels: (words,) int32, labels from 0.
        lifted: how many sentences were made projective.
    """

    tags: Heads
    heads: Heads
    deprels: Heads
    lifted: int

    @classmethod
    def of(cls, sentences: Sequence[Annotated], symbols: Symbols) -> Corpus:
        """The numbers of a treebank of complete sentences that were checked (`Annotated.check_trainable`).

        Arcs that cross others are lifted (`hpyp/kernels/projectivise.py`).
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
