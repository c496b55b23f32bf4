"""The register of tree spaces: which trees a distribution is over, as a value that answers the same questions.

To add a space, subclass `GeneralSpace` in a file and give it an entry below; another package names its
own by an entry point (`deptree.spaces`).
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property, partial
from itertools import chain, combinations, islice
from typing import Any, ClassVar, TypeAlias, TypedDict

import numpy as np

from deptree_cli import kernels
from deptree_cli.core import errors
from deptree_cli.core.dtypes import Bool, Float, Heads, Int, read_only
from deptree_cli.core.errors import DeptreeError, Setting
from deptree_cli.core.factorisation import (
    Arc,
    Factorisation,
    Rules,
    Shifted,
    Swept,
    all_allowed,
    crossing_pairs,
    shift,
)
from deptree_cli.core.numbers import REAL, WIDE, Kind
from deptree_cli.core.register import Register
from deptree_cli.kernels.budget import foresee

# The kinds of trees that `single_root` and `projective` are enough to name.
ALL, WITHOUT_CROSSING = "", "projective"


@dataclass(frozen=True)
class TreeSpace(Rules, ABC):
    """A set of trees over the words of a sentence: an entry of `SPACES`.

    Attributes:
        name: in registers, and as users call it.
        trees: what its trees are called in messages.
        single_root, projective: see `Rules`.
        swept: what kernels that take many sentences make of one; None without such.
    """

    name: str
    trees: str
    swept: ClassVar[type[Swept] | None] = None

    @property
    def kind(self) -> str:
        """What signatures call its trees beside how many roots they have; nothing where they are all trees."""
        return self.name

    @property
    def has_short_name(self) -> bool:
        return self.kind in (ALL, WITHOUT_CROSSING)

    @abstractmethod
    def check_feasible(self, allowed: Bool) -> None:
        """Raise a DeptreeError unless some tree uses allowed arcs only; allowed: (n+1, n+1), ``[head, dependent]``."""

    @abstractmethod
    def support(self, allowed: Bool) -> Bool:
        """Which arcs some tree of allowed arcs contains, (n+1, n+1); there is a tree. Exact: no weights are used.

        `allowed` itself, if these are all of them that there can be: nobody writes to it.
        """

    @abstractmethod
    def factorise(self, log_scores: Float) -> Factorisation:
        """Work out what every sum needs, from checked log-scores (n+1, n+1)."""

    @abstractmethod
    def maximum_tree(self, scores: Float) -> tuple[Heads, float]:
        """The tree of the largest sum of scores (n+1, n+1), (n,), and that sum; -inf forbids."""

    @abstractmethod
    def trees_in_order(self, scores: Float) -> Iterator[Heads]:
        """All trees by sums of scores (n+1, n+1), the best first, (n,) each, found as they are asked for."""

    def best_trees(self, scores: Float, size: int) -> Heads:
        """The `size` trees of the largest sums of scores (n+1, n+1), best first, (k, n), k <= size; -inf forbids."""
        return np.array(list(islice(self.trees_in_order(scores), size)), dtype=np.int32).reshape(-1, len(scores) - 1)

    def is_feasible(self, allowed: Bool) -> bool:
        try:
            self.check_feasible(allowed)
        except DeptreeError:
            return False
        return True

    def goes_beyond(self, other: TreeSpace, allowed: Bool) -> bool:
        """Whether some tree of allowed arcs is none of the other space's; there is a tree. Exact, as `support` is.

        A tree with an arc that the other space has not, or with two that it does not have together.
        """
        if other == self:
            return False
        arcs = self.support(allowed)
        if not other.allows(*np.nonzero(arcs)).all():
            return True
        below_root = [(0, word) for word in np.flatnonzero(arcs[0]).tolist()]
        pairs = chain(
            combinations(below_root, 2) if other.single_root and not self.single_root else (),
            crossing_pairs(arcs) if other.projective and not self.projective else (),
        )
        return any(self.is_feasible(with_heads(arcs, pair)) for pair in pairs)

    def change_to(self, other: TreeSpace) -> dict[str, Setting]:
        """What to do about which arguments of a distribution for the trees of another space."""
        if not (self.has_short_name and other.has_short_name):
            named = Setting("space", other.name)
            return {f"pass {named}": named}
        changes = (
            (errors.SEVERAL_ROOTS, not self.single_root, not other.single_root),
            (errors.PROJECTIVE, self.projective, other.projective),
        )
        return {f"{'add' if there else 'leave out'} {each}": each for each, here, there in changes if here != there}


def with_heads(allowed: Bool, arcs: Iterable[Arc]) -> Bool:
    """The arcs (n+1, n+1) without the other heads of some arcs' dependents."""
    given = allowed.copy()
    for head, word in arcs:
        given[:, word] = False
        given[head, word] = allowed[head, word]
    return given


