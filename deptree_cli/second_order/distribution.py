"""Distributions over projective trees by scores of arcs, grandparents and adjacent siblings.

The scores, the distribution, the chart behind its sums, and the program for `deptree_cli.pruning`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from deptree_cli.core.arc_factored import ArcFactored, OverTrees
from deptree_cli.core.conditioning import GivenHeads, GivenLabels
from deptree_cli.core.counts import how_many, room_for_trees
from deptree_cli.core.dtypes import Bool, Float, Heads, Int, Integers, read_only
from deptree_cli.core.errors import DeptreeError, counted
from deptree_cli.core.factorisation import Rules, reach_of
from deptree_cli.core.factorisation import shift as shift_arcs
from deptree_cli.core.numbers import REAL, WIDE, Kind
from deptree_cli.core.scores import (
    MOST_MASKED,
    check_numbers,
    checked_log_scores,
    checked_temperature,
    may_be_masks,
    need_of_masks,
    real_numbers,
    to_log,
)
from deptree_cli.core.spaces import TreeSpace, space
from deptree_cli.core.streams import Randomness, kernel_state, stream_of
from deptree_cli.kernels.charts import follow_best, log_partition, sample_trees, sum_to_one
from deptree_cli.kernels.numbers import Tropical
from deptree_cli.pruning.program import Program
from deptree_cli.second_order import kernels
from deptree_cli.second_order.kernels import TABLES, ArcMask, PartGrammar, PartWeights, inside, keep_items, outside

# Scores of parts of trees beyond arcs (grandparents, adjacent siblings) become checked log-scores.


@lru_cache(1)
def _grandparents(nodes: int) -> Bool:
    above, head, dependent = np.ogrid[:nodes, :nodes, :nodes]
    outside = (above < np.minimum(head, dependent)) | (above > np.maximum(head, dependent))
    return read_only(outside & (head > 0) & (dependent > 0) & (head != dependent))


@lru_cache(1)
def _siblings(nodes: int) -> Bool:
    head, sibling, dependent = np.ogrid[:nodes, :nodes, :nodes]
    between = (np.minimum(head, dependent) < sibling) & (sibling < np.maximum(head, dependent))
    return read_only((between | (sibling == head)) & (dependent > 0) & (head != dependent))


# The kinds of parts: a number of nodes (n+1) -> the parts that some projective tree has, (n+1, n+1, n+1).
PARTS: dict[str, Callable[[int], Bool]] = {"grandparent": _grandparents, "sibling": _siblings}

# What the axes of their arrays are, in this order.
AXES = {"grandparent": ("grandparent", "head", "dependent"), "sibling": ("head", "sibling", "dependent")}


def checked_part(name: str, scores: ArrayLike, nodes: int, scale: str, temperature: float = 1.0) -> Float:
    """Natural logarithms of the weights of parts, (n+1, n+1, n+1); ``-inf`` forbids, also what no projective tree has.

    Scores are of that shape, by `AXES`; `name` is that of the kind of parts, in `PARTS`.
    """
    array, possible = real_numbers(scores, f"{name} scores"), PARTS[name](nodes)
    if array.shape != (nodes,) * 3:
        problem = f"the {name} scores have shape {array.shape}, those of arcs {(nodes,) * 2}"
        raise DeptreeError(problem, f"Give an array {(nodes,) * 3}: {', '.join(AXES[name])}")

    def place(at: tuple[int, ...], what: str) -> str:
        places = ", ".join(f"{axis} {node or 'ROOT'}" for axis, node in zip(AXES[name], at, strict=True))
        return f"{name} score of {places}"

    array[~possible] = 0.0
    check_numbers(array, scale, place, "parts")
    log_scores = checked_temperature(to_log(array, scale), temperature)
    log_scores[~possible] = -np.inf
    return log_scores


def forbids_some(name: str, log_scores: Float) -> bool:
    return bool(np.isneginf(log_scores[PARTS[name](len(log_scores))]).any())


# A distribution over projective trees by scores of arcs, of grandparents and of adjacent siblings.


class SecondOrder(OverTrees):
    """A distribution over the projective trees of one sentence, with scores of grandparents and siblings.

    A tree's log-weight is the sum over its arcs ``head -> dependent`` of

        scores[head, dependent] + grandparent[grandparent, head, dependent] + sibling[head, sibling, dependent]

    where the grandparent is the head's head (an arc from ROOT has none, and nothing is added), and the sibling is the
    next dependent of the same head between it and the dependent, or the head itself if the dependent is the first one
    on its side. McDonald and Pereira 2006 (siblings), Carreras 2007, Koo and Collins 2010 (model 1: both).

    Other methods of `TreeDistribution` are not defined for it.

    Args:
        scores: (n+1, n+1), ``[head, dependent]``, node 0 is ROOT; column 0 and the diagonal are ignored.
        grandparent: (n+1, n+1, n+1), ``[grandparent, head, dependent]``, or None; sums then cost O(n^3), else O(n^4).
        sibling: (n+1, n+1, n+1), ``[head, sibling, dependent]``, or None. Parts of either that no projective tree has
            are ignored.
        scale, single_root, id, temperature: as in `TreeDistribution`; scale and temperature apply to all three.

    Attributes:
        log_scores: float64, (n+1, n+1), read-only, as in `TreeDistribution`.
        grandparent, sibling: log-scores, float64, read-only, ``-inf`` for parts that no projective tree has; or None.
        space: its tree space.

    Raises:
        DeptreeError: says what is wrong with which scores and what to do.
    """

    FIELDS = ("log_scores", *PARTS, "space", "id")

    grandparent: Float | None
    sibling: Float | None
    labels = None

    def __init__(
        self,
        scores: ArrayLike,
        grandparent: ArrayLike | None = None,
        sibling: ArrayLike | None = None,
        scale: str = "log",
        single_root: bool = True,
        id: str = "1",
        *,
        temperature: float = 1.0,
    ) -> None:
        try:
            log_scores = checked_log_scores(scores, scale, temperature)
            parts = [
                None if part is None else checked_part(name, part, len(log_scores), scale, temperature)
                for name, part in zip(PARTS, (grandparent, sibling), strict=True)
            ]
            trees = space(single_root, projective=True)
        except DeptreeError as error:
            raise error.at(sent_id=id) from None
        self._set(log_scores=log_scores, grandparent=parts[0], sibling=parts[1], space=trees, id=id)
        self._feasible()._without_need_of_masks(temperature)

    def _without_need_of_masks(self, temperature: float = 1.0) -> Self:
        """See `ArcFactored.without_need_of_masks`; parts may have masks too."""
        most = MOST_MASKED / temperature
        arrays = [self.log_scores, *(np.append(part, 0.0) for part in self.parts.values())]
        if any(may_be_masks(array, np.isfinite(array), self.n, most / len(arrays)) for array in arrays):
            best = self.argmax()
            sibling = None if self.sibling is None else self.sibling - self.sibling.max()  # every word has one
            log_weights = shift_arcs(self.log_scores, self.space).log_weights[best, np.arange(1, self.n + 1)]
            log_weights += part_scores(laid_out(self.n + 1, self.grandparent, sibling), best[None])[1]
            if log_weights.sum() < -most:
                raise need_of_masks(log_weights, most).at(sent_id=self.id)
        return self

    def _check_feasible(self) -> None:
        super()._check_feasible()
        if any(map(forbids_some, self.parts, self.parts.values())) and self.log_partition == -np.inf:
            kind = self.space.trees.removesuffix("s") if self.single_root else "projective tree"
            problem = f"no {kind} is possible: every one has a forbidden part (by the {self._named_parts})"
            raise DeptreeError(problem, "Allow more parts")

    def __repr__(self) -> str:
        arcs = int(np.isfinite(self.log_scores).sum())
        parts = f", {self._named_parts}" if self.parts else ""
        size = f"{counted(self.n, 'word')}, {counted(arcs, 'arc')}"
        return f"<{type(self).__name__} {self.id!r}: {size}, {self.space.trees}{parts}>"

    @property
    def parts(self) -> dict[str, Float]:
        """The scores of parts that were given, by their names in `PARTS`."""
        found = {name: getattr(self, name) for name in PARTS}
        return {name: array for name, array in found.items() if array is not None}

    @property
    def _named_parts(self) -> str:
        return f"{' and '.join(self.parts)} scores"

    @cached_property
    def shifted(self) -> ShiftedParts:
        return shift(self.log_scores, self.grandparent, self.sibling, self.space)

    @cached_property
    def factorisation(self) -> SecondOrderChart:
        """The chart behind the partition function, marginals and samples: O(n^4), or O(n^3) without grandparents."""
        return SecondOrderChart(self.shifted, self.shifted.everything).or_wide()

    def tree_log_probs(self, trees: Integers) -> Float:
        return np.minimum(part_scores(self.shifted.log_weights, trees)[0] - self.factorisation.shifted_log_z, 0.0)

    def sample(self, k: int, rng: Randomness | None = None, *, seed: int | None = None) -> Heads:
        """Sample k independent trees exactly, (k, n); rng and seed as in `TreeDistribution.sample`.

        Raises:
            DeptreeError: k or the seed is invalid.
        """
        stream = stream_of(rng, seed, self.id)
        with room_for_trees(how_many(k)) as size:
            return self.factorisation.sample(size, stream)

    def argmax(self) -> Heads:
        """The most probable tree, (n,). As costly as the partition function."""
        own, heads = self.shifted, np.zeros(self.n, dtype=np.int32)
        weights, chart = own.weights(Tropical), own.chart(lambda shape: Tropical(np.full(shape, -np.inf)))
        inside(weights, own.everything, self.single_root, chart)
        follow_best(own.grammar(weights, chart), heads)
        return heads

    def given(self, heads: GivenHeads | None = None, labels: GivenLabels | None = None) -> Self:
        """The distribution given the heads and labels of some words: n of each, None for words that may have any.

        Args:
            labels: names. There are no label scores, so only `root` matters: it marks the words below ROOT.

        Raises:
            DeptreeError: they are not n nodes or n names, or no tree of positive weight has them.
        """
        return self._with(log_scores=self._conditioned(heads, labels)[0])._feasible()._without_need_of_masks()

    def tempered(self, temperature: float) -> Self:
        """The distribution with all log-scores divided by a temperature; 1 changes nothing.

        Raises:
            DeptreeError: it is not a positive number, or takes scores out of range.
        """
        arrays = {"log_scores": self.log_scores, **self.parts}
        return self._with(**{name: checked_temperature(array, temperature) for name, array in arrays.items()})


# The chart behind log Z, marginals, exact samples and the best tree.
#
# As in `core/spaces.py`, it adds and multiplies positive numbers only, in float64 where its range suffices, else in
# wide ones.


@dataclass(frozen=True, eq=False)
class ShiftedParts:
    """The scores of a sentence's parts, shifted so that no weight exceeds 1; no tree's probability changes by it.

    `log_weights` are laid out for the kernels; `constant` is what log Z loses by the shift.
    """

    space: Rules
    log_weights: PartWeights
    constant: float

    @property
    def n(self) -> int:
        return len(self.log_weights.arcs) - 1

    @property
    def by_grandparent(self) -> bool:
        return self.log_weights.arcs.shape[2] > 1

    def weights(self, exp: Any) -> PartWeights:
        return PartWeights(*map(exp, self.log_weights))

    def chart(self, zeros: Any) -> Any:
        return zeros((TABLES, *self.log_weights.arcs.shape))

    def grammar(self, weights: PartWeights, chart: Any) -> PartGrammar:
        return PartGrammar(self.space.single_root, self.by_grandparent, weights, chart)

    @property
    def everything(self) -> ArcMask:
        arcs = np.ones((self.n + 1, self.n + 1), dtype=np.bool_)
        return ArcMask(arcs, arcs, arcs, possible_heads(arcs, self.by_grandparent))


class SecondOrderChart:
    """The chart of one sentence's distribution, over all trees or under a mask; immutable once filled.

    `shifted_log_z` and the chart (see `kernels.py`) are of the shifted weights; `in_range` is whether float64 held all
    terms of log Z that count, if these are the numbers.

    chart, weights: memory of zeros to be filled, and the weights as numbers of this kind; made if not given.
    """

    def __init__(
        self,
        shifted: ShiftedParts,
        kept: ArcMask,
        kind: Kind = REAL,
        weights: PartWeights | None = None,
        chart: Any = None,
    ) -> None:
        self.shifted, self.kept, self.kind = shifted, kept, kind
        self._weights = shifted.weights(kind.exp) if weights is None else weights
        self._chart = shifted.chart(kind.zeros) if chart is None else chart
        total = inside(self._weights, kept, shifted.space.single_root, self._chart)
        self.shifted_log_z, in_range = log_partition(total, shifted.n)
        self.in_range = in_range or kind is WIDE

    @property
    def log_z(self) -> float:
        return self.shifted_log_z + self.shifted.constant

    @cached_property
    def in_wide_numbers(self) -> SecondOrderChart:
        return SecondOrderChart(self.shifted, self.kept, WIDE)

    def or_wide(self) -> SecondOrderChart:
        return self if self.in_range else self.in_wide_numbers

    def marginals(self, adjoints: Any = None) -> Float:
        """P(head -> dependent) for every arc, (n+1, n+1); the columns of words sum to 1. As costly as two charts.

        adjoints: a chart of zeros of this kind of numbers to work in, which is made if not given.
        """
        found = self.kind.zeros((self.shifted.n + 1, self.shifted.n + 1))
        adjoints = self.shifted.chart(self.kind.zeros) if adjoints is None else adjoints
        outside(self._weights, self.kept, self.shifted.space.single_root, self._chart, adjoints, found)
        marginals: Float = self.kind.floats(found)
        return marginals if self.kind is WIDE or sum_to_one(marginals) else self.in_wide_numbers.marginals()

    def sample(self, size: int, rng: np.random.Generator) -> Heads:
        heads = np.empty((size, self.shifted.n), dtype=np.int32)
        sample_trees(self.shifted.grammar(self._weights, self._chart), kernel_state(rng), heads)
        return heads


def part_scores(log_weights: PartWeights, trees: Integers) -> tuple[Float, Float]:
    """The log-weights of projective trees (k, n), (k,), and those of the last tree's words, (n,)."""
    heads = np.ascontiguousarray(trees, dtype=np.int64)
    totals, parts = np.empty(len(heads)), np.empty(heads.shape[1])
    kernels.part_scores(log_weights, heads, totals, parts)
    return totals, parts


