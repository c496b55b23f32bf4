"""Projective trees with scores of grandparents and of adjacent siblings: a wing of the library, without commands.

- `SecondOrder`: the trees of one sentence, from its scores.
- `read`: the sentences of a `.npz` with such scores, each with its distribution.
- `arcs.SecondOrderArcs`: the same as a program for `deptree_cli.expectations`, for sentences too long for exact sums.
"""

from __future__ import annotations

from deptree_cli.second_order.distribution import SecondOrder
from deptree_cli.second_order.reading import read

__all__ = ["SecondOrder", "read"]
