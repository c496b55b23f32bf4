"""The nearest tree that obeys, by the division that finds the best one, and with its certificate."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np

from deptree_cli.core import errors as settings
from deptree_cli.core.arc_factored import ArcFactored
from deptree_cli.core.constraints.branch_and_bound import BUDGET, BranchAndBound, Found
from deptree_cli.core.constraints.conflicts import Finder
from deptree_cli.core.constraints.named import Constraint, finders_of
from deptree_cli.core.constraints.relaxation import GivenUp, Relaxation
from deptree_cli.core.constraints.words import Words
from deptree_cli.core.dtypes import Bool, Float, Heads
from deptree_cli.core.errors import DeptreeError, counted
from deptree_cli.core.repair.given import ONE_EACH, Costs, Given
from deptree_cli.core.repair.habits import meanings
from deptree_cli.core.repair.objective import Objective, objective
from deptree_cli.core.repair.ties import room_for
from deptree_cli.core.spaces import TreeSpace


class Asked(Protocol):
    """What the trees of a sentence must obey."""

    @property
    def words(self) -> Words:
        """What is known of its words, and the labels that they may have."""

    @property
    def forbidden(self) -> Bool:
        """Which arcs with which labels they may not have, (n+1, n+1, L)."""

    @property
    def finders(self) -> Sequence[Finder]:
        """What finds the conflicts of rules that only a tree decides."""

    def listed(self) -> list[Constraint]:
        """The same, one thing at a time, each under a name."""


@dataclass(frozen=True, eq=False)
class Repaired:
    """The nearest valid tree of a sentence.

    Attributes:
        heads: (n,), int32.
        labels: n names.
        gap: the bound on how much cheaper another valid tree might be, in changes, or in nats if changes are traded
            for log-probability; 0 proves that there is none.
        opened: the number of maximum trees that the search computed.
        given_up: the rules that were dropped; None if none was.
    """

    heads: Heads
    labels: tuple[str, ...]
    gap: float
    opened: int
    given_up: GivenUp | None = None

    @property
    def certified(self) -> bool:
        """Whether no valid tree is nearer, for certain."""
        return self.gap == 0.0


class Aims(NamedTuple):
    """What is looked for.

    Attributes:
        costs: what changes cost.
        worth: how many nats a cost of 1 is worth: below infinity, changes that gain more are made.
        budget: how many maximum trees it may take.
        relax: whether the fewest constraints are given up if no tree obeys, or none is found.
    """

    costs: Costs = ONE_EACH
    worth: float = math.inf
    budget: int = BUDGET
    relax: bool = False


USUAL = Aims()


def nearest(
    given: Given, asked: Asked, scores: Float, space: TreeSpace, aims: Aims = USUAL, sent_id: str = ""
) -> Repaired:
    """Return the tree that obeys and changes least of what was given; of several the one with the highest score.

    Args:
        given: heads and labels.
        asked: what trees must obey.
        scores: log-scores of arcs with labels, (n+1, n+1, L), as `asked.words.labels` are; -inf is less than others.
        space: which trees.
        aims: what changes cost, and so on.
        sent_id: for messages.

    Raises:
        DeptreeError: no tree obeys, or none was found; or there is no memory for so long a sentence.
    """
    names = asked.words.labels
    with room_for(given.n, len(names)):
        wanted = objective(scores, given, names, aims.costs, aims.worth, _meant(given, asked))
        masked = np.where(asked.forbidden, -np.inf, wanted.scores)
        division = BranchAndBound(masked, space, asked.finders, aims.budget, wanted.scale)
        found = division.best()
    if found is not None:
        return _repaired(found, wanted, names)
    constraints = Relaxation(_base(wanted, names, space, sent_id), asked.listed)
    if aims.relax:
        return _relaxed(constraints, wanted, names, aims.budget)
    if division.is_infeasible:
        raise constraints.error(aims.budget)
    problem = f"no tree that obeys the rules was found among {counted(division.opened, 'maximum tree')}"
    remedy = f"Raise {settings.BUDGET}, or give up a rule, or pass {settings.RELAX}"
    raise DeptreeError(problem, remedy, sent_id=sent_id, options=[settings.BUDGET, settings.RELAX])


def _meant(given: Given, asked: Asked) -> Iterator[tuple[int, int]]:
    """The words whose given labels no arc to them may have, each with the number of the label that these stand for."""
    numbers = {name: number for number, name in enumerate(asked.words.labels)}
    may_have = np.any(~asked.forbidden, axis=0)
    for word, (label, tag) in enumerate(zip(given.labels, asked.words.upos, strict=True), 1):
        found = [numbers[each] for each in meanings(label, tag) if each in numbers]
        fits = [number for number in found if may_have[word, number]]
        if fits and fits[0] != found[0]:
            yield word, fits[0]


def _base(wanted: Objective, names: tuple[str, ...], space: TreeSpace, sent_id: str) -> ArcFactored:
    """The same as a distribution, in costs: what is given up of rules is looked for in these."""
    scores = wanted.scores / (wanted.unit or 1.0)
    if names == ("",):
        return ArcFactored(scores[..., 0], space=space, id=sent_id)
    return ArcFactored(scores, space=space, labels=names, id=sent_id)


def _repaired(found: Found, wanted: Objective, names: Sequence[str], given_up: GivenUp | None = None) -> Repaired:
    labels = tuple(names[number] for number in found.labels.tolist())
    return Repaired(found.heads, labels, wanted.gap(found.score, found.gap), found.opened, given_up)


def _relaxed(constraints: Relaxation, wanted: Objective, names: Sequence[str], budget: int) -> Repaired:
    """The nearest tree without the fewest constraints that no tree obeys."""
    broken, fewest = constraints.broken(budget)
    kept = [each for each in constraints.all if each not in broken]
    masked = np.where(constraints.forbidden(kept), -np.inf, wanted.scores)
    found = BranchAndBound(masked, constraints.base.space, finders_of(kept), budget, wanted.scale).best()
    if found is None:
        raise constraints.error(budget)
    return _repaired(found, wanted, names, GivenUp(tuple(each.name for each in broken), fewest))
