"""How far single trees of many sentences agree: arrays over all of their words, of one tree from each file.

What is counted are words, so sums of them are exact; but what is added to other sums is told sentence by sentence, in
order, for there may be fractions in front of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

import numpy as np

from deptree_cli.core.agreement import LabelCounts
from deptree_cli.core.dtypes import Bool, Float, Int


@dataclass(frozen=True, eq=False)
class SingleTrees:
    """A tree of each of S sentences, W words in all, from each of F files.

    Attributes:
        sizes: (S,), how many words each sentence has.
        heads: (F, W), within the sentence, 0 = ROOT.
        labels: (F, W), the numbers of labels; any where a tree has none.
        labelled: (F, S), which trees have labels.
        names: of labels, in order.
    """

    sizes: Int
    heads: Int
    labels: Int
    labelled: Bool
    names: Sequence[str]

    @cached_property
    def attachment(self) -> Float:
        """In how many words of each sentence each pair of files agrees, (S, pairs)."""
        return np.stack([self._count(self._same(*pair)) for pair in self._pairs], axis=1)

    @cached_property
    def labelled_too(self) -> Float:
        """The same of heads with their labels; NaN where a tree has none."""
        found = [self._count(self._same_labels(*pair)) for pair in self._pairs]
        both = [self.labelled[a] & self.labelled[b] for a, b in self._pairs]
        return np.where(np.stack(both, axis=1), np.stack(found, axis=1), np.nan)

    @property
    def roots(self) -> Float:
        """How many words of each sentence stand below ROOT, in all files together, (S,)."""
        return self._count((self.heads == 0).sum(axis=0))

    def distances(self) -> Iterator[tuple[int, int]]:
        """The distances of heads from their words, each once for a sentence, with how often it has it in all files."""
        heads, longest = self.heads, int(self.sizes.max())
        cells = self._sentences * (2 * longest + 1) + heads - self._numbers + longest
        found, counts = np.unique(cells[heads > 0], return_counts=True)
        return zip((found % (2 * longest + 1) - longest).tolist(), counts.tolist(), strict=True)

    def label_counts(self) -> Iterator[tuple[str, int]]:
        """The labels of each sentence in order, with how often it has them in all files."""
        cells = self._sentences * len(self.names) + self.labels
        found, counts = np.unique(cells[self.labelled[:, self._sentences]], return_counts=True)
        named = (self.names[each] for each in (found % len(self.names)).tolist()) if len(found) else ()
        return zip(named, counts.tolist(), strict=True)

    def by_label(self) -> list[list[tuple[str, LabelCounts]]]:
        """Of each pair of files the labels of each sentence in order: how often each says them, and both do."""
        return [list(self._by_label(*pair)) for pair in self._pairs]

    def _by_label(self, a: int, b: int) -> Iterator[tuple[str, LabelCounts]]:
        both = (self.labelled[a] & self.labelled[b])[self._sentences]
        cells = [(self._sentences * len(self.names) + self.labels[each])[both] for each in (a, b)]
        cells.append(cells[0][self._same_labels(a, b)[both]])
        found, at = np.unique(np.concatenate(cells), return_inverse=True)
        parts = np.split(at, np.cumsum([len(each) for each in cells[:-1]]))
        counts = np.stack([np.bincount(part, minlength=len(found)) for part in parts], axis=1).astype(np.float64)
        names = [self.names[each] for each in (found % max(len(self.names), 1)).tolist()]
        return zip(names, map(LabelCounts._make, counts.tolist()), strict=True)

    @property
    def _pairs(self) -> list[tuple[int, int]]:
        return list(combinations(range(len(self.heads)), 2))

    @cached_property
    def _sentences(self) -> Int:
        """The sentence of each word, (W,)."""
        return np.repeat(np.arange(len(self.sizes)), self.sizes)

    @cached_property
    def _numbers(self) -> Int:
        """The number of each word in its sentence, from 1 on, (W,)."""
        return np.arange(self.sizes.sum()) - (np.cumsum(self.sizes) - self.sizes)[self._sentences] + 1

    def _same(self, a: int, b: int) -> Bool:
        same: Bool = self.heads[a] == self.heads[b]
        return same

    def _same_labels(self, a: int, b: int) -> Bool:
        same: Bool = self._same(a, b) & (self.labels[a] == self.labels[b])
        return same

    def _count(self, words: Bool | Int) -> Float:
        """The sums of words, (W,), in each sentence."""
        return np.bincount(self._sentences, words, len(self.sizes)).astype(np.float64)
