"""What a reader of a score file hands on, before anybody knows the layout or the sentence."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from io import BytesIO
from itertools import zip_longest
from typing import Any, BinaryIO, NamedTuple

import numpy as np

from deptree_cli.core.dtypes import Array, Int
from deptree_cli.core.errors import DeptreeError, OutOfStep
from deptree_cli.io.files.streams import entries_of, open_input, place_of


@dataclass(frozen=True, slots=True)
class ReadSpec:
    """What a reader has to know of the matrices; 3 dimensions are with labels, `forbidden` is what JSON's null is.

    Of sentence pairs there are the words of two sentences beside them.
    """

    dimensions: int = 2
    forbidden: float = -np.inf
    pairs: bool = False


class Extras(NamedTuple):
    """What a file may hold of a sentence beside its scores, each empty or None where it does not.

    The words, or all of the sentence in CoNLL-U; and scores of labels given the arc, one axis more than the sentence's
    own scores, with the names of these.
    """

    forms: Sequence[str] = ()
    conllu: bytes = b""
    labels: Sequence[str] = ()
    of_labels: Array | None = None


NO_EXTRAS = Extras()


@dataclass(slots=True, eq=False)  # not frozen, which costs a microsecond a sentence
class RawScores:
    """One sentence's scores as read: any number type, shape, orientation and ROOT place.

    `key` is the .npz key or ``sent_id`` in JSON, `place` for messages; `pair`: the words of a sentence pair if the
    container has them. `padded`: one slice of a batch whose own length is not known yet; `length`: how
    many words a file of lengths cuts it to; `extras`: what else the file holds of it.
    """

    key: str | None
    scores: Array
    place: str
    padded: bool = False
    length: int | None = None
    pair: tuple[tuple[str, ...], tuple[str, ...]] | None = None
    extras: Extras = NO_EXTRAS

    @property
    def names(self) -> Sequence[str]:
        return () if self.key is None else (self.key,)


# A bad sentence is handed on, not raised, so that `--on-error skip` can go on behind it.
Raw = RawScores | DeptreeError

# A container with names is a mapping that loads an entry when it is asked for.
Source = Mapping[str, RawScores] | Iterable[Raw]


def numeric(dtype: np.dtype[Any]) -> bool:
    return dtype.kind in "biuf"


MAGIC = b"\x93NUMPY"

# Numbers in one array (no sentence has more: 11,000 words, or 1,000 with 128 labels), and in one list; for a few
# compressed bytes may become more than memory holds.
MOST_SCORES, MOST_LISTED = 1 << 27, 1 << 24

_CHUNK = 1 << 20
_LONGEST_HEADER = 10_000  # NumPy's own limit
_MOST_AXES = 4  # sentences, heads, dependents, labels
_ADDRESSABLE = 1 << 58  # numbers; NumPy minds that of empty arrays too, with their empty axes left out
_HEADERS = {b"\x01\x00": np.lib.format.read_array_header_1_0, b"\x02\x00": np.lib.format.read_array_header_2_0}

_OBJECT_PROBLEM = "this is an object array, which runs code when it is loaded, so it is refused"
_OBJECT_REMEDY = (
    "If you trust it, convert it in Python with np.savez('scores.npz', *a), where a is"
    " np.load('FILE.npy', allow_pickle=True), or the entry ['KEY'] of that if the file is an .npz"
)


class Header(NamedTuple):
    """What an array says about itself before its data."""

    shape: tuple[int, ...]
    fortran_order: bool
    dtype: np.dtype[Any]


def read_header(stream: BinaryIO, place: str) -> Header | None:
    """Read the header of the next array; None at the end of the stream."""
    magic = stream.read(len(MAGIC) + 2)
    if not magic:
        return None
    version = magic[len(MAGIC) :]
    try:
        if not magic.startswith(MAGIC):
            raise DeptreeError("the bytes where an array should begin are not a .npy header", "Save it again")
        if version not in _HEADERS:
            raise DeptreeError("this version of .npy is not for plain numbers", "Save it again as float32")
        size = stream.read(2 if version == b"\x01\x00" else 4)
        header = _parsed(version, size + stream.read(min(int.from_bytes(size, "little"), _LONGEST_HEADER)))
        if header.dtype.hasobject:
            raise DeptreeError(_OBJECT_PROBLEM, _OBJECT_REMEDY)
        if not numeric(header.dtype):
            problem = f"the scores are of type {header.dtype}, not real numbers"
            raise DeptreeError(problem, "Save them as float32 or float64")
        whole = math.prod(max(size, 1) for size in header.shape)
        if len(header.shape) > _MOST_AXES or any(size < 0 for size in header.shape) or whole > _ADDRESSABLE:
            raise DeptreeError(f"the .npy header announces the shape {header.shape}", "Save it again")
    except DeptreeError as error:
        raise error.at(place) from None
    except Exception as error:  # NumPy evaluates the header as Python; anything can come of a damaged one.
        reason = str(error).split("\n")[0]
        raise DeptreeError(f"the .npy header is damaged ({reason})", "Save it again", place=place) from None
    return header


@lru_cache(1024)
def _parsed(version: bytes, header: bytes) -> Header:
    """Sentences of one length have one header, and NumPy takes longer over it than over their scores."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of headers as Python 2 wrote them, which are read all the same
        shape, fortran_order, dtype = _HEADERS[version](BytesIO(header))
    return Header(tuple(map(int, shape)), fortran_order, dtype)  # True is a number too, but no length of an axis


