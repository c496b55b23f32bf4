"""Sets of trees of the same sentences: one of an annotator or a parser, or the samples that somebody drew."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

import numpy as np

from deptree_cli.core.dtypes import Heads, Int
from deptree_cli.core.errors import DeptreeError
from deptree_cli.io.trees import read_trees
from deptree_cli.io.trees.base import GivenTree


@dataclass(frozen=True, eq=False)
class TreeSet:
    """The trees of a sentence that stand together in a file.

    Attributes:
        names: what the sentence may be called, likeliest first; none if the file does not say.
        place: where the first tree was read.
        heads: (k, n).
        times: (k,), how often each is given.
        labels: the labels of each tree, (k, n) names; none if they have none.
    """

    names: Sequence[str]
    place: str
    heads: Heads
    times: Int
    labels: Sequence[Sequence[str]]

    @property
    def n(self) -> int:
        """How many words the sentence has."""
        return self.heads.shape[1]

    @classmethod
    def of(cls, trees: Sequence[GivenTree]) -> TreeSet:
        """The set of some trees of one sentence."""
        labels = [tree.labels for tree in trees] if all(tree.labels for tree in trees) else []
        heads = np.array([tree.heads for tree in trees], dtype=np.int32)
        times = np.array([tree.times for tree in trees], dtype=np.int64)
        return cls(trees[0].names[::-1], trees[0].place, heads, times, labels)


def read_tree_sets(path: str) -> Iterator[TreeSet | DeptreeError]:
    """The trees of a file, those of one sentence that stand together as a set; or what is not a tree.

    ``X/sample_3`` is a tree of X. Trees without a name are of a sentence each.
    """
    for _, group in groupby(enumerate(read_trees(path, named=False)), _same_sentence):
        trees = [tree for _, tree in group]
        yield from [each for each in trees if isinstance(each, DeptreeError)]
        if found := [each for each in trees if isinstance(each, GivenTree)]:
            yield TreeSet.of(found)


def _same_sentence(numbered: tuple[int, GivenTree | DeptreeError]) -> object:
    """What trees of one sentence have in common."""
    number, tree = numbered
    if isinstance(tree, DeptreeError) or not tree.names:
        return number
    return tree.names[-1], len(tree.heads)
