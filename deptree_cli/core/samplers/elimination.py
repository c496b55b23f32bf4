"""The elimination sampler: exact trees from the factors of `core/spaces/elimination.py`, with a worst-case bound."""

from __future__ import annotations

from typing import Any

import numpy as np

from deptree_cli.core.dtypes import Heads, Int
from deptree_cli.core.spaces.elimination import Elimination
from deptree_cli.kernels.trees import elimination_sampler as kernel


class Tables:
    """An elimination's factors in the order and scale that the sampler wants, O(n^2): for trees of roots known before.

    Under the single-root constraint no pivot depends on ROOT's arcs: a root costs one sweep of their weights.
    """

    def __init__(self, whole: Elimination) -> None:
        kind, n = whole.kind, whole.n
        rows = np.append(whole.order, n)
        self._single_root, self._order, self._pivots = whole.single_root, whole.order, whole.pivots
        self._factors: Any = kind.each(np.copy, whole.factors)
        self._normalised: Any = kind.zeros((n, n + 1))
        kernel.normalise(self._factors, self._pivots, self._order, self._normalised)
        self._weights: Any = kind.each(lambda part: part[rows][:, whole.order].copy(), whole.weights)

    def draw(self, roots: Int, state: Any, heads: Heads) -> None:
        """Fill heads (k, n) with independent trees that hang on the nodes roots (k,): words, or 0 for spanning trees.

        state: of a kernel's generator. A root that has next to no probability (`Elimination.given_root`) may need wider
        numbers than these: not one that was drawn.
        """
        factors, normalised, weights, order = self._factors, self._normalised, self._weights, self._order
        if self._single_root:
            kernel.sample_trees_of_roots(factors, self._pivots, normalised, weights, order, roots, state, heads)
        else:
            kernel.sample_trees(factors, normalised, weights, order, False, state, heads)