def possible_heads(arcs: Bool, by_grandparent: bool) -> Int:
    """The first head of each node among arcs (n+1, n+1), and the one behind the last, (n+1, 2): `ArcMask.above`."""
    above = np.zeros((len(arcs), 2), dtype=np.int64)
    above[:, 1] = 1
    if by_grandparent:
        above[1:, 0] = arcs[:, 1:].argmax(axis=0)
        above[1:, 1] = len(arcs) - arcs[::-1, 1:].argmax(axis=0)
    return above


def shift(log_scores: Float, grandparent: Float | None, sibling: Float | None, space: Rules) -> ShiftedParts:
    """Shift checked scores, and lay them out for the kernels.

    The weights of arcs take the largest over siblings with them. Under the single-root constraint the highest of each
    word is over words as heads, and ROOT's row is then shifted as a whole: every tree has exactly one of its arcs.
    """
    above, beside = laid_out(len(log_scores), grandparent, sibling)
    nearest = beside.max(axis=2, keepdims=True)
    siblings = beside - _highest(beside, (2,))
    offsets = _highest(nearest, (0,))  # every word has one sibling, or its head in the place of one
    nearest -= offsets
    plain, constant = shift_arcs(log_scores, space)
    constant += float(offsets.sum())
    arcs = plain[..., None] + above + nearest
    peaks = _highest(arcs[int(space.single_root) :], (0, 2))
    arcs -= peaks
    constant += float(peaks.sum())
    if space.single_root:
        top = float(_highest(arcs[0], (0, 1)).item())
        arcs[0] -= top
        constant += top
    arcs[0, 0, 0] = siblings[0, 0, 0] = 0.0  # see `PartWeights`
    return ShiftedParts(space, PartWeights(arcs, siblings), constant)


