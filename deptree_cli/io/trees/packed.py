"""The trees of many sentences of CoNLL-U in one array, checked, with or without punctuation and multiword tokens."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import compress

import numpy as np

from deptree_cli.core import errors
from deptree_cli.core.dtypes import Int
from deptree_cli.core.errors import DeptreeError, counted
from deptree_cli.core.evaluation import PUNCTUATION, universal
from deptree_cli.core.measures import Reduction
from deptree_cli.core.spaces import NonProjective, TreeSpace
from deptree_cli.io.conllu.blocks import Block, surface_tokens
from deptree_cli.io.sentence import Sentence
from deptree_cli.io.trees import sentences_that_are_trees, tree_of


@dataclass(frozen=True, eq=False)
class PackedTrees:
    """The trees of sentences.

    Attributes:
        places: the number of each sentence among those that there were.
        read: the sentences.
        heads: of all, one behind the other, (words,), 0 for ROOT.
        starts: (sentences + 1,), where each begins and the last ends.
        reductions: how each tree was reduced; empty if trees are whole.
    """

    places: Sequence[int]
    read: Sequence[Sentence]
    heads: Int
    starts: Int
    reductions: Sequence[Reduction] = ()

    @cached_property
    def lengths(self) -> Int:
        return np.diff(self.starts)


@dataclass(frozen=True)
class Packing:
    """How sentences become packed trees; it travels to worker processes.

    Attributes:
        space: of which trees have to be.
        no_punct: leave out words with the label punct; their dependents go to their heads.
        tokens: take a multiword token as one word.
    """

    space: TreeSpace
    no_punct: bool = False
    tokens: bool = False

    def __call__(self, read: Sentence) -> PackedTrees:
        heads = np.array(tree_of(read.sentence).heads, dtype=np.int64)
        if not self.space.contains(heads[None])[0]:
            raise self._not_of_space(heads)
        return self._packed([0], [read], [heads])

    def batch(self, read: Sequence[Sentence]) -> PackedTrees | None:
        found = [
            (place, each, np.array(heads, dtype=np.int64))
            for place, each in enumerate(read)
            if None not in (heads := each.sentence.heads)
        ]
        if not isinstance(self.space, NonProjective):
            found = [each for each in found if self.space.contains(each[2][None])[0]]
        if found:
            own = [each[2] for each in found]
            sound = sentences_that_are_trees(np.concatenate(own), np.cumsum([0, *map(len, own)])).tolist()
            found = list(compress(found, sound))
        if self.space.single_root:
            found = [each for each in found if np.count_nonzero(each[2] == 0) == 1]
        if not found:
            return None
        try:
            return self._packed(*map(list, zip(*found, strict=True)))
        except DeptreeError:
            return None  # of one sentence, which is told of it by itself

    def _packed(self, places: list[int], read: list[Sentence], heads: list[Int]) -> PackedTrees:
        reductions = [self._reduction(each.sentence) for each in read] if self.no_punct or self.tokens else []
        if reductions:
            heads = [each.of(own[None])[0] for each, own in zip(reductions, heads, strict=True)]
        for each, own in zip(read, heads, strict=True) if reductions else ():
            _check_rest(own, each, self.space)
        starts = np.concatenate([[0], np.cumsum([len(each) for each in heads])]).astype(np.int64)
        return PackedTrees(places, read, np.concatenate(heads), starts, reductions)

    def _reduction(self, block: Block) -> Reduction:
        removed = np.zeros(block.n, dtype=bool)
        if self.no_punct:
            removed[:] = [universal(label) == PUNCTUATION for label in block.deprels]
        units = None
        if self.tokens:
            tokens = surface_tokens(block)
            units = np.repeat(np.arange(len(tokens)), [each.last - each.first + 1 for each in tokens])
        return Reduction(removed, units)

    def _not_of_space(self, heads: Int) -> DeptreeError:
        roots = int(np.count_nonzero(heads == 0))
        if self.space.single_root and roots > 1:
            problem, setting = f"the tree has {counted(roots, 'root')}", errors.SEVERAL_ROOTS
            return DeptreeError(problem, f"Add {setting}, or correct the tree", options=(setting,))
        return DeptreeError(f"the tree is none of the {self.space.trees}", "Choose another tree space, or correct it")


def _check_rest(heads: Int, read: Sentence, space: TreeSpace) -> None:
    """Raise if what is left of a tree is none."""
    if not len(heads):
        raise DeptreeError("no word is left without punctuation", "Leave this sentence out", place=read.place)
    roots = int(np.count_nonzero(heads == 0))
    if space.single_root and roots > 1:
        problem = f"the root is punctuation, and without it the tree has {counted(roots, 'root')}"
        setting = errors.SEVERAL_ROOTS
        raise DeptreeError(problem, f"Add {setting}, or correct the tree", place=read.place, options=(setting,))