class GeneralSpace(TreeSpace):
    """A tree space to be added in one file: subclass it, and say `allows`, `log_partition` and `maximum_tree`.

    Arcs that it does not allow count for nothing in either, whatever they score. All else is answered by these two,
    asked again with heads fixed or forbidden: exact, and a factor of n^2 or more slower than a space with an algorithm
    of its own for each question.
    """

    @abstractmethod
    def log_partition(self, log_scores: Float) -> float:
        """The logarithm of the sum of all trees' weights, log-scores (n+1, n+1); -inf where there is no tree."""

    def check_feasible(self, allowed: Bool) -> None:
        if self._some_tree(allowed)[1] == -np.inf:
            raise DeptreeError(f"no tree is possible: of {self.trees} all have a forbidden arc", "Allow more arcs")

    def support(self, allowed: Bool) -> Bool:
        """See `TreeSpace`; a search for a best tree for each arc that was in none before."""
        found = np.zeros_like(allowed)
        for head, word in np.argwhere(allowed & self.allows(*np.indices(allowed.shape))).tolist():
            if not found[head, word]:
                tree, total = self._some_tree(with_heads(allowed, [(head, word)]))
                found[tree, np.arange(1, len(allowed))] |= total > -np.inf
        return found

    def _some_tree(self, allowed: Bool) -> tuple[Heads, float]:
        return self.maximum_tree(np.where(allowed, 0.0, -np.inf))

    def factorise(self, log_scores: Float) -> Factorisation:
        shifted = shift(log_scores, self)
        log_z = self.log_partition(shifted.log_weights)
        if log_z == -np.inf:
            raise DeptreeError("no tree has a positive weight", "Allow more arcs")
        return Conditioned(self, shifted, log_z)

    def trees_in_order(self, scores: Float) -> Iterator[Heads]:
        """See `TreeSpace`; n searches for a best tree each."""
        from deptree_cli.core import lawler

        return lawler.trees_by_search(self.maximum_tree, scores)


@dataclass(frozen=True, eq=False)
class Conditioned(Factorisation):
    """Sums by a space's `log_partition` given heads: n^2 calls for marginals, and as many for a tree."""

    space: GeneralSpace

    def marginals(self) -> Float:
        return self._marginals(())

    def _arc_covariance(self, values: Float) -> Float:
        """P(a, b) = P(b) P(a | b) for every arc b with a value."""
        marginals = self.marginals()
        found = np.zeros_like(marginals)
        for head, word in np.argwhere((marginals > 0) & (values != 0)).tolist():
            conditional = self._marginals([(head, word)])
            found += values[head, word] * marginals[head, word] * (conditional - marginals)
        return np.where(marginals > 0, found, 0.0)

    def sample(self, size: int, rng: np.random.Generator) -> Heads:
        """See `Factorisation`; head by head, from one distribution for trees that begin alike."""
        trees = np.zeros((size, self.n), dtype=np.int32)
        groups: dict[tuple[int, ...], Int] = {(): np.arange(size)}
        for word in range(self.n):
            longer: dict[tuple[int, ...], Int] = {}
            for prefix, rows in groups.items():
                probs = np.exp(self.head_log_probs(prefix))
                trees[rows, word] = drawn = rng.choice(self.n + 1, len(rows), p=probs / probs.sum())
                longer |= {(*prefix, head): rows[drawn == head] for head in np.unique(drawn).tolist()}
            groups = longer
        return trees

    def head_log_probs(self, heads: Sequence[int]) -> Float:
        """log P(head of the next word), (n+1,), given the heads of all words before it."""
        given = self._given([(head, word) for word, head in enumerate(heads, 1)])
        return self._head_log_probs(given, len(heads) + 1)

    def _given(self, arcs: Sequence[Arc]) -> Float:
        log_weights = self.shifted.log_weights
        return np.where(with_heads(log_weights > -np.inf, arcs), log_weights, -np.inf)

    def _marginals(self, arcs: Sequence[Arc]) -> Float:
        log_scores = self._given(arcs)
        found = np.zeros_like(log_scores)
        for word in range(1, len(log_scores)):
            found[:, word] = np.exp(self._head_log_probs(log_scores, word))
        return found

    def _head_log_probs(self, log_scores: Float, word: int) -> Float:
        found = np.full(len(log_scores), -np.inf)
        given = log_scores.copy()
        for head in np.flatnonzero(log_scores[:, word] > -np.inf).tolist():
            given[:, word] = -np.inf
            given[head, word] = log_scores[head, word]
            found[head] = self.space.log_partition(given)
        return found - np.logaddexp.reduce(found)


