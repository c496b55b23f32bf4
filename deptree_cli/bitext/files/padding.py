"""Padding that was taken for words: a slice of a batch of sentence pairs whose lengths nobody told."""

from __future__ import annotations

from deptree_cli.bitext.files.layout import PairLayout
from deptree_cli.core.dtypes import Array, Bool
from deptree_cli.core.errors import DeptreeError
from deptree_cli.core.scores import MASK


def check_not_padding(scores: Array, layout: PairLayout) -> None:
    """Raise where the last row or column of a slice looks like padding.

    It does where nothing in it is possible, or all is one number (0, or -10000 in half precision), which scores of a
    model never are. A matrix that is all one number may be meant, and is left alone.

    Args:
        scores: (p, q), or (p + 1, q + 1) with NULL, whose corner does not count.

    Raises:
        DeptreeError: asks for the words.
    """
    words = slice(-1) if layout.null == "last" else slice(None)
    masked = _masked(scores, layout.scale)
    constant = bool((scores == scores[0, 0]).all())
    for what, last, nothing in (
        ("row", scores[-1, words], masked[-1, words]),
        ("column", scores[words, -1], masked[words, -1]),
    ):
        if nothing.all() or (len(last) > 1 and (last == last[0]).all() and not constant):
            problem = f"the last {what} of a matrix of shape {scores.shape} looks like padding"
            raise DeptreeError(problem, "Give the words with --text FILE, or save one matrix per sentence pair")


def _masked(scores: Array, scale: str) -> Bool:
    """Which scores allow no link, of the same shape."""
    return scores == 0 if scale == "weight" else scores <= -MASK
