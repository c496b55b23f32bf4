"""Colbourn et al.'s ancestral sampler with the root constraint of Zmigrod et al. 2021a, Fig. 5, but no inverse."""

from __future__ import annotations

from typing import Any

import numpy as np

from deptree_cli.core.arc_factored import ArcFactored
from deptree_cli.core.dtypes import Float, Heads, Int
from deptree_cli.core.numbers import Kind
from deptree_cli.core.spaces.nonprojective import elimination_of
from deptree_cli.core.streams import kernel_state
from deptree_cli.kernels.elimination.ancestral import draw_ancestral
from deptree_cli.kernels.elimination.head_path import LEVELS, PathTables


def draw(distribution: ArcFactored, size: int, rng: np.random.Generator) -> Heads:
    """Word by word from exact conditionals, the single root first; O(n^3) per tree."""
    n = distribution.n
    if distribution.single_root:
        roots = draw_roots(distribution.root_marginals, size, rng)
    else:
        roots = np.zeros(size, dtype=np.int64)
    elimination = elimination_of(distribution.factorisation)
    kind, heads = elimination.kind, np.empty((size, n), dtype=np.int32)
    tables = path_tables(n, kind)
    draw_ancestral(elimination.weights, roots, kernel_state(rng), tables, kind.zeros(n + 1), heads)
    return heads


def path_tables(n: int, kind: Kind, *paths: int) -> Any:
    """Memory for the head distributions along a path, or along each of so many."""
    return PathTables(kind.zeros((*paths, n, 3 * n + LEVELS)), kind.zeros((*paths, 2 + n.bit_length(), n)))


def draw_roots(probs: Float, size: int, rng: np.random.Generator) -> Int:
    """`size` draws from probs, shape (n+1,); a root of probability 0 is never drawn, whatever rounding leaves over."""
    cumulative = np.cumsum(probs) / probs.sum()
    cumulative[np.flatnonzero(probs)[-1] :] = 2.0
    return np.searchsorted(cumulative, rng.random(size), side="right")
