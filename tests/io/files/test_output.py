"""Outputs appear whole or not at all."""

from __future__ import annotations

import io
import os
import stat
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from deptree_cli.core.errors import DeptreeError
from deptree_cli.io.files.output import NpzOutput, Output, all_or_none, until_the_end
from deptree_cli.io.files.streams import open_input


def test_a_file_appears_at_the_end(tmp_path: Path) -> None:
    final = tmp_path / "out.jsonl"
    final.write_bytes(b"old")
    with Output(str(final)) as out:
        assert out.write(b"new") == 3
        out.flush()
        assert final.read_bytes() == b"old"
    assert final.read_bytes() == b"new"
    assert list(tmp_path.iterdir()) == [final]


@pytest.mark.parametrize("failure", [ValueError, KeyboardInterrupt, BrokenPipeError])
def test_an_interrupted_run_leaves_nothing(failure: type[BaseException], tmp_path: Path) -> None:
    def fail(write: Callable[[], object]) -> None:
        write()
        raise failure

    with pytest.raises(failure), Output(str(tmp_path / "out")) as out:
        fail(lambda: out.write(b"half"))
    with pytest.raises(failure), NpzOutput(str(tmp_path / "out.npz")) as npz:
        fail(lambda: npz.write("a", np.ones(3)))
    assert list(tmp_path.iterdir()) == []


def test_the_files_of_a_run_appear_together(tmp_path: Path) -> None:
    with all_or_none():
        beside = until_the_end(Output(str(tmp_path / "b")))
        with Output(str(tmp_path / "a")) as out, Output(str(tmp_path / "state"), last=False) as state:
            out.write(b"a")
            state.write(b"s")
        beside.write(b"b")
        assert [path.name for path in tmp_path.iterdir() if path.suffix != ".part"] == ["state"]
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == {"a": b"a", "b": b"b", "state": b"s"}


@pytest.mark.parametrize("has_failed", ["the run", "what it writes beside", "a place"])
def test_or_none_of_them(has_failed: str, tmp_path: Path) -> None:
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


def test_a_loop_of_links_is_an_error(tmp_path: Path, says) -> None:
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    with says("cannot be written", "Too many levels of symbolic links"), Output(str(tmp_path / "a")):
        pass
    with says("cannot be opened", "Too many levels of symbolic links"), open_input(str(tmp_path / "a")):
        pass
    assert (tmp_path / "a").is_symlink()


def test_modes(tmp_path: Path) -> None:
    private, fresh = tmp_path / "private", tmp_path / "fresh"
    private.touch(0o600)
    before = os.umask(0o027)
    try:
        for path in (private, fresh):
            with Output(str(path)) as out:
                out.write(b"x")
    finally:
        os.umask(before)
    assert stat.S_IMODE(fresh.stat().st_mode) == 0o640
    assert stat.S_IMODE(private.stat().st_mode) == 0o600


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    link = tmp_path / "link"
    link.symlink_to(tmp_path / "there" / "file")
    with Output(str(link)) as out:
        out.write(b"x")
    assert link.is_symlink()
    assert (tmp_path / "there" / "file").read_bytes() == b"x"


def test_where_nothing_can_be_written(tmp_path: Path, says) -> None:
    with says("missing/out", "its folder does not exist", "Create"), Output(str(tmp_path / "missing" / "out")):
        pass
    with says("cannot be written", "Is a directory"), Output(str(tmp_path)):
        pass
    (tmp_path / "file").touch()
    with says("cannot be written", "Not a directory"), Output(str(tmp_path / "file" / "out")):
        pass


@pytest.mark.skipif(os.geteuid() == 0, reason="the superuser may write anywhere")
def test_a_folder_without_permission(tmp_path: Path, says) -> None:
    tmp_path.chmod(0o500)
    with says("cannot be written", "Permission denied"), Output(str(tmp_path / "out")):
        pass


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a full disk")
def test_a_full_disk(says) -> None:
    with says("/dev/full", "No space left"), Output("/dev/full") as out:
        out.write(b"x" * 100)


def test_devices_and_pipes_are_not_renamed_over(tmp_path: Path) -> None:
    with Output("/dev/null") as out:
        out.write(b"x")
    assert not Path("/dev/null").is_file()
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    with Output(str(pipe)) as out:
        out.write(b"x")
    assert os.read(reader, 9) == b"x"
    os.close(reader)
    assert stat.S_ISFIFO(pipe.stat().st_mode)


def run(code: str, stdout: io.BufferedWriter | int = subprocess.PIPE) -> bytes:
    code = f"from deptree_cli.io.files.output import NpzOutput, Output\nimport numpy as np\n{code}"
    return subprocess.run([sys.executable, "-c", code], stdout=stdout, check=True, timeout=60).stdout


def test_standard_output(tmp_path: Path) -> None:
    assert run("for path in None, '-', '/dev/stdout':\n with Output(path) as out: out.write(b'a\\n')") == b"a\na\na\n"
    kept = tmp_path / "appended"
    kept.write_bytes(b"before\n")
    with kept.open("ab") as stdout:
        run("with Output('-') as out: out.write(b'a\\n')", stdout)
    assert kept.read_bytes() == b"before\na\n"


def write_npz(path: str, comment: str = "") -> None:
    with NpzOutput(path, comment) as out:
        out.write("s2", np.ones((2, 3)))
        out.write("doc/s1", np.arange(4))


def test_an_npz_is_the_same_bytes_every_time_and_everywhere(tmp_path: Path) -> None:
    for name in ("a", "b"):
        write_npz(str(tmp_path / name), "deptree|marginals")
    data = (tmp_path / "a").read_bytes()
    assert data == (tmp_path / "b").read_bytes()
    piped = run(
        "with NpzOutput('-', 'deptree|marginals') as out:\n"
        " out.write('s2', np.ones((2, 3)))\n out.write('doc/s1', np.arange(4))"
    )
    assert piped == data
    with np.load(tmp_path / "a") as arrays:
        assert list(arrays) == ["s2", "doc/s1"]
        np.testing.assert_array_equal(arrays["s2"], np.ones((2, 3)))
    with zipfile.ZipFile(tmp_path / "a") as archive:
        assert archive.comment == b"deptree|marginals"
        assert archive.infolist()[0].date_time == (1980, 1, 1, 0, 0, 0)


def test_half_an_npz_does_not_look_whole() -> None:
    piped = run(
        "try:\n with NpzOutput('-') as out:\n  out.write('a', np.ones(3))\n  raise ValueError\nexcept ValueError: pass"
    )
    assert not zipfile.is_zipfile(io.BytesIO(piped))


def test_no_key_twice(tmp_path: Path, says) -> None:
    with says("s2: an .npz", "two sentences of one name", "JSON Lines"), NpzOutput(str(tmp_path / "a")) as out:
        out.write("s2", np.ones(1))
        out.write("s2", np.ones(1))
