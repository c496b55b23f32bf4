"""Where no tree obeys: which constraints cannot hold together, and the tree that breaks the fewest of them.

That tree is the best one where each broken constraint costs more than trees differ by. What a constraint forbids a word
costs the word's arcs; a constraint that only a tree decides gets a switch: a word more, behind the others, whose label
says whether the constraint is kept, or given up at the same price. Its conflicts are between arcs of the tree and the
switch. So both are searched for at once, by the search that finds trees that obey, and with its certificate.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import starmap
from typing import NamedTuple

import numpy as np

from deptree_cli.core import errors as settings
from deptree_cli.core.arc_factored import ArcFactored
from deptree_cli.core.constraints.branch_and_bound import BUDGET, BranchAndBound, Found
from deptree_cli.core.constraints.conflicts import Choice, Conflict, Finder
from deptree_cli.core.constraints.named import Constraint, choices_of, conflicting, finders_of
from deptree_cli.core.constraints.words import LabelledTree
from deptree_cli.core.dtypes import Bool, Float
from deptree_cli.core.errors import DeptreeError, counted

# Of so many a message tells the names, and of one more.
MOST_NAMED = 6

# Labels of a switch.
KEPT, GIVEN_UP = 0, 1

# What counts of constraints may be off by, worked out from scores.
ROUNDING = 1e-9


class GivenUp(NamedTuple):
    """The constraints that were dropped so that some tree satisfies the others.

    Attributes:
        names: in the order in which they are asked.
        fewest: whether it is certain that fewer are not enough.
    """

    names: tuple[str, ...]
    fewest: bool


@dataclass(frozen=True, eq=False)
class Relaxation:
    """What is asked of the trees of a sentence.

    Attributes:
        base: the distribution over all trees, of which one does not have to obey.
        listed: gives the constraints, which are needed only where no tree obeys.
        can_relax: whether messages advise to relax.
    """

    base: ArcFactored
    listed: Callable[[], Sequence[Constraint]]
    can_relax: bool = True

    @cached_property
    def all(self) -> Sequence[Constraint]:
        """The constraints."""
        return self.listed()

    @cached_property
    def _scores(self) -> Float:
        """The log-scores of arcs with labels, (n+1, n+1, L)."""
        scores = self.base.joint_log_scores()
        return scores.reshape(*scores.shape[:2], -1)

    def forbidden(self, constraints: Sequence[Constraint]) -> Bool:
        """The arcs with labels that some constraints forbid, (n+1, n+1, L)."""
        found = np.zeros(self._scores.shape, dtype=np.bool_)
        for word, arcs in choices_of(constraints):
            found[:, word] |= arcs
        return found

    def error(self, budget: int = BUDGET) -> DeptreeError:
        """What to say where no tree obeys: which constraints cannot hold together.

        Args:
            budget: how many maximum trees each question may cost, whether some constraints can.
        """
        by_trees_last = sorted(self.all, key=lambda each: not isinstance(each.asks, Choice))  # only these take searches
        found = conflicting(by_trees_last, lambda some: self._can_hold(some, budget))
        names = list(dict.fromkeys(each.name for each in sorted(found, key=self.all.index)))
        division = self._division(found, budget)
        tree = "no tree"
        if division is not None and division.best() is None and not division.is_infeasible:
            tree = f"of {counted(division.opened, 'maximum tree')} none"
        remedy = ("Give one up" if len(names) > 1 else "Give it up") + f", or pass {settings.RELAX}" * self.can_relax
        return DeptreeError(
            f"{tree} obeys {listed_names(names)}", remedy, sent_id=self.base.id, options=[settings.RELAX]
        )

    def _can_hold(self, constraints: Sequence[Constraint], budget: int) -> bool:
        """Whether some tree obeys constraints; not, if none is found within the budget."""
        division = self._division(constraints, budget)
        return division is not None and (not division.finders or division.best() is not None)

    def _division(self, constraints: Sequence[Constraint], budget: int) -> BranchAndBound | None:
        """The search of a tree that obeys constraints; None where what they forbid leaves no tree."""
        scores = np.where(self.forbidden(constraints), -np.inf, self._scores)
        if not self.base.space.is_feasible(scores.max(axis=2) > -np.inf):
            return None
        return BranchAndBound(scores, self.base.space, finders_of(constraints), budget)

    def broken(self, budget: int = BUDGET) -> tuple[list[Constraint], bool]:
        """The fewest constraints without which some tree obeys; of as few, those whose best tree is the best.

        Args:
            budget: how many maximum trees it may take.

        Returns:
            They, and whether it is certain that fewer are not enough.
        """
        priced = Priced(self._scores, self.all)
        found = BranchAndBound(priced.scores, self.base.space, [priced.find], budget).best()
        found, bound = (found, found.score + found.gap) if found else (self._tree_by_arcs(priced), 0.0)
        tree = priced.without_switches(LabelledTree(found.heads.tolist(), found.labels.tolist()))
        broken = [each for each in self.all if each.is_broken_by(tree)]
        return broken, priced.least_broken(bound) >= len(broken)

    def _tree_by_arcs(self, priced: Priced) -> Found:
        """The tree that breaks the fewest of the constraints that arcs decide, whatever it breaks of the others."""
        words = slice(priced.n + 1)
        division = BranchAndBound(priced.scores[words, words], self.base.space, [])
        found = division.best()
        assert found is not None  # the base has a tree
        return found


class Priced:
    """The scores of a sentence in which a broken constraint costs more than its trees differ by.

    Args:
        scores: (n+1, n+1, L).
        constraints: of which R only a tree decides.

    Attributes:
        n: how many words there are.
        scores: (n+R+1, n+R+1, max(L, 2)) with R switches behind the words, each below the one in front of it. The best
            arc of a word costs 0, so that a tree's score tells how many constraints it breaks at least.
    """

    def __init__(self, scores: Float, constraints: Sequence[Constraint]) -> None:
        self.n = len(scores) - 1
        self._finders = finders_of(constraints)
        possible = scores > -np.inf
        highest = np.where(possible, scores, -np.inf).max(axis=(0, 2), keepdims=True, initial=-np.inf)
        with np.errstate(invalid="ignore"):
            worth = np.where(possible, scores - highest, -np.inf)
        self._price = 1.0 - float(np.where(possible, worth, 0.0).min(axis=(0, 2)).sum())
        for word, arcs in choices_of(constraints):
            worth[:, word] -= self._price * arcs
        self.scores = self._with_switches(worth)

    def _with_switches(self, worth: Float) -> Float:
        nodes, labels = len(worth), worth.shape[2]
        size = nodes + len(self._finders)
        found = np.full((size, size, max(labels, GIVEN_UP + 1)), -np.inf)
        found[:nodes, :nodes, :labels] = worth
        switches = np.arange(nodes, size)
        found[switches - 1, switches, KEPT] = 0.0
        found[switches - 1, switches, GIVEN_UP] = -self._price
        return found

    def least_broken(self, bound: float) -> int:
        """How many constraints a tree breaks at least whose score is not above a bound."""
        return int(-bound / self._price + ROUNDING)

    def without_switches(self, tree: LabelledTree) -> LabelledTree:
        """The tree of the words alone."""
        return LabelledTree(tree.heads[: self.n], tree.labels[: self.n])

    def find(self, tree: LabelledTree) -> Iterator[Conflict]:
        """The conflicts of the constraints that are kept; each with the switch, of which they are conflicts too."""
        words = self.without_switches(tree)
        for switch, finder in enumerate(self._finders, self.n + 1):
            if tree.labels[switch - 1] == KEPT:
                yield from self._switched(switch, finder, words)

    def _switched(self, switch: int, finder: Finder, words: LabelledTree) -> Iterator[Conflict]:
        """The conflicts of a constraint: the switch goes first, so that what else must go does so where it stays."""
        arcs = np.zeros(self.scores.shape[1:], dtype=np.bool_)
        arcs[:, KEPT] = True
        for conflict in finder(words):
            made = _later(lambda choices: [Choice(switch, arcs), *self._wider(choices)], conflict.made)
            yield Conflict((switch, *conflict.words), made, _later(self._wider, conflict.also_excluded))

    def _wider(self, choices: Sequence[Choice]) -> list[Choice]:
        """The same choices of heads among which are switches."""
        rows = len(self._finders)
        return list(starmap(lambda word, arcs: Choice(word, np.pad(arcs, ((0, rows), (0, 0)))), choices))


def _later(
    change: Callable[[Sequence[Choice]], list[Choice]], also_excluded: Callable[[], Sequence[Choice]]
) -> Callable[[], Sequence[Choice]]:
    """What gives the changed choices when it is asked."""
    return lambda: change(also_excluded())


def listed_names(names: Sequence[str]) -> str:
    """Names as a sentence lists them, of many the first ones: "a", "a and b together"."""
    if len(names) == 1:
        return names[0]
    more = len(names) - MOST_NAMED
    *first, last = [*names[:MOST_NAMED], f"{more} more"] if more > 1 else names
    return f"{', '.join(first)} and {last} together"
