"""A tree whose arcs may cross as a sequence of choices: the heads of its words.

Their conditional distributions come as logarithms that are accurate however small the probability, because nothing is
subtracted on the way.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from deptree_cli.core.arc_factored import ArcFactored
from deptree_cli.core.dtypes import Float, Heads
from deptree_cli.core.numbers import REAL, SAFE_LOG, WIDE, Kind
from deptree_cli.core.spaces.elimination import elimination_of
from deptree_cli.core.swor.sequences import Choices, Prefix, TreeChoices
from deptree_cli.kernels.elimination.contraction import FREE
from deptree_cli.kernels.elimination.head_distribution import log_head_probs_of_each
from deptree_cli.kernels.elimination.head_path import LEVELS, PathTables, log_heads_along
from deptree_cli.kernels.elimination.panels import WIDTH

# The logarithms down to which float64 numbers have all their digits, and products that a path meets are noticed.
LOSSLESS_LOG = -660.0


class Conditionals(TreeChoices):
    """The root, if there is a single one, then the heads of the other words from left to right."""

    def __init__(self, distribution: ArcFactored) -> None:
        self._distribution = distribution
        self._elimination = elimination_of(distribution.factorisation)
        high, low, _ = self._elimination.shifted
        self._weights, self._wide_weights = REAL.exp(high, low), WIDE.exp(high, low)
        self._lossless = is_lossless(high)
        self._workspaces: dict[Kind, Any] = {}
        self._tables: dict[Kind, Any] = {}
        self.depth = distribution.n

    def log_probs_of_each(self, prefixes: Choices) -> Float:
        """See `TreeChoices`; O(m^3) each with m words open."""
        if self._distribution.single_root and not prefixes.shape[1]:
            return np.tile(self._elimination.log_root_marginals(), (len(prefixes), 1))
        heads, words = self._heads_and_words(prefixes)
        done = prefixes.shape[1] - (1 if self._distribution.single_root else 0)
        roots = prefixes[:, 0] if self._distribution.single_root else np.zeros(len(prefixes), dtype=np.int64)
        out, accurate = np.empty((len(prefixes), self._distribution.n + 1)), np.full(len(prefixes), self._lossless)
        for kind, weights in ((REAL, self._weights), (WIDE, self._wide_weights)):
            if kind not in self._workspaces:
                self._workspaces[kind] = head_workspace(self._distribution.n, kind)
            log_head_probs_of_each(weights, roots, heads, words[:, done].copy(), *self._workspaces[kind], out, accurate)
            if accurate.all():
                break
            accurate = ~accurate
        return out

    def branch(self, prefix: Prefix, rng: np.random.Generator) -> tuple[Float, Choices]:
        """See `TreeChoices`; of a prefix that is not empty, O(m^3) in all."""
        heads, words = self._heads_and_words(np.array([prefix], dtype=np.int64))
        single_root, n = self._distribution.single_root, self._distribution.n
        root, free = prefix[0] if single_root else 0, words[0, len(prefix) - (1 if single_root else 0) :].copy()
        uniforms, chosen, out = rng.random(len(free)), np.empty(len(free), dtype=np.int64), np.empty((len(free), n + 1))
        for kind, weights in ((REAL, self._weights), (WIDE, self._wide_weights)):
            if kind is REAL and not self._lossless:
                continue
            if kind not in self._tables:
                self._tables[kind] = path_tables(n, kind), kind.zeros(n + 1)
            tables, probs = self._tables[kind]
            if log_heads_along(weights, root, heads[0], free, True, tables, uniforms, probs, chosen, out):
                break
        return out, chosen

    def heads_of_each(self, prefixes: Choices) -> Heads:
        """See `TreeChoices`."""
        heads = self._heads_and_words(prefixes)[0][:, 1:]
        return np.where(heads == FREE, 0, heads).astype(np.int32)

    def _heads_and_words(self, prefixes: Choices) -> tuple[Choices, Choices]:
        """Heads by node (b, n+1), FREE where none was chosen; the words in the order of choice, (b, n or n-1)."""
        count, n = len(prefixes), self._distribution.n
        words = np.tile(np.arange(1, n + 1), (count, 1))
        chosen = prefixes
        if self._distribution.single_root:
            words = words[words != prefixes[:, :1]].reshape(count, n - 1)
            chosen = prefixes[:, 1:]
        heads = np.full((count, n + 1), FREE, dtype=np.int64)
        heads[np.arange(count)[:, None], words[:, : chosen.shape[1]]] = chosen
        return heads, words


def some_are_improbable(log_weights: Float) -> bool:
    """Whether float64 may take trees of these weights for impossible that are not; (n+1, n+1), columns shifted."""
    least = np.where(np.isfinite(log_weights), log_weights, 0.0).min(axis=0)
    return bool(least.sum() < SAFE_LOG)


def is_lossless(log_weights: Float) -> bool:
    """Whether float64 holds all positive weights; (n+1, n+1), columns shifted."""
    return bool(np.where(np.isfinite(log_weights), log_weights, 0.0).min() > LOSSLESS_LOG)


def path_tables(n: int, kind: Kind) -> Any:
    """Memory for the head distributions along a path."""
    return PathTables(kind.zeros((n, 3 * n + LEVELS)), kind.zeros((2 + n.bit_length(), n)))


def head_workspace(n: int, kind: Kind) -> Any:
    """Memory for the head distributions of a sentence's words."""
    return [kind.zeros(shape) for shape in ((n + 1, n + 1), n + 1, (3, WIDTH, n + 1), n + 1)]
