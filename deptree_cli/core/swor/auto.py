"""The default, by tree space: each draws with replacement while that pays, and then from what is left."""

from __future__ import annotations

import numpy as np

from deptree_cli.core.arc_factored import ArcFactored
from deptree_cli.core.swor import derivation_tree, partition_tree
from deptree_cli.core.swor.draws import Draws


def draw(distribution: ArcFactored, size: int, rng: np.random.Generator, mass: float = 1.0) -> Draws:
    """Up to `size` distinct trees, of which the last brings the probability drawn to `mass`."""
    algorithm = derivation_tree if distribution.space.projective else partition_tree
    return algorithm.draw(distribution, size, rng, mass)
