"""What rules know of the words of many sentences at once: CoNLL-U as arrays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from deptree_cli.core.constraints.label_lists import LabelNumbers
from deptree_cli.core.constraints.many import ManyTrees
from deptree_cli.core.constraints.words import Words
from deptree_cli.core.dtypes import Bool, Int
from deptree_cli.io.conllu.blocks import Block
from deptree_cli.io.conllu.malformed import decoded
from deptree_cli.io.conllu.many import columns_of, heads_of, numbered, word_starts
from deptree_cli.io.rules.reading import acts_as

# Chunks of sentences have other labels each, and the same few: what rules know of them is kept.
_NUMBERED = LabelNumbers()

_NOTHING = "_"


@dataclass(frozen=True, eq=False)
class ManyGiven:
    """The trees of many sentences as they were given.

    Attributes:
        trees: as rules look at them; `kinds` has what stands in UPOS as tags, and empty names for no label.
    """

    trees: ManyTrees

    def only(self, chosen: Bool) -> ManyGiven:
        """Those of some of the sentences."""
        return ManyGiven(self.trees.only(chosen))

    def tree(self, number: int) -> tuple[list[int], list[str]]:
        """The heads and labels of a sentence."""
        tree, names = self.trees.tree(number), self.trees.kinds.labels
        return [*tree.heads], [names[label] for label in tree.labels]

    def count(self, words: Bool) -> Int:
        """How many of some words, (W,), each sentence has."""
        return np.bincount(self.trees.sentences[words], minlength=len(self.trees.sizes))

    @property
    def unlabelled(self) -> Bool:
        """Which words have no label, (W,)."""
        return np.array([not label for label in self.trees.kinds.labels])[self.trees.labels]

    @property
    def without_tags(self) -> Bool:
        """Which words have nothing in the column UPOS, (W,)."""
        return np.array([tag is None for tag in self.trees.kinds.tags])[self.trees.kind - 1]


def many_trees(blocks: Sequence[Block], have_other_tags: Sequence[bool]) -> ManyGiven:
    """The trees of sentences, right or not.

    Args:
        have_other_tags: of each sentence, whether rules know none of its parts of speech, for its tags are others.

    Raises:
        DeptreeError: something is not UTF-8.
    """
    starts = word_starts(blocks)
    deprel, upos, feats = columns_of(blocks, "deprel", "upos", "feats")
    tags, tag = numbered(upos)
    morphology, features = numbered(feats)
    # tag, features, and whether features and tags are known: a number for each kind of words that there is
    known = [2 * block.chunk.feats + other for block, other in zip(blocks, have_other_tags, strict=True)]
    others = np.repeat(np.array(known, dtype=np.int64), np.diff(starts))
    keys, kind = np.unique((tag * len(morphology) + features) * 4 + others, return_inverse=True)
    kinds = _words(*np.divmod(keys, 4), [_text(each) for each in tags], [_text(each) for each in morphology])
    texts, label = numbered(deprel)
    own = ["" if (name := _text(each)) == _NOTHING else name for each in texts]
    names, numbers = _NUMBERED.of(own)
    labels = np.array(numbers)[label]
    trees = ManyTrees(starts, np.maximum(heads_of(blocks), -1), labels, kind + 1, replace(kinds, labels=names))
    return ManyGiven(trees)


def _words(both: Int, others: Int, tags: Sequence[str], morphology: Sequence[str]) -> Words:
    """What is known of words of each kind."""
    found = [
        (None if other % 2 else acts_as(own, features), features, own)
        for other, (tag, feats) in zip(
            others.tolist(), np.stack(np.divmod(both, len(morphology)), 1).tolist(), strict=True
        )
        for own in [None if tags[tag] == _NOTHING else tags[tag]]
        for features in [frozenset(morphology[feats].split("|") if other > 1 or morphology[feats] != _NOTHING else ())]
    ]
    upos, known, given = zip(*found, strict=True)
    return Words((), upos, known, tags=given)


def _text(cell: bytes) -> str:
    return decoded(cell, "")
