"""A tree whose arcs may cross as a sequence of choices: the heads of its words.

Their conditional distributions come as logarithms that are accurate however small the probability, because nothing is
subtracted on the way.
"""

from __future__ import annotations

from functools import cache
from operator import itemgetter
from typing import Any

import numpy as np

from deptree_cli.core.arc_factored import ArcFactored
from deptree_cli.core.dtypes import Float, Heads, Int
from deptree_cli.core.numbers import REAL, WIDE
from deptree_cli.core.samplers.colbourn import path_tables
from deptree_cli.core.spaces.nonprojective import elimination_of
from deptree_cli.core.swor.sequences import Beam, Choices, Prefix, TreeChoices
from deptree_cli.kernels.elimination.ancestral import (
    log_head_probs_of_each,
    log_heads_along,
    log_next_heads,
    set_heads,
)
from deptree_cli.kernels.elimination.contraction import FREE
from deptree_cli.kernels.elimination.head_path import LEVELS, OWNER, Path, PathTables, start_path
from deptree_cli.kernels.numbers.operations import SAFE_LOG

# The logarithms down to which float64 numbers have all their digits, and products that a path meets are noticed.
LOSSLESS_LOG = -660.0

# So many numbers may stand in memory for a beam: 1 or 2 GB.
MOST_NUMBERS = 2**27


class Conditionals(TreeChoices):
    """The root, if there is a single one, then the heads of the other words from left to right."""

    def __init__(self, distribution: ArcFactored) -> None:
        self.distribution = distribution
        self._elimination = elimination_of(distribution.factorisation)
        log_weights = self._elimination.shifted.log_weights
        self.weights = {kind: kind.exp(log_weights) for kind in (REAL, WIDE)}
        self.in_range = weights_in_range(log_weights)
        self.depth = n = distribution.n
        self._tables = cache(lambda kind: (path_tables(n, kind), kind.zeros(n + 1)))

    def log_probs_of_each(self, prefixes: Choices) -> Float:
        """See `TreeChoices`; O(m^3) each with m words open."""
        if self.distribution.single_root and not prefixes.shape[1]:
            return np.tile(self._elimination.log_root_marginals(), (len(prefixes), 1))
        roots, heads, words = map(np.ascontiguousarray, self.parts_of(prefixes))
        out, in_range = np.empty((len(prefixes), self.distribution.n + 1)), np.full(len(prefixes), self.in_range)
        for kind, weights in self.weights.items():
            log_head_probs_of_each(weights, roots, heads, words, *self._tables(kind), out, in_range)
            if in_range.all():
                break
            in_range = ~in_range
        return out

    def branch(self, prefix: Prefix, rng: np.random.Generator) -> tuple[Float, Choices]:
        """See `TreeChoices`; of a prefix that is not empty, O(m^3) in all."""
        roots, heads, words = self.parts_of(np.array([prefix], dtype=np.int64))
        n, free = self.distribution.n, words[0].copy()
        uniforms, chosen, out = rng.random(len(free)), np.empty(len(free), dtype=np.int64), np.empty((len(free), n + 1))
        for kind, weights in self.weights.items():
            if kind is REAL and not self.in_range:
                continue
            tables, probs = self._tables(kind)
            if log_heads_along(weights, roots[0], heads[0], free, tables, uniforms, probs, chosen, out):
                break
        return out, chosen

    def beam(self, size: int) -> Beam:
        """See `TreeChoices`; O(n^3) for each prefix in all, and without memory for that O(n^4)."""
        n = self.distribution.n
        return HeadPaths(self, size) if size * (3 * n + LEVELS) * n <= MOST_NUMBERS else Beam(self)

    def heads_of_each(self, prefixes: Choices) -> Heads:
        heads = self.parts_of(prefixes)[1][:, 1:]
        return np.where(heads == FREE, 0, heads).astype(np.int32)

    def parts_of(self, prefixes: Choices) -> tuple[Choices, Choices, Choices]:
        """The nodes that trees hang on, (b,); heads by node (b, n+1), FREE where none was chosen; the other words."""
        count, n = len(prefixes), self.distribution.n
        words, roots, chosen = np.tile(np.arange(1, n + 1), (count, 1)), np.zeros(count, dtype=np.int64), prefixes
        if self.distribution.single_root:
            words = words[words != prefixes[:, :1]].reshape(count, n - 1)
            roots, chosen = prefixes[:, 0].copy(), prefixes[:, 1:]
        heads = np.full((count, n + 1), FREE, dtype=np.int64)
        heads[np.arange(count)[:, None], words[:, : chosen.shape[1]]] = chosen
        return roots, heads, words[:, chosen.shape[1] :]


class HeadPaths(Beam):
    """Prefixes of which each goes on from what was eliminated for the one that it has grown from.

    In float64 while that keeps all digits, and from there on in wide numbers.
    """

    def __init__(self, choices: Conditionals, size: int) -> None:
        super().__init__(choices)
        self._conditionals, self._size = choices, size
        self._kind = REAL if choices.in_range else WIDE
        self._paths: Any = None

    def log_probs(self) -> Float:
        choices, n = self._conditionals, self._conditionals.depth
        if choices.distribution.single_root and not self.prefixes.shape[1]:
            return super().log_probs()
        roots, out = choices.parts_of(self.prefixes)[0], np.empty((len(self.prefixes), n + 1))
        while True:
            if self._paths is None:
                self._start()
            weights, probs = choices.weights[self._kind], self._kind.zeros(n + 1)
            if log_next_heads(self._paths, weights, roots, self._tables, probs, out):
                return out
            self._kind, self._paths = WIDE, None

    def grow(self, above: Int, values: Choices) -> None:
        super().grow(above, values)
        if self._paths is not None:
            self._paths = Path(*(part[above] for part in self._paths))
            set_heads(self._paths, values)

    def _start(self) -> None:
        """Begin at these prefixes, in tables of its own each."""
        kind, paths = self._kind, []
        weights = self._conditionals.weights[kind]
        self._tables = path_tables(self._conditionals.depth, kind, self._size)
        for i, (root, heads, words) in enumerate(zip(*self._conditionals.parts_of(self.prefixes), strict=True)):
            tables = PathTables(*(kind.each(itemgetter(i), numbers) for numbers in self._tables))
            paths.append(start_path(weights, root, heads, words.copy(), True, tables))
            paths[-1].levels[OWNER] = i
        self._paths = Path(*map(np.stack, zip(*paths, strict=True)))


def some_are_improbable(log_weights: Float) -> bool:
    """Whether float64 may take trees of these weights for impossible that are not; (n+1, n+1), columns shifted."""
    least = np.where(np.isfinite(log_weights), log_weights, 0.0).min(axis=0)
    return bool(least.sum() < SAFE_LOG)


def weights_in_range(log_weights: Float) -> bool:
    """Whether float64 holds all positive weights; (n+1, n+1), columns shifted."""
    return bool(np.where(np.isfinite(log_weights), log_weights, 0.0).min() > LOSSLESS_LOG)
