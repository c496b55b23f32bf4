"""The best trees that obey, by division: the first that comes is the best, and that is certain.

The best open problem is a set of labelled trees, given by the arcs that each word may choose, of which the maximum tree
is known. Where that tree has a conflict, choices c1, ..., cm of which one must go, the problem is divided into m: in
the i-th, c1 to c(i-1) stay and ci goes. They have no tree in common, and lose only trees that break the rule. The best
is opened first, so that no tree that obeys is better than the first found (best-first branch and bound; the division is
Lawler's, 1972). Of several conflicts the one is divided without which words lose most.
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
from deptree_cli.core.spaces import TreeSpace, space

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
    """Some of a sentence's labelled trees, the best of them, and the conflict by which they are divided.

    Attributes:
        allowed: the choices of words that have not all of them, (n+1, L) or (n+1, 1).
    """

    allowed: Mapping[int, Bool]
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

    def __post_init__(self) -> None:
        self._arcs = self.scores.max(axis=2)
        self._seen = set[bytes]()
        self._queue: list[tuple[float, int, Problem]] = []
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
        self._open({}, self._arcs)
        while self._queue:
            if self.opened >= self.budget and not self._is_answer(self._queue[0][2]):
                yield from self._uncertain(self._queue[0][2].score)
                return
            problem = heapq.heappop(self._queue)[2]
            if self._is_answer(problem):
                self._seen.add(problem.heads.tobytes())
                yield self._found(problem, 0.0)
            self._divide(problem, problem.conflict or self._same_heads(problem.heads))
        self.is_infeasible = not self._seen

    def _is_answer(self, problem: Problem) -> bool:
        return problem.conflict is None and problem.heads.tobytes() not in self._seen

    def _found(self, problem: Problem, gap: float) -> Found:
        return Found(problem.heads, problem.labels, problem.score, gap, self.opened)

    def _uncertain(self, bound: float) -> Iterator[Found]:
        """What the budget leaves: the best tree that obeys among the open problems and the projective trees."""
        answers = [self._found(each, bound - each.score) for *_, each in self._queue if self._is_answer(each)]
        if self.space.has_short_name and not self.space.projective:  # in trees of another kind not all of them are
            inner = space(self.space.single_root, projective=True)
            division = Division(self.scores, inner, self.finders, self.budget)
            fresh = (tree for tree in division.trees() if tree.heads.tobytes() not in self._seen)
            found = next(fresh, None)
            self.opened += division.opened
            if found is not None:
                gap = max(0.0, bound - found.score)  # sums in another order are rounded otherwise
                answers.append(Found(found.heads, found.labels, found.score, gap, self.opened))
        yield from sorted(answers, key=lambda each: each.gap)[:1]

    def _divide(self, problem: Problem, conflict: Conflict) -> None:
        """Open the parts of a problem in which one of a conflict's choices goes and those before it stay."""
        allowed = dict(problem.allowed)
        arcs = self._arcs.copy()
        for word, left in allowed.items():
            arcs[:, word] = self._column(word, left)
        *others, last = conflict.choices
        for word, choice in others:
            whole = allowed.get(word, np.True_)
            allowed[word] = whole & ~choice
            arcs[:, word] = self._column(word, allowed[word])
            self._open(allowed, arcs)
            allowed[word] = whole & choice
            arcs[:, word] = self._column(word, allowed[word])
        for word, choice in (last, *conflict.also()):
            allowed[word] = allowed.get(word, np.True_) & ~choice
            arcs[:, word] = self._column(word, allowed[word])
        self._open(allowed, arcs)

    def _column(self, word: int, left: Bool) -> Float:
        """The best scores of a word's arcs, (n+1,), with the choices that are left."""
        if left.shape[1] == 1:  # whatever the label
            return np.where(left[:, 0], self._arcs[:, word], -np.inf)
        return np.where(left, self.scores[:, word], -np.inf).max(axis=1)

    def _open(self, allowed: Mapping[int, Bool], arcs: Float) -> None:
        """Find the best tree of a problem, and put it in the queue; nothing if it has no tree."""
        if np.isneginf(arcs[:, 1:]).all(axis=0).any():
            return
        self.opened += 1
        heads, score = self.space.maximum_tree(arcs)
        if score > -np.inf:
            labels = np.array([self._label(allowed, *arc) for arc in enumerate(heads.tolist(), 1)], dtype=np.int32)
            conflict = self._worst_conflict(arcs, allowed, LabelledTree(heads.tolist(), labels.tolist()))
            problem = Problem(dict(allowed), heads, labels, score, conflict)
            heapq.heappush(self._queue, (-score, next(self._order), problem))

    def _label(self, allowed: Mapping[int, Bool], word: int, head: int) -> int:
        """The best label that a word may have below a head."""
        scores = self.scores[head, word]
        return int((np.where(allowed[word][head], scores, -np.inf) if word in allowed else scores).argmax())

    def _worst_conflict(self, arcs: Float, allowed: Mapping[int, Bool], tree: LabelledTree) -> Conflict | None:
        """The conflict without which words lose most: parts then end sooner. None where the tree obeys."""
        conflicts = [conflict for find in self.finders for conflict in find(tree)]
        if len(conflicts) < 2:
            return next(iter(conflicts), None)

        def loss(choice: Choice) -> float:
            left = ~choice.arcs & allowed.get(choice.word, np.True_)
            now = arcs[tree.heads[choice.word - 1], choice.word]
            return max(0.0, float(now - self._column(choice.word, left).max()))

        return max(conflicts, key=lambda conflict: sum(map(loss, conflict.choices)))

    def _same_heads(self, heads: Heads) -> Conflict:
        """The choices that together are all labelings of a tree."""
        rows = np.arange(len(heads) + 1)[:, None] == heads[None, :]
        return Conflict([Choice(word, rows[:, word - 1, None]) for word in range(1, len(heads) + 1)])
