"""The best trees that obey, by division: the first that comes is the best, and that is certain.

The best open problem is a set of labelled trees, given by the arcs that each word may choose, of which the maximum tree
is known. Where that tree has a conflict, choices c1, ..., cm of which one must go, the problem is divided into m: in
the i-th, c1 to c(i-1) stay and ci goes. They have no tree in common, and lose only trees that break the rule. The best
is opened first, so that no tree that obeys is better than the first found (best-first branch and bound; the division is
Lawler's, 1972). A part waits in the queue, by the sum of its words' best arcs, until no other promises more: most are
never opened.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import count

import numpy as np

from deptree_cli.core.constraints.conflicts import Choice, Conflict, Finder
from deptree_cli.core.constraints.parts import Part, Parts
from deptree_cli.core.constraints.screening import first_conflicts
from deptree_cli.core.constraints.search_scores import Scores, ScoresAsGiven
from deptree_cli.core.dtypes import Float, Heads
from deptree_cli.core.spaces import TreeSpace, space
from deptree_cli.kernels.budget import foresee

# How many maximum trees each tree that is found may cost: what takes more takes far more.
BUDGET = 300

# So many parts that wait are opened when the budget ends.
LOOKED_INTO = 32

# Of so many conflicts the worst is looked for: of more it is hardly a worse one, and each takes time.
COMPARED = 8


@dataclass(frozen=True, eq=False)
class Found:
    """A tree that obeys.

    Attributes:
        heads: (n,).
        labels: (n,), numbers of labels.
        score: the sum of its scores.
        gap: by how much a better tree might be better; 0 is certain.
        opened: how many maximum trees it took until then.
    """

    heads: Heads
    labels: Heads
    score: float
    gap: float
    opened: int

    @property
    def certified(self) -> bool:
        """Whether no tree that obeys is better."""
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
        scores: what trees have as much as possible of, (n+1, n+1, L) where they are an array.
        space: the trees.
        finders: what finds conflicts.
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
        """The best labels that words may have below their heads."""
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
        conflicts = first_conflicts(self.finders, heads, labels, COMPARED)
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
        """The choices that together are all labelings of a tree."""
        rows, words = np.arange(len(heads) + 1)[:, None] == heads[None, :], tuple(range(1, len(heads) + 1))
        return Conflict(words, lambda: [Choice(word, rows[:, word - 1, None]) for word in words])
