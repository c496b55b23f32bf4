"""Features of arcs, an array (..., R) per sentence in an .npz, laid out as the scores are."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np

from deptree_cli.core.dtypes import Float
from deptree_cli.core.errors import DeptreeError
from deptree_cli.io.files.streams import open_input
from deptree_cli.io.scores.arrays import MAGIC, read_list
from deptree_cli.io.scores.containers.npz import Archive, open_zip
from deptree_cli.io.scores.layout import Layout, to_head_dep
from deptree_cli.io.sentence import Sentence

# Of a number whose square is summed up.
LARGEST = 1e100


def features_of(path: str, record: Sentence, layout: Layout) -> Float:
    """A sentence's features as (n+1, n+1, R), ``[head, dependent]``; those of what is no arc are 0.

    Raises:
        DeptreeError: the file cannot be read, has no such sentence, or an array of another shape than the scores.
    """
    archive = _archive(path, _identity(path))
    key = next((name for name in record.names if name in archive), None)
    if key is None:
        raise DeptreeError(f"{path} has no key of this name", "Name features as the scores are named")
    array = archive.load(key)
    arcs = layout.arcs(record.scores.shape)
    if array.ndim != 3 or array.shape[:2] != arcs or not array.shape[2]:
        problem = f"the features have shape {array.shape}, the scores of arcs {arcs}"
        raise DeptreeError(problem, "Give an array like the scores with one more axis, the features")
    features = to_head_dep(array, replace(layout, scale="weight", labels="last"))
    if not (np.abs(features) <= LARGEST).all():
        raise DeptreeError(
            f"a feature is not a finite number up to {LARGEST:g}", "Give finite features, also for forbidden arcs"
        )
    return features


def _identity(path: str) -> tuple[int, ...]:
    """What tells a file from another that has its name later, or in another folder."""
    with suppress(OSError):  # told where it is opened
        found = Path(path).stat()
        return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns
    return ()


@cache
def _archive(path: str, _: tuple[int, ...]) -> Archive:
    """Opened once in every process."""
    with open_input(path) as file:
        if file.head.startswith(MAGIC):
            raise DeptreeError("is a single array", "Save features with numpy.savez, a key per sentence", place=path)
    return Archive(open_zip(path, path), path)


def vector(path: str) -> Float:
    """Numbers from a text file or .npy, (R,), none too large; errors as of `read_list`."""
    with np.errstate(over="ignore"):
        result = read_list(path, "a number", float).astype(np.float64)
    if result.ndim != 1 or not (np.abs(result) <= LARGEST).all():
        problem = f"holds no list of finite numbers up to {LARGEST:g}, but shape {result.shape}"
        raise DeptreeError(problem, "Give one number a line", place=path)
    return result
