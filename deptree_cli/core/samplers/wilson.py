"""Wilson's random walk and the three ways to one root built on it.

A walk can take arbitrarily long (words that choose each other with probability 1 - 1e-12 keep it for 1e11 steps;
trained parsers write such scores), so all walks of a call together have a limit of steps. Once it is reached, the tree
under way and all behind it come from elimination, for the roots drawn for them. That leaves the law as it is: how many
steps a walk takes is independent of its tree *given the graph walked* (Wilson 1996), which is that of its root.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from deptree_cli.core.arc_factored import ArcFactored
from deptree_cli.core.dtypes import Float, Int, Integers
from deptree_cli.core.many_trees import blocks_to_fill, empty_heads
from deptree_cli.core.numbers import REAL
from deptree_cli.core.spaces import MULTI_ROOT, SINGLE_ROOT, TreeSpace
from deptree_cli.core.spaces.feasibility import possible_roots
from deptree_cli.core.spaces.nonprojective import EliminationTables, elimination_of
from deptree_cli.core.spaces.shifted import shift
from deptree_cli.core.streams import kernel_state
from deptree_cli.kernels.walks import wilson as kernel

Tables = NDArray[np.uint64]

# Steps that all walks may take: so many, about five milliseconds, and so many for each tree. Far below 2^48, so that
# the 48-bit thresholds of the tables cannot tell (at most 1e-8 of total variation).
LIMIT, LIMIT_PER_TREE = 1_000_000, 10_000


def draw_spanning(distribution: ArcFactored, size: int, rng: np.random.Generator) -> Integers:
    """Spanning trees: Wilson 1996 on the whole graph, ROOT included."""
    tables, bits = alias_tables(shifted_weights(distribution, MULTI_ROOT), first_head=0)
    return _walked(kernel.walk_trees, distribution, tables, bits, np.zeros(size, dtype=np.int64), rng)


def draw_marginal(distribution: ArcFactored, size: int, rng: np.random.Generator) -> Integers:
    """Dependency trees: the root from its marginal, then Wilson on the graph of the words (Stanojevic 2022, Alg. 3)."""
    return _draw_rooted(distribution, distribution.root_marginals, size, rng)


def draw_root_corrected(distribution: ArcFactored, size: int, rng: np.random.Generator) -> Integers:
    """Wilson-RC (Zmigrod et al. 2021a, Fig. 3): the root by its own arc's weight. **Biased**; kept for audits."""
    return _draw_rooted(distribution, local_root_probs(distribution), size, rng)


def draw_reject(distribution: ArcFactored, size: int, rng: np.random.Generator) -> Integers:
    """Wilson-Reject (Stanojevic 2022, Alg. 4): spanning trees until one has a single root.

    Which trial is accepted depends on its tree alone, not on the cycles popped.
    """
    tables, bits = alias_tables(shifted_weights(distribution, MULTI_ROOT), first_head=0)
    return _walked(kernel.walk_until_single_root, distribution, tables, bits, np.zeros(size, dtype=np.int64), rng)


def local_root_probs(distribution: ArcFactored) -> Float:
    """Wilson-RC's root distribution, (n+1,): ROOT arcs by their weights, where a tree with that root exists."""
    log_weights = np.where(possible_roots(np.isfinite(distribution.log_scores)), distribution.log_scores[0], -np.inf)
    weights: Float = np.exp(log_weights - log_weights.max())
    return weights / weights.sum()


def shifted_weights(distribution: ArcFactored, space: TreeSpace) -> Float:
    """Weights (n+1, n+1), each word's at most 1; column 0 has zeros."""
    return REAL.exp(shift(distribution.possible_scores, space).log_weights)


def alias_tables(weights: Float, first_head: int) -> tuple[Tables, int]:
    """Flat tables of `kernels/walks/wilson.py` for weights (n+1, n+1), and the logarithm of their row length."""
    bits = (len(weights) - 1).bit_length()
    tables = np.zeros((len(weights), 1 << bits), dtype=np.uint64)
    kernel.build_tables(weights, first_head, bits, tables)
    return tables.ravel(), bits


def _draw_rooted(distribution: ArcFactored, root_probs: Float, size: int, rng: np.random.Generator) -> Integers:
    """Trees whose roots follow root_probs (n+1,), each tree its distribution given the root."""
    weights, roots = shifted_weights(distribution, SINGLE_ROOT), np.zeros(size, dtype=np.int64)
    weights[:, 0] = root_probs
    tables, bits = alias_tables(weights, first_head=1)
    kernel.draw_roots(tables, bits, kernel_state(rng), roots)
    return _walked(kernel.walk_trees, distribution, tables, bits, roots, rng)


def _walked(
    walk: Callable[..., tuple[int, int]],
    distribution: ArcFactored,
    tables: Tables,
    bits: int,
    roots: Int,
    rng: np.random.Generator,
) -> Integers:
    """Trees that hang on the nodes roots (k,): by walking, and once the limit is reached by elimination."""
    heads, state, walked = empty_heads(len(roots), distribution.n), kernel_state(rng), 0
    left = LIMIT + LIMIT_PER_TREE * len(roots)
    for rows, block in blocks_to_fill(heads):
        if left >= 0:
            count, left = walk(tables, bits, roots[rows], state, left, block)
            walked += count
    if walked < len(roots):
        _fill_by_elimination(distribution, roots, heads, walked, rng)
    return heads


def _fill_by_elimination(
    distribution: ArcFactored, roots: Int, heads: Integers, start: int, rng: np.random.Generator
) -> None:
    """Fill heads (k, n) from a tree on, each tree for its own root; 0: whichever it is."""
    rows = start + np.argsort(roots[start:], kind="stable")  # one sweep a root
    tables, state = EliminationTables(elimination_of(distribution.factorisation)), kernel_state(rng)
    trees = empty_heads(len(rows), distribution.n)
    for part, block in blocks_to_fill(trees):
        tables.draw(roots[rows[part]], state, block)
    heads[rows] = trees
