"""The names of labels, and the scores of labels that stand in a file of their own."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, NamedTuple

from deptree_cli.core.dtypes import Array
from deptree_cli.core.errors import DeptreeError, OutOfStep, counted
from deptree_cli.io.files.streams import open_input
from deptree_cli.io.join import IGNORE, joined
from deptree_cli.io.scores.layout import Layout, cut, words_in
from deptree_cli.io.scores.raw import RawScores
from deptree_cli.io.scores.record import Record
from deptree_cli.io.scores.source import ScoreSource
from deptree_cli.io.sides import Side

# No parser has so many labels.
MOST_BYTES = 1 << 24

_LINE_END = re.compile("\r\n|\r|\n")

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
            is_json = text.lstrip().startswith(("[", "{"))
            names = _from_json(json.loads(text)) if is_json else _LINE_END.split(text.removesuffix("\n"))
            _check(names if text.strip() else [])
        except (ValueError, TypeError, RecursionError) as error:
            raise DeptreeError(f"these are no names of labels ({error})", _FORMS, place=file.place) from None
        if len(set(names)) < len(names):
            twice = next(name for name in names if names.count(name) > 1)
            raise DeptreeError(f"the label {twice!r} stands there twice", "Name every label once", place=file.place)
    return tuple(names)


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


_SAME = "Check that both files hold the same sentences"


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


class LabelScores(NamedTuple):
    """A file with scores of labels for the arcs of another file, and how it is laid out."""

    path: str
    layout: Layout


def with_labels(
    records: Side[Record], labels: LabelScores, layout: Layout, first: int
) -> Iterator[Record | DeptreeError]:
    """The records, each with the scores of its labels, (n, n+1, L) or alike, as read.

    Args:
        layout: of the scores of arcs.
        first: the running number of the first record.

    Raises:
        DeptreeError: the files do not hold the same sentences (`joined`).
    """

    def combine(record: Record, raw: RawScores, _: int) -> Record:
        try:
            return replace(record, labels=_fitted(raw, words_in(record.scores.shape, layout), labels.layout))
        except DeptreeError as error:
            raise error.at(raw.place) from None

    scores = ScoreSource(labels.path)
    meta = scores.meta
    try:
        meta.check_no_results()
    except DeptreeError as error:
        raise error.at(scores.place) from None
    with scores.read(labels.layout) as source:
        beside = Side(source, "label scores", scores.place, ordered=scores.meta.ordered)
        yield from joined(records, beside, combine, leftover=IGNORE, first=first)


def _fitted(raw: RawScores, n: int, layout: Layout) -> Array:
    scores = raw.scores if raw.length is None else cut(raw.scores, raw.length, layout)
    words = words_in(scores.shape, layout)
    if words > n and raw.padded:
        return cut(scores, n, layout)
    if words != n:
        raise OutOfStep(f"the scores of labels have {counted(words, 'word')}, those of arcs {n}", _SAME)
    return scores
