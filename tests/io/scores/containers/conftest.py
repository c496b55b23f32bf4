"""Bytes as an opened input, the transports by which they may come, and what a container reads from them."""

from __future__ import annotations

import gzip
import io
import os
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from deptree_cli.core.register import Register
from deptree_cli.io.files.streams import Input
from deptree_cli.io.scores import containers
from deptree_cli.io.scores.arrays import Raw, ReadSpec
from deptree_cli.io.scores.containers import Container, open_scores
from deptree_cli.io.scores.meta import Meta
from deptree_cli.io.sentence import in_order


@pytest.fixture
def as_input() -> Callable[..., Input]:
    """Bytes as they are after `open_input`."""
    return lambda data, place: Input(io.BytesIO(data), data[:64], place)


@pytest.fixture
def read_all(as_input: Callable[..., Input]) -> Callable[..., list[Raw]]:
    """All that a container reads from bytes, in order."""

    def read(container: Container, data: bytes, place: str, matrices: ReadSpec | None = None) -> list[Raw]:
        with container.open(as_input(data, place)) as file:
            return list(in_order(file.read(matrices or ReadSpec())))

    return read


@pytest.fixture
def contents() -> Callable[..., tuple[Meta, list[Raw]]]:
    """What the file at a path says of itself, and what is in it."""

    def read(path: str, matrices: ReadSpec | None = None) -> tuple[Meta, list[Raw]]:
        with open_scores(path) as file:
            return file.meta, list(in_order(file.read(matrices or ReadSpec())))

    return read


@pytest.fixture
def register(monkeypatch: pytest.MonkeyPatch) -> Register[Container]:
    """The containers, to which a test may add."""
    copy = Register("container", list(containers.CONTAINERS), group="deptree.containers")
    monkeypatch.setattr(containers, "CONTAINERS", copy)
    return copy


class Transports:
    """Ways for bytes to come under a path, in the current folder."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self._monkeypatch = monkeypatch
        self._feeders: list[threading.Thread] = []

    def file(self, data: bytes, suffix: str) -> str:
        """A file of that suffix."""
        Path(f"a{suffix}").write_bytes(data)
        return f"a{suffix}"

    def nameless(self, data: bytes, suffix: str) -> str:
        """A file whose name tells nothing."""
        return self.file(data, "")

    def stdin(self, data: bytes, suffix: str) -> str:
        """Standard input."""
        self._monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
        return "-"

    def redirected(self, data: bytes, suffix: str) -> str:
        """Standard input that is a file and could seek."""
        self._monkeypatch.setattr(sys, "stdin", Path(self.file(data, suffix)).open())  # noqa: SIM115
        return "-"

    def piped(self, data: bytes, suffix: str) -> str:
        """Standard input that is a pipe."""
        reading, writing = os.pipe()
        self._feed(lambda: Path(f"/dev/fd/{writing}").write_bytes(data), lambda: os.close(writing))
        self._monkeypatch.setattr(sys, "stdin", os.fdopen(reading))
        return "-"

    def fifo(self, data: bytes, suffix: str) -> str:
        """A named pipe."""
        os.mkfifo("pipe")
        self._feed(lambda: Path("pipe").write_bytes(data))
        return "pipe"

    def _feed(self, *steps: Callable[[], object]) -> None:
        self._feeders.append(threading.Thread(target=lambda: [step() for step in steps]))
        self._feeders[-1].start()

    def finish(self) -> None:
        """Wait until all has been read."""
        for feeder in self._feeders:
            feeder.join(20)
            assert not feeder.is_alive()


KINDS = ["file", "nameless", "stdin", "redirected", "piped", "fifo"]


@pytest.fixture(params=[(kind, packed) for kind in KINDS for packed in (False, True)], ids=lambda param: str(param))
def deliver(request, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[bytes, str], str]]:
    """Put bytes where a path leads to them, by each transport in turn, gzipped or not; a suffix names a file."""
    monkeypatch.chdir(tmp_path)
    kind, packed = request.param
    transports = Transports(monkeypatch)

    def put(data: bytes, suffix: str) -> str:
        name = f"{suffix}.gz" if packed else suffix
        return getattr(transports, kind)(gzip.compress(data) if packed else data, name)

    yield put
    transports.finish()
