"""What decides between trees that change as little: a parser's scores, or the habits of a treebank."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass

import numpy as np

from deptree_cli.core.arc_factored import ArcFactored
from deptree_cli.core.constraints.search_scores import LogScores
from deptree_cli.core.dtypes import Float
from deptree_cli.core.errors import counted
from deptree_cli.core.memory import memory_for
from deptree_cli.core.repair.given import Given
from deptree_cli.core.repair.habits import Habits

# How many arrays of a sentence's scores there are at once, in bytes for an arc with a label.
_BYTES = 6 * 8

# Whether there is memory for less is not asked.
_MUCH = 1 << 28


def room_for(n: int, labels: int) -> AbstractContextManager[None]:
    """Memory for the scores of n words with so many labels, as `memory_for` has it."""
    size = _BYTES * (n + 1) ** 2 * labels
    return memory_for(size if size > _MUCH else 0, f"a sentence of {counted(n, 'word')}", "Split it")


@dataclass(frozen=True)
class Ties:
    """What decides.

    Attributes:
        habits: decide alone without scores, and of labels where scores know none.
    """

    habits: Habits

    def of(
        self,
        given: Given,
        upos: Sequence[str | None],
        scored: ArcFactored | None = None,
        asked: Iterable[str] = (),
    ) -> tuple[tuple[str, ...], Float]:
        """The labels that a sentence's trees may have, and log-scores of arcs with these, (n+1, n+1, L).

        Args:
            given: the tree to be repaired.
            upos: of the words.
            scored: the sentence's distribution, if there are scores.
            asked: labels that rules or annotators name, which need not have been seen before; if there are scores of
                labels, all are of these.

        Raises:
            DeptreeError: there is no memory for so long a sentence.
        """
        of_scores = scored.labels if scored is not None else None
        names = of_scores.names if of_scores else self.habits.names(given, asked)
        with room_for(given.n, len(names)):
            return self._of(given, upos, scored, names)

    def _of(
        self, given: Given, upos: Sequence[str | None], scored: ArcFactored | None, names: tuple[str, ...]
    ) -> tuple[tuple[str, ...], Float]:
        if scored is not None and scored.labels is not None:
            labels = scored.labels.names
            added = tuple(dict.fromkeys(label for label in given.labels if label and label not in labels))
            scores = LogScores(scored).whole
            return labels + added, np.pad(scores, [(0, 0), (0, 0), (0, len(added))], constant_values=-np.inf)
        if scored is None:
            return names, self.habits.scores(upos, names, given)
        of_labels = self.habits.label_scores(upos, names, given) if names != ("",) else 0.0
        return names, LogScores(scored).whole + of_labels
