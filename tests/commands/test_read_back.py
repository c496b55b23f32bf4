"""What any command writes into any container, read by every command that reads scores: right, or refused in one line.

A `.npy` says nothing of itself: there a line says what is assumed, and options say the rest.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pytest

from deptree_cli.core.errors import DeptreeError
from deptree_cli.hpyp.commands.parse import WRITTEN
from deptree_cli.io.scores.containers import CONTAINERS, NEVER, Container
from deptree_cli.io.scores.meta import WRITE_SCORES, Meta
from deptree_cli.io.signature import signature
from tests.commands.readers import OF_PAIRS, PAGES, READERS, SQUARES, line, numbers, put_files
from tests.every_command import ENTRIES
from tests.io.scores.written import write_scores

BASE = ("base.npz", "--from", "supar")
CONTAINERS_WRITTEN = [each for each in CONTAINERS if each.write]


@dataclass(frozen=True)
class Writer:
    """How a command writes two sentences, or why not, and how its arrays are read; None if they are no scores."""

    write: Callable[[Any, str], str]
    read: tuple[str, ...] | None = None


def by(*line: Any) -> Callable[[Any, str], str]:
    return lambda deptree, path: deptree(*line, "-q", "-o", path).err


def with_meta(meta: Meta, first: int, deptree: Any, path: str) -> str:
    """As commands do that need a parser or a model; `first`: the first of the rows that are written."""
    try:
        with write_scores(path, meta) as write:
            for name, each in SQUARES.items():
                write(name, each[first:])
    except DeptreeError as error:
        return str(error)
    return ""


WRITERS = {
    "convert": Writer(by("convert", *BASE), ("--from", "synjax")),
    "combine": Writer(by("combine", *BASE), ("--from", "synjax")),
    "hpyp parse": Writer(
        partial(with_meta, Meta.of(signature("hpyp parse", WRITTEN)), 0),
        ("--from", "synjax", "--projective"),
    ),
    "dump": Writer(partial(with_meta, Meta.of(signature("dump", {"from": "natasha"})), 1), ("--from", "natasha")),
    "marginals": Writer(by("marginals", *BASE), ("--from", "supar,weight")),
    "combine --method mixture": Writer(by("combine", *BASE, "--method", "mixture")),
    "sample": Writer(by("sample", *BASE, "-k", 4, "--seed", 1)),
    "decode": Writer(by("decode", *BASE, "-k", 3)),
    "bitext expectations": Writer(by("bitext", "expectations", "base.npz")),
}


# Others whose arrays are no scores.
LISTED = {name.split(" --")[0] for name in WRITERS}
ARRAYS = [name for name, entry in ENTRIES.items() if entry.writes == "arrays" and name not in LISTED]
WRITERS |= {name: Writer(by(name, *BASE)) for name in ARRAYS}


def test_what_writes_scores_is_here():
    assert set(WRITE_SCORES) <= LISTED


@pytest.fixture(scope="module")
def expected() -> dict[tuple[str, str], list[float]]:
    """The numbers that a reader writes of a writer's arrays, told how to read them; filled in by the tests."""
    return {}


@pytest.mark.parametrize("container", CONTAINERS_WRITTEN, ids=lambda each: each.name)
@pytest.mark.parametrize("name", WRITERS)
def test_right_or_refused(deptree, put, expected, name, container):
    put_files(put)
    if container.name == "safetensors":
        pytest.importorskip("safetensors", reason="safetensors is not installed")
    writer, path = WRITERS[name], f"written{container.suffixes[0]}"
    if problem := writer.write(deptree, path):
        assert "cannot store that these scores are read with" in problem
        assert writer.read
        assert not container.keeps_meta(True)
        return
    told = () if container.keeps_meta(True) else writer.read or ()
    votes = {"combine"} if container.name == "jsonl" and not holds_arrays_of(name, container) else set()
    for reader in (each for each in READERS if each not in votes):  # lines with trees are votes
        ran = deptree(*line(reader, path), *(told if reader not in OF_PAIRS else ()))
        right = writer.read and reader not in OF_PAIRS and holds_arrays_of(name, container)
        if right and reader not in PAGES:
            assert numbers(ran) == pytest.approx(reference(deptree, expected, name, reader), rel=1e-6, abs=1e-9), reader
        elif right or (container.keeps == NEVER and ran.code != 2):
            assert right or "given: reading as" in ran.err, reader
        else:
            assert (ran.code, ran.out, len(ran.said)) == (2, b"", 1), (reader, ran.err)


def holds_arrays_of(name: str, container: Container) -> bool:
    """Whether a command's results are arrays there, and not lines of JSON."""
    return container.holds_arrays or name in WRITE_SCORES


def reference(deptree, expected, name: str, reader: str) -> list[float]:
    """What a reader makes of the same arrays without a word on how they were made, told how to read them."""
    if (name, reader) not in expected:
        WRITERS[name].write(deptree, "noted.npz")
        with np.load("noted.npz") as arrays:
            np.savez("bare.npz", **arrays)
        expected[name, reader] = numbers(deptree(*line(reader, "bare.npz"), *WRITERS[name].read, "-q"))
    return expected[name, reader]
