"""Sentences with trees that somebody gave them, right or not, and what these should be."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from deptree_cli.core.constraints.words import Words
from deptree_cli.core.spaces import TreeSpace
from deptree_cli.io.conllu.blocks import Block
from deptree_cli.io.sentence import Sentence
from deptree_cli.io.trees.base import names_of
from deptree_cli.io.trees.written import Written

if TYPE_CHECKING:
    from deptree_cli.core.constraints.checking import Violation
    from deptree_cli.core.distribution import TreeDistribution
    from deptree_cli.io.rules.constraints import Constraints, SentenceConstraints


@dataclass(frozen=True, eq=False)
class GivenTree:
    """What a sentence has for a tree, and what it should be.

    Attributes:
        read: the sentence as it was read.
        block: the sentence.
        name: its own, or its running number.
        words: what is known of its words.
        asked: what its tree should obey; if the tags are no parts of speech, rules know none.
        space: of which it should be.
        distribution: of its trees, if there are scores.
    """

    read: Any
    block: Block
    name: str
    words: Words
    asked: SentenceConstraints
    space: TreeSpace
    distribution: TreeDistribution | None = None

    @cached_property
    def heads(self) -> Sequence[int]:
        """The heads of its words, `NO_HEAD` where there is none."""
        from deptree_cli.core.constraints.checking import NO_HEAD  # when there is work

        return [NO_HEAD if head is None else head for head in self.block.heads]

    @cached_property
    def labels(self) -> Sequence[str]:
        """The labels of its words, empty where there is none."""
        return ["" if label == "_" else label for label in self.block.deprels]

    @cached_property
    def broken(self) -> list[Violation]:
        """The places where it is no tree, or breaks a rule."""
        return self.asked.broken(self.heads, self.labels, self.space)

    @cached_property
    def wrong_tags(self) -> list[Violation]:
        """The words whose UPOS is no part of speech."""
        from deptree_cli.core.constraints.checking import wrong_tags

        return wrong_tags(self.asked.rules, self.asked.words)

    @property
    def is_suspect(self) -> bool:
        """Whether there is something to repair: it is no tree, breaks a rule, or lacks the labels of some words."""
        return bool(self.broken) or ("" in self.labels and any(self.labels))


@dataclass(frozen=True)
class Asked:
    """What trees should be; it travels to worker processes.

    Attributes:
        constraints: what they should obey.
        space: of which they should be.
    """

    constraints: Constraints
    space: TreeSpace

    def __call__(self, read: Sentence | Written) -> GivenTree:
        """A sentence with it."""
        block, name = (read.sentence, read.sent_id) if isinstance(read, Sentence) else (read.block, read.name)
        names = (each for each in names_of(block.sent_id) if each in self.constraints.of_words)
        asked = self.constraints.of(next(names, name), block, block.n, None)
        words = asked.words
        if read.has_other_tags:
            asked = replace(asked, words=replace(words, upos=[None] * block.n))
        return GivenTree(read, block, name, words, asked, self.space)
