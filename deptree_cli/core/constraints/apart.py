"""Why a word does not descend from another: the arcs above the two that decide it, as choices for a conflict.

Both have a way up to a node above both, ROOT at the latest. As long as the words on these ways have heads on them, none
above the first is a word of the second's way: the way there would have to come back from above.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from deptree_cli.core.constraints.conflicts import Choice
from deptree_cli.core.constraints.words import LabelledTree
from deptree_cli.core.dtypes import Bool, Int


@dataclass(frozen=True, eq=False)
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


# Of what was found it is kept what is the same in other trees.
Known = dict[tuple[object, ...], Apart]


def apart_in_gap(tree: LabelledTree, word: int, known: Known) -> Apart | None:
    """Of the words in the gap of a word's arc, that which does not descend from the head for the fewest reasons.

    None where all words between the two descend from it.
    """
    heads, path = tree.arrays[0], np.empty(2 * len(tree.heads) + 2, dtype=np.int64)
    found, top, lower, upper = _kernels().apart_in_gap(heads, word, path)
    return _apart(known, int(found), tree.heads[word - 1], path, lower, upper, int(top)) if found else None


def apart_under(tree: LabelledTree, word: int, known: Known) -> tuple[Apart, int] | None:
    """Of the arcs that pass over a word, that from whose head it does not descend for the fewest reasons.

    Only those that end between the word and its own head, on the other side. With the arc's other end; None where the
    word descends from the heads of all.
    """
    heads, path = tree.arrays[0], np.empty(2 * len(tree.heads) + 2, dtype=np.int64)
    found, end, top, lower, upper = _kernels().apart_under(heads, word, path)
    return (_apart(known, word, int(found), path, lower, upper, int(top)), int(end)) if found else None


@cache
def _kernels() -> Any:
    from deptree_cli.kernels.trees import apart  # loads kernels: when there is work

    return apart


def _apart(known: Known, word: int, other: int, path: Int, lower: int, upper: int, top: int) -> Apart:
    """The ways, of which the one ends at `lower` and the other at `upper`."""
    asked = word, other, lower, top, path[:upper].tobytes()
    if asked not in known:
        known[asked] = Apart(word, other, tuple(path[:lower].tolist()), tuple(path[lower:upper].tolist()), top)
    return known[asked]


def _nodes(n: int, which: Iterable[int]) -> Bool:
    found = np.zeros(n + 1, dtype=np.bool_)
    found[list(which)] = True
    return found
