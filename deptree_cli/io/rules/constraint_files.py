"""What a file asks of single words and of spans: JSON Lines, or rows between tabs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from deptree_cli.core.errors import DeptreeError
from deptree_cli.core.nearest import did_you_mean, one_of
from deptree_cli.io.files.streams import lines_of, open_input
from deptree_cli.io.json_lines import object_of, sent_id_of
from deptree_cli.io.rules.word_constraints import DEPREL_IN, DEPREL_NOT, KEYS, Spans, WordConstraints

_BOM = "\ufeff"
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
            for number, line in enumerate(lines_of(source.stream, source.place), 1):
                place = f"{source.place}:{number}"
                if text := _text(line, place):
                    sent_id, asked = _of_row(text, place) if text[0] != "{" else _of_object(text, place)
                    found[sent_id] = (*found.get(sent_id, ()), asked)
    return found


def _text(line: bytes, place: str) -> str:
    """A line, empty where it asks for nothing."""
    try:
        text = line.decode("utf-8").removeprefix(_BOM).rstrip("\r\n")
    except UnicodeDecodeError:
        raise DeptreeError("it is not UTF-8", "Convert the file to UTF-8", place=place) from None
    return text if text.strip() and not text.startswith("#") else ""


def _of_row(line: str, place: str) -> tuple[str, WordConstraints]:
    """The sentence that a row is about, and what it asks for."""
    sent_id, *others = line.split("\t")
    if not sent_id.strip() or len(others) not in (2, 3):
        raise DeptreeError(f"Expected 3 or 4 columns, found {len(others) + 1}: {line!r}", _ROW, place=place)
    if len(others) == 2:
        first, last = (_number(each, "a word of a span", place) for each in others)
        return sent_id, WordConstraints(spans=((first, last),), place=place)
    word, key, value = others
    asked = {_number(word, "the word", place): {_known(key, place): value.split(",")}}
    return sent_id, WordConstraints(asked, place=place)


def _of_object(line: str, place: str) -> tuple[str, WordConstraints]:
    """The sentence that an object is about, and what it asks for."""
    fields = object_of(line.encode(), place)
    if isinstance(fields, DeptreeError):
        raise fields
    sent_id = sent_id_of(fields, place)
    if not sent_id:
        raise DeptreeError("it has no sent_id", _OBJECT, place=place)
    unknown = next((field for field in fields if field not in _FIELDS), None)
    if unknown is not None:
        remedy = did_you_mean(unknown, _FIELDS, one_of(_FIELDS))
        raise DeptreeError(f"there is no field {unknown!r}", remedy, place=place)
    words = _is(dict, fields.get("words", {}), "words", place)
    asked = {_number(word, "a word", place): _entries(word, entries, place) for word, entries in words.items()}
    return sent_id, WordConstraints(asked, _spans(fields.get("spans", []), place), place)


def _entries(word: str, entries: Any, place: str) -> Mapping[str, Sequence[str]]:
    """What is asked of a word, by keys."""
    return {
        _known(key, place): _values(f"{key} of word {word}", key, values, place)
        for key, values in _is(dict, entries, f"word {word}", place).items()
    }


def _values(what: str, key: str, values: Any, place: str) -> list[str]:
    """Numbers of heads, or labels, as text: a list of some, or one."""
    given = values if isinstance(values, list) else [values]
    fitting = (str,) if key in (DEPREL_IN, DEPREL_NOT) else (str, int)
    if not given or not all(type(each) in fitting for each in given):
        kind = "labels" if fitting == (str,) else "numbers of heads"
        raise DeptreeError(f"{what} is {values!r}", f"Give a list of {kind}", place=place)
    return [str(each) for each in given]


def _spans(spans: Any, place: str) -> Spans:
    """First and last words."""
    for each in _is(list, spans, "spans", place):
        if not isinstance(each, list) or len(each) != 2 or not all(type(word) is int for word in each):
            raise DeptreeError(f"a span is {each!r}", "Give its first and its last word: [1, 2]", place=place)
    return tuple((first, last) for first, last in spans)


def _is(kind: type, value: Any, what: str, place: str) -> Any:
    """A value that is of a kind."""
    if not isinstance(value, kind):
        raise DeptreeError(f"{what} is {value!r}", _OBJECT, place=place)
    return value


def _number(text: str, what: str, place: str) -> int:
    """The number of a word."""
    if not (text.isascii() and text.isdecimal()):
        raise DeptreeError(f"{what} is {text!r}, not a number from 1 on", "Correct it", place=place)
    return int(text)


def _known(key: str, place: str) -> str:
    if key not in KEYS:
        raise DeptreeError(f"there is no constraint {key!r}", did_you_mean(key, KEYS, one_of(KEYS)), place=place)
    return key
