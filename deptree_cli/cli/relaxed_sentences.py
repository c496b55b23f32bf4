"""The sentences of a run whose trees obey only because something that was asked of them is given up."""

from __future__ import annotations

from collections.abc import Iterator

from deptree_cli.cli.folds import Fold
from deptree_cli.cli.run_options import RunOptions
from deptree_cli.core.constraints.relaxation import GivenUp
from deptree_cli.core.errors import counted, printable


class RelaxedSentences(Fold[tuple[str, str, GivenUp]]):
    """Names such sentences and counts them; each counts with its place, its id and what is given up."""

    attribute = "relaxed"

    def __init__(self, run: RunOptions) -> None:
        self._run = run
        self._count = 0

    def add(self, counts: tuple[str, str, GivenUp]) -> None:
        place, sent_id, (names, fewest) = counts
        self._count += 1
        unsure = "" if fewest else " (fewer may be enough: raise --budget)"
        line = printable(f"relaxed: {place} ({sent_id}): {', '.join(names)}{unsure}")
        self._run.warn(line, line)

    def lines(self) -> Iterator[str]:
        if self._count:
            yield f"{counted(self._count, 'sentence')} relaxed"
