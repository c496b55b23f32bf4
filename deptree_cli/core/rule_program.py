"""The best tree under rules by a linear program, for sentences that a search leaves open: branch and cut on HiGHS.

The program makes the costs of chosen arcs with labels, x[head, dependent, label] >= 0, as small as possible; each word
has one. Arcs are columns, priced in where they may help. Rows are separated where a point of the program breaks them:
cycle cuts, cliques of arcs of which rules allow one, min cuts of what must descend from a head, and nogoods of trees
that are near.

No proof rests on HiGHS: its duals of the rules' rows are prices of arcs, and the kernel's maximum tree of what is left
bounds the costs of all trees (Lagrangian relaxation), whatever these duals are worth.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from heapq import heappop, heappush
from itertools import chain, count, islice
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import coo_matrix, csr_matrix
from scipy.sparse.csgraph import connected_components

from deptree_cli.core.dtypes import Bool, Float, Heads, Int
from deptree_cli.core.errors import DeptreeError
from deptree_cli.core.rules import AtMostOne, Bound, LabelledTree, Nogood, OutOfGaps, ProjectiveArcs
from deptree_cli.core.spaces import TreeSpace, space

# A point breaks a row by more than this. Arcs are priced in, and bounds are apart, by more than that of the costs.
BROKEN, NEAR = 1e-6, 1e-11

# The least tolerance that HiGHS takes.
LEAST = 1e-10

# So much at most is added to the cost of an arc, so that of equal trees one is the best, whatever vertex HiGHS finds.
ORDER = 2.0**-17

# How many arcs of a word are priced in at once, nogoods of a rule and all rows are added at once, and rows are kept.
PRICED, NOGOODS, CUTS, ROWS = 3, 20, 60, 500

# After this many rounds whole costs are rounded, and a subproblem is divided if its bound rose by less than this share
# of what is left.
ROUNDED, STALLED, SLOW = 8, 8, 0.02

# Rounds of long sentences take longer: up to this many words the whole budget is spent.
LONG = 65


# Cells of a row, and the coefficient of all of them, or one of each.
Terms = tuple[Int, Any]


class Inequality:
    """The sum of the coefficients of a tree's arcs is at most `most`: a row of the program.

    Attributes:
        arcs: cells of an array (n+1, n+1), and their coefficients, whatever the label.
        labelled: cells of an array (n+1, n+1, L), and theirs.
        helpful: of some words the least coefficient of their arcs, which is below 0.
        of_rules: whether a rule asks for it; trees obey the others anyway.
    """

    def __init__(
        self,
        most: float,
        arcs: Sequence[Terms] = (),
        labelled: Sequence[Terms] = (),
        helpful: Mapping[int, float] | None = None,
        of_rules: bool = True,
    ) -> None:
        self.most, self.helpful, self.of_rules = most, helpful or {}, of_rules
        self.arcs, self.labelled = (
            _joined([(own, np.broadcast_to(np.asarray(value, np.float64), own.shape)) for own, value in parts])
            for parts in (arcs, labelled)
        )


def _joined(parts: Sequence[tuple[Int, Float]]) -> tuple[Int, Float]:
    return (
        np.concatenate([np.empty(0, np.int64), *(own for own, _ in parts)]),
        np.concatenate([np.empty(0), *(values for _, values in parts)]),
    )


def cells(heads: Bool, words: Int | int, group: Bool | None = None) -> Int:
    """The cells of arcs from some heads (n+1,) to some words, with the labels of a group (L,) or whatever the label."""
    found = (np.flatnonzero(heads)[:, None] * len(heads) + np.atleast_1d(words)).ravel()
    return found if group is None else (found[:, None] * len(group) + np.flatnonzero(group)).ravel()


def clause(nogood: Nogood) -> Inequality:
    """Of m choices one must go. A choice of most of a word's arcs is one less the others."""
    parts: tuple[list[Terms], list[Terms]] = [], []
    most, helpful = len(nogood.choices) - 1.0, dict[int, float]()
    for word, arcs in nogood.choices:
        nodes, size = arcs.shape
        if mostly := np.count_nonzero(arcs) > arcs.size / 2:
            most, helpful[word] = most - 1.0, -1.0
        heads, labels = np.nonzero(arcs != mostly)
        own = heads * nodes + word
        parts[size > 1].append((own if size == 1 else own * size + labels, -1.0 if mostly else 1.0))
    return Inequality(most, *parts, helpful)


