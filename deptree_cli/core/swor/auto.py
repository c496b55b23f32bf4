"""The default, by tree space: each draws with replacement while that pays, and then from what is left.

Spaces without an algorithm of their own are drawn from by a trie of heads.
"""

from __future__ import annotations

import numpy as np

from deptree_cli.core.arc_factored import ArcFactored
from deptree_cli.core.spaces import by_space
from deptree_cli.core.spaces.nonprojective import NonProjective
from deptree_cli.core.spaces.projective import Projective
from deptree_cli.core.swor import derivation_tree, partition_tree, trie
from deptree_cli.core.swor.draws import Draws

ALGORITHMS = {NonProjective: partition_tree.draw, Projective: derivation_tree.draw}


def draw(distribution: ArcFactored, size: int, rng: np.random.Generator, mass: float = 1.0) -> Draws:
    """Up to `size` distinct trees, of which the last brings the probability drawn to `mass`."""
    algorithm = by_space(ALGORITHMS, distribution.space, trie.draw)
    return algorithm(distribution, size, rng, mass)
