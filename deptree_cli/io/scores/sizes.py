"""How large the matrices of a score file are, from its headers: before anything is read, and without reading it."""

from __future__ import annotations

import json
import math
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

import numpy as np

# Of files whose lines are read whole.
MOST_BYTES = 1 << 20


def matrix_sizes(path: str) -> Iterator[tuple[int, int, int]]:
    """Yield how many matrices there are of how many rows and columns; arrays of more dimensions hold several.

    Raises:
        ValueError: it is of no kind of which sizes are known, or too large to look.
        Exception: of any kind, if it is damaged.
    """
    shapes = _SHAPES.get(Path(path).suffix.lower())
    if shapes is None:
        raise ValueError(path)
    for shape in shapes(Path(path)):
        if len(shape) > 1:
            yield math.prod(shape[:-2]), shape[-2], shape[-1]


def _of_npy(path: Path) -> Iterator[tuple[int, ...]]:
    """Of one array, or of several one after another."""
    with path.open("rb") as file:
        while file.peek(1):
            shape, itemsize = _header(file)
            yield shape
            file.seek(math.prod(shape) * itemsize, 1)


def _of_npz(path: Path) -> Iterator[tuple[int, ...]]:
    with zipfile.ZipFile(path) as archive:
        for name in archive.namelist():
            with archive.open(name) as file:
                yield _header(file)[0]  # type: ignore[arg-type]  # it reads bytes


def _header(file: BinaryIO) -> tuple[tuple[int, ...], int]:
    """The shape of an array of numbers, and the bytes of a number."""
    read = np.lib.format.read_array_header_1_0 if np.lib.format.read_magic(file) == (1, 0) else None
    shape, _, dtype = (read or np.lib.format.read_array_header_2_0)(file)
    return shape, dtype.itemsize


def _of_safetensors(path: Path) -> Iterator[tuple[int, ...]]:
    with path.open("rb") as file:
        length = int.from_bytes(file.read(8), "little")
        if length > MOST_BYTES:
            raise ValueError(path)
        header = json.loads(file.read(length))
    for name, entry in header.items():
        if name != "__metadata__":
            yield tuple(entry["shape"])


def _of_lines(path: Path) -> Iterator[tuple[int, ...]]:
    """By commas, of which there are about as many as numbers."""
    if path.stat().st_size > MOST_BYTES:
        raise ValueError(path)
    for line in path.read_bytes().splitlines():
        side = math.isqrt(line.count(b",")) + 1
        yield side, side


_SHAPES = {".npy": _of_npy, ".npz": _of_npz, ".safetensors": _of_safetensors, ".jsonl": _of_lines}
