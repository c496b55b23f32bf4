"""JSON Lines: one object a line, read with its place and written compactly."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from math import isfinite
from typing import Any

import orjson

from deptree_cli.core.dtypes import Float
from deptree_cli.core.errors import DeptreeError

# json.dumps would build an encoder for every line
_ENCODE = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode

_SENT_ID = re.compile(rb'"sent_id"\s*:\s*"?((?<=")[^"\\]+(?=")|(?<!")\d+(?=\s*[,}]))')

# An e behind a digit; said so, only what is an e is looked at twice: 20 times as fast.
_EXPONENT = re.compile(rb"e(?<=\de)")


def dump(obj: Any) -> bytes:
    """One line of JSON: compact, UTF-8 as it is, never NaN or an infinity (ValueError: a result was not checked)."""
    try:
        data = orjson.dumps(obj)
    except TypeError:  # an integer beyond 64 bits, or a name of a file that is not decoded
        text = _ENCODE(obj).encode("utf-8", "surrogateescape")
        return text.decode("utf-8", "replace").encode() + b"\n"
    # The fast encoder has null for NaN too, and other numbers with an exponent, or almost, than Python's.
    if b"null" in data or b"0.0000" in data or _EXPONENT.search(data) is not None:
        return _ENCODE(obj).encode() + b"\n"
    return data + b"\n"


def finite(values: Float) -> list[float | None]:
    return [value if isfinite(value) else None for value in values.tolist()]


def objects(lines: Iterable[bytes], place: str) -> Iterator[tuple[str, dict[str, Any] | DeptreeError]]:
    """Each line's object, or what is wrong with the line, with its ``file:line``; empty lines are skipped."""
    for number, line in enumerate(lines, 1):
        if line.strip():
            here = f"{place}:{number}"
            yield here, object_of(line, here)


def object_of(line: bytes, place: str) -> dict[str, Any] | DeptreeError:
    """A line's object, or what is wrong with the line."""
    try:
        value = _loaded(line)
    except (ValueError, RecursionError) as error:
        found, remedy = _SENT_ID.search(line), "Give one complete JSON object a line"
        name = found[1].decode("utf-8", "replace") if found else ""
        return DeptreeError(f"not JSON ({error})", remedy, place=place, sent_id="" if "\ufffd" in name else name)
    if not isinstance(value, dict):
        problem = f"expected a JSON object, found a {_kind(value)}"
        return DeptreeError(problem, "Give one JSON object a line", place=place)
    return value


def _loaded(line: bytes) -> Any:
    """What a line holds: by a fast parser, where that finds the same as Python's."""
    try:
        value = orjson.loads(line)
    except orjson.JSONDecodeError:  # NaN, infinities, half of a surrogate pair; or an error, which has Python's words
        return json.loads(line)
    # it knows no integers beyond 64 bits; where numbers are read these are floats in the end
    beyond = isinstance(value, dict) and type(value.get("sent_id")) is float
    return json.loads(line) if beyond else value


def _kind(value: Any) -> str:
    names = {list: "list", str: "string", int: "number", float: "number", bool: "true or false", type(None): "null"}
    return names.get(type(value), "object")


def sent_id_of(value: dict[str, Any], place: str) -> str | None:
    """The field ``sent_id`` as text, None where it is missing or null."""
    sent_id = value.get("sent_id")
    if sent_id is None:
        return None
    if type(sent_id) not in (str, int):
        raise DeptreeError(f"the field sent_id is a {_kind(sent_id)}", "Give a string", place=place)
    text = str(sent_id)
    try:
        text.encode()
    except UnicodeEncodeError:  # half of a surrogate pair, which no output could hold
        raise DeptreeError(f"the field sent_id is {text!r}, which is not text", "Repair it", place=place) from None
    return text
