"""How well probabilities of heads tell whether these are right, counted as trees are compared with gold ones."""

from __future__ import annotations

from collections.abc import Iterator

from deptree_cli.cli.folds import Fold
from deptree_cli.cli.tables import Table
from deptree_cli.core.calibration import Calibration
from deptree_cli.core.dtypes import Bool, Float
from deptree_cli.core.errors import DeptreeError, counted
from deptree_cli.io.encoders.base import Row
from deptree_cli.io.pictures.plots import plot_calibration


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
    return DeptreeError("no word of --gold has a head", "Give sentences with HEADs")
