"""The best tree that keeps rules: branch and bound, and Lagrangian relaxation."""

from __future__ import annotations

import heapq
import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from itertools import chain, count, islice, starmap
from typing import Any, NamedTuple

import numpy as np

from deptree_cli.core import errors as settings
from deptree_cli.core.arc_factored import ArcFactored
from deptree_cli.core.dtypes import Bool, Float, Heads, Int, read_only
from deptree_cli.core.errors import DeptreeError, counted
from deptree_cli.core.rule_words import Choice, Conflict, Finder, LabelledTree
from deptree_cli.core.ruleset import Constraint, choices_of, conflicting, finders_of
from deptree_cli.core.spaces import TreeSpace, space
from deptree_cli.kernels.budget import foresee

# What a search wants trees to have as much as possible of: scores of arcs with labels.


class Scores(ABC):
    """Scores of arcs with labels, as a search asks for them."""

    @property
    @abstractmethod
    def whole(self) -> Float:
        """All of them, (n+1, n+1, L), ``[head, dependent, label]``; -inf forbids."""

    @property
    @abstractmethod
    def arcs(self) -> Float:
        """The score of each arc with its best label, (n+1, n+1)."""

    @abstractmethod
    def of(self, heads: Heads) -> Float:
        """The scores of the words of a tree with each label, (n, L), a new array."""


@dataclass(frozen=True, eq=False)
class ScoresAsGiven(Scores):
    """Scores as one array."""

    given: Float

    @property
    def whole(self) -> Float:
        return self.given

    @cached_property
    def arcs(self) -> Float:
        found: Float = self.given.max(axis=2)
        return found

    def of(self, heads: Heads) -> Float:
        return self.given[heads, np.arange(1, len(heads) + 1)]


@dataclass(frozen=True, eq=False)
class LogScores(Scores):
    """The log-scores of a distribution, shifted, so that sums keep their digits.

    Most searches end with the first tree and ask for the labels of its arcs alone: to add up all takes longer.
    """

    distribution: ArcFactored

    @cached_property
    def _shifted(self) -> Float:
        return self.distribution.factorisation.shifted.log_weights

    @cached_property
    def whole(self) -> Float:
        labels = self.distribution.labels
        if labels is None:
            return self._shifted[..., None]
        possible = np.isfinite(self.distribution.log_scores)[..., None] & (labels.log_probs > -np.inf)
        with np.errstate(invalid="ignore"):
            return np.where(possible, self._shifted[..., None] + labels.log_probs, -np.inf)

    @cached_property
    def arcs(self) -> Float:
        """See `Scores`: the same to the last digit, for rounded sums are in the order of what is added."""
        labels, log_scores = self.distribution.labels, self.distribution.log_scores
        if labels is None:
            return self._shifted
        with np.errstate(invalid="ignore"):
            return np.where(np.isfinite(log_scores), self._shifted + labels.best_log_probs, -np.inf)

    def of(self, heads: Heads) -> Float:
        labels, words = self.distribution.labels, np.arange(1, len(heads) + 1)
        own = self._shifted[heads, words, None]
        return own.copy() if labels is None else own + labels.log_probs[heads, words]


# Parts of a sentence's labelled trees: those in which words do not make some choices.


@dataclass(frozen=True, eq=False)
class Best:
    """The best of each node's arcs: scores (2, n+1), of arcs from words and of that from ROOT.

    `at` (3, n+1) holds the head and the label of the one, and the label of the other.
    """

    scores: Float
    at: Int

    def bound(self, space: TreeSpace) -> float:
        """What trees score at most: each word has its best arc; with a single root, one has that from ROOT."""
        words, root = self.scores[:, 1:]
        if not space.single_root:
            return float(np.maximum(words, root).sum())
        rootless = words == -np.inf
        if rootless.any():  # without another arc: only one word may be so
            return -np.inf if rootless.sum() > 1 else float(words[~rootless].sum() + root[rootless][0])
        return float(words.sum() + (root - words).max())


@dataclass(frozen=True, eq=False)
class Part:
    """What is left of a sentence's choices; of words that are in none of these, all.

    Attributes:
        labels: which labels words may have below which heads, (n+1, L).
        columns: the best scores of words' arcs, (n+1,), -inf where none is left.
        gone: choices that `labels` and `columns` still have: most parts are never opened.
    """

    best: Best | None = None
    labels: Mapping[int, Bool] = field(default_factory=dict)
    columns: Mapping[int, Float] = field(default_factory=dict)
    gone: Mapping[int, Bool] = field(default_factory=dict)

    def bound(self, space: TreeSpace) -> float:
        return np.inf if self.best is None else self.best.bound(space)


