"""Trees that users hand in, as arrays of heads."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from deptree_cli.core.dtypes import Integers
from deptree_cli.core.errors import DeptreeError


def checked_trees(trees: ArrayLike, n: int, id: str) -> Integers:
    """Trees over n words, (k, n) heads, as an array; whether they are trees is another question.

    Raises:
        DeptreeError: the array has another shape, or holds something else than integers.
    """
    try:
        rows = np.asarray(trees)
    except ValueError:
        problem = f"heads of differing lengths are given for a sentence of {n} words"
        raise DeptreeError(problem, "Give one integer per word", sent_id=id) from None
    if rows.ndim != 2 or rows.shape[1] != n or rows.dtype.kind not in "iu":
        what = f"heads of shape {rows.shape[1:] if len(rows) == 1 else rows.shape} and type {rows.dtype}"
        problem = f"{what} are given for a sentence of {n} words"
        raise DeptreeError(problem, "Give one integer per word and tree, 0 for ROOT", sent_id=id)
    return rows
