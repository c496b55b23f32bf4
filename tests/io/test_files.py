"""Inputs by any way; outputs that appear whole or not at all, and never over an input; the width of a terminal."""

from __future__ import annotations

import fcntl
import gzip
import io
import os
import stat
import struct
import subprocess
import sys
import termios
import zipfile
from pathlib import Path

import numpy as np
import pytest

from deptree_cli.core.errors import DeptreeError
from deptree_cli.core.undo import undo_everything
from deptree_cli.io.files.output import Named, NpzOutput, Output, all_or_none, refuse_overwrites, until_the_end
from deptree_cli.io.files.streams import USUAL, copied, open_input, path_of, width_of

LONG = b"".join(b"line %d\n" % number for number in range(1000))


class Unseekable(io.RawIOBase):
    def __init__(self, data: bytes) -> None:
        self._data = io.BytesIO(data)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: bytearray) -> int:
        return self._data.readinto(buffer[:7])


@pytest.mark.parametrize("wrap", [bytes, gzip.compress])
def test_files_and_standard_input_gzipped_or_not(wrap, scratch, monkeypatch) -> None:
    path = scratch("a.txt", wrap(LONG))
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BufferedReader(Unseekable(wrap(LONG)))))
    for name, place in ((path, "a.txt"), ("-", "standard input")):
        with open_input(name) as file:
            assert (file.place, file.head) == (place, LONG[:64])
            assert b"".join(file.stream) == LONG


def test_no_copy_of_a_stream_is_left_where_the_process_ends_at_once() -> None:
    with copied(io.BytesIO(LONG)) as path:
        assert Path(path).read_bytes() == LONG
        undo_everything()
        assert not Path(path).exists()


root_may = pytest.mark.skipif(os.geteuid() == 0, reason="the superuser may read and write anything")


@pytest.mark.parametrize(
    ("name", "parts"),
    [
        ("score.npz", ["score.npz: no such file", "Did you mean scores.npz?"]),
        ("zzzzzzz", ["no such file", "Check the name"]),
        ("nowhere/scores.npz", ["no such file", "no folder nowhere"]),
        ("folder", ["folder: is a folder"]),
        ("scores.npz/a", ["cannot be opened", "Not a directory"]),
        ("a\0b", ["cannot be opened"]),
        ("loop", ["cannot be opened", "Too many levels of symbolic links"]),
        ("empty", ["empty: the file is empty"]),
        ("empty.gz", ["empty.gz: the file is empty"]),
        *((f"cut{end}.gz", [f"cut{end}.gz: cannot be read to its end"]) for end in (15, 300, -1)),
        pytest.param("private", ["private: cannot be opened", "Permission denied"], marks=root_may),
    ],
)
@pytest.mark.quick
def test_what_cannot_be_read(name: str, parts: list[str], scratch, tmp_path, says) -> None:
    scratch("scores.npz", b"x")
    (tmp_path / "folder").mkdir()
    (tmp_path / "loop").symlink_to("loop")
    (tmp_path / "private").touch(0o000)
    scratch("empty", b"")
    scratch("empty.gz", gzip.compress(b""))
    for end in (15, 300, -1):
        scratch(f"cut{end}.gz", gzip.compress(LONG)[:end])
    with says(*parts), open_input(name) as file:
        file.stream.read()


@pytest.mark.parametrize(
    ("name", "parts"),
    [
        ("missing/out", ["missing/out", "its folder does not exist", "Create"]),
        ("", ["cannot be written", "Is a directory"]),
        ("file/out", ["cannot be written", "Not a directory"]),
        ("loop", ["cannot be written", "Too many levels of symbolic links"]),
        pytest.param("private/out", ["cannot be written", "Permission denied"], marks=root_may),
        ("/dev/full", ["/dev/full", "No space left"]),
    ],
)
@pytest.mark.quick
def test_where_nothing_can_be_written(name: str, parts: list[str], tmp_path, says) -> None:
    (tmp_path / "file").touch()
    (tmp_path / "loop").symlink_to("loop")
    (tmp_path / "private").mkdir(0o500)
    with says(*parts), Output(str(tmp_path / name)) as out:
        out.write(b"x" * 100)
    assert (tmp_path / "loop").is_symlink()


@pytest.mark.parametrize("failure", [ValueError, KeyboardInterrupt, BrokenPipeError])
def test_an_interrupted_run_leaves_nothing(failure: type[BaseException], tmp_path) -> None:
    def fail(_: object) -> None:
        raise failure

    with pytest.raises(failure), Output(str(tmp_path / "out")) as out:
        fail(out.write(b"half"))
    with pytest.raises(failure), NpzOutput(str(tmp_path / "out.npz")) as npz:
        fail(npz.write("a", np.ones(3)))
    assert list(tmp_path.iterdir()) == []


def test_files_appear_at_the_end_and_those_of_a_run_together(tmp_path) -> None:
    (tmp_path / "a").write_bytes(b"old")
    with Output(str(tmp_path / "a")) as out:
        assert out.write(b"new") == 3
        out.flush()
        assert (tmp_path / "a").read_bytes() == b"old"
    assert [(path.name, path.read_bytes()) for path in tmp_path.iterdir()] == [("a", b"new")]
    with all_or_none():
        beside = until_the_end(Output(str(tmp_path / "b")))
        with Output(str(tmp_path / "a")) as out, Output(str(tmp_path / "state"), last=False) as state:
            out.write(b"a")
            state.write(b"s")
        beside.write(b"b")
        assert {path.name for path in tmp_path.iterdir() if path.suffix != ".part"} == {"a", "state"}
        assert (tmp_path / "a").read_bytes() == b"new"
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == {"a": b"a", "b": b"b", "state": b"s"}


