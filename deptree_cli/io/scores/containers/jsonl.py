"""JSON Lines of scores: an object a line."""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from dataclasses import replace
from itertools import chain, islice
from typing import Any

import numpy as np

from deptree_cli.core.dtypes import Array
from deptree_cli.core.errors import DeptreeError
from deptree_cli.io.files.output import Output
from deptree_cli.io.files.streams import Input, lines_of
from deptree_cli.io.json_lines import dump, objects, sent_id_of
from deptree_cli.io.scores.arrays import NO_EXTRAS, Extras, Raw, RawScores, ReadSpec
from deptree_cli.io.scores.containers import Write
from deptree_cli.io.scores.meta import NOTHING, Meta

# Fields that hold the words, and all that may stand beside scores.
WORDS = ("forms", "conllu")
EXTRAS = frozenset((*WORDS, "label_scores"))

# What may stand in a column of CoNLL-U: no tab, no end of a line, no half of a surrogate pair.
_COLUMN = re.compile("[^\t\n\r\ud800-\udfff]+")


class Lines:
    """An opened file, whose first line may be a signature.

    `words`: the first sentence comes with its words; `labels`: the names of the labels of which it has scores.
    """

    def __init__(self, file: Input) -> None:
        rows = objects(lines_of(file.stream, file.place), file.place)
        ahead = list(islice(rows, 1))
        first = ahead[0][1] if ahead else None
        self.meta = NOTHING
        if isinstance(first, dict) and _is_header(first):  # the first sentence stands behind it
            self.meta = Meta.of(first["signature"])
            ahead = list(islice(rows, 1))
        self.words = all(isinstance(value, DeptreeError) or any(map(value.get, WORDS)) for _, value in ahead)
        known = [(here, value) for here, value in ahead if isinstance(value, dict) and "label_scores" in value]
        self.labels = _labels(known[0][1], known[0][0]) if known else ()
        self._rows = chain(ahead, rows)

    def read(self, matrices: ReadSpec) -> Iterator[Raw]:
        """Yield the scores of each line: ``{"sent_id": optional, "scores": [[...], ...]}``; null is forbidden.

        With labels the numbers of ``scores`` are lists one level deeper. ``forms`` are the words, if CoNLL-U is to be
        written without a file of sentences; of a sentence pair they are ``source`` and ``target``. ``conllu`` is the
        sentence itself, and ``label_scores`` are scores of ``labels`` given the arc. A header is skipped on any line:
        files of one layout may be joined with `cat`.
        """
        for here, value in self._rows:
            if isinstance(value, DeptreeError):
                yield value
            elif _is_header(value):
                if _reading(Meta.of(value["signature"])) != _reading(self.meta):
                    problem = "the scores after this header have another layout than those before it"
                    raise DeptreeError(problem, "Pass the joined files separately", place=here)
            else:
                sent_id: str | None = None
                try:
                    sent_id = sent_id_of(value, here)
                    pair = _pair(value) if matrices.pairs else None
                    scores = _array(value, "scores", matrices)
                    extras = NO_EXTRAS if matrices.pairs else self._extras(value, here, matrices)
                    found: Raw = RawScores(sent_id, scores, here, pair=pair, extras=extras)
                except DeptreeError as error:
                    found = error.at(here, sent_id or "")
                yield found

    def _extras(self, value: dict[str, Any], here: str, matrices: ReadSpec) -> Extras:
        if not self.labels and EXTRAS.isdisjoint(value):
            return NO_EXTRAS
        forms, conllu = _words(value, "forms", "--conllu") or (), value.get("conllu") or ""
        if not isinstance(conllu, str):
            raise DeptreeError("the field conllu is not text", "Give the sentence in CoNLL-U, or leave it out")
        try:
            words = forms, conllu.encode()
        except UnicodeEncodeError:
            raise DeptreeError("the field conllu is not UTF-8", "Write it again") from None
        if "label_scores" not in value:
            return Extras(*words, self.labels)
        if (labels := _labels(value, here)) != self.labels:
            first = "others than those of the first sentence" if self.labels else "not of the first sentence"
            raise DeptreeError(f"there are scores of labels that are {first}", "Pass joined files separately")
        return Extras(*words, labels, _array(value, "label_scores", replace(matrices, dimensions=3)))


def open_jsonl(file: Input) -> AbstractContextManager[Lines]:
    return nullcontext(Lines(file))