def entering(nodes: Bool) -> tuple[float, Terms, dict[int, float]]:
    """A number less the arcs that enter some nodes (n+1,), as terms of a row: by these or by the arcs inside."""
    words = np.flatnonzero(nodes[1:]) + 1
    if 2 * len(words) > len(nodes):
        return 0.0, (cells(~nodes, words), -1.0), dict.fromkeys(words.tolist(), -1.0)
    return float(len(words)), (cells(nodes, words), 1.0), {}


def cut(words: Bool) -> Inequality:
    """Of some words (n+1,) one has its head outside: there is no cycle among them."""
    number, arcs, helpful = entering(words)
    return Inequality(number - 1.0, [arcs], (), helpful, of_rules=False)


def one_below(head: int, group: Bool, n: int) -> Inequality:
    """One word has this head and a label of a group (L,)."""
    nodes = np.arange(n + 1)
    return Inequality(1.0, (), [(cells(nodes == head, nodes[(nodes != head) & (nodes > 0)], group), 1.0)])


@dataclass(frozen=True, eq=False)
class Point:
    """A solution of a program: arcs with labels and their values; and what each node's arcs are short of 1, (n+1,)."""

    heads: Int
    words: Int
    labels: Int
    values: Float
    missing: Float

    def of(self, group: Bool) -> Float:
        """How much of each arc there is with labels of a group (L,), (n+1, n+1)."""
        found = np.zeros((len(self.missing), len(self.missing)))
        np.add.at(found, (self.heads, self.words), self.values * group[self.labels])
        return found

    @cached_property
    def arcs(self) -> Float:
        """How much of each arc there is with any label, (n+1, n+1)."""
        return self.of(np.ones(int(self.labels.max(initial=0)) + 1, dtype=np.bool_))

    @property
    def is_whole(self) -> bool:
        return bool(np.abs(self.values - np.rint(self.values)).max(initial=0.0) < BROKEN)