class Parts:
    """Makes parts of a sentence."""

    def __init__(self, scores: Scores) -> None:
        self._scores = scores

    def without(self, part: Part, choices: Iterable[Choice]) -> Part:
        """What is left of a part where words do not make these choices."""
        gone, best = dict(part.gone), part.best or self._best
        scores, at = best.scores.copy(), best.at.copy()
        for word, arcs in choices:
            gone[word] = gone[word] | arcs if word in gone else arcs
            head, label, below_root = at[:, word].tolist()
            of_all = arcs.shape[1] == 1
            if arcs[head, 0 if of_all else label] or arcs[0, 0 if of_all else below_root]:
                self._fill_most_left(part, word, gone[word], scores, at)
        return Part(Best(scores, at), part.labels, part.columns, gone)

    def most_left(self, part: Part, word: int, gone: Bool) -> float:
        scores, at = self._room
        self._fill_most_left(part, word, gone, scores, at)
        return max(scores[:, word].tolist())

    def _fill_most_left(self, part: Part, word: int, gone: Bool, scores: Float, at: Int) -> None:
        column, kept = part.columns.get(word), part.labels.get(word)
        given = self._columns[word] if column is None else column, self._any if kept is None else kept
        self._kernels.most_left(self._whole, word, *given, np.ascontiguousarray(gone), scores, at)

    def worked_out(self, part: Part) -> Part:
        """The same part without choices beside what is left."""
        if not part.gone:
            return part
        labels, columns = dict(part.labels), dict(part.columns)
        for word, arcs in part.gone.items():
            column = columns.get(word, self._columns[word])
            if arcs.shape[1] == 1:  # whatever the label
                columns[word] = np.where(arcs[:, 0], -np.inf, column)
            else:
                kept, columns[word] = labels.get(word, self._any), np.empty(len(column))
                labels[word] = np.empty(arcs.shape, dtype=np.bool_)
                given = self._whole, word, column, kept, np.ascontiguousarray(arcs)
                self._kernels.fill_kept(*given, labels[word], columns[word])
        return Part(part.best, labels, columns)

    @cached_property
    def _kernels(self) -> Any:
        from deptree_cli.kernels import trees as choices  # loads kernels: when there is work

        return choices

    @cached_property
    def _whole(self) -> Float:
        return read_only(np.ascontiguousarray(self._scores.whole).view())

    @cached_property
    def _best(self) -> Best:
        arcs, nodes = self._scores.arcs, np.arange(len(self._columns))
        heads = arcs[1:].argmax(axis=0) + 1
        labels = (self._whole[each, nodes].argmax(axis=1) for each in (heads, np.zeros_like(heads)))
        return Best(np.stack([arcs[heads, nodes], arcs[0]]), np.stack([heads, *labels]))

    @cached_property
    def _room(self) -> tuple[Float, Int]:
        size = len(self._columns)
        return np.empty((2, size)), np.empty((3, size), dtype=np.int64)

    @cached_property
    def _columns(self) -> Float:
        return np.ascontiguousarray(self._scores.arcs.T)

    @cached_property
    def _any(self) -> Bool:
        return np.ones((len(self._columns), 1), dtype=np.bool_)


# The best trees that obey, by division: the first that comes is the best, and that is certain.
#
# The best open problem is a set of labelled trees, given by the arcs that each word may choose, of which the maximum
# tree is known. Where that tree has a conflict, choices c1, ..., cm of which one must go, the problem is divided into
# m: in the i-th, c1 to c(i-1) stay and ci goes. They have no tree in common, and lose only trees that break the rule.
# The best is opened first, so that no tree that obeys is better than the first found (best-first branch and bound;
# the division is Lawler's, 1972). A part waits in the queue, by the sum of its words' best arcs, until no other
# promises more: most are never opened.


# How many maximum trees each tree that is found may cost: what takes more takes far more.
BUDGET = 300

# So many parts that wait are opened when the budget ends.
LOOKED_INTO = 32

# Of so many conflicts the worst is looked for: of more it is hardly a worse one, and each takes time.
COMPARED = 8


@dataclass(frozen=True, eq=False)
class Found:
    """A tree that obeys.

    `gap` is by how much a better tree might be better, 0 is certain; `opened` counts the maximum trees until then.
    """

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
    """Some of a sentence's labelled trees, the best of them, and the conflict by which they are divided."""

    part: Part
    heads: Heads
    labels: Heads
    score: float
    conflict: Conflict | None


