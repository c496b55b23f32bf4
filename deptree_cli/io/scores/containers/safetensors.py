"""`.safetensors`: one tensor per key, loaded when it is asked for by the library of that name."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from deptree_cli.core.dtypes import Array
from deptree_cli.core.errors import DeptreeError
from deptree_cli.io.files.output import ARRAYS, Output
from deptree_cli.io.files.streams import Input, path_of
from deptree_cli.io.scores.arrays import MOST_SCORES, too_large
from deptree_cli.io.scores.containers.base import Container, Write
from deptree_cli.io.scores.meta import Meta
from deptree_cli.io.scores.raw import RawScores, ReadSpec

_SAVE_AGAIN = "Write or copy it again"

# The keys of the metadata under which the text of `Meta` stands, and the names of the sentences in their order.
_TEXT, _ORDER = "signature", "order"

# The key of the header under which the metadata stand, between those of tensors.
_METADATA = "__metadata__"

# The types of the format that are real numbers in NumPy too; bfloat16 is widened here.
_NUMPY_TYPES = {"BOOL", "U8", "I8", "U16", "I16", "F16", "U32", "I32", "F32", "U64", "I64", "F64"}


def _looks_like_safetensors(head: bytes) -> bool:
    """Eight bytes with the length of a JSON header, and the header."""
    return head[4:8] == bytes(4) and head[8:9] == b"{"


def _not_installed(place: str = "") -> DeptreeError:
    return DeptreeError("safetensors is not installed", "pip install 'deptree-cli[safetensors]'", place=place)


@dataclass(frozen=True, slots=True)
class SafetensorsFile:
    """An opened file; what it says of itself stands among its metadata.

    The library sorts tensors by type and name, so the order is known only of files that list the names.
    """

    tensors: Tensors
    meta: Meta

    def read(self, matrices: ReadSpec) -> Tensors:
        """Return the tensors by key, in their order, or else in that in which they lie in the file."""
        return self.tensors


@contextmanager
def open_safetensors(file: Input) -> Iterator[SafetensorsFile]:
    """Open a file of tensors; what is no plain file is first copied to a temporary one.

    Raises:
        DeptreeError: the library is not installed, or the file is damaged.
    """
    try:
        from safetensors import SafetensorError, safe_open
    except ImportError:
        raise _not_installed(file.place) from None
    with path_of(file.stream) as path:
        try:
            opened = safe_open(path, "numpy")
        except (SafetensorError, OSError) as error:
            raise DeptreeError(f"the file is damaged or cut short ({error})", _SAVE_AGAIN, place=file.place) from None
        with opened as tensors:
            metadata: dict[str, str] = tensors.metadata() or {}
            keys, ordered = _in_order(tensors.offset_keys(), metadata.get(_ORDER, ""))
            meta = Meta.of_text(metadata.get(_TEXT, ""))
            meta = replace(meta, ordered=ordered and meta.ordered)
            yield SafetensorsFile(Tensors(tensors, keys, path, file.place), meta)


def _in_order(keys: Sequence[str], order: str) -> tuple[Sequence[str], bool]:
    """The keys in the order noted in the metadata, and whether there is one: a JSON list of exactly these keys."""
    if len(keys) < 2:
        return keys, True
    try:
        names = json.loads(order)
    except (ValueError, RecursionError):
        return keys, False
    known = isinstance(names, list) and all(isinstance(name, str) for name in names)
    return (names, True) if known and sorted(names) == sorted(keys) else (keys, False)


class Tensors(Mapping[str, RawScores]):
    """The tensors of an open file by key. Loading one raises a DeptreeError that names file and key.

    Args:
        file: as the library opened it.
        keys: all its names, in order.
        path: where its bytes are.
        place: what messages call it.
    """

    def __init__(self, file: Any, keys: Sequence[str], path: str, place: str) -> None:
        self._file = file
        self._path = path
        self._keys = dict.fromkeys(keys)
        self._place = place
        if not self._keys:
            raise DeptreeError(
                "the file holds no tensors", "Save one per sentence, each under its own key", place=place
            )

    def __iter__(self) -> Iterator[str]:
        return iter(self._keys)

    def __len__(self) -> int:
        return len(self._keys)

    def __contains__(self, key: object) -> bool:
        return key in self._keys

    def __getitem__(self, key: str) -> RawScores:
        from safetensors import SafetensorError

        if key not in self._keys:
            raise KeyError(key)
        place = f"{self._place}[{key}]"
        try:
            return RawScores(key, self._loaded(key, place), place)
        except (SafetensorError, OSError, ValueError) as error:
            raise DeptreeError(f"the tensor is damaged ({error})", _SAVE_AGAIN, place=place) from None

    def _loaded(self, key: str, place: str) -> Array:
        tensor = self._file.get_slice(key)
        shape, kind = tensor.get_shape(), tensor.get_dtype()
        if math.prod(shape) > MOST_SCORES:
            raise too_large(shape, place)
        if kind == "BF16":
            return self._widened(key, shape)
        if kind not in _NUMPY_TYPES:
            problem = f"the tensor cannot be read (its type is {kind})"
            raise DeptreeError(problem, "Save it as float32", place=place)
        return self._file.get_tensor(key)

    def _widened(self, key: str, shape: Sequence[int]) -> Array:
        """A bfloat16 tensor, which NumPy lacks, as float32: its bits are the first half of one."""
        halves = np.fromfile(self._path, "<u2", math.prod(shape), offset=self._offsets[key])
        return (halves.astype(np.uint32) << 16).view(np.float32).reshape(shape)

    @cached_property
    def _offsets(self) -> dict[str, int]:
        """Where the bytes of each tensor begin; the library has checked the header but does not tell."""
        with Path(self._path).open("rb") as file:
            size = int.from_bytes(file.read(8), "little")
            header = json.loads(file.read(size))
        return {key: 8 + size + header[key]["data_offsets"][0] for key in self._keys}


@contextmanager
def write_safetensors(path: str | None, meta: Meta, header: bool) -> Iterator[Write]:
    """Write all tensors at once, at the end: the format puts their places first.

    Raises:
        DeptreeError: the library is not installed.
    """
    try:
        from safetensors.numpy import save
    except ImportError:
        raise _not_installed() from None
    tensors: dict[str, Array] = {}

    def write(sent_id: str, scores: Array, forms: Sequence[str] | None = None, beside: str = "") -> None:
        if sent_id == _METADATA:
            remedy = "Write JSON Lines, or give the sentence another sent_id"
            raise DeptreeError("the name is reserved in safetensors", remedy, sent_id=sent_id)
        key = f"{sent_id}.{beside}" if beside else sent_id
        if key in tensors:
            remedy = "Write JSON Lines, or give every sentence its own sent_id"
            raise DeptreeError("safetensors cannot hold two sentences of one name", remedy, sent_id=sent_id)
        tensors[key] = np.ascontiguousarray(scores)

    with Output(path, ARRAYS) as out:
        yield write
        order = {_ORDER: json.dumps(list(tensors), ensure_ascii=False)} if meta.ordered else {}
        for part in _sorted(save(tensors, {_TEXT: meta.text()} | order)):
            out.write(part)


def _sorted(data: bytes) -> tuple[bytes, bytes]:
    """The header of a file with its metadata sorted, which the library writes in any order, and what follows it."""
    size = int.from_bytes(data[:8], "little")
    header = json.loads(data[8 : 8 + size])
    header[_METADATA] = dict(sorted(header[_METADATA].items()))
    text = json.dumps(header, ensure_ascii=False, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)  # tensors stay aligned
    return len(text).to_bytes(8, "little") + text, data[8 + size :]


CONTAINER = Container("safetensors", (".safetensors",), _looks_like_safetensors, open_safetensors, write_safetensors)
