"""Colbourn et al.'s ancestral sampler with the root constraint of Zmigrod et al. 2021a, Fig. 5, but no inverse."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from deptree_cli.core.numbers import REAL, WIDE, Float, shift_columns
from deptree_cli.core.sentence import Sentence
from deptree_cli.core.streams import kernel_state
from deptree_cli.kernels.colbourn import draw_ancestral


def draw(sentence: Sentence, size: int, rng: np.random.Generator) -> NDArray[np.int32]:
    """Word by word from exact conditionals, the single root first; O(n^3) per tree."""
    n = sentence.n
    if sentence.single_root:
        roots = draw_roots(sentence.elimination.root_marginals(), size, rng)
    else:
        roots = np.zeros(size, dtype=np.int64)
    kind = WIDE if sentence.elimination.is_wide else REAL
    weights = kind.exp(shift_columns(sentence.log_scores, sentence.single_root)[0])
    levels = 2 + n.bit_length()
    heads = np.empty((size, n), dtype=np.int32)
    workspace = kind.zeros((levels, n, n)), kind.zeros((levels, n)), kind.zeros(n + 1)
    draw_ancestral(weights, roots, kernel_state(rng), *workspace, heads)
    return heads


def draw_roots(probs: Float, size: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """`size` draws from probs, shape (n+1,); a root of probability 0 is never drawn, whatever rounding leaves over."""
    cumulative = np.cumsum(probs) / probs.sum()
    cumulative[np.flatnonzero(probs)[-1] :] = 2.0
    return np.searchsorted(cumulative, rng.random(size), side="right")