@pytest.mark.parametrize("has_failed", ["the run", "what it writes beside", "a place"])
def test_or_none_of_them(has_failed: str, tmp_path) -> None:
    old = tmp_path / "old"
    old.write_bytes(b"old")

    def run() -> None:
        for path in (tmp_path / "a", old):
            with Output(str(path)) as out:
                out.write(b"new")
        if has_failed == "the run":
            raise ValueError
        if has_failed == "a place":
            old.unlink()
            old.mkdir()
        else:
            until_the_end(Output("/dev/full")).write(b"x")

    with pytest.raises((DeptreeError, ValueError)), all_or_none():
        run()
    assert [path.name for path in tmp_path.iterdir()] == ["old"]
    assert old.is_dir() or old.read_bytes() == b"old"


def test_modes_links_and_pipes_stay(tmp_path) -> None:
    private, fresh, there, link, pipe = (tmp_path / name for name in ("private", "fresh", "there", "link", "pipe"))
    private.touch(0o600)
    there.mkdir()
    link.symlink_to(there / "file")
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    before = os.umask(0o027)
    try:
        for path in (private, fresh, link, pipe, Path("/dev/null")):
            with Output(str(path)) as out:
                out.write(b"x")
    finally:
        os.umask(before)
    assert [stat.S_IMODE(path.stat().st_mode) for path in (fresh, private)] == [0o640, 0o600]
    assert (link.is_symlink(), (there / "file").read_bytes(), os.read(reader, 9)) == (True, b"x", b"x")
    os.close(reader)
    assert (stat.S_ISFIFO(pipe.stat().st_mode), Path("/dev/null").is_file()) == (True, False)


def test_an_npz_is_the_same_bytes_every_time_and_everywhere(tmp_path) -> None:
    with NpzOutput(str(tmp_path / "a"), "deptree|marginals") as out:
        out.write("s2", np.ones((2, 3)))
        out.write("doc/s1", np.arange(4))

    def printed(code: str) -> bytes:
        code = f"from deptree_cli.io.files.output import NpzOutput\nimport numpy as np\n{code}"
        return subprocess.run([sys.executable, "-c", code], capture_output=True, timeout=60, check=True).stdout

    arrays = "with NpzOutput({}) as out:\n  out.write('s2', np.ones((2, 3)))\n  out.write('doc/s1', np.arange(4))"
    assert printed(arrays.format("'-', 'deptree|marginals'")) == (tmp_path / "a").read_bytes()
    with np.load(tmp_path / "a") as loaded:
        assert list(loaded) == ["s2", "doc/s1"]
        np.testing.assert_array_equal(loaded["s2"], np.ones((2, 3)))
    with zipfile.ZipFile(tmp_path / "a") as archive:
        assert archive.comment == b"deptree|marginals"
        assert archive.infolist()[0].date_time == (1980, 1, 1, 0, 0, 0)
    half = printed(f"try:\n {arrays.format('None')}\n  raise ValueError\nexcept ValueError: pass")
    assert half
    assert not zipfile.is_zipfile(io.BytesIO(half))


@pytest.mark.parametrize(
    ("first", "second"),
    [
        *(("a", "a"), ("a", "./a"), ("a", "sub/../a"), ("a", "link"), ("link", "hard"), ("pipe", "pipe")),
        *(("new", "new"), ("new", "sub/../new"), ("new", "to-new"), ("-", "-")),
    ],
)
@pytest.mark.quick
def test_one_file_under_two_names(first: str, second: str, scratch, says) -> None:
    scratch("a", b"x")
    Path("link").symlink_to("a")
    os.link("a", "hard")
    Path("sub").mkdir()
    Path("to-new").symlink_to("new")
    os.mkfifo("pipe")
    if first != "-":
        with says("--output would overwrite SCORES"):
            refuse_overwrites([Named("SCORES", first)], [Named("--output", second)])
    with says("--plot and --output would write the same file"):
        refuse_overwrites([], [Named("--output", first), Named("--plot", second)])
    # Inputs may be the same; outputs that differ, or are devices, are allowed.
    inputs = [Named("SCORES", "a"), Named("--conllu", "a"), Named("--other", "link"), Named("--gold", "/dev/null")]
    refuse_overwrites(inputs, [Named("--output", "/dev/null"), Named("--plot", "/dev/null"), Named("--to", "sub/a")])


@pytest.mark.parametrize("columns", ["1", "132", "0", "-3", "", " ", "²", "80x24", "1e3", "9" * 5000])
@pytest.mark.quick
def test_a_width_is_what_columns_says_or_the_stream_itself(columns: str, monkeypatch) -> None:
    """If it is a positive number; else what the terminal says, and without one the usual."""
    monkeypatch.setenv("COLUMNS", columns)
    outside, inside = os.openpty()
    with os.fdopen(inside, "w") as screen:
        for given in (100, 0):
            fcntl.ioctl(screen, termios.TIOCSWINSZ, struct.pack("HHHH", 24, given, 0, 0))
            assert width_of(screen) == (int(columns) if columns in ("1", "132") else given or USUAL)
    os.close(outside)
    assert width_of(io.StringIO()) == (int(columns) if columns in ("1", "132") else USUAL)


def test_a_library_finds_the_bytes_of_any_stream_under_a_path(put) -> None:
    """Of a descriptor nobody knows the name, and a pipe has none."""
    put("x", b"bytes")
    descriptor = os.open("x", os.O_RDONLY)
    for stream in (Path("x").open("rb"), os.fdopen(descriptor, "rb"), io.BufferedReader(Unseekable(b"bytes"))):  # noqa: SIM115
        with stream, path_of(stream) as path:
            assert Path(path).read_bytes() == b"bytes"
