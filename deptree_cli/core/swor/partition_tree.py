"""The default: drawing with replacement, repeats dropped, in a space of trees that is divided where they pile up.

The adaptive partition tree of `kernels/trees/partition_tree.py`, first in float64, then, once less than e^-300 is left,
in wide numbers: so the last tree comes as surely as the first, however improbable.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from deptree_cli.core.arc_factored import ArcFactored
from deptree_cli.core.dtypes import Float
from deptree_cli.core.numbers import REAL, SAFE_LOG, WIDE, Kind, shift_columns
from deptree_cli.core.samplers.wilson import alias_tables
from deptree_cli.core.spaces.elimination import elimination_of
from deptree_cli.core.streams import kernel_state
from deptree_cli.core.swor.conditionals import head_workspace, some_are_improbable
from deptree_cli.core.swor.draws import Draws, clock_of
from deptree_cli.kernels.trees import partition_tree as kernel
from deptree_cli.kernels.trees.cells import NONE, Cells
from deptree_cli.kernels.trees.head_distribution import FREE, sound_head_probs

# After so many repeats in a cell it is divided: walks are cheap beside a division, m^3/3 for m words left.
REPEATS = 4

# One minus the probabilities drawn keeps ten digits down to here.
LEAST = 1e-6

# Room for so many divided cells at first; most sentences do with fewer.
CELLS = 1024


def draw(distribution: ArcFactored, size: int, rng: np.random.Generator, mass: float = 1.0) -> Draws:
    """Up to `size` distinct trees, of which the last brings the probability drawn to `mass`."""
    clock = clock_of(rng)
    n = distribution.n
    drawn: Any = kernel.Drawn(np.empty((size, n), dtype=np.int32), np.empty(size), np.empty(size + 1))
    log_weights, _ = shift_columns(distribution.log_scores, distribution.single_root)
    budget = 1000 + n**3 // 10
    count = _draw(distribution, log_weights, REAL, budget, mass, rng, drawn, 0)
    if drawn.log_left[count] <= SAFE_LOG and some_are_improbable(log_weights):
        count = _draw(distribution, log_weights, WIDE, 0, mass, rng, drawn, count)
    return Draws.timed(
        drawn.heads[:count], distribution.tree_log_probs(drawn.heads[:count]), drawn.log_left[: count + 1], clock
    )


def _draw(
    distribution: ArcFactored,
    log_weights: Float,
    kind: Kind,
    budget: int,
    mass: float,
    rng: Any,
    drawn: Any,
    count: int,
) -> int:
    """Draw on from tree `count` in one kind of numbers; how many trees there are then."""
    work = _workspace(distribution.n, kind)
    problem = _problem(distribution, log_weights, kind)
    rules = kernel.Rules(budget, REPEATS, LEAST, 1.0 - mass)
    top = _first_choice(distribution, problem, kind, work)
    state = kernel_state(rng)
    cells = CELLS
    while True:
        space_for_cells = _cells(cells, len(drawn.heads), distribution.n, kind)
        found = kernel.draw_distinct(problem, rules, top, state.copy(), space_for_cells, drawn, count, work)
        if found != NONE:
            return int(found)
        cells *= 4  # and the same again, from the same state


def _cells(cells: int, size: int, n: int, kind: Kind) -> Any:
    """Room for so many divided cells."""
    return Cells(
        used=np.zeros(1, dtype=np.int64),
        share=kind.zeros((cells, n + 1)),
        left=kind.zeros((cells, n + 1)),
        total=kind.zeros(cells),
        below=np.empty((cells, n + 1), dtype=np.int64),
        newest=np.empty((cells, n + 1), dtype=np.int64),
        drawn=np.empty((cells, n + 1)),
        above=np.empty(cells, dtype=np.int64),
        choice=np.empty(cells, dtype=np.int64),
        level=np.empty(cells, dtype=np.int64),
        log_prob=np.empty(cells),
        following=np.empty(size, dtype=np.int64),
    )


def _problem(distribution: ArcFactored, log_weights: Float, kind: Kind) -> Any:
    marginals = distribution.marginals()[:, 1:]
    order = np.argsort(-marginals.max(axis=0), kind="stable") + 1  # the most certain word first
    rank = np.zeros(distribution.n + 1, dtype=np.int64)
    rank[order] = np.arange(distribution.n)
    tables, bits = alias_tables(np.exp(log_weights), 1 if distribution.single_root else 0)
    wide_weights = WIDE.exp(log_weights)
    return kernel.Problem(
        single_root=distribution.single_root,
        weights=wide_weights if kind is WIDE else np.exp(log_weights),
        wide_weights=wide_weights,
        log_weights=log_weights,
        log_z=elimination_of(distribution.factorisation).log_z_shifted,
        order=order,
        rank=rank,
        tables=tables,
        bits=bits,
    )


def _workspace(n: int, kind: Kind) -> Any:
    return kernel.Workspace(
        head_workspace=head_workspace(n, kind),
        probs=kind.zeros(n + 1),
        choices=np.zeros(n, dtype=np.int64),
        fixed=np.zeros(n + 1, dtype=np.int64),
        stamp=np.zeros(n + 1, dtype=np.int64),
        row=np.zeros(n, dtype=np.int32),
    )


def _first_choice(distribution: ArcFactored, problem: Any, kind: Kind, work: Any) -> Any:
    """The distribution of the root, or of the first word's head where there is no one root."""
    if distribution.single_root and kind is REAL:
        return distribution.root_marginals.copy()  # compiled for arrays that may be written
    if distribution.single_root:
        return WIDE.exp(elimination_of(distribution.factorisation).log_root_marginals())
    probs = kind.zeros(distribution.n + 1)
    work.fixed[:] = FREE
    sound_head_probs(problem.weights, problem.wide_weights, 0, work.fixed, problem.order[0], work.head_workspace, probs)
    return probs
