"""Padded batches (..., N, N) of NumPy, PyTorch or JAX: shifted log-scores, and heads of sentences that are shorter."""

from __future__ import annotations

from typing import Any

from deptree_cli.core.dtypes import MASK


def hung(xp: Any, heads: Any, lengths: Any) -> tuple[Any, Any]:
    """Return heads of N - 1 words, (..., N - 1), which are a tree if those of the words that there are, are one.

    Behind a sentence each node is hung on the one before it, which closes no cycle and crosses no arc. And whether all
    heads of words are nodes of the sentence, (...,).

    Args:
        xp: NumPy, or JAX's.
        heads: (..., N).
        lengths: (...,).
    """
    node, last = xp.arange(heads.shape[-1]), lengths[..., None]
    words, sound = (node > 0) & (node <= last), (heads >= 0) & (heads <= last)
    return xp.where(words & sound, heads, node - 1)[..., 1:], (sound | ~words).all(-1)


def shift_batch(xp: Any, scores: Any, single_root: bool) -> tuple[Any, Any]:
    """Do what `factorisation.shift` does with a batch (..., N, N), by the functions `xp` of its library.

    Returns the shifted scores, each rounded once; and what adds up to the constant (`constant_of`), (..., N), of which
    a mask that no tree needs is not a part. A word without scores is left as it is, for whoever checks them to report.
    """
    row = scores[..., 0, :]
    tops = xp.amax(scores[..., 1:, :] if single_root else scores, -2)
    tops = xp.where(tops == -xp.inf, row, tops)  # a word that only ROOT may govern
    tops = xp.where(abs(tops) <= MASK, tops, 0.0)
    below = scores - tops[..., None, :]
    if not single_root:
        return below, tops
    high = below[..., 0, :]
    shown = high - row
    low = xp.nan_to_num((row - (high - shown)) - (tops + shown), nan=0.0)  # what rounding took off (Knuth)
    highest = xp.nan_to_num(xp.amax(high, -1), nan=0.0, posinf=0.0, neginf=0.0)[..., None]
    is_best = high == highest
    is_best = is_best & (xp.cumsum(is_best, -1) == 1)  # one of them
    lowest = xp.where(is_best, low, 0.0).sum(-1)[..., None]
    of_root = (high - highest) + (low - lowest)
    return xp.concatenate([of_root[..., None, :], below[..., 1:, :]], -2), xp.where(is_best, row, tops)


def constant_of(xp: Any, parts: Any) -> Any:
    """Sum what `shift_batch` found (..., N), rounded once: digits beyond those that the largest sum has are apart."""
    largest = xp.amax(abs(parts), -1)[..., None] * (2.0 * parts.shape[-1])
    coarse = (parts + largest) - largest
    return coarse.sum(-1) + (parts - coarse).sum(-1)
