"""The best tree that keeps rules: branch and bound, and Lagrangian relaxation."""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from itertools import chain, count, islice
from typing import Any, NamedTuple

import numpy as np

from deptree_cli.core.arc_factored import ArcFactored
from deptree_cli.core.counts import BUDGET as BUDGET
from deptree_cli.core.dtypes import Bool, Float, Heads
from deptree_cli.core.errors import BUDGET as BUDGET_OPTION
from deptree_cli.core.errors import RELAX, DeptreeError, counted
from deptree_cli.core.rules import Bound, Choice, LabelledTree, Nogood
from deptree_cli.core.ruleset import Constraint, choices_of, conflicting, rules_of
from deptree_cli.core.spaces import TreeSpace, space
from deptree_cli.kernels.budget import foresee


class Scores:
    """What trees should have most of: scores of arcs with labels, (n+1, n+1, L), ``[head, dependent, label]``; -inf
    forbids."""

    def __init__(self, given: Float) -> None:
        self._given = given

    @property
    def whole(self) -> Float:
        return self._given

    @cached_property
    def arcs(self) -> Float:
        """The score of each arc with its best label, (n+1, n+1)."""
        found: Float = self.whole.max(axis=2)
        return found

    def of(self, heads: Heads) -> Float:
        """The scores of the words of a tree with each label, (n, L), a new array."""
        return self.whole[heads, np.arange(1, len(heads) + 1)]


class LogScores(Scores):
    """The log-scores of a distribution, shifted, so that sums keep their digits.

    Most searches end with the first tree and ask for the labels of its arcs alone: to add up all takes longer.
    """

    def __init__(self, distribution: ArcFactored) -> None:
        self._shifted, self._labels = distribution.factorisation.shifted.log_weights, distribution.labels
        self._possible = np.isfinite(distribution.log_scores)
        nothing = np.broadcast_to(0.0, (*self._shifted.shape, 1))
        self._log_probs = nothing if self._labels is None else self._labels.log_probs

    @cached_property
    def whole(self) -> Float:
        possible = self._possible[..., None] & (self._log_probs > -np.inf)
        with np.errstate(invalid="ignore"):
            return np.where(possible, self._shifted[..., None] + self._log_probs, -np.inf)

    @cached_property
    def arcs(self) -> Float:  # the same as the best labels of `whole`: rounded sums are in the order of what is added
        with np.errstate(invalid="ignore"):
            best = self._shifted + (0.0 if self._labels is None else self._labels.best_log_probs)
            return np.where(self._possible, best, -np.inf)

    def of(self, heads: Heads) -> Float:
        words = np.arange(1, len(heads) + 1)
        return self._shifted[heads, words, None] + self._log_probs[heads, words]


# The best trees that obey, by division: the first that comes is the best, and that is certain.
#
# A subproblem is a set of labelled trees, given by the arcs that each word may have. Where its best tree has a nogood,
# choices c1, ..., cm of which one must go, it is divided into m: in the i-th, c1 to c(i-1) stay and ci goes. They have
# no tree in common, and lose only trees that break the rule. The best is solved first, so that no tree that obeys is
# better than the first found (best-first branch and bound; the division is Lawler's, 1972). A subproblem waits in the
# queue, by the sum of its words' best arcs, until no other promises more: most are never solved.

# The best tree alone is searched for with this many by the square of the length, but some at least, and with more where
# there are more words than `LONG`, or trees are projective, which break fewer rules. What is left open a linear program
# settles, within the budget, and this many steps of the simplex method for each maximum tree.
SEARCHED_SQUARE, SEARCHED, LONG, SEARCHED_LONG, PIVOTS = 8000, 10, 100, 100, 300

# Of this many nogoods the best to divide by is looked for.
COMPARED = 8

# By so much, in nats or in parts of a cost, bounds of a linear program may be off.
EXACT = 1e-6


@dataclass(frozen=True, eq=False)
class Found:
    """A tree that obeys; another may be better by `gap`, 0 is certain; `opened` counts the maximum trees until then."""

    heads: Heads
    labels: Heads
    score: float
    gap: float
    opened: int

    @property
    def certified(self) -> bool:
        return self.gap == 0.0


