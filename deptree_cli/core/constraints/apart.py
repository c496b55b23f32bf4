"""Why a word does not descend from another: the arcs above the two that decide it, as choices for a conflict.

Both have a way up to a node above both, ROOT at the latest. As long as the words on these ways have heads on them, none
above the first is a word of the second's way: the way there would have to come back from above.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import islice

import numpy as np

from deptree_cli.core.constraints.conflicts import Choice
from deptree_cli.core.constraints.words import LabelledTree
from deptree_cli.core.dtypes import Bool


@dataclass(frozen=True)
class Apart:
    """Two words of which the first is not the second and does not descend from it.

    Attributes:
        word, other: the two.
        lower: the words from `word` up to a node that is above both, without this; none where `word` is that node.
        upper: those from `other` up to it; none where it is ROOT, which is above whatever happens.
        top: that node.
    """

    word: int
    other: int
    lower: tuple[int, ...]
    upper: tuple[int, ...]
    top: int

    @property
    def words(self) -> tuple[int, ...]:
        """The words whose arcs decide it."""
        return *self.lower, *self.upper

    def choices(self, n: int) -> list[Choice]:
        """What these words choose. In all trees of n words in which they do, `word` has no ancestor in `others`."""
        lower, upper = _nodes(n, (*self.lower, self.top, 0)), _nodes(n, (*self.upper, self.top))
        ways = (self.lower, lower), (self.upper, upper)
        return [Choice(word, heads[:, None]) for way, heads in ways for word in way]

    def heads(self, n: int) -> Bool:
        """The heads of `word` in these trees, (n+1,): any where it is the top."""
        return _nodes(n, (*self.lower, self.top, 0)) if self.lower else np.ones(n + 1, dtype=np.bool_)

    def others(self, n: int) -> Bool:
        """The words from which `word` then does not descend, nor is it one of them, (n+1,); `other` is among them."""
        return _nodes(n, self.upper) if self.upper else ~_nodes(n, (*self.lower, 0))


def least_apart(tree: LabelledTree, pairs: Iterable[tuple[int, int]]) -> Apart | None:
    """Of pairs of words, that of which the first does not descend from the second for the fewest reasons.

    None where the first is the second, or descends from it, in each.
    """
    found = [(_reasons(tree, *pair), pair) for pair in pairs if pair[1] not in tree.line(pair[0])]
    if not found:
        return None
    (_, top), (word, other) = min(found, key=lambda each: each[0][0])
    line, beside = tree.line(word), tree.line(other)
    upper = islice(beside, beside[top] if top else 0)
    return Apart(word, other, tuple(islice(line, line[top])), tuple(upper), top)


def _reasons(tree: LabelledTree, word: int, other: int) -> tuple[int, int]:
    """How many arcs keep a word from descending from another, and the node where their ways meet.

    Where the arcs up to ROOT are no more, they are enough, whatever the way of the other.
    """
    line, beside = tree.line(word), tree.line(other)
    top = next(node for node in line if node in beside)
    return min((line[0], 0), (line[top] + beside[top], top))


def _nodes(n: int, which: Iterable[int]) -> Bool:
    found = np.zeros(n + 1, dtype=np.bool_)
    found[list(which)] = True
    return found
