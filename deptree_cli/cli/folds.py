"""What is counted over the results of a run, as they pass in order, and told at its end."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Generic, Protocol, TypeVar

from deptree_cli.cli.report import Table
from deptree_cli.core.calibration import Calibration
from deptree_cli.core.dtypes import Bool, Float
from deptree_cli.core.errors import DeptreeError, counted
from deptree_cli.io.encoders.base import Row
from deptree_cli.io.pictures.plots import plot_calibration

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


class HeadCalibration(Fold[tuple[Float, Bool]]):
    """How often predicted heads are right beside their probabilities; counts the two of words whose head is known."""

    attribute = "calibrated"

    def __init__(self) -> None:
        self._counts = Calibration()

    def add(self, counts: tuple[Float, Bool]) -> None:
        self._counts.add(*counts)

    def check(self) -> None:
        if not self._counts.words.any():
            raise no_known_heads()

    def rows(self) -> list[Row]:
        return [self._counts.summary()]

    def tables(self) -> Iterator[Table | str]:
        found = self._counts
        of_tenths, error = calibration_tables(found)
        yield of_tenths
        yield f"attachment score {found.attachment:.4f}, expected by the parser {found.mean_confidence:.4f}"
        yield error

    def draw(self, path: str) -> None:
        draw_calibration(self._counts, path)


def calibration_tables(found: Calibration, by: str = "") -> tuple[Table, str]:
    """Return the tenths, and the line of the expected calibration error; `by`: whose probabilities these are."""
    words = counted(int(found.words.sum()), "word")
    tenths = Table("calibration of heads", ["probability", "words", "confidence", "accuracy"], found.rows())
    return tenths, f"expected calibration error {found.error:.4f} over {words}{by}"


def draw_calibration(found: Calibration, path: str) -> None:
    """Draw confidence and accuracy of the tenths."""
    plot_calibration(found.rows(), f"expected calibration error {found.error:.3f}", path)


def no_known_heads() -> DeptreeError:
    """Return the error of a comparison with nothing."""
    return DeptreeError("no word of --gold has a known head", "Give sentences with HEADs")


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
