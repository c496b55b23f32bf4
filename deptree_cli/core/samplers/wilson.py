"""Wilson's random walk and the three ways to one root built on it.

A walk can take arbitrarily long (words that choose each other with probability 1 - 1e-12 keep it for 1e11 steps;
trained parsers write such scores), so every walk has a step budget. The cycles it pops are independent of its tree
*given the graph walked* (Wilson 1996): a walk that runs out of budget may be thrown away and its tree drawn by another
exact sampler of the same graph. With a root drawn beforehand that graph depends on the root, which is therefore kept.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from deptree_cli.core.numbers import Float, shift_columns
from deptree_cli.core.sentence import Sentence, possible_roots
from deptree_cli.core.streams import kernel_state
from deptree_cli.kernels import wilson as kernel

Heads = NDArray[np.int32]
Roots = NDArray[np.int64]
Flags = NDArray[np.bool_]

# Far below 2^48 steps, so that the 48-bit thresholds of the tables cannot tell (at most 1e-8 of total variation), and
# about five milliseconds.
BUDGET = 1_000_000

# After so many trees of which more than a quarter ran out of budget, walking is given up: the choice depends on past
# trees only, and every tree is drawn exactly either way.
PROBE = 32


# Up to here a few trees cost less than the tables that would speed them up (python -m benchmarks few).
FEW = 8


def draw_spanning(sentence: Sentence, size: int, rng: np.random.Generator, budget: int = BUDGET) -> Heads:
    """Spanning trees: Wilson 1996 on the whole graph, ROOT included."""
    return _arborescences(sentence, np.zeros(size, dtype=np.int64), rng, budget)


def draw_marginal(sentence: Sentence, size: int, rng: np.random.Generator, budget: int = BUDGET) -> Heads:
    """Dependency trees: the root from its marginal, then Wilson on the graph of the words (Stanojevic 2022, Alg. 3)."""
    roots = draw_roots(sentence.elimination.root_marginals(), size, rng)
    return _arborescences(sentence, roots, rng, budget)


def draw_root_corrected(sentence: Sentence, size: int, rng: np.random.Generator) -> Heads:
    """Wilson-RC (Zmigrod et al. 2021a, Fig. 3): the root by its own arc's weight. **Biased**; kept for audits."""
    return _arborescences(sentence, draw_roots(local_root_probs(sentence), size, rng), rng, BUDGET)


def draw_reject(sentence: Sentence, size: int, rng: np.random.Generator) -> Heads:
    """Wilson-Reject (Stanojevic 2022, Alg. 4): spanning trees until one has a single root.

    Which trial is accepted does not depend on the cycles popped, so a tree that runs out of budget may be redrawn by
    elimination.
    """
    tables, bits = _tables(np.exp(shift_columns(sentence.log_scores, single_root=False)[0]), first_head=0)

    def run(_: slice, heads: Heads, abandoned: Flags) -> None:
        kernel.walk(
            tables, bits, np.zeros(len(heads), dtype=np.int64), True, kernel_state(rng), BUDGET, heads, abandoned
        )

    heads, abandoned = _probe_then_go_on(run, size, sentence.n)
    if abandoned.any():
        heads[abandoned] = sentence.elimination.sample(int(abandoned.sum()), rng)
    return heads


def local_root_probs(sentence: Sentence) -> Float:
    """Wilson-RC's root distribution, (n+1,): ROOT arcs by their weights, where a tree with that root exists."""
    log_weights = np.where(possible_roots(np.isfinite(sentence.log_scores)), sentence.log_scores[0], -np.inf)
    weights: Float = np.exp(log_weights - log_weights.max())
    return weights / weights.sum()


def draw_roots(probs: Float, size: int, rng: np.random.Generator) -> Roots:
    """`size` draws from probs, shape (n+1,)."""
    roots = np.empty(size, dtype=np.int64)
    kernel.draw_roots(probs, kernel_state(rng), roots)
    return roots


def _arborescences(sentence: Sentence, roots: Roots, rng: np.random.Generator, budget: int) -> Heads:
    """One tree for each of the root nodes roots (k,): by walking, or, where that takes too long, by elimination."""
    first_head = 1 if sentence.single_root else 0
    weights = np.exp(shift_columns(sentence.log_scores, sentence.single_root)[0])
    if len(roots) <= FEW:
        heads = np.empty((len(roots), sentence.n), dtype=np.int32)
        abandoned = np.empty(len(roots), dtype=np.bool_)
        kernel.walk_without_tables(weights, first_head, roots, kernel_state(rng), budget, heads, abandoned)
    else:
        tables, bits = _tables(weights, first_head)

        def run(part: slice, heads: Heads, abandoned: Flags) -> None:
            kernel.walk(tables, bits, roots[part], False, kernel_state(rng), budget, heads, abandoned)

        heads, abandoned = _probe_then_go_on(run, len(roots), sentence.n)
    if abandoned.any():
        _rescue(sentence, roots, heads, abandoned, rng)
    return heads


def _rescue(sentence: Sentence, roots: Roots, heads: Heads, abandoned: Flags, rng: np.random.Generator) -> None:
    """Draw abandoned trees by elimination, each for its own root."""
    for root in np.unique(roots[abandoned]).tolist():
        rows = np.flatnonzero(abandoned & (roots == root))
        same_graph = sentence.elimination.given_root(root) if root else sentence.elimination
        heads[rows] = same_graph.sample(len(rows), rng)


def _tables(weights: Float, first_head: int) -> tuple[NDArray[np.uint64], int]:
    """Flat alias tables of the heads first_head..n of every word, and the logarithm of their row length."""
    bits = (len(weights) - 1).bit_length()
    tables = np.zeros((len(weights), 1 << bits), dtype=np.uint64)
    kernel.build_tables(weights, first_head, bits, tables)
    return tables.ravel(), bits


def _probe_then_go_on(run: Callable[[slice, Heads, Flags], object], size: int, n: int) -> tuple[Heads, Flags]:
    """Run the first trees, then the others unless too many of those were abandoned: (heads, abandoned)."""
    heads = np.empty((size, n), dtype=np.int32)
    abandoned = np.zeros(size, dtype=np.bool_)
    first, others = slice(0, PROBE), slice(PROBE, size)
    run(first, heads[first], abandoned[first])
    if abandoned[first].mean() > 0.25:
        abandoned[others] = True
    elif size > PROBE:
        run(others, heads[others], abandoned[others])
    return heads, abandoned
