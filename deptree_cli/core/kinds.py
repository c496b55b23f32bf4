"""What the one register of quantities consists of: numbers of a tree, and those of them that are sums over its arcs.

Quantities of a distribution are in `core/expectations.py`; all are listed in `core/quantities.py`. A chunk of
trees is packed: the heads of all sentences one behind the other, (words,), those of sentence s in
``heads[starts[s] : starts[s + 1]]``, numbered from 1 in each, 0 for ROOT.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from deptree_cli.core.dtypes import Array, Float, Int, Integers
from deptree_cli.core.spaces import TreeSpace

# A number of each tree of a chunk: heads (words,), starts (sentences + 1,) -> (sentences,).
OfTrees = Callable[[Int, Int], Array]

# What a quantity is a mean over, instead of a sum over all arcs: those between words, or that to the first root alone.
ARCS, FIRST_ROOT = "arcs", "first root"


@dataclass(frozen=True)
class Quantity:
    """An entry of the register.

    Attributes:
        value: a function, whose docstring begins with a line for users; of what, the subclass says.
        scalar: whether the value is one number.
    """

    name: str
    value: Callable[..., Any]
    scalar: bool = field(default=True, kw_only=True)
    kind: ClassVar[str] = ""

    @property
    def summary(self) -> str:
        """What it is, in a line."""
        return (self.value.__doc__ or "").splitlines()[0]


@dataclass(frozen=True)
class Baseline:
    """What a quantity would be if something of the tree were left to chance, or were the best: exact numbers.

    Attributes:
        mean: its expectation, or the best value.
        variance: of that expectation's distribution; None where nobody knows, or there is none.
    """

    mean: OfTrees
    variance: OfTrees | None = None


@dataclass(frozen=True)
class OfTree(Quantity):
    """A number of a tree, whatever its sentence: ``value(heads, starts)`` of a chunk, (sentences,); NaN is undefined.

    Attributes:
        baselines: what to compare it with, by name.
        whole: whether it is a whole number.
    """

    baselines: Mapping[str, Baseline] = field(default_factory=dict, kw_only=True, hash=False)
    whole: bool = field(default=False, kw_only=True)
    kind: ClassVar[str] = "a tree"

    def of_trees(self, heads: Int, starts: Int) -> Array:
        """Compute it for each tree of a chunk, (sentences,)."""
        return self.value(heads, starts)

    def of_sentence(self, trees: Integers) -> Array:
        """Compute it for each of k trees of one sentence, (k, n) heads -> (k, ...); 0 where it is not defined."""
        k, n = trees.shape
        found = np.asarray(self.of_trees(trees.reshape(-1).astype(np.int64), np.arange(k + 1) * n), dtype=np.float64)
        return np.where(np.isnan(found), 0.0, found)

    def arc_values(self, n: int, space: TreeSpace) -> Float | None:
        """Return what each arc adds to it in trees of n words, (n+1, n+1); None if it is no sum over arcs there."""
        return None


@dataclass(frozen=True)
class OverArcs(OfTree):
    """A sum over the arcs of a tree: ``value(heads, words)`` of arcs, arrays alike, 0 for what does not count.

    So it has an exact expectation under every distribution. Arcs from ROOT have the head 0.

    Attributes:
        over: `ARCS`, of which trees with a single root have n - 1, or `FIRST_ROOT`; empty for the sum itself.
    """

    over: str = field(default="", kw_only=True)
    kind: ClassVar[str] = "a tree, a sum over arcs"

    def of_trees(self, heads: Int, starts: Int) -> Array:
        values = np.asarray(self.value(heads, words_of(starts))) + 0  # truth values are numbers to be added
        if self.over == FIRST_ROOT:
            roots = np.flatnonzero(heads == 0)
            return values[roots[np.searchsorted(roots, starts[:-1])]]
        sums = np.add.reduceat(values, starts[:-1])
        if not self.over:
            return sums
        with np.errstate(invalid="ignore"):
            return sums / np.add.reduceat((heads > 0).astype(np.int64), starts[:-1])

    def arc_values(self, n: int, space: TreeSpace) -> Float | None:
        if self.over and not space.single_root:
            return None  # the number of roots is not the same in all trees
        values = np.array(self.value(*np.indices((n + 1, n + 1))), dtype=np.float64)
        values[:, 0] = 0.0
        return values / max(n - 1, 1) if self.over == ARCS else values


def words_of(starts: Int) -> Int:
    """Return the numbers of words, 1 to n of each sentence, (words,)."""
    return np.arange(1, starts[-1] + 1) - np.repeat(starts[:-1], np.diff(starts))
