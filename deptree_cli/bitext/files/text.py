"""The words of sentence pairs, a line each: ``source words ||| target words``, the format of fast_align."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from deptree_cli.core.errors import DeptreeError
from deptree_cli.io.files.streams import entries_of, open_input

_BETWEEN = b"|||"

_REMEDY = "Give a line 'source words ||| target words' for every sentence pair"


class PairWords(NamedTuple):
    """The words of both sentences of a pair, and where they were read."""

    source: tuple[str, ...]
    target: tuple[str, ...]
    place: str

    @property
    def lengths(self) -> tuple[int, int]:
        """How many words each sentence has, p and q."""
        return len(self.source), len(self.target)


def read_text(path: str) -> Iterator[PairWords | DeptreeError]:
    """The words of each line of a file, split at spaces and tabs; `-` is standard input.

    Yields:
        the words, or the error of a line without exactly one ``|||``, or that is not UTF-8.

    Raises:
        DeptreeError: the file cannot be read, or not to its end.
    """
    with open_input(path) as file:
        for place, line in entries_of(file.stream, file.place):
            yield _words(line, place)


def _words(line: bytes, place: str) -> PairWords | DeptreeError:
    words = line.split()  # of bytes: a no-break space is part of a word
    if words.count(_BETWEEN) != 1:
        times = words.count(_BETWEEN)
        problem = f"there are {times} ||| between words" if times else "there is no ||| between words"
        return DeptreeError(problem, _REMEDY, place=place)
    middle = words.index(_BETWEEN)
    try:
        source, target = (tuple(word.decode() for word in side) for side in (words[:middle], words[middle + 1 :]))
    except UnicodeDecodeError:
        return DeptreeError("the line is not UTF-8", "Save the file as UTF-8", place=place)
    return PairWords(source, target, place)
