"""What a quantity of a distribution is: its value, its gradient, and the inputs that it needs."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from deptree_cli.core.arc_factored import ArcFactored
from deptree_cli.core.dtypes import Float
from deptree_cli.core.kinds import Quantity

# The kinds of inputs: a positive number; another distribution over the sentence's trees; the gold heads (n,), -1 where
# unknown; features of arcs (n+1, n+1, R); R numbers.
NUMBER, DISTRIBUTION, HEADS, FEATURES, VECTOR = "number", "distribution", "heads", "features", "vector"


@dataclass(frozen=True)
class Input:
    """What a quantity needs besides a distribution; the command line makes an option of it.

    Attributes:
        kind: one of the kinds above, which says how the command line reads it.
        help: what it is, a sentence.
    """

    name: str
    kind: str
    help: str


@dataclass(frozen=True)
class OfDistribution(Quantity):
    """A quantity of a distribution: ``value(distribution, *inputs)``, the values of `inputs` in their order.

    Attributes:
        gradient: the same arguments -> the gradient with respect to the log-scores, (n+1, n+1) or several of them, 0
            for forbidden arcs; None where there is none.
        gradient_other: the same with respect to the log-scores of the other distribution.
        of_many: the values of a `TreeBatch`, (B,), where nothing else is needed; None where each sentence is asked.
    """

    gradient: Callable[..., Float] | None = None
    inputs: tuple[Input, ...] = ()
    gradient_other: Callable[..., Float] | None = None
    of_many: Callable[[Any], Float] | None = None
    kind: ClassVar[str] = "a distribution"


def expected_sum(distribution: ArcFactored, values: Float) -> float:
    """E[sum of the tree's arcs' values] for values (n+1, n+1); those of impossible arcs do not count (their T1)."""
    marginals = distribution.marginals()
    return float(np.vdot(marginals, np.where(marginals > 0, values, 0.0)))


def arc_covariance(distribution: ArcFactored, values: Float) -> Float:
    """The covariance of each arc with the sum of the tree's values, (n+1, n+1); values of forbidden arcs do not count.

    The one primitive behind every gradient: the derivative of the marginals in that direction, O(n^3).
    """
    possible = distribution.support & np.isfinite(values)
    return distribution.factorisation.arc_covariance(np.where(possible, values, 0.0))


def unique_inputs(quantities: Iterable[OfDistribution]) -> list[Input]:
    """The inputs of all quantities, each once, in order."""
    return list(dict.fromkeys(each for quantity in quantities for each in quantity.inputs))
