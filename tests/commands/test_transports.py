"""Every container by every transport, with its own layout or a preset, gives the same marginals or a known error."""

from __future__ import annotations

import gzip
import os
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from tests.sample import DATA

TRANSPORTS = ["file", "nameless", "gzip", "standard input", "gzip on standard input", "FIFO", "gzip in a FIFO"]


@pytest.fixture
def deliver(deptree, tmp_path, monkeypatch) -> Callable[..., object]:
    """Run a command that reads bytes by a transport; `{}` stands for the path."""
    monkeypatch.chdir(tmp_path)

    def run(data: bytes, suffix: str, transport: str, *args: object):
        packed = gzip.compress(data) if "gzip" in transport else data
        name = {"file": f"x{suffix}", "nameless": "x", "gzip": f"x{suffix}.gz"}.get(transport, "-")
        if "FIFO" in transport:
            Path("pipe").unlink(missing_ok=True)
            os.mkfifo("pipe")
            feeder = threading.Thread(target=_feed, args=(packed,))
            feeder.start()
            ran = deptree(*(arg if arg != "{}" else "pipe" for arg in args))
            feeder.join(20)
            assert not feeder.is_alive()
            return ran
        if name != "-":
            Path(name).write_bytes(packed)
        return deptree(*(arg if arg != "{}" else name for arg in args), stdin=packed if name == "-" else b"")

    return run


def _feed(data: bytes) -> None:
    with suppress(BrokenPipeError):  # the command ended with an error
        Path("pipe").write_bytes(data)


@pytest.mark.parametrize("transport", TRANSPORTS)
@pytest.mark.parametrize("name", ["sentences.conllu", "labels.json", "lengths.txt"])
def test_other_inputs(name, transport, deliver, done) -> None:
    """Sentences, labels and lengths come by every transport too."""
    commands = {
        "sentences.conllu": ("decode", DATA / "scores.npz", "--from", "natasha", "--conllu"),
        "labels.json": ("decode", DATA / "label_scores.npz", "--from", "natasha", "--labels"),
        "lengths.txt": ("decode", DATA / "scores.npy", "--from", "supar", "--lengths"),
    }
    wanted = done(*commands[name], DATA / name, "-q", "--no-header").out
    data, suffix = (DATA / name).read_bytes(), Path(name).suffix
    ran = deliver(data, suffix, transport, *commands[name], "{}", "-q", "--no-header")
    assert (ran.code, ran.out) == (0, wanted), ran.err
