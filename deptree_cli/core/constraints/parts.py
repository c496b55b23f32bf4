"""Parts of a sentence's labelled trees: those in which words do not make some choices."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from deptree_cli.core.constraints.conflicts import Choice
from deptree_cli.core.constraints.search_scores import Scores
from deptree_cli.core.dtypes import Bool, Float, Int, read_only
from deptree_cli.core.spaces import TreeSpace


@dataclass(frozen=True, eq=False)
class Best:
    """The best of each node's arcs.

    Attributes:
        scores: (2, n+1), of arcs from words, and of that from ROOT.
        at: (3, n+1), the head and the label of the one, and the label of the other.
    """

    scores: Float
    at: Int

    def bound(self, space: TreeSpace) -> float:
        """What trees score at most: each word has its best arc; with a single root, one has that from ROOT."""
        words, root = self.scores[:, 1:]
        if not space.single_root:
            return float(np.maximum(words, root).sum())
        rootless = words == -np.inf
        if rootless.any():  # without another arc: only one word may be so
            return -np.inf if rootless.sum() > 1 else float(words[~rootless].sum() + root[rootless][0])
        return float(words.sum() + (root - words).max())


@dataclass(frozen=True, eq=False)
class Part:
    """What is left of a sentence's choices; of words that are in none of these, all.

    Attributes:
        best: None where nothing has gone.
        labels: which labels words may have below which heads, (n+1, L).
        columns: the best scores of words' arcs, (n+1,), -inf where none is left.
        gone: choices beside those, which `labels` and `columns` still have: most parts are never opened.
    """

    best: Best | None = None
    labels: Mapping[int, Bool] = field(default_factory=dict)
    columns: Mapping[int, Float] = field(default_factory=dict)
    gone: Mapping[int, Bool] = field(default_factory=dict)

    def bound(self, space: TreeSpace) -> float:
        """What its trees score at most."""
        return np.inf if self.best is None else self.best.bound(space)


class Parts:
    """Makes parts of a sentence.

    Args:
        scores: of its arcs with labels.
    """

    def __init__(self, scores: Scores) -> None:
        self._scores = scores

    def without(self, part: Part, choices: Iterable[Choice]) -> Part:
        """What is left of a part where words do not make these choices."""
        gone, best = dict(part.gone), part.best or self._best
        scores, at = best.scores.copy(), best.at.copy()
        for word, arcs in choices:
            gone[word] = gone[word] | arcs if word in gone else arcs
            head, label, below_root = at[:, word].tolist()
            of_all = arcs.shape[1] == 1
            if arcs[head, 0 if of_all else label] or arcs[0, 0 if of_all else below_root]:
                self._fill_most_left(part, word, gone[word], scores, at)
        return Part(Best(scores, at), part.labels, part.columns, gone)

    def most_left(self, part: Part, word: int, gone: Bool) -> float:
        """The best score of a word's arcs without those that are gone."""
        scores, at = self._room
        self._fill_most_left(part, word, gone, scores, at)
        return max(scores[:, word].tolist())

    def _fill_most_left(self, part: Part, word: int, gone: Bool, scores: Float, at: Int) -> None:
        column, kept = part.columns.get(word), part.labels.get(word)
        given = self._columns[word] if column is None else column, self._any if kept is None else kept
        self._kernels.most_left(self._whole, word, *given, np.ascontiguousarray(gone), scores, at)

    def worked_out(self, part: Part) -> Part:
        """The same part without choices beside what is left."""
        if not part.gone:
            return part
        labels, columns = dict(part.labels), dict(part.columns)
        for word, arcs in part.gone.items():
            column = columns.get(word, self._columns[word])
            if arcs.shape[1] == 1:  # whatever the label
                columns[word] = np.where(arcs[:, 0], -np.inf, column)
            else:
                kept, columns[word] = labels.get(word, self._any), np.empty(len(column))
                labels[word] = np.empty(arcs.shape, dtype=np.bool_)
                given = self._whole, word, column, kept, np.ascontiguousarray(arcs)
                self._kernels.fill_left(*given, labels[word], columns[word])
        return Part(part.best, labels, columns)

    @cached_property
    def _kernels(self) -> Any:
        from deptree_cli.kernels.trees import choices  # loads kernels: when there is work

        return choices

    @cached_property
    def _whole(self) -> Float:
        return read_only(np.ascontiguousarray(self._scores.whole).view())

    @cached_property
    def _best(self) -> Best:
        """That of all trees."""
        arcs, nodes = self._scores.arcs, np.arange(len(self._columns))
        heads = arcs[1:].argmax(axis=0) + 1
        labels = (self._whole[each, nodes].argmax(axis=1) for each in (heads, np.zeros_like(heads)))
        return Best(np.stack([arcs[heads, nodes], arcs[0]]), np.stack([heads, *labels]))

    @cached_property
    def _room(self) -> tuple[Float, Int]:
        size = len(self._columns)
        return np.empty((2, size)), np.empty((3, size), dtype=np.int64)

    @cached_property
    def _columns(self) -> Float:
        """The best scores of each word's arcs, a row for each."""
        return np.ascontiguousarray(self._scores.arcs.T)

    @cached_property
    def _any(self) -> Bool:
        """All labels of a word."""
        return np.ones((len(self._columns), 1), dtype=np.bool_)
