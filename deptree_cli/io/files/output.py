"""Writing results: under the final name only when they are whole.

A file is written beside its final place and renamed at the end; standard output, pipes and devices are written at once.
A name that ends in .gz asks for compression.
"""

from __future__ import annotations

import errno
import gzip
import io
import os
import secrets
import shutil
import stat
import sys
import zipfile
from collections.abc import Hashable, Iterable, Iterator, Set
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from functools import lru_cache, partial
from pathlib import Path, PurePath
from typing import Any, BinaryIO, NamedTuple, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from deptree_cli.core.errors import DeptreeError, ReaderLeft
from deptree_cli.core.undo import Undo, mark_done, register
from deptree_cli.io.files.streams import STDIN, place_of

STDOUT = "-"

# Of files that hold sentences.
CONLLU_SUFFIXES = (".conllu", ".conllup", ".cupt", ".conll", ".conllx")

# What files of arrays hold, for a message.
ARRAYS = "arrays"

# A fixed date, so that the same results are the same bytes.
_DATE = (1980, 1, 1, 0, 0, 0)
_LONGEST_NAME = 0xFFFF

Opened = TypeVar("Opened")


# The runs within which this process is, the innermost last: what is open until its end, and the files that are whole.
_runs: list[tuple[ExitStack, list[Output]]] = []


@contextmanager
def all_or_none() -> Iterator[None]:
    """Give the files that are written within the block their final names at its end; none of them if it fails."""
    opened, whole = run = ExitStack(), list[Output]()
    _runs.append(run)
    try:
        with opened:
            yield
        if whole:
            mark_done()
        # Where there is a file already its place may be refused; where there is none, one was just opened beside it.
        for each in sorted(whole, key=lambda each: not each.replaces):
            each.rename()
    finally:
        _runs.pop()
        for each in whole:
            each.discard()


def until_the_end(output: AbstractContextManager[Opened]) -> Opened:
    """Open what a run writes beside its results; it is closed at the end of the run."""
    return _runs[-1][0].enter_context(output)


class Output:
    """Bytes to a file or, for None and `-`, to standard output; a context manager.

    Args:
        no_text: what the bytes are, if they are of no use on a terminal.
        last: whether they are results, which get their final name at the end of the run, rather than a state of it.

    Raises:
        DeptreeError: on entry if the file cannot be written there, later if the disk is full.
    """

    def __init__(self, path: str | None, no_text: str = "", last: bool = True) -> None:
        self._path = None if path in (None, STDOUT) else path
        self._no_text, self._last = no_text, last
        # The file written beside and its final place; None when writing directly.
        self._rename: tuple[Path, Path] | None = None
        self._stream: BinaryIO | gzip.GzipFile
        self._forget: Undo = lambda: None

    def __enter__(self) -> Self:
        try:
            self._file = self._opened()
            # Without a name or a date: the same bytes for the same bytes.
            self._stream = gzip.GzipFile("", "wb", 6, self._file, mtime=0) if is_packed(self._path) else self._file
        except OSError as error:
            raise _unwritable(error, self._path) from None
        if self._no_text and self._file.isatty():
            self.discard()
            raise DeptreeError(f"a terminal cannot show {self._no_text}", "Name a file with -o, or redirect: > FILE")
        return self

    def _opened(self) -> BinaryIO:
        if self._path is None:
            if sys.stdout is None:
                raise DeptreeError("standard output is closed", "Name a file with -o")
            return sys.stdout.buffer
        if _written_directly(self._path):
            return Path(self._path).open("wb")
        # A link stays a link: what it leads to is replaced.
        target = Path(os.path.realpath(self._path))
        if target.is_symlink():
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
        part = target.with_name(f".deptree-{secrets.token_hex(8)}.part")
        self._forget = register(partial(part.unlink, missing_ok=True))
        stream = part.open("xb")
        self._rename = part, target
        return stream

    def write(self, data: bytes) -> int:
        try:
            return self._stream.write(data)
        except OSError as error:
            raise _unwritable(error, self._path) from None

    def flush(self) -> None:
        """Hand on what is in the buffer; what is compressed stays there, lest it be compressed in small pieces."""
        try:
            self._file.flush()
        except OSError as error:
            raise _unwritable(error, self._path) from None

    def __exit__(self, *failure: Any) -> None:
        with ExitStack() as undone:
            undone.callback(self.discard)
            if failure[0] is not None:
                return
            if self._stream is not self._file:
                try:
                    self._stream.close()
                except OSError as error:
                    raise _unwritable(error, self._path) from None
            self.flush()
            if self._rename is None:
                return
            self._file.close()
            if self._last and _runs:
                _runs[-1][1].append(self)
                undone.pop_all()
                return
            if self._last:
                mark_done()
            self.rename()

    @property
    def replaces(self) -> bool:
        return self._rename is not None and self._rename[1].exists()

    def rename(self) -> None:
        """Give the file its final name."""
        assert self._rename is not None
        part, target = self._rename
        try:
            if target.exists():
                shutil.copymode(target, part)
            part.replace(target)
        except OSError as error:
            raise _unwritable(error, self._path) from None

    def discard(self) -> None:
        """Close what was opened here and remove what did not get its final name."""
        if isinstance(self._stream, gzip.GzipFile):
            self._stream.fileobj = None  # type: ignore[assignment]  # else it would end what is cut short as if it were whole
        if self._path is not None:
            # What matters was flushed before; what is being thrown away may fail to be written.
            with suppress(OSError):
                self._file.close()
        if self._rename is not None:
            self._rename[0].unlink(missing_ok=True)
        self._forget()


def is_packed(path: str | None) -> bool:
    return (path or "").lower().endswith(".gz")