def read_data(stream: BinaryIO, header: Header, place: str) -> Array:
    flat = read_numbers(stream, header, math.prod(header.shape), place)
    return flat.reshape(header.shape, order="F" if header.fortran_order else "C")


def read_numbers(stream: BinaryIO, header: Header, count: int, place: str) -> Array:
    if count > MOST_SCORES:
        raise too_large(header.shape, place)
    size = count * header.dtype.itemsize
    data = bytearray()
    while len(data) < size:
        chunk = stream.read(min(size - len(data), _CHUNK))
        if not chunk:
            problem = f"the file is cut short: an array of shape {header.shape} is announced, but its data end early"
            raise DeptreeError(problem, "Write or copy it again", place=place)
        data += chunk
    return np.frombuffer(data, dtype=header.dtype)


def too_large(shape: Sequence[int], place: str) -> DeptreeError:
    problem = f"the array has shape {tuple(shape)}, which no sentence has"
    return DeptreeError(problem, "Save one array per sentence", place=place)


def read_array(stream: BinaryIO, place: str) -> Array:
    if (header := read_header(stream, place)) is None:
        raise DeptreeError("the entry is empty", "Write the file again", place=place)
    array = read_data(stream, header, place)
    if stream.read(1):
        raise DeptreeError("there are bytes behind the array", "Write the file again", place=place)
    return array


def read_list(path: str, what: str, number: Callable[[bytes], float]) -> Array:
    """Read the numbers of a text file, one a line, or the array of a `.npy`; `number` may raise ValueError."""
    with open_input(path) as file:
        if file.head.startswith(MAGIC):
            return read_array(file.stream, file.place)
        found: list[float] = []
        for place, line in entries_of(file.stream, file.place):
            for word in line.split() or [line]:
                if len(found) == MOST_LISTED:
                    raise DeptreeError(f"there are more than {MOST_LISTED:,} numbers", "Split it", place=file.place)
                try:
                    found.append(number(word))
                except ValueError:
                    problem = f"{word.decode('utf-8', 'replace')[:20]!r} is not {what}"
                    raise DeptreeError(problem, "Give one number a line, or .npy", place=place) from None
        return np.array(found)


def read_lengths(path: str) -> Int:
    return as_lengths(read_list(path, "a number of words", _words), place_of(path))


def _words(text: bytes) -> int:
    if len(text) > 9 or not text.isdigit():
        raise ValueError(text)
    return int(text)


def as_lengths(array: Array, place: str) -> Int:
    if array.ndim != 1 or array.dtype.kind not in "iu":
        problem = f"lengths must be a row of integers, not {array.dtype} of shape {array.shape}"
        raise DeptreeError(problem, "Give one number of words per sentence", place=place)
    return array.astype(np.int64)


def with_lengths(source: Source, lengths: Int, place: str) -> Iterator[Raw]:
    """Yield each matrix with its length; `layout.cut` then cuts it."""
    if isinstance(source, Mapping):
        remedy = "Leave it out: here every key has its own shape"
        raise DeptreeError("--lengths needs a padded .npy", remedy, place=place)
    matrices = iter(source)
    for number, (raw, length) in enumerate(zip_longest(matrices, lengths.tolist())):
        if raw is None or length is None:
            found = number if raw is None else number + 1 + sum(1 for _ in matrices)
            problem = f"the number of lengths is {len(lengths)}, that of matrices is {found}"
            raise OutOfStep(problem, "Give one length per matrix, in the same order", place=place)
        if isinstance(raw, RawScores):
            if raw.length is not None:
                remedy = "Leave it out: this file holds the lengths of its batch"
                raise OutOfStep("--lengths needs a padded .npy", remedy, place=place)
            raw = replace(raw, padded=False, length=length)
        yield raw