# Non-projective dependency trees: log-partition function, edge marginals, exact samples and the maximum arborescence.
#
# Koo et al. 2007 sum over all trees by the determinant of a Laplacian (the Matrix-Tree theorem), which cancels
# catastrophically on the peaked weights of trained parsers. Grassmann-Taksar-Heyman elimination of the words one by
# one adds, multiplies and divides positive numbers only and keeps about fifteen digits. Where float64 itself would
# underflow, the same sweep runs on numbers with a wider exponent (`kernels/numbers.py`).


class Elimination(Swept):
    """The factors of one sentence's distribution over non-projective trees."""

    @staticmethod
    def memory(new: Callable[[int], Any], nodes: int) -> tuple[Any, Any]:
        return new(nodes * kernels.questions.aligned(nodes)), new(nodes)

    @property
    def factors(self) -> tuple[Any, Any]:
        """Factors (n+1, m) of the words, of which the final one and word 1 have changed places, and pivots (n+1,)."""
        items, pivots = self.swept
        return self.kind.each(lambda part: part.reshape(self.n + 1, -1), items), pivots

    def rooted_sampler(self) -> Callable[[Int, Any, Heads], None]:
        """Return a function of roots (k,), a kernel's state and heads (k, n), which it fills with independent trees.

        Each hangs on its root, or if that is 0 on any word. Under the single-root constraint no pivot depends on ROOT's
        arcs: trees of a given root cost one sweep of their weights, O(n^2). Once a root was given, no later one may be
        0. A root that has next to no probability may need wider numbers than these: not one that was drawn.
        """
        kind, given = self.kind, (*self.factors, self.weights)
        factors, pivots, weights = (kind.each(np.copy, part) for part in given)
        kernels.elimination.swap_words(weights, self.final_word, 1)
        across = kind.zeros((self.n + 1, self.n + 1))
        kernels.elimination.transpose(factors, across, self.n + 1)
        whole = factors, pivots, across, weights, self.final_word, self.space.single_root
        return partial(kernels.elimination.sample_trees, *whole)

    def _draw(self, state: Any, heads: Heads) -> None:
        self._sampler(np.zeros(len(heads), dtype=np.int64), state, heads)

    @cached_property
    def _sampler(self) -> Callable[[Int, Any, Heads], None]:  # kept: users draw one tree after another
        return self.rooted_sampler()

    def root_marginals(self) -> Float:
        """P(ROOT -> word), shape (n+1,), entry 0 is 0. O(n^2), nothing subtracted, under the single-root constraint."""
        return self.kind.floats(self._root_products()) if self.space.single_root else self.marginals()[0]

    def log_root_marginals(self) -> Float:
        """log P(ROOT -> word), shape (n+1,): single root only; finite for every possible root, however unlikely."""
        return WIDE.log(self.in_wide_numbers._root_products())

    def _root_products(self) -> Any:
        found = self.kind.zeros(self.n + 1)
        kernels.elimination.root_products(self.weights, self.final_word, *self.factors, found)
        return found


class NonProjective(TreeSpace):
    """Dependency trees (one ROOT arc) or spanning trees (one or more)."""

    kind = ALL
    swept = Elimination

    def check_feasible(self, allowed: Bool) -> None:
        if not all_allowed(allowed):
            from deptree_cli.core.feasibility import check_feasible

            check_feasible(allowed, self)

    def support(self, allowed: Bool) -> Bool:
        if all_allowed(allowed):
            return allowed
        from deptree_cli.core.feasibility import supported_arcs

        return supported_arcs(allowed, self)

    def factorise(self, log_scores: Float) -> Elimination:
        """See `TreeSpace`; O(n^3): n^3/3 multiply-adds."""
        shifted = shift(log_scores, self)
        found = Elimination.of(shifted, self, REAL, int(shifted.log_weights[0].argmax()))
        if self.single_root and not found.in_range:
            best, log_weight = self.maximum_tree(shifted.log_weights)
            root = int(best.argmin()) + 1  # reaches all other words, by arcs as heavy as can be
            found = Elimination.of(shifted, self, REAL if log_weight > kernels.operations.SAFE_LOG else WIDE, root)
        return found.checked()

    def maximum_tree(self, scores: Float) -> tuple[Heads, float]:
        """See `TreeSpace`; Chu-Liu-Edmonds, with a single root Stanojevic and Cohen 2021. O(n^2)."""
        heads = np.empty(len(scores) - 1, dtype=np.int32)
        foresee(4.0 * scores.size)
        scores = read_only(scores.view())  # compiled for these alone
        return heads, kernels.trees.best_tree(scores, self.single_root, heads)

    def trees_in_order(self, scores: Float) -> Iterator[Heads]:
        """See `TreeSpace`; O(n^3) each."""
        from deptree_cli.core import lawler

        return lawler.trees_in_order(scores, self)


