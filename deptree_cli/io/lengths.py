"""The lengths of a padded batch: how many words each sentence has, ROOT not counted."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import zip_longest

import numpy as np
from numpy.typing import NDArray

from deptree_cli.core.errors import DeptreeError
from deptree_cli.io.arrays import MAGIC, read_array
from deptree_cli.io.inputs import Input, lines_of, open_input
from deptree_cli.io.layout import Layout, cut
from deptree_cli.io.raw import Array, Raw, RawScores

Lengths = NDArray[np.int64]


def read_lengths(path: str) -> Lengths:
    """The lengths in a file: a text file with one number a line, or a `.npy` of integers.

    Raises:
        DeptreeError: names the line that is not a number.
    """
    with open_input(path) as file:
        if file.head.startswith(MAGIC):
            return as_lengths(read_array(file.stream, file.place), file.place)
        return _from_text(file)


def _from_text(file: Input) -> Lengths:
    lengths = []
    for number, line in enumerate(lines_of(file.stream, file.place), 1):
        text = line.strip()
        if not text.isdigit() or len(text) > 9:
            said = text.decode("utf-8", "replace")[:20]
            raise DeptreeError(
                f"{said!r} is not a number of words", "Give one number a line", place=f"{file.place}:{number}"
            )
        lengths.append(int(text))
    return np.array(lengths, dtype=np.int64)


def as_lengths(array: Array, place: str) -> Lengths:
    """An array of lengths as read, checked."""
    if array.ndim != 1 or array.dtype.kind not in "iu":
        problem = f"lengths must be a row of integers, not {array.dtype} of shape {array.shape}"
        raise DeptreeError(problem, "Give one number of words per sentence", place=place)
    return array.astype(np.int64)


def with_lengths(raws: Iterable[Raw], lengths: Lengths, layout: Layout, place: str) -> Iterator[Raw]:
    """Each matrix cut to its length.

    Raises:
        DeptreeError: there are more matrices than lengths or more lengths than matrices.
    """
    matrices = 0
    for raw, length in zip_longest(raws, lengths.tolist()):
        matrices += raw is not None
        if raw is not None and length is not None:
            yield _cut(raw, length, layout)
    if matrices != len(lengths):
        problem = f"the number of matrices is {matrices}, that of lengths {len(lengths)}"
        raise DeptreeError(problem, "Give one length per matrix", place=place)


def _cut(raw: Raw, length: int, layout: Layout) -> Raw:
    if isinstance(raw, DeptreeError):
        return raw
    try:
        return RawScores(raw.key, cut(raw.scores, length, layout), raw.place)
    except DeptreeError as error:
        return error.at(raw.place)
