"""What is counted over the results of a run, as they pass in order, and told at its end."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Generic, Protocol, TypeVar

from deptree_cli.cli.tables import Table
from deptree_cli.core.errors import DeptreeError
from deptree_cli.io.encoders.base import Row

Counts = TypeVar("Counts")


class Summed(Protocol):
    """What adds up by itself."""

    def add(self, *counts: Any) -> None:
        """Count a result."""

    def row(self) -> Row:
        """Return the sums by name."""


class Fold(Generic[Counts]):
    """Adds up what results count for.

    Attributes:
        attribute: of a result: what it counts for, None for nothing.
    """

    attribute = "counted"

    def add(self, counts: Counts) -> None:
        """Count a result."""
        raise NotImplementedError

    def check(self) -> None:
        """Raise, behind the last result, where nothing was counted that there could be a word on."""

    def rows(self) -> Sequence[Row]:
        """Return what was found, for a program."""
        return []

    def tables(self) -> Iterable[Table | str]:
        """Return the same for people: tables and lines."""
        return ()

    def draw(self, path: str) -> None:
        """Draw what was found, where there is a picture of it."""

    def lines(self) -> Iterable[str]:
        """Return what else people must hear."""
        return ()


class OneRow(Fold[tuple[Any, ...]]):
    """Counts that know by themselves what to add up, and are one row in the end.

    Args:
        empty: what is wrong where nothing was counted.
    """

    def __init__(self, counts: Summed, empty: DeptreeError | None = None) -> None:
        self._counts = counts
        self._empty: DeptreeError | None = empty

    def add(self, counts: tuple[Any, ...]) -> None:
        self._counts.add(*counts)
        self._empty = None

    def check(self) -> None:
        if self._empty:
            raise self._empty

    def rows(self) -> list[Row]:
        return [self._counts.row()]
