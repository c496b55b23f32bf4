"""An output is no input and no other output, whatever they are called."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from deptree_cli.core.errors import DeptreeError
from deptree_cli.io.files.output import Named, refuse_overwrites


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file under its name, a link to it, a hard link, and links to what does not exist."""
    monkeypatch.chdir(tmp_path)
    Path("a").write_bytes(b"x")
    Path("link").symlink_to("a")
    os.link("a", "hard")
    Path("sub").mkdir()
    Path("to-new").symlink_to("new")
    os.mkfifo("pipe")
    return tmp_path


SAME = [("a", "a"), ("a", "./a"), ("a", "sub/../a"), ("a", "link"), ("link", "hard"), ("pipe", "pipe")]


@pytest.mark.parametrize(("first", "second"), SAME)
def test_one_file_under_two_names(first: str, second: str) -> None:
    with pytest.raises(DeptreeError, match="--output would overwrite SCORES"):
        refuse_overwrites([Named("SCORES", first)], [Named("--output", second)])
    with pytest.raises(DeptreeError, match="--plot and --output would write the same file"):
        refuse_overwrites([], [Named("--output", first), Named("--plot", second)])


@pytest.mark.parametrize(("first", "second"), [("new", "new"), ("new", "sub/../new"), ("new", "to-new"), ("-", "-")])
def test_one_output_that_does_not_exist_yet(first: str, second: str) -> None:
    with pytest.raises(DeptreeError, match="would write the same file"):
        refuse_overwrites([], [Named("--output", first), Named("--plot", second)])


def test_files_that_differ() -> None:
    refuse_overwrites(
        [Named("SCORES", "a"), Named("--conllu", "a"), Named("--other", "link")], [Named("--output", "b")]
    )
    refuse_overwrites([], [Named("--output", "a"), Named("--plot", "b"), Named("--sentences", "sub/a")])


def test_devices_may_be_named_twice() -> None:
    refuse_overwrites([Named("SCORES", "/dev/null")], [Named("--output", "/dev/null"), Named("--plot", "/dev/null")])


def test_standard_streams_are_files_too(tmp_path: Path) -> None:
    written = "[Named('--output', '-')]"
    program = f"from deptree_cli.io.files.output import *; refuse_overwrites([Named('SCORES', {{!r}})], {written})"
    for path in ("a", "-"):
        with Path("a").open("ab") as appended, Path("a").open("rb") as stdin:
            command = [sys.executable, "-c", program.format(path)]
            ran = subprocess.run(command, stdin=stdin, stdout=appended, stderr=subprocess.PIPE, check=False)
        assert b"standard output: --output would overwrite SCORES" in ran.stderr
    assert Path("a").read_bytes() == b"x"
