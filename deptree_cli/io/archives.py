"""`.npz`: one matrix per key, loaded when it is asked for, or a padded batch under `scores` with its `lengths`."""

from __future__ import annotations

import zipfile
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import BinaryIO

from deptree_cli.core.errors import DeptreeError
from deptree_cli.io.arrays import read_array, read_npy
from deptree_cli.io.inputs import seekable
from deptree_cli.io.layout import Layout
from deptree_cli.io.lengths import as_lengths, with_lengths
from deptree_cli.io.raw import Array, Raw, RawScores, Source
from deptree_cli.io.refusals import TORCH, refuse

_SUFFIX = ".npy"
_BATCH = {"scores", "lengths"}

# What zipfile raises for a damaged, an encrypted or an exotically compressed entry.
_DAMAGE = (zipfile.BadZipFile, EOFError, OSError, RuntimeError, NotImplementedError, ValueError, zlib.error)


@contextmanager
def read_npz(stream: BinaryIO, place: str, layout: Layout) -> Iterator[Source]:
    """The entries of an archive by key, in file order, or the matrices of a padded batch cut to their lengths.

    Raises:
        DeptreeError: not a zip, or a zip of something else.
    """
    with seekable(stream) as file, open_zip(file, place) as archive:
        entries = Archive(archive, place)
        yield _batch(entries, layout) if set(entries) == _BATCH else entries


def open_zip(file: BinaryIO | str, place: str) -> zipfile.ZipFile:
    """The zip that a `.npz` is, in a file or under a path.

    Raises:
        DeptreeError: it is none.
    """
    try:
        return zipfile.ZipFile(file)
    except _DAMAGE as error:
        problem = f"the .npz is damaged or cut short ({error})"
        raise DeptreeError(problem, "Write or copy it again", place=place) from None


class Archive(Mapping[str, RawScores]):
    """The matrices of a `.npz` by key. Loading one raises a DeptreeError that names file and key."""

    def __init__(self, archive: zipfile.ZipFile, place: str) -> None:
        names = archive.namelist()
        if any(name.endswith("data.pkl") for name in names):
            refuse(TORCH, place)
        self._archive = archive
        self._names = {_key_of(name, place): name for name in names}
        self.place = place
        if not names or len(self._names) < len(names):
            problem = "the .npz has two entries of the same name" if names else "the .npz holds no arrays"
            raise DeptreeError(problem, "Save one matrix per sentence, each under its own key", place=place)

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)

    def __contains__(self, key: object) -> bool:
        return key in self._names

    def __getitem__(self, key: str) -> RawScores:
        return RawScores(key, self.load(key), f"{self.place}[{key}]")

    def load(self, key: str) -> Array:
        """The array under a key, of any number of dimensions."""
        with self.entry(key) as stream:
            return read_array(stream, f"{self.place}[{key}]")

    @contextmanager
    def entry(self, key: str) -> Iterator[BinaryIO]:
        """An entry's bytes; damage becomes a DeptreeError."""
        try:
            with self._archive.open(self._names[key]) as stream:
                yield stream  # type: ignore[misc]
        except _DAMAGE as error:
            problem = f"the entry is damaged ({error or type(error).__name__})"
            raise DeptreeError(problem, "Write or copy the file again", place=f"{self.place}[{key}]") from None


def _key_of(name: str, place: str) -> str:
    if not name.endswith(_SUFFIX):
        raise DeptreeError(f"the zip holds {name!r}, which is not a NumPy array", "Save it with np.savez", place=place)
    return name.removesuffix(_SUFFIX)


def _batch(entries: Archive, layout: Layout) -> Iterator[Raw]:
    place = f"{entries.place}[scores]"
    lengths = as_lengths(entries.load("lengths"), f"{entries.place}[lengths]")
    with entries.entry("scores") as stream:
        yield from with_lengths(read_npy(stream, place, layout), lengths, layout, place)
