"""Sentences with trees that somebody gave them, right or not, and what these should be."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import compress, pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from deptree_cli.core.errors import DeptreeError
from deptree_cli.core.spaces import TreeSpace
from deptree_cli.io.conllu.blocks import UNLABELLED, Block
from deptree_cli.io.rules.many import ManyGiven, many_trees
from deptree_cli.io.sentence import Sentence
from deptree_cli.io.trees.base import names_of
from deptree_cli.io.trees.written import Written

if TYPE_CHECKING:
    from deptree_cli.core.constraints.checking import Violation
    from deptree_cli.core.constraints.ruleset import Ruleset
    from deptree_cli.core.distribution import TreeDistribution
    from deptree_cli.io.rules.constraints import Constraints, SentenceConstraints


@dataclass(frozen=True, eq=False)
class GivenTree:
    """What a sentence has for a tree, and what it should be.

    Attributes:
        read: the sentence as it was read.
        block: the sentence.
        name: its own, or its running number.
        asked: what its tree should obey; if the tags are no parts of speech, rules know none.
        space: of which it should be.
        distribution: of its trees, if there are scores.
    """

    read: Any
    block: Block
    name: str
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
        """Whether there is something to repair: it is no tree, breaks a rule, or lacks labels that can be filled."""
        return bool(self.broken) or ("" in self.labels and (any(self.labels) or bool(self.asked_labels)))

    @property
    def asked_labels(self) -> set[str]:
        """The labels that annotators and rules name, one if these name patterns; none without a column for labels."""
        asked = self.asked.rules.asks_for if "deprel" in self.block.columns else ()
        return {*self.asked.named, *(self.asked.rules.labels or [UNLABELLED] if "label" in asked else [])}


@dataclass(frozen=True)
class Asked:
    """What trees should be; it travels to worker processes.

    Attributes:
        constraints: what they should obey.
        space: of which they should be.
        mends: whether trees are repaired: rules do not use single tags that are no parts of speech.
    """

    constraints: Constraints
    space: TreeSpace
    mends: bool = False

    def __call__(self, read: Sentence | Written) -> GivenTree:
        """A sentence with it."""
        block, name = (read.sentence, read.sent_id) if isinstance(read, Sentence) else (read.block, read.name)
        names = (each for each in names_of(block.sent_id) if each in self.constraints.of_words)
        asked = self.constraints.of(next(names, name), block, block.n, None)
        if read.has_other_tags:
            asked = replace(asked, words=replace(asked.words, upos=[None] * block.n))
        elif self.mends:
            asked = replace(asked, words=asked.words.knowing(asked.rules.upos))
        return GivenTree(read, block, name, asked, self.space)

    def batch(self, items: Sequence[Sentence | Written]) -> GivenTrees | None:
        """Those that have trees of which rules alone ask something; None where none has."""
        if self.constraints.in_misc:
            return None
        found = [(place, item, block) for place, item in enumerate(items) if (block := self._block(item)) is not None]
        if not found:
            return None
        places, read, blocks = map(list, zip(*found, strict=True))
        try:
            many = many_trees(blocks, [item.has_other_tags for item in read])
        except DeptreeError:  # not UTF-8: of one sentence, which is told of it by itself
            return None
        if self.mends:
            many = ManyGiven(replace(many.trees, kinds=many.trees.kinds.knowing(self.constraints.rules.upos)))
        sound = many.trees.are_trees(self.space)
        if not sound.any():
            return None
        places, read, blocks = (list(compress(each, sound)) for each in (places, read, blocks))
        return GivenTrees(places, read, blocks, many.only(sound), self.constraints.rules)

    def _block(self, item: Sentence | Written) -> Block | None:
        """An item's sentence; None where it is malformed, or something is asked of its own words."""
        try:
            block = item.sentence if isinstance(item, Sentence) else item.block
        except DeptreeError:
            return None
        of_words = self.constraints.of_words
        return (
            None if of_words and any(each in of_words for each in [*names_of(block.sent_id), item.sent_id]) else block
        )


@dataclass(frozen=True, eq=False)
class GivenTrees:
    """Sentences that have trees, of which rules ask something.

    Attributes:
        places: the number of each among those that there were.
        read: the sentences as they were read.
        blocks: the sentences.
        many: their trees.
        rules: what these should obey.
    """

    places: list[int]
    read: list[Any]
    blocks: list[Block]
    many: ManyGiven
    rules: Ruleset

    @cached_property
    def broken(self) -> list[list[Violation]]:
        """The places where each breaks a rule."""
        from deptree_cli.core.constraints.checking import broken_in_many

        return broken_in_many(self.rules, self.many.trees)

    @cached_property
    def wrong_tags(self) -> list[list[Violation]]:
        """The words of each whose UPOS is no part of speech."""
        from deptree_cli.core.constraints.checking import wrong_tags_in_many

        return wrong_tags_in_many(self.rules, self.many.trees)

    @cached_property
    def unlabelled(self) -> list[int]:
        """How many words of each have no label."""
        return self.many.count(self.many.unlabelled).tolist()

    @cached_property
    def untagged(self) -> list[int]:
        """How many words of each have nothing in the column UPOS."""
        return self.many.count(self.many.without_tags).tolist()

    @property
    def label_sets(self) -> Iterator[frozenset[str]]:
        """The labels that each has."""
        trees = self.many.trees
        named = [trees.kinds.labels[label] for label in trees.labels.tolist()]
        return (frozenset(named[start:end]) for start, end in pairwise(trees.starts.tolist()))

    @cached_property
    def are_suspect(self) -> list[bool]:
        """Whether there is something to repair in each, as `GivenTree.is_suspect`."""
        words, filled = self.many.trees.sizes.tolist(), "label" in self.rules.asks_for
        looked_at = zip(self.broken, self.unlabelled, words, self.blocks, strict=True)
        return [
            bool(broken) or 0 < unlabelled < n + (filled and "deprel" in block.columns)
            for broken, unlabelled, n, block in looked_at
        ]

    def without(self, marked: Sequence[bool]) -> GivenTrees:
        """The others than those that are marked, which break no rule; there may be none."""
        sound = [not each for each in marked]
        if all(sound):
            return self
        places, read, blocks = (list(compress(each, sound)) for each in (self.places, self.read, self.blocks))
        found = GivenTrees(places, read, blocks, self.many.only(np.array(sound)), self.rules)
        found.__dict__["broken"] = [[] for _ in places]
        return found

    def name(self, number: int) -> str:
        """What messages call a sentence: its own name, or its running number."""
        read = self.read[number]
        return read.sent_id if isinstance(read, Sentence) else self.blocks[number].sent_id or read.sent_id
