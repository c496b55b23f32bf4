"""Opening what the user named: a file, a pipe or standard input, gzipped or not; a good message where it cannot be."""

from __future__ import annotations

import gzip
import io
import os
import re
import shutil
import stat
import sys
import tempfile
import unicodedata
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from functools import lru_cache, partial
from pathlib import Path
from select import select
from typing import BinaryIO, NamedTuple, TextIO, TypeVar, cast

from deptree_cli.core.errors import DeptreeError, nearest, readable
from deptree_cli.core.undo import undone_at_once

Item = TypeVar("Item")

STDIN = "-"

# A sentence's scores in JSON are far shorter; a few compressed bytes may become more than memory holds.
LONGEST_LINE = 1 << 28

# Enough to tell any container by its first bytes.
_HEAD = 64

# White space in front of anything else; nobody means as much.
_MOST_SPACE = 1 << 20

_GZIP = b"\x1f\x8b"
_BOM = b"\xef\xbb\xbf"


class Input(NamedTuple):
    """An open file: `stream` stands at its start, `head` shows its first bytes, `place` is its name in messages."""

    stream: BinaryIO
    head: bytes
    place: str


# The files that are being read, by their paths as they were given: for `share_read`.
_reading: dict[str, BinaryIO] = {}

# Those of them that are not files, from which more may come later: for `is_at_hand`.
_pipes: list[BinaryIO] = []


def share_read(path: str) -> float | None:
    """How much of a file has been read by now, from 0 to 1; None where it is not being read, or has no known end."""
    with suppress(OSError, ValueError, KeyError, ZeroDivisionError):
        stream = _reading[path]
        return stream.tell() / os.fstat(stream.fileno()).st_size
    return None


def share_of(paths: Sequence[str]) -> Callable[[], float | None]:
    return (lambda: share_read(paths[0])) if len(paths) == 1 else (lambda: None)


def check_readable(paths: Sequence[str]) -> None:
    """Raise for a file that cannot be opened: before the results of those in front of it are written."""
    for path in filter(is_rereadable, paths):
        with open_input(path):
            pass


def is_at_hand() -> bool:
    """Whether there is no need to wait for what comes next: for files never, for a pipe if nothing is in it."""
    if _pipes:
        with suppress(OSError, ValueError):  # what cannot be asked
            return len(select(_pipes, [], [], 0)[0]) == len(_pipes)
    return True


def at_hand(items: Iterator[Item], most: int) -> Iterator[list[Item]]:
    """What is read from files, this many items at a time as can be had without waiting; whatever reading raises comes
    behind the items in front of it."""
    found: list[Item] = []
    try:
        for item in items:
            found.append(item)
            if len(found) == most or not is_at_hand():
                yield found
                found = []
    except Exception:
        if found:
            yield found
        raise
    if found:
        yield found


class _Rewound(io.RawIOBase):
    """A stream that cannot seek, with the bytes that were read to recognise it put back in front."""

    def __init__(self, head: bytes, rest: io.BufferedIOBase) -> None:
        self._head, self._rest = head, rest

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: bytearray | memoryview) -> int:  # type: ignore[override]
        data = self._head[: len(buffer)] or self._rest.read1(len(buffer))
        self._head = self._head[len(data) :]
        buffer[: len(data)] = data
        return len(data)


def place_of(path: str) -> str:
    return "standard input" if path == STDIN else path


@contextmanager
def open_input(path: str, may_be_empty: bool = False, place: str = "") -> Iterator[Input]:
    """Open a file for reading; `-` is standard input. `may_be_empty`: white space alone means something there."""
    place = place or place_of(path)
    with ExitStack() as opened:
        if path == STDIN and sys.stdin is None:
            raise DeptreeError("standard input is closed", "Name a file instead of -")
        stream: io.BufferedIOBase = sys.stdin.buffer if path == STDIN else opened.enter_context(_open(path))  # type: ignore[assignment]
        opened.callback(_reading.pop, path, None)
        source = _reading[path] = cast(BinaryIO, stream)
        with suppress(OSError, ValueError):  # no descriptor
            if not stat.S_ISREG(os.fstat(source.fileno()).st_mode):
                opened.callback(_pipes.remove, source)
                _pipes.append(source)
        try:
            head = stream.read(_HEAD)
            if head.startswith(_GZIP):
                stream = opened.enter_context(gzip.GzipFile(fileobj=rewound(head, stream)))
                head = stream.read(_HEAD)
            head = _past_space(head, stream)
            if not (may_be_empty or head.removeprefix(_BOM).strip()):
                raise DeptreeError("the file is empty", "Check the program that wrote it", place=place)
            yield Input(rewound(head, stream), head, place)
        except (OSError, EOFError, zlib.error) as error:
            raise DeptreeError(f"cannot be read to its end ({error})", "Write or copy it again", place=place) from None


# How a sentence in CoNLL-U begins.
_SENTENCE = re.compile(rb"\s*(#|[0-9]+([-.][0-9]+)?[\t ])")


def has_sentences(path: str) -> bool:
    """Whether a file begins as CoNLL-U does; of a pipe, from which looking takes, only standard input is looked at."""
    head = b""
    if is_rereadable(path):
        with open_input(path, may_be_empty=True) as file:
            head = file.head
    elif path == STDIN and isinstance(source := getattr(sys.stdin, "buffer", None), io.BufferedReader):
        head = source.peek()
    if head.startswith(_GZIP):
        with suppress(zlib.error):
            head = zlib.decompressobj(31).decompress(head)
    return _SENTENCE.match(head.removeprefix(_BOM)) is not None


