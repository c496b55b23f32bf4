"""What log-scores are divided by: a number, or what `deptree calibrate` wrote, with thresholds of head sets."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from math import inf
from typing import Any

from deptree_cli.core.errors import DeptreeError
from deptree_cli.io.files.streams import open_input

# No calibration is so large.
MOST_BYTES = 1 << 20

# Nor is a temperature.
TOO_LARGE = 1e15


@dataclass(frozen=True)
class Temperature:
    """A temperature.

    Attributes:
        arcs: of arcs and, unless that of labels is known, of labels.
        labels: of labels given the arc; None: that of arcs. A calibration without labels leaves them as they are.
        thresholds: of sets of heads (`core/head_sets.py`), by coverage.
        place: the calibration, for messages; empty for a number.
    """

    arcs: float = 1.0
    labels: float | None = None
    thresholds: Mapping[float, float] = field(default_factory=dict)
    place: str = ""

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

    def signature_fields(self, labels: bool) -> dict[str, object]:
        """What of this a run must repeat to give the same result, with `labels` or without."""
        numbers = {"temperature": self.arcs, "labeltemperature": self.labels if labels else None}
        return {name: None if number in (None, 1) else repr(number) for name, number in numbers.items()}


UNCHANGED = Temperature()


def temperature_of(said: str | float) -> Temperature:
    """Return the temperature that a number or the path of a calibration tells: JSON with at least `temperature`.

    Raises:
        DeptreeError: the number is not positive, or the file holds something else.
    """
    if isinstance(said, str):
        return _calibration(said)
    if not 0 < said < inf:
        raise DeptreeError(f"the temperature is {said:g}", "Give a positive number; 1 changes nothing")
    return Temperature(float(said))


def _calibration(path: str) -> Temperature:
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
    return Temperature(float(arcs), float(labels or 1), sets, file.place)


def _positive(value: Any) -> bool:
    return type(value) in (int, float) and 0 < value < TOO_LARGE


def _none(place: str, why: str) -> DeptreeError:
    return DeptreeError(f"this is no calibration{why}", "Give a file that deptree calibrate wrote", place=place)