class LinearProgram:
    """A linear program of arcs with labels of costs (n+1, n+1, L), inf forbids, whose rows and columns grow."""

    def __init__(self, costs: Float, single_root: bool, pivots: int) -> None:
        try:
            import highspy  # where a sentence needs it
        except ImportError:
            problem = "the search left open which tree is the best, and highspy, which settles that, is not installed"
            raise DeptreeError(problem, "Install it: pip install highspy") from None
        self.given, self.pivots = costs, pivots
        self.n, self.size = n, _ = len(costs) - 1, costs.shape[2]
        finite = np.isfinite(costs)
        least = costs.min(initial=np.inf, where=finite)
        self.scale = 1.0 + float(costs.max(initial=-np.inf, where=finite) - least)
        self.rows: list[Inequality] = []
        self.duals: Float = np.empty(0)
        self.columns = self._arcs = np.empty(0, np.int64)  # the cell of each, and that of its arc
        self._place = np.full(costs.size, -1, np.int32)  # the column of each cell
        api: Any = highspy
        self._highs = api._Highs()  # Highs() prints what it is, since 1.16
        options = {"output_flag": False, "threads": 1, "presolve": "off", "solver": "simplex"}
        tolerances = {"primal_feasibility_tolerance": LEAST, "dual_feasibility_tolerance": LEAST}
        for name, value in (options | tolerances).items():
            self._highs.setOptionValue(name, value)
        self._inf, self._price = highspy.kHighsInf, 10.0 * self.scale
        words, nothing = np.arange(n, dtype=np.int32), np.empty(0, np.int32)
        for _ in range(n):
            self._highs.addRow(1.0, 1.0, 0, nothing, np.empty(0))
        # What is missing of a word's arc keeps the program feasible, at a price.
        prices, most = np.full(n, self._price), np.full(n, self._inf)
        self._highs.addCols(n, prices, np.zeros(n), most, n, words, words, np.ones(n))
        self.restrict([])
        roots = [Inequality(1.0, [(np.arange(1, n + 1), 1.0)], of_rules=False)] if single_root else []
        self.add_rows([*roots, cut(np.arange(n + 1) > 0)])
        self._first = len(self.rows)

    def add_rows(self, rows: Sequence[Inequality]) -> None:
        self._keep([*self.rows, *rows])
        starts, index, values = [0], list[Int](), list[Float]()
        for each in rows:
            own = self._coefficients(each)
            columns = np.flatnonzero(own)
            index += [np.array(list(each.helpful), np.int64) - 1, columns + self.n]
            values += [np.array(list(each.helpful.values())), own[columns]]
            starts.append(starts[-1] + len(each.helpful) + len(columns))
        least, most = np.full(len(rows), -self._inf), np.array([each.most for each in rows])
        terms = np.array(starts[:-1], np.int32), np.concatenate(index).astype(np.int32), np.concatenate(values)
        self._highs.addRows(len(rows), least, most, starts[-1], *terms)

    def _keep(self, rows: list[Inequality]) -> None:
        """Have these rows: each coefficient's row, its cell and itself, of arcs whatever the label, and with one."""
        self.rows, parts = rows, ([each.arcs for each in rows], [each.labelled for each in rows])
        self._by_arcs, self._by_labels = (
            (np.repeat(np.arange(len(rows)), [len(own) for own, _ in part]), *_joined(part)) for part in parts
        )

    def _coefficients(self, each: Inequality) -> Float:
        """Those of a row at each column."""
        by_arcs = np.zeros(self.least.size)
        by_arcs[each.arcs[0]] = each.arcs[1]
        found, places = by_arcs[self._arcs], self._place[each.labelled[0]]
        found[places[places >= 0]] += each.labelled[1][places >= 0]
        return found

    def add_columns(self, new: Int) -> bool:
        """Price arcs in, each with one label; whether some were not there."""
        new = np.unique(new[self._place[new] < 0])
        if not (size := len(new)):
            return False
        self._place[new] = np.arange(len(self.columns), len(self.columns) + size)
        self.columns, arcs = np.concatenate([self.columns, new]), new // self.size
        self._arcs = np.concatenate([self._arcs, arcs])
        terms = [(arcs % (self.n + 1) - 1, np.arange(size), np.ones(size))]
        for (rows, known, values), own in ((self._by_arcs, arcs), (self._by_labels, new)):
            places = np.searchsorted(own, known)
            there = own[np.minimum(places, size - 1)] == known
            terms.append((rows[there] + self.n, places[there], values[there]))
        rows, columns, values = (np.concatenate(each) for each in zip(*terms, strict=True))
        matrix = coo_matrix((values, (rows, columns)), (self.n + len(self.rows), size)).tocsc()
        own, most = self.costs.ravel()[new], np.full(size, self._inf)
        self._highs.addCols(
            size, own, np.zeros(size), most, matrix.nnz, matrix.indptr[:-1], matrix.indices, matrix.data
        )
        return True

    def restrict(self, fixed: Sequence[tuple[int, Bool]], costs: Float | None = None) -> None:
        """Allow some words these arcs with labels (n+1, L) only; by other costs if some are given."""
        self.costs = self.given if costs is None else costs
        if fixed:
            self.costs = self.costs.copy()
        for word, arcs in fixed:
            self.costs[:, word][~arcs] = np.inf
        self.labels, self.least = self.costs.argmin(axis=2), self.costs.min(axis=2)
        if size := len(self.columns):
            own = self.costs.ravel()[self.columns]
            index, allowed = np.arange(self.n, self.n + size, dtype=np.int32), np.isfinite(own)
            self._highs.changeColsBounds(size, index, np.zeros(size), np.where(allowed, self._inf, 0.0))
            self._highs.changeColsCost(size, index, np.where(allowed, own, 0.0))

    def purge(self) -> None:
        if len(self.rows) > ROWS:  # those that do not bind go
            kept = self.duals < -NEAR
            kept[: self._first] = True
            gone = np.flatnonzero(~kept) + self.n
            self._highs.deleteRows(len(gone), gone.astype(np.int32))
            self._keep([each for each, stays in zip(self.rows, kept.tolist(), strict=True) if stays])
            self.duals = self.duals[kept]

    def solve(self) -> bool:
        """Find a point, with every arc that helps; whether the pivots sufficed."""
        while True:
            self._highs.setOptionValue("simplex_iteration_limit", max(0, self.pivots))
            self._highs.run()
            solution = self._highs.getSolution()
            self.pivots -= max(0, self._highs.getInfo().simplex_iteration_count)
            values, duals = np.array(solution.col_value), np.array(solution.row_dual)
            self.duals = np.minimum(duals[self.n :], 0.0)
            arcs, labels = np.divmod(self.columns, self.size)
            missing = np.concatenate([[0.0], values[: self.n]])
            self.point = Point(*np.divmod(arcs, self.n + 1), labels, values[self.n :], missing)
            if self.pivots <= 0:
                return False
            least, labels = self.reduced(self.duals)
            gains = least[:, 1:] - duals[: self.n]
            heads = np.argsort(gains, axis=0, kind="stable")[:PRICED]
            words = np.broadcast_to(np.arange(self.n), heads.shape)
            good = gains[heads, words] < -NEAR * self.scale
            heads, words = heads[good], words[good] + 1
            if not self.add_columns((heads * (self.n + 1) + words) * self.size + labels[heads, words]):
                return True

    def reduced(self, duals: Float) -> tuple[Float, Int]:
        """What arcs cost at least, less what rows pay for them, (n+1, n+1), and the labels that cost that."""
        rows, cells, values = self._by_arcs
        paid = np.bincount(cells, values * duals[rows], self.least.size)
        least, labels = self.least - paid.reshape(self.least.shape), self.labels
        paying = (duals != 0)[self._by_labels[0]]
        rows, cells, values = (each[paying] for each in self._by_labels)
        if len(cells):
            labels, arcs = labels.copy(), cells // self.size
            is_touched = np.zeros(least.size, dtype=np.bool_)
            is_touched[arcs] = True
            touched = np.flatnonzero(is_touched)
            own = self.costs.reshape(-1, self.size)[touched]
            places = (np.cumsum(is_touched) - 1)[arcs] * self.size + cells % self.size
            own = own - np.bincount(places, values * duals[rows], own.size).reshape(own.shape)
            labels.ravel()[touched] = own.argmin(axis=1)
            least.ravel()[touched] = own.min(axis=1) - paid[touched]
        return least, labels

    def relaxation(self, trees: TreeSpace) -> tuple[float, Heads, Heads]:
        """What trees that obey cost at least, inf if there are none, and the tree that does where rows are priced."""
        duals = np.where([each.of_rules for each in self.rows], self.duals, 0.0)
        least, labels = self.reduced(duals)
        heads, score = trees.maximum_tree(np.ascontiguousarray(-least))
        if score == -np.inf:
            return np.inf, heads, heads
        paid = float(duals @ np.array([each.most for each in self.rows]))
        return paid - score, heads, labels[heads, np.arange(1, self.n + 1)].astype(np.int32)

    def worst(self, rows: Iterable[Inequality]) -> list[Inequality]:
        """Of some rows those that the point breaks most."""
        parts = ((each, (*each.arcs, each.labelled[0])) for each in rows)
        distinct = list({(each.most, *(part.tobytes() for part in own)): each for each, own in parts}.values())
        excess = np.array([self._excess(each) for each in distinct])
        order = np.argsort(-excess, kind="stable")[: max(CUTS, self.n // 2)]
        return [distinct[place] for place in order.tolist() if excess[place] > BROKEN]

    def _excess(self, each: Inequality) -> float:
        """By how much the point breaks a row; at most 0 if it does not."""
        missing = sum(least * self.point.missing[word] for word, least in each.helpful.items())
        return float(missing + self._coefficients(each) @ self.point.values - each.most)

    def raise_price(self) -> bool:
        """Have what is missing cost more; whether that was possible."""
        if self._price >= 1e7 * self.scale:
            return False
        self._price *= 1e3
        self._highs.changeColsCost(self.n, np.arange(self.n, dtype=np.int32), np.full(self.n, self._price))
        return True


# Separation: rows that a point breaks.


def cycle_cuts(arcs: Float) -> Iterator[Inequality]:
    """Cuts of words that too little enters: strongly connected parts of the arcs above some levels."""
    heads, words = np.nonzero(arcs > BROKEN)
    values = arcs[heads, words]
    for level in (BROKEN, 0.34, 0.51):
        above = values > level
        starts = np.searchsorted(heads[above], np.arange(len(arcs) + 1))
        graph = csr_matrix((values[above], words[above], starts), arcs.shape)
        _, parts = connected_components(graph, directed=True, connection="strong")
        for part in np.flatnonzero(np.bincount(parts) > 1).tolist():
            cycle = np.flatnonzero(parts == part)
            if cycle[0] and arcs[:, cycle].sum() - arcs[np.ix_(cycle, cycle)].sum() < 1 - BROKEN:
                yield cut(parts == part)


def crossing_pairs(arcs: Float) -> Iterator[Inequality]:
    """Pairs of arcs that cross and of which there is more than one, in spaces of projective trees."""
    heads, words = np.nonzero(arcs > BROKEN)
    values, low, high = arcs[heads, words], np.minimum(heads, words), np.maximum(heads, words)
    crossing = (low[:, None] < low) & (low < high[:, None]) & (high[:, None] < high)
    for pair in np.argwhere(crossing & (values[:, None] + values > 1 + BROKEN)):
        yield Inequality(1.0, [(heads[pair] * len(arcs) + words[pair], 1.0)], of_rules=False)


def gap_cliques(point: Point, group: Bool) -> Iterator[Inequality]:
    """Of words whose arcs have no gaps and which make none: arcs of which there is one at most.

    These are the arcs of another word from heads on the far side of the first, and the arcs of the first from beyond
    both ends of these.
    """
    arcs, own_arcs = point.arcs, point.of(group)
    n, nodes = len(arcs) - 1, np.arange(len(arcs))
    for word in np.flatnonzero(own_arcs.sum(axis=0) > BROKEN).tolist():
        own = own_arcs[:, word]
        before = np.concatenate([[0.0], np.cumsum(own)])  # [t]: from heads < t
        behind = own.sum() - before[1:]  # [t]: from heads > t
        # [t, other]: from heads t to word - 1 to others behind the word
        over = np.cumsum(arcs[:word][::-1], axis=0)[::-1][:, word + 1 :] + before[:word, None] + behind[word + 1 :]
        for place in np.flatnonzero(over.max(axis=0) > 1 + BROKEN).tolist():
            first, other = int(over[:, place].argmax()), word + 1 + place
            beyond = (nodes < first) | (nodes > other)
            yield Inequality(
                1.0,
                [(cells((first <= nodes) & (nodes < word), other), 1.0)],
                [(cells(beyond, word, group), 1.0)],
            )
        if word == n:
            continue
        # [t, other]: from heads word + 1 to word + 1 + t to others before the word
        over = np.cumsum(arcs[word + 1 :], axis=0)[:, 1:word] + behind[word + 1 :, None] + before[1:word]
        if from_root := own[0] < BROKEN:  # what ROOT governs does not descend from a word
            over[-1] += arcs[0, 1:word]
        for place in np.flatnonzero(over.max(axis=0, initial=0.0) > 1 + BROKEN).tolist():
            last, other = int(over[:, place].argmax()) + word + 1, 1 + place
            heads, beyond = (word < nodes) & (nodes <= last), (nodes < other) | (nodes > last)
            if from_root and last == n:
                heads[0], beyond[0] = True, False
            yield Inequality(1.0, [(cells(heads, other), 1.0)], [(cells(beyond, word, group), 1.0)])


def descent_cuts(point: Point, group: Bool) -> Iterator[Inequality]:
    """Of words whose arcs have no gaps: what stands between one and its heads must be reached from them (min cuts)."""
    from deptree_cli.kernels.trees import reaches  # loads kernels: when there is work

    own_arcs, size = point.of(group), len(point.arcs)
    nodes, capacity = np.arange(size), np.zeros((size + 1, size + 1))
    capacity[1:size, :size] = point.arcs[1:]
    for word in np.flatnonzero(own_arcs[1:].sum(axis=0) > BROKEN).tolist():
        own = np.where((own_arcs[:, word] > BROKEN) & (nodes > 0), own_arcs[:, word], 0.0)
        for side in (1, -1):
            heads = np.flatnonzero(own * (side * (nodes - word) > 0))
            low, high = sorted((word, int(heads[-1 if side > 0 else 0]) if len(heads) else word))
            for each in range(low + 1, high):
                beyond = (side * (nodes - each) > 0) & (nodes > 0)
                need, near = float(own[beyond].sum()), float(point.arcs[low : high + 1, each].sum())
                if need < 0.02 or (near > 1 - BROKEN and need < 1 - BROKEN):
                    continue
                ways, reached = capacity.copy(), np.ones(size + 1, dtype=np.bool_)
                ways[size, :size] = own * beyond
                if not reaches(ways, size, each, need - 1e-4, reached):
                    reached[0] = True
                    number, arcs, helpful = entering(reached[:size])
                    yield Inequality(number, [arcs], [(cells(beyond & ~reached[:size], word, group), 1.0)], helpful)


# Branch and cut.


class Incumbent(NamedTuple):
    """A tree that obeys, and what it costs."""

    cost: float
    heads: Heads
    labels: Heads


class Settled(NamedTuple):
    """The best tree that was found, if one was; what trees cost at least; and how many maximum trees that took."""

    incumbent: Incumbent | None
    bound: float
    opened: int


# Of some words the arcs with labels (n+1, L) that they may have.
Fixed = list[tuple[int, Bool]]


class BranchAndCut:
    """The search for the cheapest tree under rules: best-first; a subproblem fixes arcs of words.

    Args:
        costs: (n+1, n+1, L), inf forbids.
        budget: how many maximum trees may be looked for; of more than `LONG` words fewer.
        pivots: how many steps the simplex method may take for each.
        unit: whole costs, of which the parts below a unit of a tree's arcs sum to less than that.
    """

    def __init__(
        self,
        costs: Float,
        trees: TreeSpace,
        rules: Sequence[Bound],
        budget: int,
        pivots: int,
        unit: float | None = None,
    ) -> None:
        self._trees, self._budget, self._unit = trees, budget * min(1.0, LONG / len(costs)), unit
        self._program = LinearProgram(in_order(costs), trees.single_root, budget * pivots)
        self._rules, self._words = rules, np.arange(1, len(costs))
        kinds = (AtMostOne, ProjectiveArcs, OutOfGaps)
        groups = ([each.group for each in rules if isinstance(each.rule, kind)] for kind in kinds)
        self._at_most_one, self._without_gaps, out_of_gaps = groups
        self._both = [each for each in self._without_gaps if any(np.array_equal(each, other) for other in out_of_gaps)]
        highest = costs.max(axis=(0, 2), initial=-np.inf, where=np.isfinite(costs))
        self._highest = 1.0 + float(highest[1:].sum())
        self._has_rows = trees.has_short_name  # of other spaces there is an oracle, but no rows
        is_between = self._has_rows and not trees.projective
        self._projective = space(trees.single_root, projective=True) if is_between else None
        self._incumbent: Incumbent | None = None
        self._considered: dict[bytes, list[Inequality]] = {}
        self._opened, self._least = 0, 0.0  # and the whole costs that a row asks for

    def settle(self) -> Settled:
        # Subproblems: those of the least step of bounds come first, of these the deepest; each with what it fixes.
        queue, numbers = list[tuple[float, int, int, float, Fixed]]([(-np.inf, 0, 0, -np.inf, [])]), count(1)
        left = np.inf  # what is left open costs at least that
        while queue and self._opened < self._budget and self._program.pivots > 0:
            _, depth, _, bound, fixed = heappop(queue)
            if self._is_beaten(bound):
                continue
            bound, parts = self._solved(bound, fixed)
            left = min(left, bound) if parts is None else left
            for part in parts or ():
                step = np.floor(bound / (self._unit or 1.0))
                heappush(queue, (step, depth - 1, next(numbers), bound, [*fixed, part]))
        cost = self._incumbent.cost if self._incumbent else np.inf
        return Settled(self._incumbent, min([left, cost, *(bound for *_, bound, _ in queue)]), self._opened)

    def _is_beaten(self, bound: float) -> bool:
        return self._incumbent is not None and bound >= self._incumbent.cost - NEAR * self._program.scale

    def _consider(self, heads: Heads, labels: Heads) -> list[Inequality]:
        """The rows that a tree breaks; if it breaks none it may be the best."""
        key = heads.tobytes() + labels.tobytes()
        if (found := self._considered.get(key)) is None:  # every second tree comes again
            found, tree = [], LabelledTree(heads.tolist(), labels.tolist())
            for rule in self._rules:
                for nogood in islice(rule.nogoods(tree), NOGOODS):
                    if isinstance(rule.rule, AtMostOne):
                        found.append(one_below(tree.heads[nogood.words[0] - 1], rule.group, len(heads)))
                    else:
                        found.append(clause(nogood))
            self._considered[key] = found
            cost = float(self._program.given[heads, self._words, labels].sum())
            if not found and cost < (self._incumbent.cost if self._incumbent else np.inf):
                self._incumbent = Incumbent(cost, heads.copy(), labels.copy())
        return found

    def _solved(self, bound: float, fixed: Fixed) -> tuple[float, Fixed | None]:
        """What the trees of a subproblem cost at least, and what to fix in its parts: nothing where none is left open,
        None where something is that cannot be divided."""
        program, bounds = self._program, list[float]()
        program.restrict(fixed)
        while True:
            sufficed = program.solve()
            point = program.point
            is_complete = point.missing.max() < BROKEN
            low, heads, labels = program.relaxation(self._trees)
            self._opened += 1
            bound = max(bound, low)
            if bound > self._highest:
                return np.inf, []
            bounds.append(bound)
            broken = list(cycle_cuts(point.arcs))
            for group in self._at_most_one:
                heavy = np.flatnonzero(point.of(group).sum(axis=1) > 1 + BROKEN).tolist()
                broken += [one_below(head, group, program.n) for head in heavy if head]
            broken += chain.from_iterable(gap_cliques(point, group) for group in self._both)
            broken += crossing_pairs(point.arcs) if self._trees.projective else ()
            for tree in [(heads, labels), *self._near(point)]:
                broken += self._consider(*tree)
            left = self._incumbent.cost - bound if self._incumbent else program.scale
            # Whether rows hardly raise the bound any more, so that dividing promises more.
            slow = len(bounds) > STALLED and bound - bounds[-STALLED] < SLOW * left
            if self._unit is not None and not self._is_beaten(bound) and (slow or len(bounds) % ROUNDED == 0):
                bound = max(bound, self._unit * self._rounded(self._unit, fixed))
            if self._is_beaten(bound):
                return bound, []
            if not sufficed or self._opened >= self._budget:
                return bound, None
            if slow and is_complete and not point.is_whole:
                return bound, self._divided(point)
            by_flows = chain.from_iterable(descent_cuts(point, group) for group in self._without_gaps)
            if new := program.worst(broken) or program.worst(islice(by_flows, CUTS)):
                program.purge()
                program.add_rows(new)
            elif not is_complete:
                if not program.raise_price():
                    return bound, None
            elif point.is_whole:  # a tree, which was looked at
                return bound, [] if self._has_rows else None
            else:
                return bound, self._divided(point)

    def _near(self, point: Point) -> Iterator[tuple[Heads, Heads]]:
        least, scale = self._program.least, self._program.scale
        possible = np.isfinite(least)
        for oracle, share in ((self._trees, 1e-6), (self._projective, 1e-4)):
            if oracle is None:
                continue
            self._opened += 1
            costs = np.where(possible, least, 0.0) * (share / scale)
            heads, score = oracle.maximum_tree(np.where(possible, point.arcs - costs, -np.inf))
            if score > -np.inf:
                worth = -share / scale * self._program.costs[heads, self._words]
                used = heads[point.words - 1] == point.heads
                np.add.at(worth, (point.words[used] - 1, point.labels[used]), point.values[used])
                yield heads, worth.argmax(axis=1).astype(np.int32)

    def _rounded(self, unit: float, fixed: Fixed) -> float:
        """How many whole costs trees have at least: more than 9 are 10. Where no arc is fixed that becomes a row."""
        program = self._program
        whole = np.floor(program.given / unit + 1e-6)
        program.restrict(fixed, whole)
        program.solve()
        least = float(np.ceil(program.relaxation(self._trees)[0] - 1e-6))
        program.restrict(fixed)
        if not fixed and self._least < least < np.inf:
            self._least = least
            costs = np.where(np.isfinite(whole), -whole, 0.0)
            helpful = dict(enumerate(costs.min(axis=(0, 2))[1:].tolist(), 1))
            program.add_rows([Inequality(-least, (), [(np.flatnonzero(costs), costs[costs != 0])], helpful)])
        program.solve()
        return least

    def _divided(self, point: Point) -> Fixed:
        """The word whose arc, or whose label, is most in doubt: with it, and without it."""
        one = np.zeros((len(point.arcs), self._program.size), dtype=np.bool_)
        doubt = np.where(point.arcs < BROKEN, 1.0, np.abs(point.arcs - 0.5))
        head, word = np.unravel_index(doubt.argmin(), doubt.shape)
        if doubt[head, word] < 0.5 - BROKEN:
            one[head] = True
        else:
            place = np.where(point.values < BROKEN, 1.0, np.abs(point.values - 0.5)).argmin()
            word = point.words[place]
            one[point.heads[place], point.labels[place]] = True
        return [(int(word), one), (int(word), ~one)]


def in_order(costs: Float) -> Float:
    """Costs of which hardly two are equal: what is added looks random, the mixer of SplitMix64 (Steele et al. 2014)."""
    found, cells = np.empty_like(costs), costs[0].size
    for head, own in enumerate(costs):
        mixed = np.arange(head * cells + 1, (head + 1) * cells + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
        for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
            mixed = (mixed ^ (mixed >> np.uint64(shift))) * np.uint64(factor)
        fractions = ((mixed ^ (mixed >> np.uint64(31))) >> np.uint64(11)).astype(np.float64) * 2.0**-53
        found[head] = own + ORDER * fractions.reshape(own.shape)
    return found