@dataclass(eq=False)
class BranchAndBound:
    """The search of one sentence.

    Args:
        budget: how many maximum trees may be looked for, for each tree that is found.
        scale: parts that lose so much are opened about a third as often.
    """

    scores: Scores | Float
    space: TreeSpace
    finders: Sequence[Finder]
    budget: int = BUDGET
    scale: float = 1.0
    opened: int = field(init=False, default=0)
    is_infeasible: bool = field(init=False, default=False)

    def __post_init__(self) -> None:
        self._scores = self.scores if isinstance(self.scores, Scores) else ScoresAsGiven(self.scores)
        self._arcs = self._scores.arcs
        self._divided = Parts(self._scores)
        self._seen = set[bytes]()
        self._queue: list[tuple[float, int, Part | Subproblem]] = []
        self._order = count()

    def best(self) -> Found | None:
        """The best tree that obeys, or the best found within the budget; None if there is none, or none was found.

        `is_infeasible` tells the two apart.
        """
        return next(self.trees(), None)

    def trees(self) -> Iterator[Found]:
        """The trees that obey, the best first, each array of heads once with its best labels.

        The last may not be certain, where the budget ends; then there are no more.
        """
        if (whole := self._opened(Part())) is not None:
            self._push(whole.score, whole)
        before = 0
        while self._queue:
            bound, _, first = self._queue[0]
            if self.opened - before >= self.budget and not self._is_answer(first):
                yield from self._uncertain(-bound)
                return
            heapq.heappop(self._queue)
            if isinstance(first, Part):
                if (problem := self._opened(first)) is not None:
                    self._push(problem.score, problem)
                continue
            if self._is_answer(first):
                self._seen.add(first.heads.tobytes())
                yield self._found(first, 0.0)
                before = self.opened
            for part in self._parts(first):
                self._push(min(-bound, part.bound(self.space)), part)
        self.is_infeasible = not self._seen

    def _push(self, bound: float, item: Part | Subproblem) -> None:
        """Put something into the queue, of which no tree scores more than a bound; nothing if it has no tree."""
        if bound > -np.inf:
            heapq.heappush(self._queue, (-bound, next(self._order), item))

    def _is_answer(self, item: Part | Subproblem) -> bool:
        return isinstance(item, Subproblem) and item.conflict is None and item.heads.tobytes() not in self._seen

    def _found(self, problem: Subproblem, gap: float) -> Found:
        return Found(problem.heads, problem.labels, problem.score, gap, self.opened)

    def _uncertain(self, bound: float) -> Iterator[Found]:
        """What the budget leaves: the best tree that obeys among the open problems and the projective trees."""
        waiting = [each for *_, each in heapq.nsmallest(LOOKED_INTO, self._queue) if isinstance(each, Part)]
        problems = [each for *_, each in self._queue if isinstance(each, Subproblem)]
        problems += filter(None, map(self._opened, waiting))
        answers = filter(self._is_answer, problems)
        found = [self._found(each, max(0.0, bound - each.score)) for each in answers]
        if self.space.has_short_name and not self.space.projective:  # in trees of another kind not all of them are
            inner = space(self.space.single_root, projective=True)
            division = BranchAndBound(self.scores, inner, self.finders, self.budget, self.scale)
            fresh = (tree for tree in division.trees() if tree.heads.tobytes() not in self._seen)
            best = next(fresh, None)
            self.opened += division.opened
            if best is not None:
                gap = max(0.0, float(bound - best.score))  # sums in another order are rounded otherwise
                found.append(Found(best.heads, best.labels, best.score, gap, self.opened))
        yield from sorted(found, key=lambda each: each.gap)[:1]

    def _parts(self, problem: Subproblem) -> Iterator[Part]:
        """The parts of a problem in which one of a conflict's choices goes and those before it stay."""
        part, conflict = problem.part, problem.conflict or self._same_heads(problem.heads)
        *others, last = conflict.choices
        for choice in others:
            yield self._divided.without(part, [choice])
            part = self._divided.without(part, [Choice(choice.word, ~choice.arcs)])
        yield self._divided.without(part, (last, *conflict.also_excluded()))

    def _opened(self, part: Part) -> Subproblem | None:
        """A part with its best tree; None if it has no tree."""
        if part.bound(self.space) == -np.inf:
            return None
        arcs, part = self._arcs.copy(), self._divided.worked_out(part)
        if part.columns:
            arcs[:, list(part.columns)] = np.array(list(part.columns.values())).T
        self.opened += 1
        foresee(self._arcs.size)
        heads, score = self.space.maximum_tree(arcs)
        if score == -np.inf:
            return None
        labels = self._labels(part, heads)
        conflict = self._worst_conflict(arcs, part, heads, labels)
        return Subproblem(part, heads, labels, score, conflict)

    def _labels(self, part: Part, heads: Heads) -> Heads:
        scores = self._scores.of(heads)
        if part.labels:
            own = heads.tolist()
            rows = np.array([left[own[word - 1]] for word, left in part.labels.items()])
            words = np.array(list(part.labels)) - 1
            scores[words] = np.where(rows, scores[words], -np.inf)
        return scores.argmax(axis=1).astype(np.int32)

    def _worst_conflict(self, arcs: Float, part: Part, heads: Heads, labels: Heads) -> Conflict | None:
        """The conflict of which the fewest parts are likely to be opened: each counts the less, the more its word loses
        without its choice. None where the tree obeys."""
        tree = LabelledTree(heads.tolist(), labels.tolist())
        conflicts = list(islice(chain.from_iterable(find(tree) for find in self.finders), COMPARED))
        if len(conflicts) < 2:
            return next(iter(conflicts), None)
        found, fewest, own = None, math.inf, arcs[heads, np.arange(1, len(arcs))].tolist()
        for conflict in conflicts:
            count = 0.0
            for word, gone in conflict.choices:
                loss = max(0.0, own[word - 1] - self._divided.most_left(part, word, gone))
                count += math.exp(-loss / self.scale)
                if count >= fewest:
                    break
            else:
                found, fewest = conflict, count
        return found

    def _same_heads(self, heads: Heads) -> Conflict:
        rows, words = np.arange(len(heads) + 1)[:, None] == heads[None, :], tuple(range(1, len(heads) + 1))
        return Conflict(words, lambda: [Choice(word, rows[:, word - 1, None]) for word in words])


