"""`.safetensors`: one tensor per key, loaded when it is asked for by the library of that name."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, BinaryIO

from deptree_cli.core.errors import DeptreeError
from deptree_cli.io.arrays import MOST_SCORES, too_large
from deptree_cli.io.inputs import path_of
from deptree_cli.io.layout import Layout
from deptree_cli.io.raw import RawScores, Source

SAVE_AGAIN = "Write or copy it again"


@contextmanager
def read_safetensors(stream: BinaryIO, place: str, layout: Layout) -> Iterator[Source]:
    """The tensors of a file by key, in the order in which they lie in it.

    Raises:
        DeptreeError: the library is not installed, or the file is damaged.
    """
    try:
        from safetensors import SafetensorError, safe_open
    except ImportError:
        remedy = "pip install 'deptree-cli[safetensors]'"
        raise DeptreeError("safetensors is not installed", remedy, place=place) from None
    with path_of(stream) as path:
        try:
            file = safe_open(path, "numpy")
        except (SafetensorError, OSError) as error:
            raise DeptreeError(f"the file is damaged or cut short ({error})", SAVE_AGAIN, place=place) from None
        with file:
            yield Tensors(file, place)


class Tensors(Mapping[str, RawScores]):
    """The tensors of an open file by key. Loading one raises a DeptreeError that names file and key."""

    def __init__(self, file: Any, place: str) -> None:
        self._file = file
        self._keys = dict.fromkeys(file.offset_keys())
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
            shape = self._file.get_slice(key).get_shape()
            if math.prod(shape) > MOST_SCORES:
                raise too_large(shape, place)
            return RawScores(key, self._file.get_tensor(key), place)
        except TypeError as error:  # a type that NumPy lacks: bfloat16, float8
            raise DeptreeError(f"the tensor cannot be read ({error})", "Save it as float32", place=place) from None
        except (SafetensorError, OSError, ValueError) as error:
            raise DeptreeError(f"the tensor is damaged ({error})", SAVE_AGAIN, place=place) from None
