"""The trees of each sentence of a file: of an annotator, of a parser, or samples."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from deptree_cli.core.dtypes import Heads, Int
from deptree_cli.core.errors import DeptreeError
from deptree_cli.io.trees import read_trees
from deptree_cli.io.trees.base import GivenTree, sentence_of

_DISTINCT = "these trees were drawn without replacement (swor), so each stands for more or less than one"


@dataclass(frozen=True, eq=False)
class TreeSet:
    """The trees of a sentence in one file.

    Attributes:
        sent_id: without the mark of a sample; empty if the file does not name sentences.
        place: where the first was read.
        heads: (k, n), distinct unless labels differ.
        times: (k,), how often each is there.
        labels: k times n names; none if a word has none.
    """

    sent_id: str
    place: str
    heads: Heads
    times: Int
    labels: tuple[tuple[str, ...], ...] = ()

    @property
    def names(self) -> Sequence[str]:
        """What the sentence is called in other files."""
        return [self.sent_id] if self.sent_id else []

    @property
    def n(self) -> int:
        """How many words the sentence has."""
        return self.heads.shape[1]


def read_sets(path: str) -> Iterator[TreeSet | DeptreeError]:
    """The trees of each sentence of a file, which stand together; an error among them stands for all of its sentence.

    Trees without a name are of a sentence each.

    Raises:
        DeptreeError: reading cannot begin or go on.
    """
    group: list[GivenTree | DeptreeError] = []
    for tree in read_trees(path, named=False):
        if group and not _belongs(tree, group):
            yield _together(group)
            group = []
        group.append(tree)
    if group:
        yield _together(group)


def _belongs(tree: GivenTree | DeptreeError, group: Sequence[GivenTree | DeptreeError]) -> bool:
    """Whether a tree is of the sentence of those in front; so is an error that names no sentence, if they name one."""
    name, first, last = sentence_of(tree), sentence_of(group[0]), group[-1]
    if isinstance(tree, DeptreeError) and not name:
        return bool(first)
    other = isinstance(tree, GivenTree) and isinstance(last, GivenTree) and len(tree.heads) != len(last.heads)
    return bool(name) and name == first and not other


def _together(group: Sequence[GivenTree | DeptreeError]) -> TreeSet | DeptreeError:
    times: Counter[tuple[tuple[int, ...], tuple[str, ...]]] = Counter()
    for tree in group:
        if isinstance(tree, GivenTree) and tree.distinct:
            tree = DeptreeError(_DISTINCT, "Give trees as `sample` draws them", place=tree.place)
        if isinstance(tree, DeptreeError):
            tree.sent_id = sentence_of(group[0])
            return tree
        complete = len(tree.labels) == len(tree.heads) and "_" not in tree.labels
        times[tree.heads, tree.labels if complete else ()] += tree.times
    heads = np.array([tree for tree, _ in times], dtype=np.int32)
    labels = tuple(each for _, each in times)
    numbers = np.array(list(times.values()), dtype=np.int64)
    return TreeSet(sentence_of(group[0]), group[0].place, heads, numbers, labels if all(labels) else ())
