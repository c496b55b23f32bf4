"""What constraints know of the trees of many sentences at once: arrays over all of their words.

A word is there as one of the kinds of words that there are: rules ask for its part of speech and features alone. Words
of all sentences are numbered on from 0; within its sentence a word has its number from 1 on, and heads have theirs.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from deptree_cli.core.constraints.words import Condition, LabelledTree, Words
from deptree_cli.core.dtypes import Bool, Int
from deptree_cli.core.spaces import TreeSpace
from deptree_cli.core.spaces.rules import crossings

# The number of a sentence, and words of it.
Place = tuple[int, tuple[int, ...]]


@dataclass(frozen=True, eq=False)
class ManyTrees:
    """The trees of S sentences, W words in all.

    Attributes:
        starts: (S + 1,), where the words of each begin, and where the last end.
        heads: (W,), within the sentence, 0 = ROOT.
        labels: (W,), the numbers of labels, whose names those of `kinds` are.
        kind: (W,), which of the kinds of words each is, from 1 on, for 0 is ROOT's.
        kinds: what is known of a word of each kind.
    """

    starts: Int
    heads: Int
    labels: Int
    kind: Int
    kinds: Words

    @cached_property
    def sizes(self) -> Int:
        """How many words each sentence has, (S,)."""
        return np.diff(self.starts)

    @cached_property
    def sentences(self) -> Int:
        """The sentence of each word, (W,)."""
        return np.repeat(np.arange(len(self.sizes)), self.sizes)

    @cached_property
    def numbers(self) -> Int:
        """The number of each word in its sentence, (W,)."""
        return np.arange(len(self.heads)) - self.starts[self.sentences] + 1

    @cached_property
    def above(self) -> Int:
        """The head of each word as the index of a word, (W,); below ROOT it is none."""
        return self.heads + self.starts[self.sentences] - 1

    @cached_property
    def nodes(self) -> Int:
        """The head of each word as a number that no other node has, that of ROOT another one in each sentence, (W,)."""
        return self.above + self.sentences + 1

    @cached_property
    def crossed(self) -> Bool:
        """Which words have arcs that others cross, (W,)."""
        found = np.empty(len(self.heads), dtype=np.bool_)
        for words in self.by_size():
            found[words] = crossings(self.heads[words]) > 0
        return found

    def by_size(self) -> Iterator[Int]:
        """The words of sentences of the same length, (k, n): of each length there is."""
        for n in np.unique(self.sizes).tolist():
            yield self.starts[:-1][self.sizes == n][:, None] + np.arange(n)

    def are_trees(self, space: TreeSpace) -> Bool:
        """Which sentences have trees of a space, (S,)."""
        found = np.zeros(len(self.sizes), dtype=np.bool_)
        for words in self.by_size():
            found[self.sentences[words[:, 0]]] = space.contains(self.heads[words])
        return found

    def only(self, chosen: Bool) -> ManyTrees:
        """Those of some of the sentences."""
        if chosen.all():
            return self
        words = chosen[self.sentences]
        starts = np.concatenate([[0], np.cumsum(self.sizes[chosen])])
        return replace(self, starts=starts, heads=self.heads[words], labels=self.labels[words], kind=self.kind[words])

    def some(self, of_kinds: Bool) -> Bool:
        """Which words are in sentences that have a word of some kinds, (W,); of_kinds: (K,)."""
        found = np.bincount(self.sentences, of_kinds[self.kind - 1], len(self.sizes)) > 0
        return found[self.sentences]

    @cached_property
    def with_tags(self) -> Bool:
        """Which words are in sentences of which some part of speech is known, (W,)."""
        return self.some(~self.kinds.untagged[1:])

    @cached_property
    def with_feats(self) -> Bool:
        """Which words are in sentences of which features are known, (W,)."""
        return self.some(np.array([bool(each) for each in self.kinds.feats]))

    def meant(self, condition: Condition, words: Int) -> Bool:
        """Which of some words a condition means, in their shape."""
        return condition.words(self.kinds)[self.kind[words]] & condition.labels(self.kinds.labels)[self.labels[words]]

    def places(self, *words: Int) -> Iterator[Place]:
        """Words of all sentences, some of one sentence at a time, as places; each argument has one of each place."""
        columns = (self.numbers[each].tolist() for each in words)
        return zip(self.sentences[words[0]].tolist(), zip(*columns, strict=True), strict=True)

    def words(self, sentence: int) -> Words:
        """What is known of the words of a sentence."""
        kinds = (self.kind[self.starts[sentence] : self.starts[sentence + 1]] - 1).tolist()
        upos, feats = ([given[each] for each in kinds] for given in (self.kinds.upos, self.kinds.feats))
        return Words(self.kinds.labels, upos, feats)

    def tree(self, sentence: int) -> LabelledTree:
        """The tree of a sentence."""
        own = slice(self.starts[sentence], self.starts[sentence + 1])
        return LabelledTree(self.heads[own].tolist(), self.labels[own].tolist())
