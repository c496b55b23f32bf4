"""The symbols of a parser: its words, tags and labels by number, and the contexts in which they are predicted."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from deptree_cli.core.dtypes import Heads, Int
from deptree_cli.hpyp.model.annotated import UNKNOWN, Annotated
from deptree_cli.hpyp.model.contexts import NAMES, Contexts
from deptree_cli.hpyp.model.vocabulary import Lexicon, Vocabulary


@dataclass(frozen=True, eq=False)
class Symbols:
    """What a parser's numbers mean.

    Attributes:
        lexicon: of words; an empty one where words are not generated.
        tags: of tags.
        labels: the names of labels, numbered from 0.
        contexts: of actions, tags and words.
    """

    lexicon: Lexicon
    tags: Vocabulary
    labels: tuple[str, ...]
    contexts: Contexts

    @classmethod
    def of(cls, treebank: Sequence[Annotated], contexts: Contexts, unlabelled: Iterable[Annotated] = ()) -> Symbols:
        """The symbols of a treebank; those of words also of text without trees."""
        words = [*treebank, *unlabelled] if contexts.word else []
        tags = Vocabulary.of(tag for sentence in treebank for tag in sentence.tags)
        labels = dict.fromkeys(label for sentence in treebank for label in sentence.deprels)
        return cls(Lexicon.of(words), tags, tuple(labels), contexts)

    @property
    def is_lexicalised(self) -> bool:
        """Whether words are generated too."""
        return bool(self.contexts.word)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the processes there are: ``action``, ``tag``, and ``word`` if words are generated."""
        return NAMES if self.is_lexicalised else NAMES[:2]

    @property
    def dishes(self) -> tuple[int, ...]:
        """Above which number there are no actions, tags and words."""
        return (2 * len(self.labels) + 1, self.tags.size, self.lexicon.vocabulary.size)[: len(self.names)]

    @property
    def choices(self) -> tuple[int, ...]:
        """How many actions, tags and words can be predicted: the root's symbol is no tag and no word."""
        actions, *others = self.dishes
        return (actions, *(number - 1 for number in others))

    @cached_property
    def codes(self) -> tuple[Int, ...]:
        """The elements of the contexts of actions, tags and words, as kernels know them; none for no words."""
        return tuple(self.contexts.codes(name) for name in NAMES)

    def words_of(self, sentence: Annotated) -> Heads:
        """The numbers of a sentence's words, (n,) int32; all null where words are not generated."""
        return self.lexicon.ids(sentence.forms)[1:]

    def tags_of(self, sentence: Annotated) -> Heads:
        """The numbers of a sentence's tags, (n,) int32; null for tags that were never seen."""
        return np.array([self.tags.id(tag) for tag in sentence.tags], dtype=np.int32)

    def unseen_labels(self, sentence: Annotated) -> tuple[str, ...]:
        """The labels of a sentence that were never seen, as often as they are there; a missing one is none."""
        return tuple(label for label in sentence.deprels if label not in (UNKNOWN, *self.labels))

    @cached_property
    def label_numbers(self) -> dict[str, int]:
        """The numbers of labels by name."""
        return {label: number for number, label in enumerate(self.labels)}