def suffix_of(path: str | None) -> str:
    """What an output's name says of its format: the suffix in small letters, that before .gz; empty if nothing.

    The name of a pipe or a device says nothing.
    """
    if path is None or path == STDOUT or _written_directly(path):
        return ""
    return PurePath(path[:-3] if is_packed(path) else path).suffix.lower()


def _written_directly(path: str) -> bool:
    """Devices, pipes and what the shell opened for this process are never renamed over."""
    return path.startswith(("/dev/std", "/dev/fd/", "/proc/")) or (Path(path).exists() and not Path(path).is_file())


def _unwritable(error: OSError, path: str | None) -> Exception:
    if isinstance(error, BrokenPipeError):
        return ReaderLeft()
    place = path or "standard output"
    if isinstance(error, FileNotFoundError):
        folder = (Path(os.path.realpath(place)) if Path(place).is_symlink() else Path(place)).parent
        return DeptreeError("its folder does not exist", f"Create {folder} first", place=place)
    remedy = "Choose another place" + " with -o" * (path is None)
    return DeptreeError(f"cannot be written ({error.strerror})", remedy, place=place)


def npy_of(array: NDArray[np.generic]) -> bytes:
    """An array of numbers as `numpy.save` writes it."""
    by_columns = array.flags.fnc
    return _npy_header(array.dtype, array.shape, by_columns) + array.tobytes("F" if by_columns else "C")


@lru_cache(1024)
def _npy_header(dtype: np.dtype[np.generic], shape: tuple[int, ...], by_columns: bool) -> bytes:
    """What stands in front of the numbers; NumPy takes longer over it than over those of a sentence."""
    said = {"descr": np.lib.format.dtype_to_descr(dtype), "fortran_order": by_columns, "shape": shape}
    data = io.BytesIO()
    np.lib.format.write_array_header_1_0(data, said)
    return data.getvalue()


class NpzOutput:
    """A `.npz` written entry by entry, the same bytes for the same arrays; a context manager like `Output`.

    Args:
        path: a file, or None or `-` for standard output.
        comment: how the arrays were made; the comment of the zip, so that its keys stay the sentences.
        compressed: takes less space and several times as long.
        last: as of `Output`.
    """

    def __init__(self, path: str | None, comment: str = "", compressed: bool = False, last: bool = True) -> None:
        self._sink, self._comment = Output(path, ARRAYS, last), comment
        self._method = zipfile.ZIP_DEFLATED if compressed else zipfile.ZIP_STORED

    def __enter__(self) -> Self:
        # Output cannot seek, which makes zipfile write the same bytes into a file and into a pipe.
        self._zip = zipfile.ZipFile(self._sink.__enter__(), "w", self._method)  # type: ignore[call-overload]
        self._zip.comment = self._comment.encode()
        return self

    @property
    def names(self) -> Set[str]:
        return self._zip.NameToInfo.keys()

    def write(self, key: str, array: NDArray[np.generic]) -> None:
        name = f"{key}.npy"
        if len(name.encode()) > _LONGEST_NAME:
            raise DeptreeError("the name is too long for an .npz", "Write JSON Lines, or rename it", sent_id=key[:40])
        if name in self.names:
            remedy = "Write JSON Lines, or give every sentence its own sent_id"
            raise DeptreeError("an .npz cannot hold two sentences of one name", remedy, sent_id=key)
        entry = zipfile.ZipInfo(name, _DATE)
        if entry.filename != name:  # zipfile ends it at a NUL
            raise DeptreeError("an .npz cannot hold this name", "Rename it", sent_id=key)
        entry.compress_type = self._method
        entry.create_system = 3  # Unix
        self._zip.writestr(entry, npy_of(array))

    def __exit__(self, *failure: Any) -> None:
        try:
            if failure[0] is None:
                self._zip.close()
        except BaseException:
            failure = sys.exc_info()
            raise
        finally:
            # Half an archive must not look like a whole one: without a file it can no longer write its directory.
            self._zip.fp = None
            self._sink.__exit__(*failure)


class Named(NamedTuple):
    """A file of the command line: the option or argument that names it, and its path; `-` is a standard stream."""

    option: str
    path: str


def check_read_once(inputs: Iterable[Named]) -> None:
    """Raise before anything is read where standard input is named twice."""
    if [named.path for named in inputs].count(STDIN) > 1:
        raise DeptreeError("standard input (-) can be read only once", "Name a file for all but one of the inputs")


def refuse_overwrites(inputs: Iterable[Named], outputs: Iterable[Named]) -> None:
    """Raise before anything is written where an output is the same file as an input or another output.

    Links are followed. Devices such as the terminal and /dev/null may be named as often as one likes.
    """
    taken = {_identity(named.path, 0): (named, True) for named in inputs}
    taken.pop(None, None)
    for named in outputs:
        identity = _identity(named.path, 1)
        if identity is None:
            continue
        if identity in taken:
            other, is_input = taken[identity]
            place = "standard output" if named.path == STDIN else place_of(named.path)
            both = f"{named.option} and {other.option} would write the same file"
            problem = f"{named.option} would overwrite {other.option}" if is_input else both
            raise DeptreeError(problem, "Name another file for one of them", place=place)
        taken[identity] = named, False


def _identity(path: str, descriptor: int) -> Hashable | None:
    """What a file is: device and inode, else where it would be; None for what may be named twice."""
    output = path if path == STDIN and descriptor else None
    try:
        standard = sys.stdout if descriptor else sys.stdin  # may have been replaced from within Python
        found = os.fstat(standard.fileno()) if path == STDIN else Path(path).stat()
    except (OSError, ValueError, AttributeError):
        return output if path == STDIN else os.path.realpath(path)
    return output if stat.S_ISCHR(found.st_mode) else (found.st_dev, found.st_ino)
