"""Opening inputs: pipes, gzip, and the messages for what cannot be opened."""

from __future__ import annotations

import gzip
import io
import os
import sys
import threading
from pathlib import Path

import pytest

from deptree_cli.core.errors import DeptreeError
from deptree_cli.core.undo import undo_everything
from deptree_cli.io.files.streams import copied, open_input, seekable


class Stdin:
    """Standard input that cannot seek."""

    def __init__(self, data: bytes) -> None:
        self.buffer = io.BufferedReader(Unseekable(data))


class Unseekable(io.RawIOBase):
    def __init__(self, data: bytes) -> None:
        self._data = io.BytesIO(data)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: bytearray) -> int:
        return self._data.readinto(buffer[:7])


LONG = b"".join(b"line %d\n" % number for number in range(1000))


def test_no_copy_of_a_stream_is_left_where_the_process_ends_at_once() -> None:
    with copied(io.BytesIO(LONG)) as path:
        assert Path(path).read_bytes() == LONG
        undo_everything()
        assert not Path(path).exists()


@pytest.mark.parametrize("wrap", [bytes, gzip.compress])
def test_files_and_standard_input_gzipped_or_not(wrap, scratch, monkeypatch: pytest.MonkeyPatch) -> None:
    path = scratch("a.txt", wrap(LONG))
    monkeypatch.setattr(sys, "stdin", Stdin(wrap(LONG)))
    for name, place in ((path, "a.txt"), ("-", "standard input")):
        with open_input(name) as file:
            assert file.place == place
            assert LONG.startswith(file.head)
            assert len(file.head) == 64
            assert b"".join(file.stream) == LONG


def test_a_named_pipe(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    feeder = threading.Thread(target=pipe.write_bytes, args=(LONG,))
    feeder.start()
    with open_input(str(pipe)) as file, seekable(file.stream) as spool:
        assert spool.read() == LONG
        spool.seek(0)
        assert spool.read() == LONG
    feeder.join()


def test_what_cannot_be_opened(scratch, tmp_path: Path, says) -> None:
    scratch("scores.npz", b"x")
    (tmp_path / "folder").mkdir()
    for name, parts in {
        "score.npz": ["score.npz: no such file", "Did you mean scores.npz?"],
        "zzzzzzz": ["no such file", "Check the name"],
        "nowhere/scores.npz": ["no such file", "no folder nowhere"],
        "folder": ["folder: is a folder"],
        "scores.npz/a": ["cannot be opened", "Not a directory"],
        "a\0b": ["cannot be opened"],
    }.items():
        with says(*parts), open_input(name):
            pass
    with says("a: the file is empty"), open_input(scratch("a", b"")):
        pass
    with says("a: the file is empty"), open_input(scratch("a", gzip.compress(b""))):
        pass


@pytest.mark.skipif(os.geteuid() == 0, reason="the superuser may read anything")
def test_without_permission(scratch, says) -> None:
    Path(scratch("a", b"x")).chmod(0)
    with says("a: cannot be opened", "Permission denied"), open_input("a"):
        pass


@pytest.mark.parametrize("end", [15, 300, -1])
def test_damaged_gzip(end: int, scratch) -> None:
    path = scratch("a.gz", gzip.compress(LONG)[:end])
    with pytest.raises(DeptreeError, match=r"a\.gz: cannot be read to its end"), open_input(path) as file:
        file.stream.read()
