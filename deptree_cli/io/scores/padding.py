"""Padding that was taken for words: a slice of a batch whose length nobody told, or told with ROOT counted."""

from __future__ import annotations

import numpy as np

from deptree_cli.core.dtypes import Array, Float
from deptree_cli.core.errors import DeptreeError, counted
from deptree_cli.core.scores import MASK
from deptree_cli.io.scores.layout import Layout, to_head_dep


def check_not_padding(scores: Array, layout: Layout, has_length: bool = False) -> None:
    """Raise where the last word of a slice looks like padding.

    It does where all its scores are one number (0, or -10000 in half precision), or where as a dependent it has one
    number for all heads and as a head it is masked (-inf, and -1e15 and below; of weights 0). Scores of a parser are
    never alike to the last bit. A matrix that is all one number may be meant, and is left alone; a last word without
    any head is an error of its own, unless a length made it a word.

    Args:
        has_length: whether the scores were cut to a length that was given.

    Raises:
        DeptreeError: asks for the lengths, or whether they count ROOT.
    """
    if _differ(scores, layout):
        return
    matrix = to_head_dep(scores, layout)
    n = len(matrix) - 1
    as_dependent, as_head = _unmasked(matrix[:n, n], layout), _unmasked(matrix[n, 1:n], layout)
    headless = has_length and not len(as_dependent)
    if not headless and (len(as_dependent) < 2 or not _alike(np.concatenate([as_dependent, as_head]))):
        return
    if _alike(_unmasked(matrix[:, 1:][~np.eye(n + 1, dtype=bool)[:, 1:]], layout)):
        return
    problem = f"the scores of the last of {counted(n, 'word')} are all alike, as those of padding are"
    if has_length:
        remedy = "Do the lengths count ROOT? They must not. If they do not, give the sentences with --conllu FILE"
    else:
        remedy = "Give the numbers of words with --lengths FILE, or the sentences with --conllu FILE"
    raise DeptreeError(problem, remedy)


def _differ(scores: Array, layout: Layout) -> bool:
    """Whether two scores of the last word differ, as head or as dependent: a glance that settles most sentences."""
    if scores.ndim != 2 or min(scores.shape) < 5 or layout.root == "last":
        return False
    one, two = float(scores[-1, 1]), float(scores[-1, 2])
    return one != two and _unmasked(np.array([one, two]), layout).size == 2


def _unmasked(scores: Float, layout: Layout) -> Float:
    """The scores that allow an arc, (m,)."""
    flat = scores.ravel()
    forbidden = flat <= -MASK if layout.scale == "log" else flat == 0
    return flat[~(forbidden | np.isnan(flat))]


def _alike(scores: Float) -> bool:
    return bool((scores == scores[0]).all())
