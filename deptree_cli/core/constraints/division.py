"""The best trees that obey, by division: the first that comes is the best, and that is certain.

The best open problem is a set of labelled trees, given by the arcs that each word may choose, of which the maximum tree
is known. Where that tree has a conflict, choices c1, ..., cm of which one must go, the problem is divided into m: in
the i-th, c1 to c(i-1) stay and ci goes. They have no tree in common, and lose only trees that break the rule. The best
is opened first, so that no tree that obeys is better than the first found (best-first branch and bound; the division is
Lawler's, 1972).
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count

import numpy as np

from deptree_cli.core.constraints.conflicts import Choice, Conflict, Finder
from deptree_cli.core.constraints.words import LabelledTree
from deptree_cli.core.dtypes import Bool, Float, Heads
from deptree_cli.core.spaces import TreeSpace

# How many maximum trees a sentence may cost.
BUDGET = 1000


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
class Problem:
    """Some of a sentence's labelled trees, the best of them and its first conflict.

    Attributes:
        allowed: the choices of words that have not all of them, (n+1, L).
        arcs: (n+1, n+1), each arc's score with its best label.
    """

    allowed: Mapping[int, Bool]
    arcs: Float
    heads: Heads
    labels: Heads
    score: float
    conflict: Conflict | None


@dataclass(eq=False)
class Division:
    """The search of one sentence.

    Args:
        scores: (n+1, n+1, L), ``[head, dependent, label]``, what trees have as much as possible of; -inf forbids.
        space: the trees.
        finders: what finds conflicts.
        budget: how many maximum trees may be looked for.
    """

    scores: Float
    space: TreeSpace
    finders: Sequence[Finder]
    budget: int = BUDGET
    opened: int = field(init=False, default=0)
    is_infeasible: bool = field(init=False, default=False)

    def best(self) -> Found | None:
        """The best tree that obeys, or the best found within the budget; None if there is none, or none was found.

        `is_infeasible` tells the two apart.
        """
        return next(self.trees(), None)

    def trees(self) -> Iterator[Found]:
        """The trees that obey, the best first, each array of heads once with its best labels.

        The last may not be certain, where the budget ends; then there are no more.
        """
        order, given, seen = count(), [self._whole()], set[bytes]()
        queue: list[tuple[float, int, Problem]] = []
        incumbent: Problem | None = None
        while True:
            for problem in filter(None, given):
                heapq.heappush(queue, (-problem.score, next(order), problem))
                obeys = problem.conflict is None and problem.heads.tobytes() not in seen
                if obeys and (incumbent is None or problem.score > incumbent.score):
                    incumbent = problem
            if not queue:
                self.is_infeasible = not seen
                return
            if self.opened >= self.budget and queue[0][2] is not incumbent:
                yield from self._uncertain(incumbent, queue[0][2])
                return
            problem = heapq.heappop(queue)[2]
            if problem.conflict is None and (key := problem.heads.tobytes()) not in seen:
                seen.add(key)
                yield self._found(problem, 0.0)
                incumbent = max(
                    (each for _, _, each in queue if each.conflict is None and each.heads.tobytes() not in seen),
                    key=lambda each: each.score,
                    default=None,
                )
            given = list(self._parts(problem, problem.conflict or self._same_heads(problem.heads)))

    def _uncertain(self, incumbent: Problem | None, best: Problem) -> Iterator[Found]:
        """What the budget leaves: the best tree that obeys so far, or the first that going down from the best gives."""
        bound = best.score
        for _ in range(self.budget):
            if incumbent is not None or best is None:
                break
            assert best.conflict is not None
            parts = [part for part in self._parts(best, best.conflict) if part is not None]
            incumbent = max((each for each in parts if each.conflict is None), key=_score, default=None)
            best = max(parts, key=_score, default=None)  # type: ignore[assignment]
        if incumbent is not None:
            yield self._found(incumbent, bound - incumbent.score)

    def _found(self, problem: Problem, gap: float) -> Found:
        return Found(problem.heads, problem.labels, problem.score, gap, self.opened)

    def _whole(self) -> Problem | None:
        return self._solved({}, self.scores.max(axis=2))

    def _parts(self, problem: Problem, conflict: Sequence[Choice]) -> Iterator[Problem | None]:
        """The parts of a problem in which one of these choices goes and those before it stay."""
        allowed, arcs = dict(problem.allowed), problem.arcs
        for word, choice in conflict:
            yield self._limited(allowed, arcs, word, ~choice)
            allowed[word] = choice & allowed.get(word, True)
            arcs = self._with_column(arcs, word, allowed[word])

    def _limited(self, allowed: Mapping[int, Bool], arcs: Float, word: int, choice: Bool) -> Problem | None:
        """The problem in which a word chooses among these too."""
        left = choice & allowed.get(word, True)
        return self._solved({**allowed, word: left}, self._with_column(arcs, word, left))

    def _with_column(self, arcs: Float, word: int, choice: Bool) -> Float:
        changed = arcs.copy()
        changed[:, word] = np.where(choice, self.scores[:, word], -np.inf).max(axis=1)
        return changed

    def _solved(self, allowed: Mapping[int, Bool], arcs: Float) -> Problem | None:
        """The problem with its best tree; None if it has none."""
        self.opened += 1
        if np.isneginf(arcs[:, 1:]).all(axis=0).any():
            return None
        heads, score = self.space.maximum_tree(arcs)
        if score == -np.inf:
            return None
        labels = np.array([self._label(allowed, word, head) for word, head in enumerate(heads.tolist(), 1)], np.int32)
        tree = LabelledTree(heads.tolist(), labels.tolist())
        conflict = next((found for find in self.finders if (found := find(tree))), None)
        return Problem(allowed, arcs, heads, labels, score, conflict)

    def _label(self, allowed: Mapping[int, Bool], word: int, head: int) -> int:
        """The best label that a word may have below a head."""
        scores = self.scores[head, word]
        return int((np.where(allowed[word][head], scores, -np.inf) if word in allowed else scores).argmax())

    def _same_heads(self, heads: Heads) -> Conflict:
        """The choices that together are all labelings of a tree."""
        rows = np.arange(len(heads) + 1)[:, None] == heads[None, :]
        shape = self.scores.shape[0], self.scores.shape[2]
        return [Choice(word, np.broadcast_to(rows[:, word - 1, None], shape)) for word in range(1, len(heads) + 1)]


def _score(problem: Problem) -> float:
    return problem.score
