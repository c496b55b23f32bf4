"""What `deptree calibrate` writes and other commands read: temperatures, and thresholds of sets of heads."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from deptree_cli.core.errors import DeptreeError
from deptree_cli.io.files.streams import open_input

# No calibration is so large.
MOST_BYTES = 1 << 20

# Nor is a temperature.
TOO_LARGE = 1e15


@dataclass(frozen=True)
class Calibrated:
    """A calibration.

    Attributes:
        temperature: of arcs.
        label_temperature: of labels given the arc; None if it was fitted without labels.
        thresholds: of sets of heads (`core/head_sets.py`), by coverage.
        place: the file, for messages.
    """

    temperature: float
    label_temperature: float | None
    thresholds: Mapping[float, float]
    place: str

    @property
    def of_labels(self) -> float:
        """The temperature of labels: without a fitted one they stay as they are."""
        return self.label_temperature or 1.0

    def head_set(self, coverage: float | None) -> tuple[float, float]:
        """Return a coverage and its threshold: the one that is asked for, or the first.

        Raises:
            DeptreeError: there is no such coverage, or none at all.
        """
        if not self.thresholds:
            raise DeptreeError(
                "there are no sets of heads", "Run deptree calibrate with --coverage 0.9", place=self.place
            )
        asked = next(iter(self.thresholds)) if coverage is None else coverage
        if asked not in self.thresholds:
            known = ", ".join(f"{each:g}" for each in self.thresholds)
            raise DeptreeError(f"there is no coverage of {asked:g}", f"Choose from {known}", place=self.place)
        return asked, self.thresholds[asked]


def read_calibrated(path: str) -> Calibrated:
    """Read a calibration: JSON with at least `temperature`.

    Raises:
        DeptreeError: the file holds something else.
    """
    with open_input(path) as file:
        try:
            value = json.loads(file.stream.read(MOST_BYTES))
            arcs, labels = value["temperature"], value.get("label_temperature")
            sets = {each["coverage"]: each["threshold"] for each in value.get("head_sets", [])}
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
            raise _none(file.place, "") from None
        if not (_positive(arcs) and (labels is None or _positive(labels))):
            raise _none(file.place, ": a temperature is no positive number")
        if not all(_positive(each) and (limit == 0 or _positive(limit)) and limit <= 1 for each, limit in sets.items()):
            raise _none(file.place, ": a coverage or a threshold is no probability")
    return Calibrated(float(arcs), None if labels is None else float(labels), sets, file.place)


def temperatures(path: str, temperature: float) -> dict[str, float]:
    """Return the fields of an `Interpretation` that a calibration sets; `temperature`: what else was asked for.

    Raises:
        DeptreeError: that was something else than 1, or the file holds something else.
    """
    if temperature != 1:
        problem = "--temperature and --calibrated both set a temperature"
        raise DeptreeError(problem, "Remove one", place=path)
    found = read_calibrated(path)
    return {"temperature": found.temperature, "label_temperature": found.of_labels}


def _positive(value: Any) -> bool:
    return type(value) in (int, float) and 0 < value < TOO_LARGE


def _none(place: str, why: str) -> DeptreeError:
    return DeptreeError(f"this is no calibration{why}", "Give a file that deptree calibrate wrote", place=place)
