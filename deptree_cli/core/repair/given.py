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
    """What a changed word costs.

    Attributes:
        head: one with another head, whatever its label.
        label: one with the same head and another label.
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

    def arcs(self) -> list[tuple[int, int]]:
        """The given arcs that a tree may have, head and word."""
        arcs = zip(self.heads, range(1, self.n + 1), strict=True)
        return [(head, word) for head, word in arcs if 0 <= head <= self.n and head != word]

    def costs(self, costs: Costs, names: Sequence[str]) -> Float:
        """What arcs with labels cost, (n+1, n+1, L), ``[head, dependent, label]``, whole numbers.

        Args:
            names: of L labels, those that are given among them.
        """
        numbers = {name: number for number, name in enumerate(names)}
        found = np.full((self.n + 1, self.n + 1, len(names)), float(costs.head))
        for word, (head, label) in enumerate(zip(self.heads, self.labels, strict=True), 1):
            if head == FREE or 0 <= head <= self.n:
                kept = slice(None) if head == FREE else slice(head, head + 1)
                found[kept, word] = costs.label if label else 0
                if label:
                    found[kept, word, numbers[label]] = 0
        return found

    def changed(self, heads: Sequence[int], labels: Sequence[str]) -> tuple[list[int], list[int]]:
        """The words whose given head a tree changes, and those whose given label it changes."""
        words = range(1, self.n + 1)
        of_heads = [word for word in words if self.heads[word - 1] not in (FREE, heads[word - 1])]
        return of_heads, [word for word in words if self.labels[word - 1] not in ("", labels[word - 1])]