def elimination_of(factorisation: Factorisation) -> Elimination:
    """The factorisation of a distribution over non-projective trees, for samplers that serve no others."""
    assert isinstance(factorisation, Elimination)
    return factorisation


# Projective dependency trees: log-partition function, edge marginals, exact samples and maximum trees (Eisner 1996).
#
# One chart is behind the sums and the samples; each projective tree is in it once. It adds and multiplies positive
# numbers only, in float64 where its range suffices, else in wide numbers (`kernels/numbers.py`).


class EisnerChart(Swept):
    """The chart of one sentence's distribution over projective trees."""

    @staticmethod
    def memory(new: Callable[[int], Any], nodes: int) -> tuple[Any, Any]:
        return new(kernels.charts.TABLES * nodes**2), None

    @property
    def grammar(self) -> Any:
        """The grammar of `kernels/charts.py`, of this chart."""
        shape = kernels.charts.TABLES, self.n + 1, self.n + 1
        chart = self.kind.each(lambda part: part.reshape(shape), self.swept[0])
        return kernels.charts.EisnerGrammar(self.space.single_root, chart)

    def _draw(self, state: Any, heads: Heads) -> None:
        kernels.charts.sample_trees(self.grammar, state, heads)

    def root_marginals(self) -> Float:
        """P(ROOT -> word), shape (n+1,), entry 0 is 0; O(n) under the single-root constraint."""
        if not self.space.single_root:
            return self.marginals()[0]
        found = np.zeros(self.n + 1)
        kernels.charts.root_marginals(self.grammar.chart, found)
        return found


class Projective(TreeSpace):
    """Dependency trees (one ROOT arc) or spanning trees (one or more) in which no two arcs cross, ROOT's included.

    So every word governs a stretch of the sentence. ROOT stands before the first word.
    """

    kind = WITHOUT_CROSSING
    swept = EisnerChart

    def check_feasible(self, allowed: Bool) -> None:
        """See `TreeSpace`; O(n^3) where arcs are missing."""
        if not all_allowed(allowed):
            from deptree_cli.core.feasibility import check_feasible, crossing_is_needed

            check_feasible(allowed, self)
            if not _charted(allowed, self)[3]:
                raise crossing_is_needed(allowed, self)

    def support(self, allowed: Bool) -> Bool:
        """See `TreeSpace`; O(n^3) where arcs are missing."""
        if all_allowed(allowed):
            return allowed
        kind, weights, chart, _ = _charted(allowed, self)
        adjoints, found = kind.zeros((kernels.charts.TABLES, *allowed.shape)), kind.zeros(allowed.shape)
        kernels.charts.outside(weights, self.single_root, chart, adjoints, found)
        possible: Bool = (found if kind is REAL else found[0]) > 0  # of wide numbers the mantissas
        return possible

    def factorise(self, log_scores: Float) -> EisnerChart:
        kind = REAL if len(log_scores) - 1 <= kernels.charts.LONGEST else WIDE  # float64 would not be trusted
        return EisnerChart.of(shift(log_scores, self), self, kind).checked()

    def maximum_tree(self, scores: Float) -> tuple[Heads, float]:
        """See `TreeSpace`; Eisner 1996. O(n^3)."""
        heads = np.zeros(len(scores) - 1, dtype=np.int32)
        scores = read_only(np.ascontiguousarray(scores).view())  # compiled for these alone
        return heads, kernels.charts.best_tree(scores, self.single_root, heads)

    def trees_in_order(self, scores: Float) -> Iterator[Heads]:
        """See `TreeSpace`; the best 16, then four times as many as before, anew."""
        size, known = 16, 0
        while True:
            trees = self.best_trees(scores, size)
            yield from trees[known:]
            if len(trees) < size:
                return
            known, size = size, 4 * size

    def best_trees(self, scores: Float, size: int) -> Heads:
        """See `TreeSpace`; Huang and Chiang 2005, lazily: O(n^3 + k n log k)."""
        scores = read_only(np.ascontiguousarray(scores).view())
        heads: Heads = kernels.charts.best_projective_trees(scores, self.single_root, size)
        return heads.copy()  # without the room for more


