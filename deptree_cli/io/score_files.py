"""Scores as output: the register of containers that are written."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import PurePath
from typing import Any, Protocol

import numpy as np

from deptree_cli.core.errors import DeptreeError
from deptree_cli.io.jsonl import dump
from deptree_cli.io.output import NpzOutput, Output
from deptree_cli.io.raw import Array


class Write(Protocol):
    """Writes one sentence's scores under its name; forms are its words, which only JSON Lines have a place for."""

    def __call__(self, sent_id: str, scores: Array, forms: Sequence[str] | None = None) -> None: ...


# Opens a container at a path (None is standard output), with its signature and whether to write that as first line.
Opened = Callable[[str | None, str, bool], AbstractContextManager[Write]]


@contextmanager
def _npz(path: str | None, made: str, header: bool) -> Iterator[Write]:
    with NpzOutput(path, made) as out:
        yield lambda sent_id, scores, forms=None: out.write(sent_id, scores)


@contextmanager
def _npy(path: str | None, made: str, header: bool) -> Iterator[Write]:
    """One array after another, as `numpy.save` would write each."""
    with Output(path) as out:

        def write(sent_id: str, scores: Array, forms: Sequence[str] | None = None) -> None:
            data = io.BytesIO()
            np.lib.format.write_array(data, scores, allow_pickle=False)
            out.write(data.getvalue())

        yield write


@contextmanager
def _jsonl(path: str | None, made: str, header: bool) -> Iterator[Write]:
    """A line each, handed on at once; the header waits for the first of them."""
    with Output(path) as out:
        before = [dump({"signature": made})] if header else []

        def write(sent_id: str, scores: Array, forms: Sequence[str] | None = None) -> None:
            while before:
                out.write(before.pop())
            row = {"sent_id": sent_id, "scores": _nested(scores)}
            out.write(dump(row if forms is None else {**row, "forms": forms}))
            out.flush()

        yield write


def _nested(scores: Array) -> Any:
    """The numbers as JSON has them: null forbids."""
    forbidden = np.isneginf(scores)
    if not forbidden.any():
        return scores.tolist()
    cells = scores.astype(object)
    cells[forbidden] = None
    return cells.tolist()


@contextmanager
def _safetensors(path: str | None, made: str, header: bool) -> Iterator[Write]:
    """All tensors at once, at the end: the format puts their places first."""
    try:
        from safetensors.numpy import save
    except ImportError:
        raise DeptreeError("safetensors is not installed", "pip install 'deptree-cli[safetensors]'") from None
    tensors: dict[str, Array] = {}

    def write(sent_id: str, scores: Array, forms: Sequence[str] | None = None) -> None:
        if sent_id in tensors:
            remedy = "Write JSON Lines, or give every sentence its own sent_id"
            raise DeptreeError("safetensors cannot hold two sentences of one name", remedy, sent_id=sent_id)
        tensors[sent_id] = np.ascontiguousarray(scores)

    with Output(path) as out:
        yield write
        out.write(save(tensors, {"signature": made}))


CONTAINERS: dict[str, Opened] = {"jsonl": _jsonl, "npz": _npz, "npy": _npy, "safetensors": _safetensors}

_SUFFIXES = {
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".npz": "npz",
    ".npy": "npy",
    ".npys": "npy",
    ".safetensors": "safetensors",
}


def container_of(path: str | None) -> str:
    """Which container the suffix of a path asks for; JSON Lines on standard output.

    Raises:
        DeptreeError: none that is written.
    """
    suffix = PurePath(path or "").suffix.lower()
    if suffix and suffix not in _SUFFIXES:
        problem = "output is not compressed" if suffix == ".gz" else f"scores are not written as {suffix}"
        raise DeptreeError(problem, f"Choose one of {', '.join(_SUFFIXES)}", place=path or "")
    return _SUFFIXES.get(suffix, "jsonl")
