"""The names of labels."""

from __future__ import annotations

import json
from dataclasses import replace
from io import BytesIO
from typing import Any

from deptree_cli.core.errors import DeptreeError
from deptree_cli.io.files.streams import entries_of, open_input
from deptree_cli.io.scores.layout import Layout

# No parser has so many labels.
MOST_BYTES = 1 << 24

_FORMS = "Give a JSON list of names, a JSON object with their numbers, or a text file with one name a line"


def read_labels(path: str) -> tuple[str, ...]:
    """The names of labels in a file, in the order of the scores.

    JSON: a list, or an object with the numbers of names or the names of numbers (0, 1, ...); else one name a line.

    Raises:
        DeptreeError: the file holds something else, or a name twice.
    """
    with open_input(path) as file:
        try:
            data = file.stream.read(MOST_BYTES)
            if len(data) == MOST_BYTES:
                raise ValueError(f"more than {MOST_BYTES:,} bytes")
            text = data.decode("utf-8-sig")
            is_json, lines = text.lstrip().startswith(("[", "{")), entries_of(BytesIO(data), file.place)
            names = _from_json(json.loads(text)) if is_json else [_name(*each) for each in lines]
            _check(names)
        except (ValueError, TypeError, RecursionError) as error:
            raise DeptreeError(f"these are no names of labels ({error})", _FORMS, place=file.place) from None
        if len(set(names)) < len(names):
            twice = next(name for name in names if names.count(name) > 1)
            raise DeptreeError(f"the label {twice!r} is listed twice", "Name every label once", place=file.place)
    return tuple(names)


def _name(place: str, line: bytes) -> str:
    if not line:
        raise DeptreeError("a blank line between names of labels", "Remove it, or name the label there", place=place)
    return line.decode()


def _check(names: list[Any]) -> None:
    """Raise ValueError for what is not a name."""
    if not names:
        raise ValueError("there is none")
    for name in names:
        if not isinstance(name, str):
            raise ValueError(f"{name!r:.40} is not a name")
        if not name.isprintable():
            raise ValueError(f"{name!r:.40} holds a character that cannot be printed")


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
    """The layout of the scores: with an axis of labels where there are labels but no scores of their own.

    Raises:
        DeptreeError: there are scores of labels, and no names.
    """
    if label_scores and not labels:
        raise DeptreeError("--label-scores needs the names of the labels", "Add --labels FILE")
    if label_scores:
        return replace(read, labels=None)
    if read.labels and not labels:
        raise DeptreeError(f"--from {read.name} has an axis of labels", "Name them with --labels FILE")
    return read.labelled if labels else read
