"""What stands beside scores in files of its own: names of labels, temperatures, features of arcs."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cache
from io import BytesIO
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from deptree_cli.core.dtypes import Float
from deptree_cli.core.errors import DeptreeError
from deptree_cli.io.files.streams import entries_of, open_input
from deptree_cli.io.scores.arrays import MAGIC, read_list
from deptree_cli.io.scores.layout import Layout, to_head_dep
from deptree_cli.io.sentence import Sentence

if TYPE_CHECKING:
    from deptree_cli.io.scores.containers.npz import Archive

# No parser has so many labels.
MOST_BYTES = 1 << 24

_FORMS = "Give a JSON list of names, a JSON object with their numbers, or a text file with one name a line"


def read_labels(path: str) -> tuple[str, ...]:
    """The names of labels in a file, in the order of the scores.

    JSON: a list, or an object with the numbers of names or the names of numbers (0, 1, ...); else one name a line.
    """
    with open_input(path) as file:
        try:
            data = file.stream.read(MOST_BYTES)
            if len(data) == MOST_BYTES:
                raise ValueError(f"more than {MOST_BYTES:,} bytes")
            text = data.decode("utf-8-sig")
            if text.lstrip().startswith(("[", "{")):
                names = _from_json(json.loads(text))
            else:
                names = []
                for place, line in entries_of(BytesIO(data), file.place):
                    if not line:
                        remedy = "Remove it, or name the label there"
                        raise DeptreeError("a blank line between names of labels", remedy, place=place)
                    names.append(line.decode())
            if not names:
                raise ValueError("there is none")
            for name in names:
                if not isinstance(name, str):
                    raise ValueError(f"{name!r:.40} is not a name")
                if not name.isprintable():
                    raise ValueError(f"{name!r:.40} holds a character that cannot be printed")
        except (ValueError, TypeError, RecursionError) as error:
            raise DeptreeError(f"cannot read names of labels ({error})", _FORMS, place=file.place) from None
        if len(set(names)) < len(names):
            twice = next(name for name in names if names.count(name) > 1)
            raise DeptreeError(f"the label {twice!r} is listed twice", "Name every label once", place=file.place)
    return tuple(names)


def _from_json(value: Any) -> list[Any]:
    if not isinstance(value, dict):
        return value if isinstance(value, list) else []
    if all(type(number) is int for number in value.values()):
        pairs = [(number, name) for name, number in value.items()]
    elif all(number.isdecimal() for number in value):
        pairs = [(int(number), name) for number, name in value.items()]
    else:
        name, number = next((name, number) for name, number in value.items() if type(number) is not int)
        raise ValueError(f"{name!r:.40} has {number!r:.40} and no number")
    if sorted(number for number, _ in pairs) != list(range(len(value))):
        raise ValueError("the numbers are not 0, 1, 2, ...")
    return [name for _, name in sorted(pairs)]


def layout_of_arcs(read: Layout, labels: bool, label_scores: bool) -> Layout:
    """The layout of the scores: with an axis of labels where there are labels but no scores of their own."""
    if label_scores and not labels:
        raise DeptreeError("--label-scores needs the names of the labels", "Add --labels FILE")
    if label_scores:
        return replace(read, labels=None)
    if read.labels and not labels:
        raise DeptreeError(f"--from {read.name} has an axis of labels", "Name them with --labels FILE")
    return read.labelled if labels else read


# No calibration is so large, nor is a temperature.
MOST_CALIBRATED = 1 << 20
TOO_LARGE = 1e15


@dataclass(frozen=True)
class Temperature:
    """A temperature.

    That of labels given the arc is `labels`, None for that of arcs; a calibration without labels leaves them as they
    are. `thresholds` of sets of heads (`core/calibration.py`) by coverage; `place` names the calibration in messages.
    """

    arcs: float = 1.0
    labels: float | None = None
    thresholds: Mapping[float, float] = field(default_factory=dict)
    place: str = ""

    def head_set(self, coverage: float | None) -> tuple[float, float]:
        """Return a coverage and its threshold: the one that is asked for, or the first."""
        if not self.thresholds:
            remedy = "Run deptree calibrate with --coverage 0.9"
            raise DeptreeError("there are no sets of heads", remedy, place=self.place)
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
    """Return the temperature that a number or the path of a calibration tells: JSON with at least `temperature`."""
    if not isinstance(said, str):
        if not 0 < said < inf:
            raise DeptreeError(f"the temperature is {said:g}", "Give a positive number; 1 changes nothing")
        return Temperature(float(said))
    with open_input(said) as file:
        why = ""
        try:
            value = json.loads(file.stream.read(MOST_CALIBRATED))
            arcs, labels = value["temperature"], value.get("label_temperature")
            sets = {each["coverage"]: each["threshold"] for each in value.get("head_sets", [])}
            if not (_is_positive(arcs) and (labels is None or _is_positive(labels))):
                why = ": a temperature is not a positive number"
            elif not all(
                _is_positive(one) and (two == 0 or _is_positive(two)) and two <= 1 for one, two in sets.items()
            ):
                why = ": a coverage or a threshold is not a probability"
            else:
                return Temperature(float(arcs), float(labels or 1), sets, file.place)
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
            pass
        remedy = "Give a file that deptree calibrate wrote"
        raise DeptreeError(f"this is not a calibration{why}", remedy, place=file.place)


def _is_number(value: Any) -> bool:
    return type(value) in (int, float)


def _is_positive(value: Any) -> bool:
    return _is_number(value) and 0 < value < TOO_LARGE


# Of a number whose square is summed up.
LARGEST = 1e100


def features_of(path: str, record: Sentence, layout: Layout) -> Float:
    """A sentence's features as (n+1, n+1, R), ``[head, dependent]``; those of what is no arc are 0."""
    identity = None
    with suppress(OSError):  # told where it is opened
        found = Path(path).stat()  # of two files that have a name one after the other, or in two folders
        identity = found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns
    archive = _archive(path, identity)
    key = next((name for name in record.names if name in archive), None)
    if key is None:
        raise DeptreeError(f"{path} has no key of this name", "Name features as the scores are named")
    array = archive.load(key)
    arcs = layout.arcs(record.scores.shape)
    if array.ndim != 3 or array.shape[:2] != arcs or not array.shape[2]:
        problem = f"the features have shape {array.shape}, the scores of arcs {arcs}"
        raise DeptreeError(problem, "Give an array like the scores with one more axis, the features")
    features = to_head_dep(array, replace(layout, scale="weight", labels="last"))
    if not (np.abs(features) <= LARGEST).all():
        problem = f"a feature is not a finite number up to {LARGEST:g}"
        raise DeptreeError(problem, "Give finite features, also for forbidden arcs")
    return features


@cache
def _archive(path: str, _: object) -> Archive:
    """Opened once in every process."""
    from deptree_cli.io.scores.containers.npz import Archive, open_zip

    with open_input(path) as file:
        if file.head.startswith(MAGIC):
            raise DeptreeError("is a single array", "Save features with numpy.savez, a key per sentence", place=path)
    return Archive(open_zip(path, path), path)


def vector(path: str) -> Float:
    with np.errstate(over="ignore"):
        result = read_list(path, "a number", float).astype(np.float64)
    if result.ndim != 1 or not (np.abs(result) <= LARGEST).all():
        problem = f"does not hold a list of finite numbers up to {LARGEST:g}, but shape {result.shape}"
        raise DeptreeError(problem, "Give one number a line", place=path)
    return result
