"""A tree as somebody gave it, and what it costs to change it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from deptree_cli.core.dtypes import Float

# Instead of a head that is not known: any head will do.
FREE = -1


class Costs(NamedTuple):
    """What changes of a word cost; a word with another head and another label costs both.

    Attributes:
        head: another head.
        label: another label.
    """

    head: int = 1
    label: int = 1


ONE_EACH = Costs()


@dataclass(frozen=True)
class Given:
    """Heads and labels that need not be a tree.

    Attributes:
        heads: of words 1 to n, `FREE` where none is given; others that are no node, or the word itself, are wrong.
        labels: the name of each word's label, empty where none is given.
    """

    heads: Sequence[int]
    labels: Sequence[str]

    @property
    def n(self) -> int:
        """How many words there are."""
        return len(self.heads)

    def costs(self, costs: Costs, names: Sequence[str]) -> Float:
        """What arcs with labels cost, (n+1, n+1, L), ``[head, dependent, label]``, whole numbers.

        Args:
            names: of L labels, those that are given among them.
        """
        numbers = {name: number for number, name in enumerate(names)}
        found = np.full((self.n + 1, self.n + 1, len(names)), float(costs.head))
        for word, (head, label) in enumerate(zip(self.heads, self.labels, strict=True), 1):
            if head == FREE or 0 <= head <= self.n:
                found[slice(None) if head == FREE else head, word] = 0
            if label:
                found[:, word] += costs.label
                found[:, word, numbers[label]] -= costs.label
        return found
