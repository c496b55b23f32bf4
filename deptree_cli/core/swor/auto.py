"""The default, by tree space: each draws with replacement while that pays, and then from what is left.

Spaces without an algorithm of their own are drawn from by a trie of heads.
"""

from __future__ import annotations

from functools import singledispatch
from typing import Any

import numpy as np

from deptree_cli.core.arc_factored import ArcFactored
from deptree_cli.core.spaces import TreeSpace
from deptree_cli.core.spaces.nonprojective import NonProjective
from deptree_cli.core.spaces.projective import Projective
from deptree_cli.core.swor import derivation_tree, partition_tree, trie
from deptree_cli.core.swor.draws import Draws


def draw(distribution: ArcFactored, size: int, rng: np.random.Generator, mass: float = 1.0) -> Draws:
    """Up to `size` distinct trees, of which the last brings the probability drawn to `mass`."""
    return _draw(distribution.space, distribution, size, rng, mass)


@singledispatch
def _draw(space: TreeSpace, distribution: ArcFactored, size: int, rng: np.random.Generator, mass: float) -> Draws:
    return trie.draw(distribution, size, rng, mass)


@_draw.register
def _(space: NonProjective, *given: Any) -> Draws:
    return partition_tree.draw(*given)


@_draw.register
def _(space: Projective, *given: Any) -> Draws:
    return derivation_tree.draw(*given)
