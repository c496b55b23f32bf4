"""Projective trees with scores of grandparents and of adjacent siblings: a wing of the library, without commands.

- `SecondOrder`: a distribution over the trees of one sentence.
- `read`: the sentences of a `.npz` with such scores, each with its distribution.
- `SecondOrderArcs`: the same as a program for `deptree_cli.pruning`, for sentences too long for exact sums.

Rooms: `kernels`, `distribution`, `files`. It imports the main house and `deptree_cli.pruning`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from deptree_cli.lazy import lazy_names

if TYPE_CHECKING:
    from deptree_cli.second_order.distribution import SecondOrder, SecondOrderArcs
    from deptree_cli.second_order.files import read

__all__ = ["SecondOrder", "SecondOrderArcs", "read"]

__getattr__, __dir__ = lazy_names(
    __name__, {"SecondOrder": "distribution", "SecondOrderArcs": "distribution", "read": "files"}
)