# Where no tree obeys: which constraints cannot hold together, and the tree that breaks the fewest of them.
#
# That tree is the best one where each broken constraint costs more than trees differ by. What a constraint forbids a
# word costs the word's arcs; a constraint that only a tree decides gets a switch: a word more, behind the others,
# whose label says whether the constraint is kept, or given up at the same price. Its conflicts are between arcs of
# the tree and the switch. So both are searched for at once, by the search that finds trees that obey, and with its
# certificate.


# Of so many a message tells the names, and of one more.
MOST_NAMED = 6

# Labels of a switch.
KEPT, GIVEN_UP = 0, 1

# What counts of constraints may be off by, worked out from scores.
ROUNDING = 1e-9


class GivenUp(NamedTuple):
    """The constraints that were dropped so that some tree satisfies the others.

    They are `fewest` if it is certain that fewer are not enough.
    """

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
        """The log-scores of arcs with labels, (n+1, n+1, L)."""
        scores = self.base.joint_log_scores()
        return scores.reshape(*scores.shape[:2], -1)

    def forbidden(self, constraints: Sequence[Constraint]) -> Bool:
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
        """The fewest constraints without which some tree obeys, and whether fewer are certainly not enough.

        Of as few, those whose best tree is the best; `budget` is how many maximum trees it may take.
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

    `scores` are (n+R+1, n+R+1, max(L, 2)), with R switches, of constraints that only a tree decides, behind the words,
    each below the one in front of it. The best arc of a word costs 0, so that a tree's score tells how many constraints
    it breaks at least.
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
        return int(-bound / self._price + ROUNDING)

    def without_switches(self, tree: LabelledTree) -> LabelledTree:
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
            made = partial(lambda made: [Choice(switch, arcs), *self._wider(made())], conflict.made)
            also_excluded = partial(lambda excluded: self._wider(excluded()), conflict.also_excluded)
            yield Conflict((switch, *conflict.words), made, also_excluded)

    def _wider(self, choices: Sequence[Choice]) -> list[Choice]:
        rows = len(self._finders)
        return list(starmap(lambda word, arcs: Choice(word, np.pad(arcs, ((0, rows), (0, 0)))), choices))


def listed_names(names: Sequence[str]) -> str:
    """Names as a sentence lists them, of many the first ones: "a", "a and b together"."""
    if len(names) == 1:
        return names[0]
    more = len(names) - MOST_NAMED
    *first, last = [*names[:MOST_NAMED], f"{more} more"] if more > 1 else names
    return f"{', '.join(first)} and {last} together"