def _reading(meta: Meta) -> tuple[object, ...]:
    return meta.trees, meta.layout and meta.layout.reading


def _is_header(value: dict[str, Any]) -> bool:
    return value.keys() == {"signature"}


def _pair(value: dict[str, Any]) -> tuple[tuple[str, ...], tuple[str, ...]] | None:
    """The words of both sentences, None where there are none."""
    source, target = (_words(value, name, "--text") for name in ("source", "target"))
    if source is not None and target is not None:
        return source, target
    if source is None and target is None:
        return None
    missing = "source" if source is None else "target"
    raise DeptreeError(f"there is no field {missing} beside the other one", "Give the words of both, or of neither")


def _words(value: dict[str, Any], name: str, option: str) -> tuple[str, ...] | None:
    words = value.get(name)
    if words is None:
        return None
    if not isinstance(words, list) or not all(isinstance(word, str) and _COLUMN.fullmatch(word) for word in words):
        problem = f"the field {name} is not a list of words without tabs and newlines"
        raise DeptreeError(problem, f"Repair it, or leave it out and give {option}")
    return tuple(words)


def _labels(value: dict[str, Any], here: str) -> tuple[str, ...]:
    from deptree_cli.io.scores.reading import checked_labels  # few files hold labels

    try:
        return checked_labels(value["labels"] if isinstance(value.get("labels"), list) else (), here)
    except ValueError as error:
        remedy = "Give a list of names beside label_scores"
        raise DeptreeError(f"the field labels has no names ({error})", remedy, place=here) from None


def _array(value: dict[str, Any], field: str, matrices: ReadSpec) -> Array:
    """Nested lists of numbers as an array; null becomes the forbidden score, NaN stays NaN."""
    rows: Any = value.get(field)
    if matrices.dimensions == 2 and type(rows) is list:
        with suppress(TypeError, ValueError, OverflowError):  # quicker than NumPy, and takes nothing but numbers
            (size,) = set(map(len, rows))
            return np.frombuffer(array("d", list(chain.from_iterable(rows)))).reshape(-1, size)
    shape, items = [1], [rows]
    for level in range(matrices.dimensions):
        if not all(isinstance(item, list) for item in items):
            kind = "list of lists" + " of lists" * (matrices.dimensions - 2)
            raise DeptreeError(f"the field {field} is not a {kind}", f'Give {{"{field}": [[...], ...]}}')
        sizes = {len(item) for item in items} or {0}
        if len(sizes) > 1:
            what = "rows" if level == 1 else "lists of labels"
            raise DeptreeError(f"the {what} of the field {field} differ in length", "Give a rectangle of numbers")
        shape.append(sizes.pop())
        items = [cell for item in items for cell in item]
    numbers = [matrices.forbidden if cell is None else cell for cell in items]
    if not all(isinstance(number, int | float) for number in numbers):
        problem = f"the field {field} holds something that is not a number"
        raise DeptreeError(problem, "Give numbers, or null to forbid an arc")
    try:
        return np.array(numbers, dtype=np.float64).reshape(shape[1:])
    except OverflowError:
        problem = f"the field {field} holds a number beyond the range of float64"
        raise DeptreeError(problem, "Repair the scores") from None


@contextmanager
def write_jsonl(path: str | None, meta: Meta, header: bool) -> Iterator[Write]:
    """Write a line each, handed on at once; the header waits for the first of them."""
    with Output(path) as out:
        before = [dump({"signature": meta.signature})] if header else []

        def write(sent_id: str, scores: Array, extras: Extras = NO_EXTRAS, beside: str = "") -> None:
            while before:
                out.write(before.pop())
            row: dict[str, Any] = {"sent_id": sent_id, "scores": _listed(scores)}
            if extras.conllu:
                row["conllu"] = extras.conllu.decode()
            elif extras.forms:
                row["forms"] = extras.forms
            if extras.of_labels is not None:
                row |= {"labels": extras.labels, "label_scores": _listed(extras.of_labels)}
            out.write(dump(row))
            out.flush()

        yield write


def _listed(scores: Array) -> list[Any]:
    """The scores as lists, null where an arc is forbidden."""
    if (forbidden := np.isneginf(scores)).any():
        scores = np.where(forbidden, np.array(None), scores)
    found: list[Any] = scores.tolist()
    return found
