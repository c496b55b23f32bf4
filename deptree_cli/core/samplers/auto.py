"""The default: Wilson's walk while it is quick, elimination where it is not: at most about twice the better of the two.

Costs are counted in steps of a walk (`costs.py`), never timed. A walk may take as many steps as a tree costs by
elimination, and all walks together the steps beyond that which elimination would have cost before its first tree; then
it is given up, and its tree drawn by elimination. So the cost is at most twice that of elimination; and of a walk given
up, the walk itself would have cost at least what was spent on it, and as much again. Once walks, with the trees drawn
in their place, have cost more per tree than elimination does, all further trees come from elimination.

The law is untouched. The cycles that a walk pops, and so its steps, are independent of its tree given the graph walked
(Wilson 1996): a tree whose walk was given up is drawn anew from the same graph, that of the root drawn for it. Whether
walking goes on depends on trees before, and the roots of trees that are not walked are not drawn yet: given all before
it, every tree is an exact draw.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

import numpy as np

from deptree_cli.core.arc_factored import ArcFactored
from deptree_cli.core.dtypes import Int, Integers
from deptree_cli.core.samplers import costs, from_sums, wilson
from deptree_cli.core.samplers.costs import FACTORS, steps_of_tables, steps_of_tree
from deptree_cli.core.samplers.wilson import Walks, alias_tables, rescued, shifted_weights
from deptree_cli.core.spaces.elimination import elimination_of
from deptree_cli.core.spaces.nonprojective import NonProjective
from deptree_cli.core.streams import kernel_state
from deptree_cli.kernels.walks import wilson as kernel

# Whether to go on walking is decided after so many trees, and then whenever their number has doubled; after the first
# few already where none of their walks ended.
FIRST = 32
FEWEST = 4

# A step by scanning costs as much as 1 + n / SCAN steps by tables.
SCAN = 8


def draw(distribution: ArcFactored, size: int, rng: np.random.Generator) -> Integers:
    """Exact trees, (size, n) heads; from the sums of their space where there is no walk to them."""
    if not isinstance(distribution.space, NonProjective):
        return from_sums(distribution, size, rng)
    n, single_root = distribution.n, distribution.single_root
    wide = single_root and elimination_of(distribution.factorisation).is_wide
    budget, steps = steps_of_tree(n, wide), steps_before(n, single_root, wide)
    weights = shifted_weights(distribution, distribution.space)
    weights[:, 0] = distribution.root_marginals if single_root else 0.0
    walks = Walks.of(size, n)
    if size <= costs.FEW:
        budget, steps = by_scanning(budget, n), by_scanning(steps, n)
        kernel.walk_without_tables(weights, single_root, kernel_state(rng), budget, np.array([steps]), *walks)
        walked = size
    else:
        tables = alias_tables(weights, first_head=1 if single_root else 0)
        walked = _walk(walks, *tables, single_root, budget, np.array([steps]), rng)
    if walked < size:
        walks.heads[walked:] = distribution.factorisation.sample(size - walked, rng)
    return rescued(distribution, walks, rng)


def steps_before(n: int, single_root: bool, wide: bool) -> int:
    """The steps that precede the first tree by elimination, which all walks together may take beyond their budgets."""
    return steps_of_tables(n, wide) + (0 if single_root else int(FACTORS * n**3))


def by_scanning(steps: int, n: int) -> int:
    """As many steps by scanning as cost what these cost by tables."""
    return SCAN * steps // (SCAN + n)


@cache
def few_steps(n: int, single_root: bool) -> tuple[int, int]:
    """The budget of a walk by scanning and the steps beyond it that all have, where float64 suffices."""
    return by_scanning(steps_of_tree(n, False), n), by_scanning(steps_before(n, single_root, False), n)


def _walk(
    walks: Walks, tables: wilson.Tables, bits: int, single_root: bool, budget: int, spare: Int, rng: np.random.Generator
) -> int:
    """Walk the first trees while walking pays; how many these are."""
    cost = 0
    root_state = kernel_state(rng) if single_root else None
    state = kernel_state(rng)
    for part in _parts(len(walks.heads)):
        if part.start == FIRST:
            state = kernel_state(rng)
        if single_root:
            kernel.draw_roots(tables, bits, root_state, walks.roots[part])
        steps = walks.by(kernel.walk, part, tables, bits, state, budget, spare)
        cost += steps + budget * int(walks.abandoned[part].sum())
        lost = walks.abandoned[: part.stop]
        if lost.all() or (cost > budget * part.stop and part.stop >= FIRST and lost.any()):
            return int(part.stop)
    return len(walks.heads)


def _parts(size: int) -> Iterator[slice]:
    """The first trees, and then as many again as there were before."""
    yield slice(0, FEWEST)
    start, stop = FEWEST, min(FIRST, size)
    while start < size:
        yield slice(start, stop)
        start, stop = stop, min(2 * stop, size)
