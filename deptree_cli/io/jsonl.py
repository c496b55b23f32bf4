"""JSON Lines: one object a line. Scores in, results out."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from typing import Any, BinaryIO

import numpy as np

from deptree_cli.core.errors import DeptreeError
from deptree_cli.io.inputs import lines_of
from deptree_cli.io.layout import Layout
from deptree_cli.io.raw import Array, Raw, RawScores

# What may stand in a column of CoNLL-U: no tab, no end of a line, no half of a surrogate pair.
_COLUMN = re.compile("[^\t\n\r\ud800-\udfff]+")


def dump(obj: Any) -> bytes:
    """One line of JSON: compact, UTF-8 as it is, never NaN or an infinity (ValueError: a result was not checked)."""
    return _ENCODE(obj).encode() + b"\n"


# json.dumps would build an encoder for every line
_ENCODE = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode


def objects(lines: Iterable[bytes], place: str) -> Iterator[tuple[str, dict[str, Any] | DeptreeError]]:
    """Each line's object, or what is wrong with the line, with its ``file:line``; empty lines are skipped."""
    for number, line in enumerate(lines, 1):
        if line.strip():
            here = f"{place}:{number}"
            yield here, _object(line, here)


def _object(line: bytes, place: str) -> dict[str, Any] | DeptreeError:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError) as error:
        return DeptreeError(f"not JSON ({error})", "Give one complete JSON object a line", place=place)
    if not isinstance(value, dict):
        problem = f"a JSON {_kind(value)} where an object should be"
        return DeptreeError(problem, "Give one JSON object a line", place=place)
    return value


def _kind(value: Any) -> str:
    names = {list: "list", str: "string", int: "number", float: "number", bool: "true or false", type(None): "null"}
    return names.get(type(value), "object")


def sent_id_of(value: dict[str, Any], place: str) -> str | None:
    """The field ``sent_id`` as text, None where it is missing or null."""
    sent_id = value.get("sent_id")
    if sent_id is None or type(sent_id) in (str, int):
        return None if sent_id is None else _utf8(str(sent_id), place)
    raise DeptreeError(f"the field sent_id is a {_kind(sent_id)}", "Give a string", place=place)


def _utf8(text: str, place: str) -> str:
    """The text, unless it holds half of a surrogate pair, which no output could."""
    try:
        text.encode()
    except UnicodeEncodeError:
        raise DeptreeError(f"the field sent_id is {text!r}, which is not text", "Repair it", place=place) from None
    return text


def read_jsonl(stream: BinaryIO, place: str, layout: Layout) -> Iterator[Raw]:
    """The scores of each line: ``{"sent_id": optional, "scores": [[...], ...]}``; null is the forbidden score.

    With labels the numbers of ``scores`` are lists one level deeper. ``forms`` are the words, if CoNLL-U is to be
    written without a file of sentences. Our own first line with a signature is skipped.
    """
    for here, value in objects(lines_of(stream, place), place):
        try:
            if isinstance(value, DeptreeError):
                yield value
            elif value.keys() != {"signature"}:
                yield _raw(value, layout, here)
        except DeptreeError as error:
            yield error


def _raw(value: dict[str, Any], layout: Layout, place: str) -> RawScores:
    sent_id = sent_id_of(value, place)
    try:
        return RawScores(sent_id, _array(value.get("scores"), layout), place, forms=_forms(value.get("forms")))
    except DeptreeError as error:
        raise error.at(place, sent_id or "") from None


def _forms(forms: Any) -> tuple[str, ...]:
    """The words, as far as they can stand in a column; nothing asks for them but output with words."""
    sound = isinstance(forms, list) and all(isinstance(form, str) and _COLUMN.fullmatch(form) for form in forms)
    return tuple(forms) if sound else ()


def _array(rows: Any, layout: Layout) -> Array:
    """Nested lists of numbers as an array; null becomes the forbidden score, NaN stays NaN."""
    shape, cells = _flattened(rows, layout.dimensions)
    numbers = [layout.forbidden if cell is None else cell for cell in cells]
    if not all(isinstance(number, int | float) for number in numbers):
        raise DeptreeError(
            "the field scores holds something that is not a number", "Give numbers, or null for a forbidden arc"
        )
    try:
        return np.array(numbers, dtype=np.float64).reshape(shape)
    except OverflowError:
        raise DeptreeError("the field scores holds a number beyond the range of float64", "Repair the scores") from None


def _flattened(rows: Any, dimensions: int) -> tuple[list[int], list[Any]]:
    """The shape of lists in lists, and what is in the innermost ones."""
    shape, items = [1], [rows]
    for level in range(dimensions):
        if not all(isinstance(item, list) for item in items):
            kind = "list of lists" + " of lists" * (dimensions - 2)
            raise DeptreeError(f"the field scores is not a {kind}", 'Give {"scores": [[...], ...]}')
        sizes = {len(item) for item in items} or {0}
        if len(sizes) > 1:
            what = "rows" if level == 1 else "lists of labels"
            raise DeptreeError(f"the {what} of the field scores differ in length", "Give a rectangle of numbers")
        shape.append(sizes.pop())
        items = [cell for item in items for cell in item]
    return shape[1:], items
