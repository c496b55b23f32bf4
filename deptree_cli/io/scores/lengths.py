"""The lengths of a padded batch: how many words each sentence has, ROOT not counted."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import zip_longest

import numpy as np

from deptree_cli.core.dtypes import Array, Int
from deptree_cli.core.errors import DeptreeError, OutOfStep
from deptree_cli.io.files.streams import place_of
from deptree_cli.io.scores.arrays import read_list
from deptree_cli.io.scores.raw import Raw, Source


def read_lengths(path: str) -> Int:
    """Read the lengths in a file; errors as of `read_list` and `as_lengths`."""
    return as_lengths(read_list(path, "a number of words", _words), place_of(path))


def _words(text: bytes) -> int:
    if len(text) > 9 or not text.isdigit():
        raise ValueError(text)
    return int(text)


def as_lengths(array: Array, place: str) -> Int:
    """Check an array of lengths as read, and return it as int64.

    Raises:
        DeptreeError: it is not a row of integers.
    """
    if array.ndim != 1 or array.dtype.kind not in "iu":
        problem = f"lengths must be a row of integers, not {array.dtype} of shape {array.shape}"
        raise DeptreeError(problem, "Give one number of words per sentence", place=place)
    return array.astype(np.int64)


def with_lengths(source: Source, lengths: Int, place: str) -> Iterator[Raw]:
    """Yield each matrix with its length; `layout.cut` then cuts it.

    Raises:
        DeptreeError: there are more matrices than lengths or more lengths than matrices, or the container has keys or
            lengths of its own.
    """
    if isinstance(source, Mapping):
        remedy = "Leave it out: here every key has its own shape"
        raise DeptreeError("--lengths needs a padded .npy", remedy, place=place)
    matrices = iter(source)
    for number, (raw, length) in enumerate(zip_longest(matrices, lengths.tolist())):
        if raw is None or length is None:
            found = number if raw is None else number + 1 + sum(1 for _ in matrices)
            problem = f"the number of lengths is {len(lengths)}, that of matrices is {found}"
            raise OutOfStep(problem, "Give one length per matrix, in the same order", place=place)
        if isinstance(raw, DeptreeError):
            yield raw
            continue
        if raw.length is not None:
            remedy = "Leave it out: this file holds the lengths of its batch"
            raise OutOfStep("--lengths needs a padded .npy", remedy, place=place)
        yield replace(raw, padded=False, length=length)
