"""JSON Lines of scores: an object a line."""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from itertools import chain, islice
from typing import Any

import numpy as np

from deptree_cli.core.dtypes import Array
from deptree_cli.core.errors import DeptreeError
from deptree_cli.io.files.output import Output
from deptree_cli.io.files.streams import Input, lines_of
from deptree_cli.io.json_lines import dump, objects, sent_id_of
from deptree_cli.io.scores.arrays import Raw, RawScores, ReadSpec
from deptree_cli.io.scores.containers import Write
from deptree_cli.io.scores.meta import NOTHING, Meta

# What may stand in a column of CoNLL-U: no tab, no end of a line, no half of a surrogate pair.
_COLUMN = re.compile("[^\t\n\r\ud800-\udfff]+")


class Lines:
    """An opened file, whose first line may be a signature; `words`: the first sentence comes with its words."""

    def __init__(self, file: Input) -> None:
        rows = objects(lines_of(file.stream, file.place), file.place)
        ahead = list(islice(rows, 1))
        first = ahead[0][1] if ahead else None
        self.meta = NOTHING
        if isinstance(first, dict) and _is_header(first):  # the first sentence stands behind it
            self.meta = Meta.of(first["signature"])
            ahead = list(islice(rows, 1))
        self.words = all(isinstance(value, DeptreeError) or bool(value.get("forms")) for _, value in ahead)
        self._rows = chain(ahead, rows)

    def read(self, matrices: ReadSpec) -> Iterator[Raw]:
        """Yield the scores of each line: ``{"sent_id": optional, "scores": [[...], ...]}``; null is forbidden.

        With labels the numbers of ``scores`` are lists one level deeper. ``forms`` are the words, if CoNLL-U is to be
        written without a file of sentences; of a sentence pair they are ``source`` and ``target``. A header is
        skipped on any line: files of one layout may be joined with `cat`.
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
                    forms = () if matrices.pairs else _words(value, "forms", "--conllu") or ()
                    found: Raw = RawScores(sent_id, _array(value.get("scores"), matrices), here, forms=forms, pair=pair)
                except DeptreeError as error:
                    found = error.at(here, sent_id or "")
                yield found


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


def _array(rows: Any, matrices: ReadSpec) -> Array:
    """Nested lists of numbers as an array; null becomes the forbidden score, NaN stays NaN."""
    if matrices.dimensions == 2 and type(rows) is list:
        with suppress(TypeError, ValueError, OverflowError):  # quicker than NumPy, and takes nothing but numbers
            (size,) = set(map(len, rows))
            return np.frombuffer(array("d", list(chain.from_iterable(rows)))).reshape(-1, size)
    shape, items = [1], [rows]
    for level in range(matrices.dimensions):
        if not all(isinstance(item, list) for item in items):
            kind = "list of lists" + " of lists" * (matrices.dimensions - 2)
            raise DeptreeError(f"the field scores is not a {kind}", 'Give {"scores": [[...], ...]}')
        sizes = {len(item) for item in items} or {0}
        if len(sizes) > 1:
            what = "rows" if level == 1 else "lists of labels"
            raise DeptreeError(f"the {what} of the field scores differ in length", "Give a rectangle of numbers")
        shape.append(sizes.pop())
        items = [cell for item in items for cell in item]
    numbers = [matrices.forbidden if cell is None else cell for cell in items]
    if not all(isinstance(number, int | float) for number in numbers):
        problem = "the field scores holds something that is not a number"
        raise DeptreeError(problem, "Give numbers, or null to forbid an arc")
    try:
        return np.array(numbers, dtype=np.float64).reshape(shape[1:])
    except OverflowError:
        raise DeptreeError("the field scores holds a number beyond the range of float64", "Repair the scores") from None


@contextmanager
def write_jsonl(path: str | None, meta: Meta, header: bool) -> Iterator[Write]:
    """Write a line each, handed on at once; the header waits for the first of them."""
    with Output(path) as out:
        before = [dump({"signature": meta.signature})] if header else []

        def write(sent_id: str, scores: Array, forms: Sequence[str] | None = None, beside: str = "") -> None:
            while before:
                out.write(before.pop())
            if (forbidden := np.isneginf(scores)).any():
                scores = np.where(forbidden, np.array(None), scores)  # null
            row = {"sent_id": sent_id, "scores": scores.tolist()}
            out.write(dump(row if forms is None else {**row, "forms": forms}))
            out.flush()

        yield write
