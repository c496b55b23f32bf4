"""Which arcs beside the tree's are worth drawing: those that matter, as long as one can still tell them apart."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from deptree_cli.core.dtypes import Float

Mask = NDArray[np.bool_]

# A word's arcs are drawn, the heaviest first, until they have this share of its mass; those below LEAST never are.
ENOUGH, LEAST = 0.9, 0.01

# How many others a word has at most, and how many run side by side between two neighbouring words.
MOST_OF_WORD, MOST_ABREAST = 3, 8


def heavier(weights: Float, tree: Sequence[int], above: float) -> Mask:
    """Return which arcs outside the tree weigh more than this.

    Args:
        weights: (n+1, n+1), ``[head, dependent]``.
        tree: n heads, 0 = ROOT.

    Returns:
        (n+1, n+1).
    """
    return _beside(weights, tree) & (weights > above)


def chosen(weights: Float, tree: Sequence[int]) -> Mask:
    """Return which arcs outside the tree matter: with them and the tree's a word has `ENOUGH` of its mass.

    Where that would be a thicket the heaviest are kept: `MOST_OF_WORD` of a word, `MOST_ABREAST` between two words.
    Arguments and result as for `heavier`.
    """
    picked = np.zeros(weights.shape, dtype=bool)
    abreast = np.zeros(len(weights), dtype=np.int64)
    for head, dependent in _candidates(weights, tree):
        under = slice(*sorted((head or dependent, dependent)))
        if abreast[under].max(initial=0) < MOST_ABREAST:
            abreast[under] += 1
            picked[head, dependent] = True
    return picked


def _candidates(weights: Float, tree: Sequence[int]) -> list[tuple[int, int]]:
    """The arcs that every word needs, at most so many of each, from the heaviest to the lightest."""
    beside = _beside(weights, tree) & (weights >= LEAST)
    found: list[tuple[float, int, int]] = []
    for dependent, own in enumerate(tree, 1):
        mass = float(weights[own, dependent])
        heads = np.flatnonzero(beside[:, dependent])
        order = heads[np.argsort(-weights[heads, dependent], kind="stable")]
        for head in order[:MOST_OF_WORD].tolist():
            if mass >= ENOUGH:
                break
            mass += float(weights[head, dependent])
            found.append((-float(weights[head, dependent]), head, dependent))
    return [(head, dependent) for _, head, dependent in sorted(found)]


def _beside(weights: Float, tree: Sequence[int]) -> Mask:
    beside = weights > 0
    beside[:, 0] = False
    beside[tree, np.arange(1, len(tree) + 1)] = False
    return beside
