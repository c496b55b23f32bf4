"""Independent trees that obey, by rejection: labelled trees are drawn without regard to conflicts, those with one go.

So trees that obey keep their proportions, whatever the rules; what it costs is the share of trees that obey.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from deptree_cli.core.constraints.conflicts import Finder
from deptree_cli.core.constraints.words import LabelledTree
from deptree_cli.core.dtypes import Bool, Heads

# With fewer among those that were drawn it is given up, once there are `ENOUGH`.
LEAST_ACCEPTANCE = 1e-4
ENOUGH = 20_000

# How many trees are drawn at once: at least, lest a block cost more than its trees, and at most, for memory.
SMALLEST, LARGEST = 16, 8192

# How many more are drawn than are needed on average, so that another block is seldom needed.
MARGIN = 1.1

# Of how many distinct trees it is remembered whether they obey.
REMEMBERED = 100_000

# Labelled trees that are drawn: how many -> heads (k, n), and numbers of labels (k, n) if there are labels.
Draw = Callable[[int], tuple[Heads, Heads | None]]


@dataclass(frozen=True, eq=False)
class Accepted:
    """Trees that obey.

    Attributes:
        heads: (k, n).
        labels: (k, n), numbers of labels, if there are labels.
        proposed: how many trees were drawn.
        accepted: how many of them obey; more than k where the last block had more than were needed.
    """

    heads: Heads
    labels: Heads | None
    proposed: int
    accepted: int

    @property
    def acceptance(self) -> float:
        """The share of trees that obey, as far as the trees drawn tell."""
        return self.accepted / self.proposed


class Satisfying:
    """Which trees have no conflict; trees come again, and each is looked at once."""

    def __init__(self, finders: Sequence[Finder]) -> None:
        self._finders = finders
        self._known: dict[bytes, bool] = {}

    def of(self, heads: Heads, labels: Heads | None) -> Bool:
        """Which of k trees obey, (k,)."""
        numbers = np.zeros_like(heads) if labels is None else labels
        rows = np.ascontiguousarray(np.concatenate([heads, numbers], axis=1))
        return np.array([self._satisfies(row.tobytes(), row) for row in rows], dtype=np.bool_)

    def _satisfies(self, key: bytes, row: Heads) -> bool:
        known = self._known.get(key)
        if known is None:
            heads, labels = np.split(row, 2)
            tree = LabelledTree(heads.tolist(), labels.tolist())
            known = not any(next(find(tree), None) for find in self._finders)
            if len(self._known) < REMEMBERED:
                self._known[key] = known
        return known


def accepted(draw: Draw, size: int, finders: Sequence[Finder]) -> Accepted:
    """The first `size` trees drawn that have no conflict; fewer where it is given up.

    Blocks of trees are drawn until there are enough: `size` at first, then as many as the acceptance so far asks for.
    It is given up when, of 20,000 trees or more, fewer than one in 10,000 had no conflict.
    """
    obeying, blocks = Satisfying(finders), list[tuple[Heads, Heads | None]]()
    proposed = found = 0
    while found < size and not (proposed >= ENOUGH and found < LEAST_ACCEPTANCE * proposed):
        block = _next_block(size, found, proposed)
        heads, labels = draw(block)
        good = obeying.of(heads, labels)
        blocks.append((heads[good], None if labels is None else labels[good]))
        proposed, found = proposed + block, found + int(good.sum())
    of_trees = np.concatenate([heads for heads, _ in blocks])[:size]
    of_words = [labels for _, labels in blocks if labels is not None]
    return Accepted(of_trees, np.concatenate(of_words)[:size] if of_words else None, proposed, found)


def _next_block(size: int, found: int, proposed: int) -> int:
    """How many trees to draw now: `size` at first; as many again as there are where none obeys so far."""
    wanted = MARGIN * (size - found) * proposed / found if found else proposed or size
    return int(min(max(np.ceil(wanted), SMALLEST), LARGEST))