def _past_space(head: bytes, stream: io.BufferedIOBase) -> bytes:
    """The first bytes, and more of them where they are nothing but white space."""
    while len(head) < _MOST_SPACE and not head.removeprefix(_BOM).strip():
        more = stream.read(max(_HEAD, len(head)))
        if not more:
            break
        head += more
    return head


def lines_of(stream: BinaryIO, place: str) -> Iterator[bytes]:
    for number, line in enumerate(iter(lambda: stream.readline(LONGEST_LINE), b""), 1):
        if len(line) == LONGEST_LINE:
            problem = f"the line has more than {LONGEST_LINE:,} bytes"
            raise DeptreeError(problem, "Save what is so large as .npz", place=f"{place}:{number}")
        yield line


def entries_of(stream: BinaryIO, place: str) -> Iterator[tuple[str, bytes]]:
    """The lines of a list with their ``file:line``; blank ones are empty, and those behind the last entry left out."""
    number = blank = 0
    for line in lines_of(stream, place):
        for text in (line if number else line.removeprefix(_BOM)).splitlines():
            number, blank = number + 1, blank + 1
            if text.strip():
                yield from ((f"{place}:{at}", b"") for at in range(number - blank + 1, number))
                yield f"{place}:{number}", text
                blank = 0


def rewound(head: bytes, stream: io.BufferedIOBase) -> io.BufferedReader:
    if isinstance(stream, io.BufferedReader) and stream is not getattr(sys.stdin, "buffer", None) and stream.seekable():
        stream.seek(0)
        return stream
    return io.BufferedReader(_Rewound(head, stream), 1 << 16)


def _open(path: str) -> io.BufferedReader:
    try:
        return Path(path).open("rb")
    except FileNotFoundError:
        raise DeptreeError("no such file", _did_you_mean(Path(path)), place=path) from None
    except IsADirectoryError:
        raise DeptreeError("is a folder", "Name a file in it", place=path) from None
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise DeptreeError(f"cannot be opened ({reason})", place=path) from None


def _did_you_mean(path: Path) -> str:
    """A file of a similar name in the same folder, as a remedy."""
    try:
        names = [sibling.name for sibling in path.parent.iterdir()]
    except OSError:
        return f"There is no folder {path.parent} either"
    stem, *stems = (readable(name).partition(".")[0] for name in (path.name, *names))
    # names are alike by more than a common suffix
    alike = [name for name, each in zip(names, stems, strict=True) if nearest(stem, [each])]
    near = nearest(path.name, alike)
    return f"Did you mean {path.with_name(near)}?" if near else "Check the name"


@contextmanager
def seekable(stream: BinaryIO) -> Iterator[BinaryIO]:
    """The stream itself if it can seek, else a temporary copy of what is left of it."""
    if stream.seekable():
        yield stream
        return
    with tempfile.TemporaryFile() as spool:
        shutil.copyfileobj(stream, spool)
        spool.seek(0)
        yield spool


@contextmanager
def path_of(stream: BinaryIO) -> Iterator[str]:
    """A path under which a library can open the stream's bytes: the file's own, or that of a temporary copy."""
    raw = getattr(stream, "raw", None)
    if isinstance(raw, io.FileIO) and isinstance(raw.name, str):
        yield raw.name
        return
    with copied(stream) as path:
        yield path


@contextmanager
def copied(stream: BinaryIO) -> Iterator[str]:
    """The path of a temporary copy of what is left of a stream; it goes also if the process ends at once."""
    with tempfile.NamedTemporaryFile(prefix="deptree-", delete=False) as spool:
        remove = partial(Path(spool.name).unlink, missing_ok=True)
        try:
            with undone_at_once(remove):
                shutil.copyfileobj(stream, spool)
                spool.flush()
                yield spool.name
        finally:
            remove()


class Reread(NamedTuple):
    """The path of a file, or of a copy of what came through a pipe, and what messages call it."""

    path: str
    place: str

    def opened(self) -> AbstractContextManager[Input]:
        return open_input(self.path, place=self.place)


@contextmanager
def rereadable(paths: Sequence[str]) -> Iterator[list[Reread]]:
    """The files, each of which can be opened any number of times within the block."""
    found = []
    with ExitStack() as copies:
        for path in paths:
            copy = path
            if not is_rereadable(path):  # copied as it was written, for a gzipped one is unpacked
                copy = copies.enter_context(copied(copies.enter_context(open_input(path)).stream))
            found.append(Reread(copy, place_of(path)))
        yield found


def is_rereadable(path: str) -> bool:
    return path != STDIN and (Path(path).is_file() or not Path(path).exists())


@lru_cache(4096)  # a table asks for each of its texts several times
def cells(text: str) -> int:
    """Return how many columns of a terminal a text takes."""
    if text.isascii():
        return len(text)
    shown = (char for char in text if unicodedata.category(char) not in {"Mn", "Me", "Cf"})
    return sum(2 if unicodedata.east_asian_width(char) in "WF" else 1 for char in shown)


# Columns of what is not a terminal, or of one that does not say how wide it is.
USUAL = 80


def screen_of(output: str | None) -> tuple[int, bool]:
    """How many columns text may take, and whether it is coloured."""
    return width_of(sys.stdout), output is None and sys.stdout.isatty() and not os.environ.get("NO_COLOR")


def width_of(stream: TextIO) -> int:
    """Return how many columns text on a stream may take, at least 1: COLUMNS, or else as many as its terminal has.

    Anything but a positive number is not a width.
    """
    with suppress(ValueError):
        if (found := int(os.environ.get("COLUMNS", ""))) > 0:
            return found
    with suppress(OSError, ValueError, AttributeError):  # no terminal, or no descriptor
        return os.get_terminal_size(stream.fileno()).columns or USUAL
    return USUAL