@dataclass(frozen=True, eq=False)
class Subproblem:
    """Some of a sentence's labelled trees."""

    gone: Mapping[int, Bool]  # of some words the arcs, (n+1, L) or (n+1, 1) whatever the label, that they may not have
    best: Float  # the score of each word's best arc from ROOT, and of that from a word, (2, n+1)

    def bound(self, space: TreeSpace) -> float:
        """What trees score at most: each word has its best arc; with a single root, one has that from ROOT."""
        root, words = self.best[:, 1:]
        if not space.single_root:
            return float(np.maximum(words, root).sum())
        rootless = words == -np.inf
        if rootless.any():  # without another arc: only one word may be so
            return -np.inf if rootless.sum() > 1 else float(words[~rootless].sum() + root[rootless][0])
        return float(words.sum() + (root - words).max())


class Solution(NamedTuple):
    """The best tree of a subproblem, and the nogood by which that is divided."""

    subproblem: Subproblem
    heads: Heads
    labels: Heads
    score: float
    nogood: Nogood | None


@dataclass(eq=False)
class BranchAndBound:
    """The search of one sentence.

    Args:
        budget: how many maximum trees may be looked for, for each tree that is found.
        unit: what a whole cost takes off scores; trees that cost the same differ by less.
    """

    scores: Scores | Float
    space: TreeSpace
    rules: Sequence[Bound]
    budget: int = BUDGET
    unit: float | None = None
    opened: int = field(init=False, default=0)
    is_infeasible: bool = field(init=False, default=False)

    def __post_init__(self) -> None:
        self._scores = self.scores if isinstance(self.scores, Scores) else Scores(self.scores)
        self._arcs = self._scores.arcs
        self._seen = set[bytes]()
        self._queue: list[tuple[float, int, Subproblem | Solution]] = []
        self._order = count()

    def best(self) -> Found | None:
        """The best tree that obeys, or the best found within the budget; None if there is none, or none was found.

        `is_infeasible` tells the two apart.
        """
        size = len(self._arcs)
        least = SEARCHED_LONG if size > LONG or self.space.projective else SEARCHED
        searched = min(self.budget, max(least, SEARCHED_SQUARE // size**2))
        search = replace(self, budget=searched)
        found = next(search._certain(), None)
        self.opened, self.is_infeasible = search.opened, search.is_infeasible
        if found is None and not self.is_infeasible and searched < self.budget:
            found = self._settled(self.budget - searched)
        if self.is_infeasible or (found is not None and found.certified):
            return found
        before = search.opened
        both = [each for each in (found, search._best_open()) if each is not None]
        self.opened += search.opened - before
        best = max(both, key=lambda each: each.score, default=None)
        highest = min((each.score + each.gap for each in both), default=np.inf)
        return best and replace(best, gap=max(0.0, highest - best.score), opened=self.opened)

    def _settled(self, budget: int) -> Found | None:
        from deptree_cli.core.rule_program import BranchAndCut  # loads scipy: when there is work

        nodes = len(self._arcs)
        per_cost = None if self.unit is None else 2.0 ** math.ceil(math.log2(30 * nodes))  # nats, about
        scale = 1.0 if per_cost is None or self.unit is None else per_cost / self.unit
        program = BranchAndCut(-scale * self._scores.whole, self.space, self.rules, budget, PIVOTS, per_cost)
        incumbent, bound, opened = program.settle()
        self.opened, self.is_infeasible = self.opened + opened, bound == np.inf
        if incumbent is None:
            return None
        gap = max(0.0, incumbent.cost - bound)
        return self._found(incumbent.heads, incumbent.labels, gap / scale if gap > EXACT * (per_cost or 1.0) else 0.0)

    def trees(self) -> Iterator[Found]:
        """The trees that obey, the best first, each array of heads once with its best labels.

        The last may not be certain, where the budget ends; then there are no more.
        """
        yield from self._certain()
        if self._queue and (last := self._best_open()) is not None:
            yield last

    def _certain(self) -> Iterator[Found]:
        """The same but for the last that may not be certain: there the queue is left."""
        self._solve(Subproblem({}, np.stack([self._arcs[0], self._arcs[1:].max(axis=0)])))
        before = 0
        while self._queue:
            bound, _, first = self._queue[0]
            if self.opened - before >= self.budget and not self._is_answer(first):
                return
            heapq.heappop(self._queue)
            if isinstance(first, Subproblem):
                self._solve(first)
                continue
            if self._is_answer(first):
                self._seen.add(first.heads.tobytes())
                yield Found(first.heads, first.labels, first.score, 0.0, self.opened)
                before = self.opened
            for part in self._parts(first):
                self._push(min(-bound, part.bound(self.space)), part)
        self.is_infeasible = not self._seen

    def _best_open(self) -> Found | None:
        """The best tree that obeys of what the budget left: an open problem's, or one that penalties lead to."""
        bound = -self._queue[0][0]
        answers = [each for *_, each in self._queue if isinstance(each, Solution) and self._is_answer(each)]
        found = [
            Found(each.heads, each.labels, each.score, max(0.0, bound - each.score), self.opened) for each in answers
        ]
        narrower = self.space.has_short_name and not self.space.projective  # rules are broken less there
        for trees in (space(self.space.single_root, projective=True), self.space) if narrower else (self.space,):
            if not found and (tree := self._penalised(trees)) is not None:
                found.append(self._found(*tree, bound=bound))
        return min(found, key=lambda each: each.gap, default=None)

    def _found(self, heads: Heads, labels: Heads, gap: float = 0.0, bound: float = -np.inf) -> Found:
        score = float(self._scores.of(heads)[np.arange(len(heads)), labels].sum())
        return Found(heads, labels, score, max(gap, bound - score), self.opened)

    def _penalised(self, trees: TreeSpace) -> tuple[Heads, Heads] | None:
        """A tree that obeys: maximum trees of a space, where the choices of each nogood so far score less and less."""
        penalties, penalty = dict[int, Any](), 0.5 * (self.unit or 1.0)
        fixed = np.random.Generator(np.random.PCG64(0))  # equal heads would be taken in turn
        spread = 0.5 + fixed.random((len(self._arcs), 1))
        for _ in range(self.budget):
            penalty *= 1.5
            arcs = self._arcs.copy()
            for word, own in penalties.items():
                arcs[:, word] = (self._scores.whole[:, word] - own).max(axis=1)
            self.opened += 1
            foresee(arcs.size)
            heads, score = trees.maximum_tree(arcs)
            if score == -np.inf:
                break
            scores = self._scores.of(heads)
            for word, own in penalties.items():
                scores[word - 1] -= own[heads[word - 1]]
            labels = scores.argmax(axis=1).astype(np.int32)
            tree = LabelledTree(heads.tolist(), labels.tolist())
            nogoods = list(chain.from_iterable(each.nogoods(tree) for each in self.rules))
            if not nogoods and heads.tobytes() not in self._seen:
                return heads, labels
            for word, chosen in chain.from_iterable(each.choices for each in nogoods or [self._same_heads(heads)]):
                penalties[word] = penalties.get(word, 0.0) + penalty * spread * chosen
        return None

    def _push(self, bound: float, item: Subproblem | Solution) -> None:
        """Queue something of which no tree scores more than a bound; not if it has no tree."""
        if bound > -np.inf:
            heapq.heappush(self._queue, (-bound, next(self._order), item))

    def _is_answer(self, item: Subproblem | Solution) -> bool:
        return isinstance(item, Solution) and item.nogood is None and item.heads.tobytes() not in self._seen

    def _parts(self, solved: Solution) -> Iterator[Subproblem]:
        """The parts of a problem in which one of a nogood's choices goes and those before it stay."""
        part, nogood = solved.subproblem, solved.nogood or self._same_heads(solved.heads)
        *others, last = nogood.choices
        for choice in others:
            yield self._without(part, [choice])
            part = self._without(part, [Choice(choice.word, ~choice.arcs)])
        yield self._without(part, (last, *nogood.also_excluded()))

    def _without(self, part: Subproblem, choices: Iterable[Choice]) -> Subproblem:
        """What is left where words do not make these choices."""
        gone, best = dict(part.gone), part.best.copy()
        for word, arcs in choices:
            gone[word] = gone[word] | arcs if word in gone else arcs
            left = self._left(word, gone[word])
            best[:, word] = left[0], left[1:].max()
        return Subproblem(gone, best)

    def _left(self, word: int, gone: Bool) -> Float:
        """The best scores of a word's arcs, (n+1,), without some."""
        if gone.shape[1] == 1:
            return np.where(gone[:, 0], -np.inf, self._arcs[:, word])
        left: Float = np.where(gone, -np.inf, self._scores.whole[:, word]).max(axis=1)
        return left

    def _solve(self, part: Subproblem) -> None:
        """Queue a subproblem's best tree, if it has one."""
        arcs = self._arcs.copy()
        for word, gone in part.gone.items():
            arcs[:, word] = self._left(word, gone)
        self.opened += 1
        foresee(arcs.size)
        heads, score = self.space.maximum_tree(arcs)
        if score == -np.inf:
            return
        scores = self._scores.of(heads)
        for word, gone in part.gone.items():
            scores[word - 1][np.broadcast_to(gone[heads[word - 1]], scores.shape[1:])] = -np.inf
        labels = scores.argmax(axis=1).astype(np.int32)
        tree = LabelledTree(heads.tolist(), labels.tolist())
        nogoods = list(islice(chain.from_iterable(each.nogoods(tree) for each in self.rules), COMPARED))
        if len(nogoods) > 1:
            own = arcs[heads, np.arange(1, len(arcs))].tolist()
            nogoods.sort(key=lambda nogood: self._likely_solved(part, own, nogood))
        self._push(score, Solution(part, heads, labels, score, nogoods[0] if nogoods else None))

    def _likely_solved(self, part: Subproblem, own: Sequence[float], nogood: Nogood) -> float:
        """How many parts of a nogood are likely to be solved: each the less, the more its word loses by it."""
        found, scale = 0.0, self.unit / 2 if self.unit else 1.0
        for word, arcs in nogood.choices:
            left = self._left(word, part.gone[word] | arcs if word in part.gone else arcs).max()
            found += math.exp(-max(0.0, own[word - 1] - float(left)) / scale)
        return found

    def _same_heads(self, heads: Heads) -> Nogood:
        rows, words = np.arange(len(heads) + 1)[:, None] == heads[None, :], tuple(range(1, len(heads) + 1))
        return Nogood(words, lambda: [Choice(word, rows[:, word - 1, None]) for word in words])


# Where no tree obeys: which constraints cannot hold together, and the tree that breaks the fewest of them.

# Of this many a message tells the names, and of one more.
MOST_NAMED = 6

# Labels of a switch.
KEPT, GIVEN_UP = 0, 1

# What counts of constraints may be off by, worked out from scores.
ROUNDING = 1e-9


class GivenUp(NamedTuple):
    """The constraints dropped so that some tree satisfies the others; `fewest` if fewer are certainly not enough."""

    names: tuple[str, ...]
    fewest: bool


@dataclass(frozen=True, eq=False)
class Relaxation:
    """What is asked of the trees of a sentence; constraints are `listed` only where no tree obeys.

    `base` is the distribution over all trees; `can_relax` is whether messages advise to relax.
    """

    base: ArcFactored
    listed: Callable[[], Sequence[Constraint]]
    can_relax: bool = True

    @cached_property
    def all(self) -> Sequence[Constraint]:
        return self.listed()

    @cached_property
    def _scores(self) -> Float:
        scores = self.base.joint_log_scores()
        return scores.reshape(*scores.shape[:2], -1)

    def forbidden(self, constraints: Sequence[Constraint]) -> Bool:
        found = np.zeros(self._scores.shape, dtype=np.bool_)
        for word, arcs in choices_of(constraints):
            found[:, word] |= arcs
        return found

    def error(self, budget: int = BUDGET) -> DeptreeError:
        """What to say where no tree obeys: which constraints cannot hold together; `budget` is for each question."""

        def can_hold(some: Sequence[Constraint]) -> bool:  # not, if no tree is found within the budget
            search = self._search(some, budget)
            return search is not None and (not search.rules or search.best() is not None)

        by_trees_last = sorted(self.all, key=lambda each: not isinstance(each.asks, Choice))  # only these take searches
        found = conflicting(by_trees_last, can_hold)
        names = list(dict.fromkeys(each.name for each in sorted(found, key=self.all.index)))
        search, tree = self._search(found, budget), "no tree"
        if search is not None and search.best() is None and not search.is_infeasible:
            tree = f"of {counted(search.opened, 'maximum tree')} none"
        remedy = ("Give one up" if len(names) > 1 else "Give it up") + f", or pass {RELAX}" * self.can_relax
        return DeptreeError(f"{tree} obeys {listed_names(names)}", remedy, sent_id=self.base.id, options=[RELAX])

    def _search(self, constraints: Sequence[Constraint], budget: int) -> BranchAndBound | None:
        """That of a tree that obeys constraints; None where what they forbid leaves no tree."""
        scores = np.where(self.forbidden(constraints), -np.inf, self._scores)
        if not self.base.space.is_feasible(scores.max(axis=2) > -np.inf):
            return None
        return BranchAndBound(scores, self.base.space, rules_of(constraints), budget)

    def broken(self, budget: int = BUDGET) -> tuple[list[Constraint], bool]:
        """The fewest constraints without which some tree obeys, and whether fewer are certainly not enough.

        Of as few, those whose best tree is the best; `budget` is how many maximum trees it may take.

        That tree is the best one where each broken constraint costs more than trees differ by: what a constraint
        forbids a word costs the word's arcs, and a constraint that only a tree decides has a switch. The best arc of a
        word costs 0, so that a tree's score tells how many constraints it breaks at least.
        """
        possible, nodes = self._scores > -np.inf, len(self._scores)
        highest = np.where(possible, self._scores, -np.inf).max(axis=(0, 2), keepdims=True, initial=-np.inf)
        with np.errstate(invalid="ignore"):
            worth = np.where(possible, self._scores - highest, -np.inf)
        price = 1.0 - float(np.where(possible, worth, 0.0).min(axis=(0, 2)).sum())
        for word, arcs in choices_of(self.all):
            worth[:, word] -= price * arcs
        scores, rule = with_switches(worth, price, rules_of(self.all))
        found = next(BranchAndBound(scores, self.base.space, [rule], budget).trees(), None)
        bound = found.score + found.gap if found else 0.0
        if found is None:  # that which breaks the fewest of what arcs decide, whatever it breaks of the others
            found = BranchAndBound(scores[:nodes, :nodes], self.base.space, []).best()
        assert found is not None  # the base has a tree
        tree = LabelledTree(found.heads[: nodes - 1].tolist(), found.labels[: nodes - 1].tolist())
        broken = [each for each in self.all if each.is_broken_by(tree)]
        return broken, int(-bound / price + ROUNDING) >= len(broken)

    def kept(self, budget: int) -> tuple[list[Constraint], GivenUp | None]:
        """The constraints without the fewest that must be given up, and these, if there are some."""
        broken, fewest = self.broken(budget)
        given_up = GivenUp(tuple(each.name for each in broken), fewest) if broken else None
        return [each for each in self.all if each not in broken], given_up


def with_switches(worth: Float, price: float, rules: Sequence[Bound]) -> tuple[Float, Bound]:
    """Scores (n+R+1, n+R+1, max(L, 2)) with a switch for each of R rules, and a rule of these: the nogoods of all.

    A switch is a word more, behind the others and below the one in front of it, whose label says whether its rule is
    kept, or given up at a price. So both are searched for at once, by the search that finds trees that obey, and with
    its certificate. A nogood of a rule is one with the switch: that goes first, so that what else must go does so where
    the rule is kept.
    """
    nodes, labels = len(worth), worth.shape[2]
    size = nodes + len(rules)
    scores = np.full((size, size, max(labels, GIVEN_UP + 1)), -np.inf)
    scores[:nodes, :nodes, :labels] = worth
    switches = np.arange(nodes, size)
    scores[switches - 1, switches, KEPT] = 0.0
    scores[switches - 1, switches, GIVEN_UP] = -price

    def made(switch: int, choices: Callable[[], Sequence[Choice]]) -> list[Choice]:
        arcs = np.zeros(scores.shape[1:], dtype=np.bool_)
        arcs[:, KEPT] = True
        return [Choice(switch, arcs), *wider(choices)]

    def wider(choices: Callable[[], Sequence[Choice]]) -> list[Choice]:
        return [Choice(word, np.pad(arcs, ((0, len(rules)), (0, 0)))) for word, arcs in choices()]

    def nogoods(tree: LabelledTree) -> Iterator[Nogood]:
        words = LabelledTree(tree.heads[: nodes - 1], tree.labels[: nodes - 1])
        for switch, rule in enumerate(rules, nodes):
            for nogood in rule.nogoods(words) if tree.labels[switch - 1] == KEPT else ():
                both = partial(made, switch, nogood.made), partial(wider, nogood.also_excluded)
                yield Nogood((switch, *nogood.words), *both)

    return scores, Bound(None, np.zeros(0, dtype=np.bool_), nogoods)


def none_found(opened: int, sent_id: str, can_relax: bool = True) -> DeptreeError:
    """What to say where the budget ended without a tree that obeys."""
    problem = f"no tree that obeys the rules was found among {counted(opened, 'maximum tree')}"
    remedy = f"Raise {BUDGET_OPTION}, or give up a rule" + f", or pass {RELAX}" * can_relax
    return DeptreeError(problem, remedy, sent_id=sent_id, options=[BUDGET_OPTION, RELAX])


def listed_names(names: Sequence[str]) -> str:
    """Names as a sentence lists them, of many the first ones: "a", "a and b together"."""
    if len(names) == 1:
        return names[0]
    more = len(names) - MOST_NAMED
    *first, last = [*names[:MOST_NAMED], f"{more} more"] if more > 1 else names
    return f"{', '.join(first)} and {last} together"