def laid_out(nodes: int, grandparent: Float | None, sibling: Float | None) -> PartWeights:
    """Scores of grandparents ``[head, dependent, grandparent]`` and of siblings ``[head, dependent, sibling]``.

    ROOT's arcs have no grandparent, which is number 0.
    """
    above, beside = np.zeros((nodes, nodes, 1)), np.zeros((nodes,) * 3)
    if grandparent is not None:
        above = grandparent.transpose(1, 2, 0).copy()
        above[0, :, 0] = 0.0
    return PartWeights(above, beside if sibling is None else sibling.swapaxes(1, 2).copy())


def _highest(scores: Float, axes: tuple[int, ...]) -> Float:
    """The largest scores along some axes, which stay; 0 where everything is forbidden."""
    peaks: Float = scores.max(axis=axes, keepdims=True, initial=-np.inf)
    return np.where(np.isfinite(peaks), peaks, 0.0)


# Randomized pruning of second-order trees: the variables are arcs, and what is pinned leaves a chart of fewer items.
#
# A pinned arc is a selected positive one: every tree that is left contains it.


# The least marginal, by scores of arcs alone, of an arc that is pinned; above a half no word has two of them.
CONFIDENT = 0.9


class SecondOrderArcs(Program[ArcMask, SecondOrderChart, Heads]):
    """Sums over the projective trees of a sentence of n words; the variables are its arcs, a mask the items kept.

    Variables are numbered in the order of the rows of an (n+1, n+1) matrix, ``[head, dependent]``, which is also the
    shape of the features. Structures are trees: the heads of the words, (n,), 0 for ROOT. A step costs what its mask
    keeps, in memory that is cleared only where it was used; its chart lasts until the next call of `inside`.
    """

    def __init__(self, distribution: SecondOrder) -> None:
        self._distribution, self._shifted = distribution, distribution.shifted
        self._shape = distribution.n + 1, distribution.n + 1
        self._weights = self._shifted.weights(REAL.exp)
        self._chart, self._adjoints = (self._shifted.chart(REAL.zeros) for _ in range(2))
        self._kept: ArcMask | None = None  # the mask that the chart is filled under

    def variables(self) -> int:
        return self._shape[0] * self._shape[1]

    def confident(self) -> Integers:
        """Return the numbers of the arcs that are in nine of ten trees by the scores of arcs alone."""
        first_order = ArcFactored(self._distribution.log_scores, space=self._distribution.space)
        return np.flatnonzero(first_order.marginals() >= CONFIDENT)

    def compile(self, selected: Bool, assigned: Bool) -> ArcMask:
        pinned, forbidden = (selected & assigned).reshape(self._shape), (selected & ~assigned).reshape(self._shape)
        arcs = kept_arcs(pinned, forbidden, self._distribution.space)
        return kept_items(pinned, arcs, self._shifted.by_grandparent)

    def inside(self, mask: ArcMask) -> tuple[float, SecondOrderChart]:
        if self._kept is not None:
            clear(self._kept, self._chart)
        self._kept = mask
        found = SecondOrderChart(self._shifted, mask, REAL, self._weights, self._chart).or_wide()
        return found.log_z, found

    def outside(self, chart: SecondOrderChart) -> Float:
        if chart.kind is WIDE:
            return chart.marginals()
        found = chart.marginals(self._adjoints)
        clear(chart.kept, self._adjoints)
        return found

    def sample(self, chart: SecondOrderChart, rng: np.random.Generator) -> Heads:
        return chart.sample(1, rng)[0]

    def assign(self, structure: Heads) -> Bool:
        found = np.zeros(self._shape, dtype=np.bool_)
        found[structure, np.arange(1, self._shape[1])] = True
        return found.ravel()

    def features(self, structure: Heads) -> Float:
        return self.assign(structure).reshape(self._shape).astype(np.float64)


def kept_arcs(pinned: Bool, forbidden: Bool, space: TreeSpace) -> Bool:
    """Which arcs are kept, (n+1, n+1): those not forbidden that some tree of the space has with the pinned ones.

    Nothing is kept where an arc into ROOT is pinned, for no tree has one.
    """
    if pinned[:, 0].any():
        return np.zeros_like(pinned)
    return ~forbidden & space.compatible_arcs(pinned)


def kept_items(pinned: Bool, arcs: Bool, by_grandparent: bool) -> ArcMask:
    heads = possible_heads(arcs, by_grandparent=True)
    above = heads if by_grandparent else possible_heads(arcs, by_grandparent)
    kept = ArcMask(np.ones_like(arcs), arcs, np.ones_like(arcs), above)
    keep_items(pinned, *reach_of(pinned), heads, kept)
    return kept


def clear(kept: ArcMask, chart: Float) -> None:
    """Make a chart of these items, or of their adjoints, one of zeros again."""
    for table, is_kept in zip(chart, kept[:TABLES], strict=True):
        table[is_kept] = 0.0
