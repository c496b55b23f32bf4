"""`.safetensors`: one tensor per key, loaded when it is asked for by the library of that name."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from types import ModuleType
from typing import Any

import numpy as np

from deptree_cli.core.dtypes import Array
from deptree_cli.core.errors import DeptreeError
from deptree_cli.io.files.output import ARRAYS, Output
from deptree_cli.io.files.streams import Input, path_of
from deptree_cli.io.scores.arrays import MOST_SCORES, NO_EXTRAS, Extras, too_large
from deptree_cli.io.scores.containers import Entries, Write
from deptree_cli.io.scores.meta import Meta

_SAVE_AGAIN = "Write or copy it again"

# The one key of the metadata that is ours, of which the library would write several in any order; and the key of the
# header under which the metadata stand, between those of tensors.
_KEY, _METADATA = "deptree", "__metadata__"

# The types of the format that are real numbers in NumPy too.
_NUMPY_TYPES = {"BOOL", "U8", "I8", "U16", "I16", "F16", "U32", "I32", "F32", "U64", "I64", "F64"}


def _library(place: str = "") -> ModuleType:
    try:
        import safetensors.numpy
    except ImportError:
        remedy = "pip install 'deptree-cli[safetensors]'"
        raise DeptreeError("safetensors is not installed", remedy, place=place) from None
    return safetensors


@contextmanager
def open_safetensors(file: Input) -> Iterator[Tensors]:
    """Open a file of tensors; what is not a plain file is first copied to a temporary one."""
    library = _library(file.place)
    with path_of(file.stream) as path:
        try:
            opened = library.safe_open(path, "numpy")
        except (library.SafetensorError, OSError) as error:
            raise DeptreeError(f"the file is damaged or cut short ({error})", _SAVE_AGAIN, place=file.place) from None
        with opened as tensors:
            yield Tensors(tensors, library.SafetensorError, file.place)


def _ours(text: str) -> tuple[str, list[str]]:
    """The signature, and the names of the sentences in their order if that is known."""
    with suppress(ValueError, TypeError, RecursionError):
        says, names = json.loads(text)
        if isinstance(says, str) and isinstance(names, list) and all(isinstance(name, str) for name in names):
            return says, names
    return "", []


class Tensors(Entries):
    """The tensors of an open file. The library sorts them by name: only a list of names tells their order."""

    def __init__(self, file: Any, damage: type[Exception], place: str) -> None:
        text, names = _ours((file.metadata() or {}).get(_KEY, ""))
        keys, meta = file.offset_keys(), Meta.of(text)
        known = sorted(names) == sorted(keys)
        ordered = meta.ordered and (known or len(keys) < 2)
        super().__init__({key: key for key in (names if known else keys)}, place, replace(meta, ordered=ordered))
        self._file, self._damage = file, damage
        if not keys:
            remedy = "Save one per sentence, each under its own key"
            raise DeptreeError("the file holds no tensors", remedy, place=place)

    def load(self, key: str) -> Array:
        place = self.place_of(self.names[key])
        try:
            tensor = self._file.get_slice(key)
            shape, kind = tensor.get_shape(), tensor.get_dtype()
            if math.prod(shape) > MOST_SCORES:
                raise too_large(shape, place)
            if kind in _NUMPY_TYPES:
                return self._file.get_tensor(key)
        except (self._damage, OSError, ValueError) as error:
            raise DeptreeError(f"the tensor is damaged ({error})", _SAVE_AGAIN, place=place) from None
        raise DeptreeError(f"the tensor cannot be read (its type is {kind})", "Save it as float32", place=place)


@contextmanager
def write_safetensors(path: str | None, meta: Meta, header: bool) -> Iterator[Write]:
    """Write all tensors at once, at the end: the format puts their places first."""
    library, tensors = _library(), dict[str, Array]()

    def write(sent_id: str, scores: Array, extras: Extras = NO_EXTRAS, beside: str = "") -> None:
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
        ours = json.dumps([meta.signature, list(tensors) if meta.ordered else []], ensure_ascii=False)
        out.write(library.numpy.save(tensors, {_KEY: ours}))
