"""What an error leaves behind in a program that calls `main`: no open file."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

FILES = Path("/proc/self/fd")

pytestmark = pytest.mark.skipif(not FILES.exists(), reason="this system does not list a process's open files")


@pytest.fixture
def no_garbage_collection() -> Iterator[None]:
    gc.collect()
    gc.disable()
    yield
    gc.enable()


def open_files() -> set[str]:
    return {str(each.readlink()) for each in FILES.iterdir() if each.exists()}


@pytest.mark.parametrize("command", ["decode", "sample", "marginals -o out.npz", "swor -k 2", "check-bias -k 20"])
@pytest.mark.parametrize("suffix", [".npy", ".npz", ".jsonl"])
def test_an_error_closes_what_was_being_read(deptree, no_garbage_collection, tmp_path, monkeypatch, command, suffix):
    """The second of three sentences has a NaN; the third is never read."""
    monkeypatch.chdir(tmp_path)
    scores = np.random.default_rng(1).normal(size=(3, 4, 4))
    scores[1, 2, 3] = np.nan
    if suffix == ".npy":
        np.save("bad.npy", scores)
    elif suffix == ".npz":
        np.savez("bad.npz", **{str(number): each for number, each in enumerate(scores)})
    else:
        rows = (str(each.tolist()).replace("nan", "NaN") for each in scores)
        Path("bad.jsonl").write_text("".join(f'{{"scores": {row}}}\n' for row in rows))
    name, *options = command.split()
    assert deptree(name, f"bad{suffix}", *options, "-q", "--from", "head-dep").code == 2
    assert not [name for name in open_files() if "bad" in name]
