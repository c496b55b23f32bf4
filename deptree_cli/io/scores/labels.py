"""The names of labels, and the scores of labels that stand in a file of their own."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NamedTuple

from deptree_cli.core.dtypes import Array
from deptree_cli.core.errors import DeptreeError, OutOfStep, counted
from deptree_cli.io.scores.layout import Layout, cut, words_in
from deptree_cli.io.scores.raw import Raw, RawScores, Source, in_order
from deptree_cli.io.scores.second_order import refusal
from deptree_cli.io.scores.source import ScoreSource
from deptree_cli.io.streams import open_input

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
            is_json = text.lstrip().startswith(("[", "{"))
            names = _from_json(json.loads(text)) if is_json else text.splitlines()
        except (ValueError, TypeError, RecursionError) as error:
            raise DeptreeError(f"these are no names of labels ({error})", _FORMS, place=file.place) from None
        if not names or not all(isinstance(name, str) and name.isprintable() for name in names):
            raise DeptreeError("these are no names of labels", _FORMS, place=file.place)
        if len(set(names)) < len(names):
            twice = next(name for name in names if names.count(name) > 1)
            raise DeptreeError(f"the label {twice!r} stands there twice", "Name every label once", place=file.place)
    return tuple(names)


def _from_json(value: Any) -> list[Any]:
    if not isinstance(value, dict):
        return value if isinstance(value, list) else []
    numbers = {number: name for name, number in value.items()}
    if not all(type(number) is int for number in numbers):
        numbers = {int(number): name for number, name in value.items()}
    if sorted(numbers) != list(range(len(value))):
        raise ValueError("the numbers are not 0, 1, 2, ...")
    return [numbers[number] for number in range(len(numbers))]


_SAME = "Check that both files hold the same sentences"

# Where the axis of labels stands unless the preset knows better.
LABEL_AXIS = "last"


class LabelScores(NamedTuple):
    """A file with scores of labels for the arcs of another file, and how it is laid out."""

    path: str
    layout: Layout

    @contextmanager
    def open(self) -> Iterator[OpenLabelScores]:
        """The file, to be asked sentence by sentence in the order of the scores of arcs."""
        scores = ScoreSource(self.path)
        with scores.read(self.layout) as source:
            yield OpenLabelScores(source, self.layout, self.path, scores.meta.ordered)


class OpenLabelScores:
    """Scores of labels by name where both files have names, else by order."""

    def __init__(self, source: Source, layout: Layout, path: str, ordered: bool = True) -> None:
        self._source = source
        self._ordered = ordered
        self._by_order = False
        self._layout = layout
        self._path = path
        self._in_order = in_order(source)

    def of(self, key: str | None, sent_id: str, n: int) -> Array:
        """The array (n, n+1, L) or alike of a sentence with n words, as read.

        Raises:
            OutOfStep: the next one by order is of another length or name, or there is none.
            DeptreeError: there is none of this name, or one of another length.
        """
        raw = self._next(key, sent_id)
        if isinstance(raw, DeptreeError):
            raise raw
        if raw.parts is not None:
            raise refusal(raw.parts, raw.place)
        try:
            scores = raw.scores if raw.length is None else cut(raw.scores, raw.length, self._layout)
            words = words_in(scores.shape, self._layout)
            if words > n and raw.padded:
                return cut(scores, n, self._layout)
            if words != n:
                problem = f"the scores of labels have {counted(words, 'word')}, those of arcs {n}"
                sure = raw.key is not None and raw.key in (key, sent_id)
                raise (DeptreeError if sure else OutOfStep)(problem, _SAME)
        except DeptreeError as error:
            raise error.at(raw.place) from None
        return scores

    def skip(self) -> None:
        """Pass over the sentence that is next in order: its scores of arcs could not be read."""
        next(self._in_order, None)

    def check_end(self) -> None:
        """Raise OutOfStep where sentences that are paired by order have scores of labels left."""
        if self._by_order and next(self._in_order, None) is not None:
            raise OutOfStep(
                "there are more sentences with scores of labels than with scores of arcs", _SAME, place=self._path
            )

    def _next(self, key: str | None, sent_id: str) -> Raw:
        if isinstance(self._source, Mapping) and key is not None:
            for name in (key, sent_id):
                if name in self._source:
                    return self._source[name]
            remedy = "Name the scores of labels as those of arcs are named"
            return DeptreeError(f"{self._path} has no key {key!r}", remedy)
        if not self._ordered:
            problem = f"the order of the sentences in {self._path} is not known, and the scores of arcs have no names"
            raise OutOfStep(problem, "Save the scores of labels as .npz, which keeps the order")
        self._by_order = True
        raw = next(self._in_order, None)
        if raw is None:
            raise OutOfStep(f"{self._path} holds fewer sentences", "Give scores of labels for every sentence")
        if isinstance(raw, RawScores) and None not in (raw.key, key) and raw.key not in (key, sent_id):
            raise OutOfStep(f"out of step: the scores of labels are {raw.key!r}", "Keep both files in one order")
        return raw