def factorise_near(log_scores: Float, space: Rules, typical: Float) -> EisnerChart:
    """Fill the chart of trees whose weights are about 1 once a number is taken off each word's log-scores.

    In float64 even where `factorise` could not promise that this suffices; in wide numbers if log Z shows that it does
    not, and marginals if their sums do. Items that are lost because float64 is too narrow for them go unnoticed.

    Args:
        log_scores: (n+1, n+1), ``[head, dependent]``.
        typical: (n,), the log-scores of words' arcs in trees that matter.
    """
    log_weights = log_scores.copy()
    log_weights[:, 1:] -= typical
    found = EisnerChart.of(Shifted(log_weights, float(typical.sum())), space, REAL)
    return found if math.isfinite(found.shifted_log_z) else found.in_wide_numbers


def _charted(allowed: Bool, space: Rules) -> tuple[Kind, Any, Any, bool]:
    """The chart of weights of 1/7 for allowed arcs, in whose range sums and trees stay; whether there is a tree."""
    kind = REAL if len(allowed) - 1 <= kernels.charts.LONGEST else WIDE
    weights = kind.exp(np.where(allowed, -kernels.charts.LOG_GROWTH, -np.inf))
    chart = kind.zeros((kernels.charts.TABLES, *allowed.shape))
    total = kernels.charts.inside(weights, space.single_root, chart)
    return kind, weights, chart, bool(kernels.operations.is_positive(total))


SINGLE_ROOT = NonProjective("single-root", "single-root trees", single_root=True)
MULTI_ROOT = NonProjective("multi-root", "spanning trees with several roots", single_root=False)
PROJECTIVE = Projective("projective", "projective single-root trees", single_root=True, projective=True)
PROJECTIVE_MULTI = Projective(
    "projective-multi-root", "projective trees with several roots", single_root=False, projective=True
)

SPACES: Register[TreeSpace] = Register(
    "tree space", (SINGLE_ROOT, MULTI_ROOT, PROJECTIVE, PROJECTIVE_MULTI), "deptree.spaces", TreeSpace
)

# What may be given for a tree space: itself, its name, or nothing.
SpaceLike: TypeAlias = TreeSpace | str | None


class Short(TypedDict, total=False):
    """Short names of tree spaces: see `tree_space`."""

    single_root: bool | None
    projective: bool | None


@cache
def space(single_root: bool = True, projective: bool = False) -> TreeSpace:
    """The space of trees with one ROOT arc, or with one or more; of all trees, or of those without crossing arcs."""
    return next(each for each in SPACES.known if (each.single_root, each.projective) == (single_root, projective))


def tree_space(
    name: SpaceLike = None, single_root: bool | None = None, projective: bool | None = None, **unknown: object
) -> TreeSpace:
    """The tree space of a name, or of the short names `single_root` (true if not given) and `projective` (false)."""
    for argument in unknown:  # other libraries have other names for tree spaces
        how = "single_root=False is for trees with several roots, projective=True for trees without crossing arcs"
        raise TypeError(f"unexpected keyword argument {argument!r} ({how})")
    if name is None:
        return space(single_root is None or bool(single_root), bool(projective))
    found = name if isinstance(name, TreeSpace) else SPACES.get(name)
    for short, wanted, option in (("single_root", single_root, "multi-root"), ("projective", projective, "")):
        if wanted is not None and wanted != getattr(found, short):
            both = Setting("space", found.name), Setting(short, bool(wanted), option)
            raise DeptreeError("{} contradicts {}".format(*both), "Leave out one of them", options=both)
    return found


def by_space(table: Mapping[type[TreeSpace], Any], trees: TreeSpace, default: Any = None) -> Any:
    """The value for the class of a space, or for the nearest one that it was derived from."""
    return next((table[kind] for kind in type(trees).__mro__ if kind in table), default)


def with_roots(trees: TreeSpace, single_root: bool) -> TreeSpace:
    """The space of the same trees but for how many arcs may leave ROOT."""
    if not trees.has_short_name:
        problem = f"there is one space of {trees.trees}, not one with a single root and one with several"
        raise DeptreeError(problem, "Choose another tree space")
    return space(single_root, trees.projective)
