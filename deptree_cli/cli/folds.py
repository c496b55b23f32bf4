"""What is counted over the results of a run, as they pass in order, and told at its end."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

from deptree_cli.cli.tables import Table
from deptree_cli.core.errors import DeptreeError, counted
from deptree_cli.io.encoders.base import Row

Counts = TypeVar("Counts")

# So many sentences are named.
NAMED = 3


class Summed(Protocol):
    """What adds up by itself."""

    def add(self, *counts: Any) -> None:
        """Count a result."""

    def row(self) -> Row:
        """Return the sums by name."""


class Fold(Generic[Counts]):
    """Adds up what results count for.

    Attributes:
        attribute: of a result: what it counts for, None for nothing; empty where that is the result itself.
    """

    attribute = "counted"

    def add(self, counts: Counts) -> None:
        """Count a result."""
        raise NotImplementedError

    def rows(self) -> Sequence[Row]:
        """Return what was found, behind the last result, for the output.

        Raises:
            DeptreeError: nothing was counted that a row could be about.
        """
        return []

    def lines(self) -> Iterable[Table | str]:
        """Return what people are told on the terminal: lines and tables."""
        return ()


class OneRow(Fold[tuple[Any, ...]]):
    """Counts that know by themselves what to add up, and are one row in the end.

    Args:
        empty: what is wrong where nothing was counted.
    """

    attribute = ""

    def __init__(self, counts: Summed, empty: DeptreeError | None = None) -> None:
        self._counts = counts
        self._empty = empty

    def add(self, counts: tuple[Any, ...]) -> None:
        self._counts.add(*counts)
        self._empty = None

    def rows(self) -> list[Row]:
        if self._empty:
            raise self._empty
        return [self._counts.row()]


def layout_doubts(errors: float, words: int) -> list[str]:
    """What to tell the user if so many of these words are expected to be wrong: hardly any parser is as bad."""
    line = "more than half of the heads are doubted: is --from right? deptree inspect checks it"
    return [line] if errors > words / 2 else []


@dataclass
class NamedSentences:
    """Counts sentences, and names the first of them."""

    count: int = 0
    names: tuple[str, ...] = ()

    def add(self, sent_id: str) -> None:
        self.count += 1
        self.names = (*self.names, sent_id)[:NAMED]

    def __str__(self) -> str:
        return f"{counted(self.count, 'sentence')} ({', '.join(self.names)}{', ...' * (self.count > NAMED)})"
