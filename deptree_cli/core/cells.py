"""Distinct trees by `auto`: with replacement, then from a partition tree of the probability that is left."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from deptree_cli.core.arc_factored import ArcFactored
from deptree_cli.core.conditionals import draw_trie, eisner_of, some_are_improbable, weights_in_range
from deptree_cli.core.numbers import REAL, WIDE, Kind, in_wide_if_needed
from deptree_cli.core.spaces import EisnerChart, NonProjective, Projective, by_space, elimination_of
from deptree_cli.core.streams import kernel_state
from deptree_cli.core.swor import LEAST, Draws, clock_of
from deptree_cli.core.walks import alias_tables, path_tables
from deptree_cli.kernels import cells as kernel
from deptree_cli.kernels import derivations
from deptree_cli.kernels.charts import LOG_LOST
from deptree_cli.kernels.head_path import NONE
from deptree_cli.kernels.operations import SAFE_LOG


def draw_auto(distribution: ArcFactored, size: int, rng: np.random.Generator, mass: float = 1.0) -> Draws:
    """Up to `size` distinct trees, of which the last brings the probability drawn to `mass`.

    Trees are drawn with replacement, repeats dropped, while that pays, and then from what is left: in float64, and once
    next to nothing is left, in wide numbers. So the last tree comes as surely as the first, however improbable.
    """
    draw = by_space(DRAWINGS, distribution.space)
    if draw is None:
        return draw_trie(distribution, size, rng, mass)
    clock, sums, count = clock_of(rng), distribution.factorisation, 0
    drawn = kernel.TreesSoFar(
        heads=np.empty((size, distribution.n), dtype=np.int32),
        log_probs=np.empty(size),
        log_left=np.empty(size + 1),
        seen=np.zeros(1 << (4 * size + 3).bit_length(), dtype=np.int64),  # what nobody touches takes no memory
        state=np.empty(4, dtype=np.uint64),
        log_weights=sums.shifted.log_weights,
        log_z=sums.shifted_log_z,
        repeats=0.0,
        least=LEAST,
        stop=1.0 - mass,
        lowest=-np.inf,
    )

    def fill(kind: Kind) -> tuple[None, bool]:
        nonlocal count
        count, lowest = draw(distribution, kind, drawn, count, rng)
        return None, not (drawn.log_left[count] <= lowest and some_are_improbable(drawn.log_weights))

    first = sums.kind if isinstance(sums, EisnerChart) else REAL  # shares of cells need no wide numbers to begin
    in_wide_if_needed(fill, first)
    heads = drawn.heads[:count]
    return Draws.timed(heads, distribution.tree_log_probs(heads), drawn.log_left[: count + 1], clock)


def longer(array: Any) -> Any:
    """An array with room for twice as many rows, the new ones not filled."""
    grown = np.empty((2 * len(array) + 2, *array.shape[1:]), dtype=array.dtype)
    grown[: len(array)] = array
    return grown


# Trees that may cross: the partition tree of `kernels/cells.py`.


# A cell is divided once walks that ended in trees drawn before have cost that many times what dividing it costs; the
# speed is much the same from 0.05 to 1.
REPEATS = 0.3

# What elimination costs, in steps of a walk, about five nanoseconds: a tree for each of its words, and a factorisation
# times n^3; in float64, and in wide numbers.
TREE, WIDE_TREE = 50, 110
FACTORS, WIDE_FACTORS = 0.04, 0.45

# Room for this many divided cells at first; most sentences do with fewer.
CELLS = 1024


def draw_from_cells(
    distribution: ArcFactored, own: Kind, drawn: Any, count: int, rng: np.random.Generator
) -> tuple[int, float]:
    """Draw from tree `count` of `drawn` on, in one kind of numbers; how many there are, and down to which log_left.

    until there are enough trees, or none is left:
        go down from the cell of all trees to an undivided one, by what is left of each
        until that has given a tree that was not drawn before:
            if repeats have cost as much as dividing the cell: divide it, and go down further
            else: walk to a tree of the cell, or where that takes too long draw one by elimination
        take the tree out of what is left of all cells above it
    """
    whole, n, log_weights = elimination_of(distribution.factorisation), distribution.n, drawn.log_weights
    drawn = drawn._replace(repeats=float(REPEATS), lowest=SAFE_LOG if own is REAL else -np.inf)
    drawn.state[:] = kernel_state(rng)
    order = np.argsort(-distribution.marginals()[:, 1:].max(axis=0), kind="stable") + 1  # the most certain first
    rank = np.full(n + 1, n)
    rank[order] = np.arange(n)
    single_root, is_wide = whole.space.single_root, whole.is_wide
    weights = cache(lambda kind: kind.exp(log_weights))
    tables, bits = alias_tables(weights(REAL), 1 if single_root else 0)
    cursor = np.array([count, NONE, NONE, 0, NONE, NONE, 0, 0, 0], dtype=np.int64)
    tree = kernel.PartitionTree(
        drawn=drawn,
        cells=no_cells(CELLS, n, own),
        cursor=cursor,
        following=np.empty(len(drawn.heads), dtype=np.int64),
        cancelled=np.empty((2 * len(drawn.heads) + 2, 2), dtype=np.int64),
        largest=np.full(1, -np.inf),
        walks=own is REAL,
        tree_steps=int(n * (WIDE_TREE if is_wide else TREE)),
        factor_steps=WIDE_FACTORS if is_wide else FACTORS,
        single_root=single_root,
        order=order,
        rank=rank,
        tables=tables,
        bits=bits,
        choices=np.zeros(n if single_root else n + 1, dtype=np.int64),
        fixed=np.zeros(n + 1, dtype=np.int64),
        free=np.zeros(n, dtype=np.int64),
        stamp=np.zeros(n + 1, dtype=np.int64),
        row=np.zeros(n, dtype=np.int32),
    )
    top = np.where(np.arange(n + 1) == 0, 0.0, -np.inf)  # log P(root): of several, all hang on node 0
    if single_root:
        with np.errstate(divide="ignore"):
            top = whole.log_root_marginals() if own is WIDE else np.log(distribution.root_marginals)

    @cache
    def room(kind: Kind) -> tuple[Any, ...]:
        lossless = kind is WIDE or weights_in_range(log_weights)
        return weights(kind), lossless, path_tables(n, kind), kind.zeros(n + 1)

    def divided(kind: Kind) -> tuple[None, bool]:
        nonlocal tree
        while (needs := kernel.divide_cells(tree, *room(kind))) == kernel.ROOM:
            tree = tree._replace(cells=kernel.Cells(*(own.each(longer, part) for part in tree.cells)))
        return None, needs == kernel.DONE

    kernel.begin(tree, own.exp(top), count)
    if count:
        in_wide_if_needed(divided, own)
    of_sentence, of_cell = cache(whole.rooted_sampler), ()
    while (needs := kernel.draw_by_walk(tree)) != kernel.DONE:
        if needs == kernel.DIVIDE:
            in_wide_if_needed(divided, own)
            continue
        place, root = cursor[kernel.PLACE], int(tree.choices[0])
        cursor[kernel.FROM_INSIDE] = 1
        # The sentence's factors do for trees that hang on a node unless it is hardly ever the root.
        if place[0] == 0 and (is_wide or root == 0 or top[root] - log_weights[0, root] > SAFE_LOG):
            of_sentence()(np.array([root]), drawn.state, tree.row[None])
            continue
        if (cursor[kernel.INSIDE_PLACE] != place).any():
            of_cell = factors_of_cell(weights, root, tree.fixed.copy(), own)
            cursor[kernel.INSIDE_PLACE] = place
        kernel.draw_from(*of_cell, drawn.state, tree.row)
    return int(cursor[kernel.COUNT]), drawn.lowest


def no_cells(capacity: int, n: int, kind: Kind) -> Any:
    """Memory for this many divided cells, none of them in use."""
    entries = capacity, n + 1
    share, left, total = (kind.zeros(shape) for shape in (entries, entries, capacity))
    below, newest, spent = np.empty((3, *entries), dtype=np.int64)
    above, choice, level = np.empty((3, capacity), dtype=np.int64)
    of_entries = share, left, total, np.empty(entries), below, newest, spent
    return kernel.Cells(*of_entries, above, choice, level, np.empty(capacity))


def factors_of_cell(weights: Any, root: int, fixed: Any, first: Kind) -> tuple[Any, ...]:
    """What trees of a cell are drawn from."""

    def factorised(kind: Kind) -> tuple[tuple[Any, ...], bool]:
        factors, suffices = kernel.factorise_cell(weights(kind), root, fixed)
        return (weights(kind), root, fixed, factors), suffices

    return in_wide_if_needed(factorised, first)


# Projective trees: with replacement, then from the trie of `kernels/derivations.py`, made of how trees are made.


# A tree from the trie costs about as much as this many with replacement.
TRIE_COST = 10.0

# What float64 may have lost of a chart is far below this: e^-50.
LOWEST = 0.5 * LOG_LOST

# Room for this many slots at first.
SLOTS = 4096


def draw_derivations(
    distribution: ArcFactored, kind: Kind, drawn: Any, count: int, rng: np.random.Generator
) -> tuple[int, float]:
    """Do what `draw_from_cells` does for projective trees; a trie comes in once that pays, or float64 has ended."""
    eisner, needs = eisner_of(distribution.factorisation), derivations.TRIE
    lossy = kind is REAL and some_are_improbable(drawn.log_weights)
    drawn = drawn._replace(repeats=float(TRIE_COST), lowest=LOWEST if lossy else -np.inf)
    cursor = np.array([count, 0, 1, NONE], dtype=np.int64)
    if kind is eisner.kind:
        drawn.state[:] = kernel_state(rng)
        needs = derivations.draw_with_replacement(eisner.grammar, drawn, cursor)
    if needs == derivations.TRIE:
        grammar = (eisner if kind is eisner.kind else eisner.in_wide_numbers).grammar
        left, below = kind.exp(np.append(0.0, np.full(SLOTS - 1, -np.inf))), np.full(SLOTS, NONE)
        while derivations.draw_from_trie(grammar, drawn, left, below, cursor) == kernel.ROOM:
            left, below = kind.each(longer, left), longer(below)
    return int(cursor[kernel.COUNT]), drawn.lowest


# Spaces without a drawing of their own are drawn from by a trie of heads.
DRAWINGS = {NonProjective: draw_from_cells, Projective: draw_derivations}
