"""Features of arcs, an array (..., R) per sentence in an .npz, laid out as the scores are."""

from __future__ import annotations

import zipfile
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deptree_cli.core.errors import DeptreeError
from deptree_cli.io.layout import Layout, to_head_dep
from deptree_cli.io.pairing import Record

Float = NDArray[np.float64]


def features_of(path: str, record: Record, layout: Layout) -> Float:
    """A sentence's features as (n+1, n+1, R), ``[head, dependent]``; those of what is no arc are 0.

    Raises:
        DeptreeError: the file cannot be read, has no such sentence, or an array of another shape than the scores.
    """
    archive = _archive(path)
    key = next((key for key in (record.key, record.sent_id) if key in archive), None)
    if key is None:
        raise DeptreeError(f"{path} has no key of this name", "Name features as the scores are named")
    try:
        array = np.asarray(archive[key])
    except (ValueError, OSError, zipfile.BadZipFile) as error:
        raise DeptreeError(f"{path}: {key} cannot be read ({error})", "Save plain arrays with numpy.savez") from None
    if array.ndim != 3 or array.shape[:2] != record.scores.shape or not array.shape[2]:
        problem = f"the features have shape {array.shape}, the scores {record.scores.shape}"
        raise DeptreeError(problem, "Give an array like the scores with one more axis, the features")
    zeros = replace(layout, scale="weight")
    features = np.stack([to_head_dep(array[:, :, r], zeros) for r in range(array.shape[2])], axis=-1)
    if not np.isfinite(features).all():
        raise DeptreeError("a feature is not a finite number", "Give finite features, also for forbidden arcs")
    return features


@cache
def _archive(path: str) -> Any:
    """Opened once in every process."""
    try:
        archive = np.load(path)
    except (ValueError, OSError, zipfile.BadZipFile) as error:
        reason = getattr(error, "strerror", None) or error
        raise DeptreeError(f"cannot be read as .npz ({reason})", "Save features with numpy.savez", place=path) from None
    if not isinstance(archive, np.lib.npyio.NpzFile):
        raise DeptreeError("is a single array", "Save features with numpy.savez, a key per sentence", place=path)
    return archive


def vector(path: str) -> Float:
    """Numbers from a text file or .npy, (R,)."""
    try:
        numbers = np.load(path) if path.endswith(".npy") else np.loadtxt(path, ndmin=1)
        result = np.asarray(numbers, dtype=np.float64)
    except (ValueError, OSError) as error:
        reason = getattr(error, "strerror", None) or error
        raise DeptreeError(
            f"cannot be read as numbers ({reason})", "Give one number a line, or .npy", place=path
        ) from None
    if result.ndim != 1 or not np.isfinite(result).all():
        raise DeptreeError(
            f"holds no list of finite numbers, but shape {result.shape}", "Give one number a line", place=path
        )
    return result
