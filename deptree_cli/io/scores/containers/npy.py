"""`.npy`: one matrix, a padded batch, or several arrays saved one after another.

Of a batch only one slice is in memory at a time.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from typing import BinaryIO

from deptree_cli.core.dtypes import Array, smallest_type
from deptree_cli.core.errors import DeptreeError
from deptree_cli.io.files.output import ARRAYS, Output, npy_of
from deptree_cli.io.files.streams import Input
from deptree_cli.io.scores.arrays import (
    NO_EXTRAS,
    Extras,
    Header,
    RawScores,
    ReadSpec,
    read_data,
    read_header,
    read_numbers,
)
from deptree_cli.io.scores.containers import Write
from deptree_cli.io.scores.meta import NOTHING, Meta


@dataclass(frozen=True, slots=True)
class Arrays:
    """An opened file of arrays; it has no place for what it could say of itself."""

    file: Input
    meta: Meta = NOTHING

    def read(self, matrices: ReadSpec) -> Iterator[RawScores]:
        return read_npy(self.file.stream, self.file.place, matrices)


def open_npy(file: Input) -> AbstractContextManager[Arrays]:
    return nullcontext(Arrays(file))


def read_npy(stream: BinaryIO, place: str, matrices: ReadSpec) -> Iterator[RawScores]:
    """Yield the matrices of arrays that stand one after another; slices of a batch are marked as padded."""
    number = 0
    while (header := read_header(stream, place)) is not None:
        batched = len(header.shape) == matrices.dimensions + 1
        for scores in _slices(stream, header, place) if batched else (read_data(stream, header, place),):
            number += 1
            here = f"{place}, matrix {number}"
            _check_no_heads(scores, here)
            yield RawScores(None, scores, here, batched)


def _check_no_heads(scores: Array, place: str) -> None:
    """Raise if each row is a tree, in the type in which trees are written: the file cannot say that it holds heads."""
    may_be = scores.dtype.kind == "i" and scores.ndim == 2 and scores.size
    if not may_be or scores.dtype != smallest_type(scores.shape[1]):
        return
    from deptree_cli.core.factorisation import are_trees  # few matrices look like heads

    if are_trees(scores).all():
        problem = "every row is a tree, as deptree sample and decode write them; these are not scores"
        remedy = "Name the file of scores that it was made from, or save scores as float32"
        raise DeptreeError(problem, remedy, place=place)


def _slices(stream: BinaryIO, header: Header, place: str) -> Iterator[Array]:
    """The arrays of a batch (sentences, rows, columns[, labels]), one at a time unless stored column by column."""
    shape = header.shape[1:]
    size = math.prod(shape)
    if not size:
        # A few bytes would announce any number of matrices.
        problem = f"an array of shape {header.shape} is not a padded batch of sentences"
        raise DeptreeError(problem, "An axis is empty", place=place)
    if header.fortran_order:
        yield from read_data(stream, header, place)
        return
    for _ in range(header.shape[0]):
        yield read_numbers(stream, header, size, place).reshape(shape)


@contextmanager
def write_npy(path: str | None, meta: Meta, header: bool) -> Iterator[Write]:
    """Write one array after another, as `numpy.save` would write each."""
    with Output(path, ARRAYS) as out:

        def write(sent_id: str, scores: Array, extras: Extras = NO_EXTRAS, beside: str = "") -> None:
            if beside:
                problem = f"a .npy cannot store {beside.replace('_', ' ')}"
                raise DeptreeError(problem, "Write .npz or JSON Lines", sent_id=sent_id)
            out.write(npy_of(scores))

        yield write
