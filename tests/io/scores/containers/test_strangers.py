"""Containers of other packages: added to the register, or offered by an entry point."""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import EntryPoint
from pathlib import Path

import numpy as np
import pytest

from deptree_cli.core.errors import DeptreeError
from deptree_cli.core.register import Register
from deptree_cli.io.files.output import Output
from deptree_cli.io.files.streams import Input
from deptree_cli.io.scores import containers
from deptree_cli.io.scores.arrays import RawScores, ReadSpec, Source
from deptree_cli.io.scores.containers import CONTAINERS, Container, Write, starting
from deptree_cli.io.scores.meta import Meta
from tests.io.scores.written import format_for, write_scores


class Text:
    """A line with a signature, then a matrix of one row on each."""

    def __init__(self, file: Input) -> None:
        self._file = file
        self.meta = Meta(file.stream.readline().decode().split()[1])

    def read(self, matrices: ReadSpec) -> Source:
        for number, line in enumerate(self._file.stream, 1):
            yield RawScores(str(number), np.array([line.split()], np.float64), f"{self._file.place}:{number}")


@contextmanager
def open_text(file: Input) -> Iterator[Text]:
    yield Text(file)


@contextmanager
def write_text(path: str | None, meta: Meta, header: bool) -> Iterator[Write]:
    with Output(path) as out:
        out.write(f"TREES {meta.signature}\n".encode())
        yield lambda sent_id, scores, forms=None: out.write(b"%s\n" % " ".join(map(str, scores[0].tolist())).encode())


TEXT = Container("text", (".trees",), starting(b"TREES"), open_text, write_text)


def test_a_container_that_is_added(deliver, register: Register[Container], contents) -> None:
    register.add(TEXT)
    assert format_for("out.trees").name == "text"
    with write_scores("out.trees", Meta("me")) as write:
        write("a", np.array([[1.5, -np.inf]]))
        write("b", np.array([[2.0, 3.0]]))
    meta, raws = contents(deliver(Path("out.trees").read_bytes(), ".trees"))
    assert meta == Meta("me")
    assert [(raw.key, raw.scores.tolist()) for raw in raws] == [("1", [[1.5, -np.inf]]), ("2", [[2.0, 3.0]])]


def test_messages_name_it(scratch, register: Register[Container], says, contents) -> None:
    register.add(TEXT)
    with says("Save the scores as .npz, .npy", " or .trees"):
        contents(scratch("a.txt", b"1.5"))
    with says("does not write .txt", ".npz", ", .trees"):
        format_for("a.txt")


def test_without_first_bytes_it_is_known_by_its_suffix(scratch, register: Register[Container], contents) -> None:
    register.add(Container("bare", (".bare",), starting(), open_text))
    assert contents(scratch("a.bare", b"x y\n1 2\n"))[0].signature == "y"
    assert contents(scratch("a.bare.gz", gzip.compress(b"x y\n1 2\n")))[0].signature == "y"
    with pytest.raises(DeptreeError, match=r"does not write \.bare"):
        format_for("a.bare")


def test_with_our_first_bytes_the_suffix_decides(scratch, register: Register[Container], contents) -> None:
    """Many formats are zips, or begin like JSON."""
    register.add(Container("other", (".other",), starting(b"{"), open_text))
    line = b'{"signature": "me"}\n'
    assert contents(scratch("a.other", line))[0] == Meta('"me"}')
    assert contents(scratch("a.jsonl", line))[0] == contents(scratch("a", line))[0] == Meta("me")


@contextmanager
def open_behind_magic(file: Input) -> Iterator[Text]:
    file.stream.readline()
    file.stream.readline()
    yield Text(file)


def test_an_entry_point_may_read_what_we_refuse(scratch, contents, monkeypatch: pytest.MonkeyPatch) -> None:
    path = scratch("a.h5", b"\x89HDF\r\n\x1a\nHDF x\n1 2\n")
    with pytest.raises(DeptreeError, match="HDF5 is not read"):
        contents(path)
    hdf = Container("h5py", (".h5", ".hdf"), starting(b"\x89HDF\r\n\x1a\n"), open_behind_magic, write_text)
    offer = EntryPoint("h5py", "stranger:CONTAINER", "deptree.containers")
    ours = list(CONTAINERS)
    monkeypatch.setattr(EntryPoint, "load", lambda self: hdf)
    monkeypatch.setattr("importlib.metadata.entry_points", lambda group: [offer] if group == offer.group else [])
    monkeypatch.setattr(containers, "CONTAINERS", Register("container", ours, CONTAINERS.group))
    assert contents(path)[0] == Meta("x")
    assert contents(scratch("a", Path(path).read_bytes()))[0] == Meta("x")
    assert format_for("a.h5").name == "h5py"
