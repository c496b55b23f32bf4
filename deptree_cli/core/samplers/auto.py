"""The default: Wilson's walk while it is quick, elimination where it is not."""

from __future__ import annotations

import numpy as np

from deptree_cli.core.arc_factored import ArcFactored
from deptree_cli.core.dtypes import Heads
from deptree_cli.core.samplers.wilson import draw_marginal, draw_spanning


def draw(distribution: ArcFactored, size: int, rng: np.random.Generator) -> Heads:
    """Exact trees at no more than about twice the cost of the better method.

    A walk of 1000 + n^3/10 steps costs about what one tree costs by elimination, so that is where it is interrupted.
    """
    budget = 1000 + distribution.n**3 // 10
    walk = draw_marginal if distribution.single_root else draw_spanning
    return walk(distribution, size, rng, budget)
