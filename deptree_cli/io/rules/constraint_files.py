"""What files ask of single words and of spans: JSON Lines, or rows between tabs."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from deptree_cli.core.errors import DeptreeError
from deptree_cli.core.nearest import did_you_mean, one_of
from deptree_cli.io.files.streams import entries_of, open_input
from deptree_cli.io.json_lines import object_of, sent_id_of
from deptree_cli.io.rules.word_constraints import KEYS, WordConstraints

_ROW = "Write sent_id, word, key and value between tabs, or sent_id, first and last word"
_OBJECT = 'Write {"sent_id": ..., "words": {"3": {"HeadIn": [2]}}, "spans": [[1, 2]]}'
_FIELDS = ("sent_id", "words", "spans")


def read_word_constraints(paths: Iterable[str]) -> dict[str, tuple[WordConstraints, ...]]:
    """What files ask for, by sent_id, each line with its place.

    Lines are JSON, or rows of sent_id, word, key, value or of sent_id, first, last. Those with # in front are comments.

    Raises:
        DeptreeError: one cannot be read, or a line is not understood.
    """
    found: dict[str, tuple[WordConstraints, ...]] = {}
    for path in paths:
        with open_input(path) as source:
            for place, line in entries_of(source.stream, source.place):
                try:
                    if text := _text(line):
                        sent_id, words, spans = _of_row(text) if text[0] != "{" else _of_object(text)
                        asked = WordConstraints(words, tuple(spans), place)
                        found[sent_id] = (*found.get(sent_id, ()), asked)
                except DeptreeError as error:
                    raise error.at(place) from None
    return found


def _text(line: bytes) -> str:
    """A line, empty where it asks for nothing."""
    try:
        text = line.decode()
    except UnicodeDecodeError:
        raise DeptreeError("it is not UTF-8", "Convert the file to UTF-8") from None
    return text if not text.startswith("#") else ""


# A sentence, what is asked of its words by keys, and its spans.
_Asked = tuple[str, dict[int, dict[str, list[str]]], list[tuple[int, int]]]


def _of_row(line: str) -> _Asked:
    sent_id, *others = line.split("\t")
    if not sent_id.strip() or len(others) not in (2, 3):
        raise DeptreeError(f"Expected 3 or 4 columns, found {len(others) + 1}: {line!r}", _ROW)
    if len(others) == 2:
        return sent_id, {}, [(_number(others[0]), _number(others[1]))]
    word, key, value = others
    return sent_id, {_number(word): {_known(key): value.split(",")}}, []


def _of_object(line: str) -> _Asked:
    fields = object_of(line.encode(), "")
    if isinstance(fields, DeptreeError):
        raise fields
    sent_id = sent_id_of(fields, "")
    if not sent_id:
        raise DeptreeError("it has no sent_id", _OBJECT)
    unknown = next((field for field in fields if field not in _FIELDS), None)
    if unknown is not None:
        raise DeptreeError(f"there is no field {unknown!r}", did_you_mean(unknown, _FIELDS, one_of(_FIELDS)))
    try:
        words = {
            _number(word): {_known(key): _values(values) for key, values in entries.items()}
            for word, entries in fields.get("words", {}).items()
        }
        return sent_id, words, [(_number(first), _number(last)) for first, last in fields.get("spans", [])]
    except (AttributeError, TypeError, ValueError):
        raise DeptreeError("words or spans are not understood", _OBJECT) from None


def _values(values: Any) -> list[str]:
    """Numbers of heads, or labels, as text: a list of some, or one."""
    given = values if isinstance(values, list) else [values]
    if not given or not all(type(each) in (str, int) for each in given):
        raise ValueError(values)
    return [str(each) for each in given]


def _number(given: Any) -> int:
    """The number of a word."""
    text = str(given) if type(given) in (str, int) else ""
    if not (text.isascii() and text.isdecimal()):
        raise DeptreeError(f"the word is {given!r}, not a number from 1 on", "Correct it")
    return int(text)


def _known(key: str) -> str:
    if key not in KEYS:
        raise DeptreeError(f"there is no constraint {key!r}", did_you_mean(key, KEYS, one_of(KEYS)))
    return key
