"""Wilson's random walk and the three ways to one root built on it.

A walk can take arbitrarily long (words that choose each other with probability 1 - 1e-12 keep it for 1e11 steps;
trained parsers write such scores), so every walk has a step budget. The cycles it pops are independent of its tree
*given the graph walked* (Wilson 1996): a walk that runs out of budget may be thrown away and its tree drawn by another
exact sampler of the same graph. With a root drawn beforehand that graph depends on the root, which is therefore kept.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from deptree_cli.core.arc_factored import ArcFactored
from deptree_cli.core.dtypes import Bool, Float, Int, Integers
from deptree_cli.core.many_trees import blocks_to_fill, empty_heads
from deptree_cli.core.numbers import REAL
from deptree_cli.core.samplers import costs
from deptree_cli.core.spaces import MULTI_ROOT, TreeSpace
from deptree_cli.core.spaces.elimination import Tables as EliminationTables
from deptree_cli.core.spaces.elimination import elimination_of
from deptree_cli.core.spaces.feasibility import possible_roots
from deptree_cli.core.spaces.shifted import shift
from deptree_cli.core.streams import kernel_state
from deptree_cli.kernels.walks import wilson as kernel

Tables = NDArray[np.uint64]

# Far below 2^48 steps, so that the 48-bit thresholds of the tables cannot tell (at most 1e-8 of total variation), and
# about five milliseconds.
BUDGET = 1_000_000

# After so many trees of which more than a quarter ran out of budget, walking is given up: the choice depends on past
# trees only, and every tree is drawn exactly either way.
PROBE = 32

# Steps beyond the budget of a tree, for all trees together: named algorithms have none.
NOTHING_SPARE = np.zeros(1, dtype=np.int64)


def draw_spanning(distribution: ArcFactored, size: int, rng: np.random.Generator, budget: int = BUDGET) -> Integers:
    """Spanning trees: Wilson 1996 on the whole graph, ROOT included."""
    return _walk(distribution, None, size, rng, budget)


def draw_marginal(distribution: ArcFactored, size: int, rng: np.random.Generator, budget: int = BUDGET) -> Integers:
    """Dependency trees: the root from its marginal, then Wilson on the graph of the words (Stanojevic 2022, Alg. 3)."""
    return _walk(distribution, distribution.root_marginals, size, rng, budget)


def draw_root_corrected(distribution: ArcFactored, size: int, rng: np.random.Generator) -> Integers:
    """Wilson-RC (Zmigrod et al. 2021a, Fig. 3): the root by its own arc's weight. **Biased**; kept for audits."""
    return _walk(distribution, local_root_probs(distribution), size, rng, BUDGET)


def draw_reject(distribution: ArcFactored, size: int, rng: np.random.Generator) -> Integers:
    """Wilson-Reject (Stanojevic 2022, Alg. 4): spanning trees until one has a single root.

    Which trial is accepted does not depend on the cycles popped, so a tree that runs out of budget may be redrawn by
    elimination.
    """
    tables, bits = alias_tables(shifted_weights(distribution, MULTI_ROOT), first_head=0)
    walks = Walks.of(size, distribution.n)
    walks.fill(kernel.walk_until_single_root, tables, bits, BUDGET, rng)
    return rescued(distribution, walks, rng)


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


class Walks(NamedTuple):
    """Walks under way: heads (k, n), the node (k,) that each hangs on, and whether it ran out of budget (k,)."""

    heads: Integers
    roots: Int
    abandoned: Bool

    @classmethod
    def of(cls, size: int, n: int) -> Walks:
        """Room for `size` trees of n words."""
        return cls(empty_heads(size, n), np.zeros(size, dtype=np.int64), np.zeros(size, dtype=np.bool_))

    def fill(
        self, walk: Callable[..., object], tables: Tables, bits: int, budget: int, rng: np.random.Generator
    ) -> None:
        """Walk the first trees, then the others unless many of those were abandoned."""
        for part in (slice(0, PROBE), slice(PROBE, None)):
            first = self.abandoned[:PROBE]
            if 4 * first.sum() > len(first):
                self.abandoned[part] = True
            else:
                self.by(walk, part, tables, bits, kernel_state(rng), budget, NOTHING_SPARE.copy())

    def by(
        self, walk: Callable[..., Any], part: slice, tables: Tables, bits: int, state: Any, budget: int, spare: Int
    ) -> int:
        """Walk some of the trees, which takes so many steps."""
        taken, roots, abandoned = 0, self.roots[part], self.abandoned[part]
        for rows, block in blocks_to_fill(self.heads[part]):
            taken += walk(tables, bits, roots[rows], state, budget, spare, block, abandoned[rows])[1]
        return taken


def _walk(
    distribution: ArcFactored, root_probs: Float | None, size: int, rng: np.random.Generator, budget: int
) -> Integers:
    """Trees by walking, or by elimination where that takes too long; roots by `root_probs`, else spanning trees."""
    rooted = root_probs is not None
    weights = shifted_weights(distribution, distribution.space)
    weights[:, 0] = root_probs if rooted else 0.0
    walks = Walks.of(size, distribution.n)
    if size <= costs.FEW:
        kernel.walk_without_tables(
            weights, rooted, kernel_state(rng), budget, NOTHING_SPARE.copy(), walks.heads, walks.roots, walks.abandoned
        )
    else:
        tables, bits = alias_tables(weights, first_head=1 if rooted else 0)
        if rooted:
            kernel.draw_roots(tables, bits, kernel_state(rng), walks.roots)
        walks.fill(kernel.walk, tables, bits, budget, rng)
    return rescued(distribution, walks, rng)


def rescued(distribution: ArcFactored, walks: Walks, rng: np.random.Generator) -> Integers:
    """The trees of walks, those that were abandoned drawn by elimination, each for its own root."""
    heads, roots, abandoned = walks
    if not abandoned.any():
        return heads
    elimination = elimination_of(distribution.factorisation)
    rows = np.flatnonzero(abandoned)
    rows = rows[np.argsort(roots[rows], kind="stable")]  # one sweep a root
    if roots[rows].any():
        trees, state, tables = empty_heads(len(rows), distribution.n), kernel_state(rng), EliminationTables(elimination)
        for part, block in blocks_to_fill(trees):
            tables.draw(roots[rows[part]], state, block)
    else:
        trees = elimination.sample(len(rows), rng)
    heads[rows] = trees
    return heads
