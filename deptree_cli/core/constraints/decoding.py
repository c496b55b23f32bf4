"""The best trees that obey, by a method."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice

import numpy as np

from deptree_cli.core.arc_factored import ArcFactored
from deptree_cli.core.constraints.conflicts import Finder
from deptree_cli.core.constraints.division import Division, Found
from deptree_cli.core.dtypes import Bool, Float
from deptree_cli.core.errors import DeptreeError, counted

# The method whose trees have most of arcs' probabilities, not of their scores.
MBR = "mbr"


def obeying(distribution: ArcFactored, method: str, finders: Sequence[Finder], size: int, budget: int) -> list[Found]:
    """The `size` best trees without conflicts, the best first, or fewer.

    Args:
        method: `MBR`: those with the highest expected labelled attachment score; else the most probable, each with its
            most probable labels.
        finders: what finds conflicts.
        budget: how many maximum trees it may take; the last tree may not be certain then.

    Raises:
        DeptreeError: there are none, or none was found.
    """
    division = Division(_worth(distribution, method), distribution.space, finders, budget)
    found = list(islice(division.trees(), size))
    if not found and division.is_infeasible:
        raise DeptreeError("no tree obeys the rules", "Give one up, or pass --relax", sent_id=distribution.id)
    if not found:
        problem = f"no tree that obeys the rules was found among {counted(division.opened, 'maximum tree')}"
        raise DeptreeError(problem, "Raise --budget, or give up a rule", sent_id=distribution.id)
    return found


def _worth(distribution: ArcFactored, method: str) -> Float:
    """What the best tree has most of, (n+1, n+1, L), ``[head, dependent, label]``; -inf where there is no such arc.

    Log-scores are shifted, so that sums keep their digits.
    """
    if method == MBR:
        labels, arcs = distribution.labels, distribution.marginals()
        return np.where(_possible(distribution), arcs[..., None] if labels is None else labels.marginals(arcs), -np.inf)
    scores = distribution.factorisation.shifted.high[..., None]
    if distribution.labels is None:
        return scores
    with np.errstate(invalid="ignore"):
        return np.where(_possible(distribution), scores + distribution.labels.log_probs, -np.inf)


def _possible(distribution: ArcFactored) -> Bool:
    """The arcs with labels that trees may have, (n+1, n+1, L)."""
    arcs = np.isfinite(distribution.log_scores)[..., None]
    return arcs if distribution.labels is None else arcs & (distribution.labels.log_probs > -np.inf)
