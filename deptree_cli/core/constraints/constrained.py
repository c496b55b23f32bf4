"""A distribution whose trees obey rules: what arcs decide is masked, what only trees decide is looked for in them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np

from deptree_cli.core.arc_factored import ArcFactored
from deptree_cli.core.constraints.conflicts import Finder
from deptree_cli.core.constraints.division import BUDGET, Division, Found
from deptree_cli.core.constraints.ruleset import Ruleset
from deptree_cli.core.constraints.words import Words
from deptree_cli.core.dtypes import Bool, Float
from deptree_cli.core.errors import DeptreeError, counted

# The method whose trees have most of arcs' probabilities, not of their scores.
MBR = "mbr"


@dataclass(frozen=True, eq=False)
class Constrained:
    """A distribution whose trees obey.

    Attributes:
        distribution: without the arcs with labels that are forbidden.
        finders: what finds conflicts of its trees.
    """

    distribution: ArcFactored
    finders: Sequence[Finder]

    def best_trees(self, size: int = 1, method: str = "mst", budget: int = BUDGET) -> list[Found]:
        """The `size` best trees without conflicts, the best first, or fewer.

        Args:
            size: how many.
            method: `MBR`: those with the highest expected labelled attachment score; else the most probable, each with
                its most probable labels.
            budget: how many maximum trees it may take; the last tree may not be certain then.

        Raises:
            DeptreeError: there are none, or none was found.
        """
        worth = expected_arcs(self.distribution) if method == MBR else scores_with_labels(self.distribution)
        division = Division(worth, self.distribution.space, self.finders, budget)
        found = list(islice(division.trees(), size))
        if not found and division.is_infeasible:
            problem = "no tree obeys the rules"
            raise DeptreeError(problem, "Give one up, or pass `relax=True`", sent_id=self.distribution.id)
        if not found:
            problem = f"no tree that obeys the rules was found among {counted(division.opened, 'maximum tree')}"
            raise DeptreeError(problem, "Raise `budget`, or give up a rule", sent_id=self.distribution.id)
        return found


def constrained(distribution: ArcFactored, rules: Ruleset, words: Words | None = None) -> Constrained:
    """Return the distribution under rules.

    Args:
        distribution: with labels, if rules name some.
        rules: see `Ruleset`.
        words: what rules know of the sentence; without it, its labels only.

    Raises:
        DeptreeError: every tree of positive weight has an arc that rules forbid.
    """
    names = distribution.labels.names if distribution.labels else ("",)
    known = words or Words(names, [None] * distribution.n, [frozenset()] * distribution.n)
    return Constrained(distribution.without_forbidden(rules.forbidden(known)), rules.finders(known))


def expected_arcs(distribution: ArcFactored) -> Float:
    """The probabilities of arcs with labels, (n+1, n+1, L), ``[head, dependent, label]``; -inf where there is none."""
    labels, arcs = distribution.labels, distribution.marginals()
    return np.where(_possible(distribution), arcs[..., None] if labels is None else labels.marginals(arcs), -np.inf)


def scores_with_labels(distribution: ArcFactored) -> Float:
    """The log-scores of arcs with labels, (n+1, n+1, L), shifted, so that sums keep their digits."""
    scores = distribution.factorisation.shifted.high[..., None]
    if distribution.labels is None:
        return scores
    with np.errstate(invalid="ignore"):
        return np.where(_possible(distribution), scores + distribution.labels.log_probs, -np.inf)


def _possible(distribution: ArcFactored) -> Bool:
    """The arcs with labels that trees may have, (n+1, n+1, L)."""
    arcs = np.isfinite(distribution.log_scores)[..., None]
    return arcs if distribution.labels is None else arcs & (distribution.labels.log_probs > -np.inf)
