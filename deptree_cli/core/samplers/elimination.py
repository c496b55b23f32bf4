"""The elimination sampler: exact trees from the factors of `core/spaces/elimination.py`, with a worst-case bound."""

from __future__ import annotations

import numpy as np

from deptree_cli.core.arc_factored import ArcFactored
from deptree_cli.core.dtypes import Heads


def draw(distribution: ArcFactored, size: int, rng: np.random.Generator) -> Heads:
    """O(n^3) once, then O(n^2) per tree at worst, whatever the weights."""
    return distribution.factorisation.sample(size, rng)
