"""Samplers with kernels of their own: Wilson's walks, Colbourn's conditionals, and what `auto` chooses."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from deptree_cli.core.arc_factored import ArcFactored
from deptree_cli.core.dtypes import Float, Heads, Int, Integers
from deptree_cli.core.factorisation import shift
from deptree_cli.core.feasibility import possible_roots
from deptree_cli.core.many_trees import blocks_to_fill, empty_heads
from deptree_cli.core.numbers import Kind
from deptree_cli.core.samplers import from_sums, is_few
from deptree_cli.core.spaces import MULTI_ROOT, SINGLE_ROOT, NonProjective, elimination_of
from deptree_cli.core.streams import kernel_state
from deptree_cli.kernels import wilson as kernel
from deptree_cli.kernels.head_path import LEVELS, PathTables, draw_ancestral

# Colbourn et al.'s ancestral sampler with the root constraint of Zmigrod et al. 2021a, Fig. 5, but no inverse.


def draw_colbourn(distribution: ArcFactored, size: int, rng: np.random.Generator) -> Heads:
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
    return PathTables(kind.zeros((*paths, n, 3 * n + LEVELS)), kind.zeros((*paths, 2 + n.bit_length(), n)))


def draw_roots(probs: Float, size: int, rng: np.random.Generator) -> Int:
    """`size` draws from probs, shape (n+1,); a root of probability 0 is never drawn, whatever rounding leaves over."""
    cumulative = np.cumsum(probs) / probs.sum()
    cumulative[np.flatnonzero(probs)[-1] :] = 2.0
    return np.searchsorted(cumulative, rng.random(size), side="right")


# Wilson's random walk and the three ways to one root built on it.
#
# A walk can take arbitrarily long (words that choose each other with probability 1 - 1e-12 keep it for 1e11 steps;
# trained parsers write such scores), so all walks of a call together have a limit of steps. Once it is reached, the
# tree under way and all behind it come from elimination, for the roots drawn for them. That leaves the law as it is:
# how many steps a walk takes is independent of its tree *given the graph walked* (Wilson 1996), which is that of its
# root.


Tables = NDArray[np.uint64]

# Steps that all walks may take: this many, about five milliseconds, and this many for each tree. Far below 2^48, so
# that the 48-bit thresholds of the tables cannot tell (at most 1e-8 of total variation).
LIMIT, LIMIT_PER_TREE = 1_000_000, 10_000


def draw_spanning(distribution: ArcFactored, size: int, rng: np.random.Generator) -> Integers:
    """Spanning trees: Wilson 1996 on the whole graph, ROOT included."""
    return _walked(distribution, None, size, rng)


def draw_marginal(distribution: ArcFactored, size: int, rng: np.random.Generator) -> Integers:
    """Dependency trees: the root from its marginal, then Wilson on the graph of the words (Stanojevic 2022, Alg. 3)."""
    return _walked(distribution, distribution.root_marginals, size, rng)


def draw_root_corrected(distribution: ArcFactored, size: int, rng: np.random.Generator) -> Integers:
    """Wilson-RC (Zmigrod et al. 2021a, Fig. 3): the root by its own arc's weight. **Biased**; kept for audits."""
    return _walked(distribution, local_root_probs(distribution), size, rng)


def draw_reject(distribution: ArcFactored, size: int, rng: np.random.Generator) -> Integers:
    """Wilson-Reject (Stanojevic 2022, Alg. 4): spanning trees until one has a single root.

    Which trial is accepted depends on its tree alone, not on the cycles popped.
    """
    return _walked(distribution, None, size, rng, until_single_root=True)


def local_root_probs(distribution: ArcFactored) -> Float:
    """Wilson-RC's root distribution, (n+1,): ROOT arcs by their weights, where a tree with that root exists."""
    log_weights = np.where(possible_roots(np.isfinite(distribution.log_scores)), distribution.log_scores[0], -np.inf)
    weights: Float = np.exp(log_weights - log_weights.max())
    return weights / weights.sum()


def alias_tables(weights: Float, first_head: int) -> tuple[Tables, int]:
    """Flat alias tables for weights (n+1, n+1), and the logarithm of their row length."""
    bits = (len(weights) - 1).bit_length()
    tables = np.zeros((len(weights), 1 << bits), dtype=np.uint64)
    kernel.build_tables(weights, first_head, bits, tables)
    return tables.ravel(), bits


def _walked(
    distribution: ArcFactored,
    root_probs: Float | None,
    size: int,
    rng: np.random.Generator,
    until_single_root: bool = False,
) -> Integers:
    """Trees by walking, and once the limit is reached by elimination, each for its own root.

    root_probs: (n+1,), of the words that they hang on; None: they hang on ROOT.
    """
    space, first_head = (MULTI_ROOT, 0) if root_probs is None else (SINGLE_ROOT, 1)
    weights, roots = np.exp(shift(distribution.possible_scores, space).log_weights), np.zeros(size, dtype=np.int64)
    if root_probs is not None:
        weights[:, 0] = root_probs
    tables, bits = alias_tables(weights, first_head)
    if root_probs is not None:
        kernel.draw_roots(tables, bits, kernel_state(rng), roots)
    heads, state, walked = empty_heads(size, distribution.n), kernel_state(rng), 0
    left = LIMIT + LIMIT_PER_TREE * size
    for rows, block in blocks_to_fill(heads):
        if left >= 0:
            count, left = kernel.walk_trees(tables, bits, roots[rows], state, left, until_single_root, block)
            walked += count
    if walked < size:
        order = walked + np.argsort(roots[walked:], kind="stable")  # one sweep a root
        draw, state = elimination_of(distribution.factorisation).rooted_sampler(), kernel_state(rng)
        trees = empty_heads(len(order), distribution.n)
        for rows, block in blocks_to_fill(trees):
            draw(roots[order[rows]], state, block)
        heads[order] = trees
    return heads


# The default: elimination; for many trees that short walks lead to, Wilson's walk.
#
# What a walk costs is known before it is tried. The expected steps are the sum over words u of G[u, u], how often a
# walk from u comes to u before the tree's root; and a word's head is h with probability p[h, u] (G[u, u] - G[h, u])
# if p are the chances of a step (Kirchhoff). So G[u, u] is at least the largest ratio of a marginal and a step's
# chance, and for heads from which a walk hardly comes back, as from ROOT never, not much more. Entropies do not tell:
# of two sentences that are as certain, one may have two words that choose each other.


def draw_auto(distribution: ArcFactored, size: int, rng: np.random.Generator) -> Integers:
    """Exact trees, (size, n) heads; many by walks that take n^2 / 4 steps at most (python -m benchmarks auto)."""
    n, has_walks = distribution.n, isinstance(distribution.space, NonProjective)
    if not has_walks or is_few(n, size) or least_steps(distribution) > n * n / 4:
        return from_sums(distribution, size, rng)
    walk = draw_marginal if distribution.single_root else draw_spanning
    return walk(distribution, size, rng)


def least_steps(distribution: ArcFactored) -> float:
    """How many steps a walk to a non-projective tree takes on average, at least; rarely twice as many."""
    whole, first_head = elimination_of(distribution.factorisation), 1 if distribution.single_root else 0
    weights, marginals = (
        matrix[first_head:, 1:] for matrix in (whole.kind.floats(whole.weights), distribution.marginals())
    )
    ratios = np.divide(marginals, weights, out=np.zeros_like(weights), where=weights > 0.0)
    return float(ratios.max(axis=0) @ weights.sum(axis=0))
