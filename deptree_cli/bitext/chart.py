"""The chart of a sentence pair, under pruning masks too."""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, Protocol

import numpy as np

from deptree_cli.bitext.kernels import NO_MASK as NONE
from deptree_cli.bitext.kernels import (
    TABLES,
    SpanMask,
    Weights,
    follow,
    inside,
    keep_around_links,
    keep_states,
    new_ranges,
    outside,
    sample_links,
    spans_of,
)
from deptree_cli.bitext.scores import LinkScores, Shifted, chart_size, no_alignment, pieces
from deptree_cli.core.dtypes import Bool, Float, Heads, Int
from deptree_cli.core.errors import DeptreeError
from deptree_cli.core.factorisation import SweepFactorisation
from deptree_cli.core.memory import memory_for
from deptree_cli.core.numbers import REAL, WIDE, Kind
from deptree_cli.core.streams import kernel_state
from deptree_cli.kernels.charts import LOG_LOST, LOG_SMALLEST
from deptree_cli.kernels.numbers import Tropical
from deptree_cli.kernels.operations import is_positive, length, logarithm
from deptree_cli.pruning.program import CellProgram

# Masks of the chart over bispans: by links that are pinned, by states that are kept, or none.


class Mask(Protocol):
    """What a mask does to a chart."""

    can_be_turned: bool

    @property
    def turned(self) -> Mask:
        """The same with source and target exchanged, for a chart that is turned, where that can be."""

    def keep(self, kept: SpanMask) -> None:
        """Fill the ranges of bispans that are kept."""

    def weigh(self, weights: Weights, kind: Kind) -> Weights:
        """Return the weights under the mask."""


@dataclass(frozen=True, eq=False)
class PinnedLinks:
    """The alignments that have some links and do not have some others.

    `target_of` (p,): the target word that a source word is pinned to, -1 where none is; `source_of` (q,) the same from
    the other side. `allowed` (p, q): 0 for links that are forbidden or have a word that is pinned to another one, else
    1.
    """

    target_of: Int
    source_of: Int
    allowed: Float
    can_be_turned = True

    @property
    def turned(self) -> PinnedLinks:
        return PinnedLinks(self.source_of, self.target_of, np.ascontiguousarray(self.allowed.T))

    def keep(self, kept: SpanMask) -> None:
        keep_around_links(self.target_of, self.source_of, kept)

    def weigh(self, weights: Weights, kind: Kind) -> Weights:
        return weights._replace(
            links=kind.scaled(weights.links, self.allowed),
            source_nulls=kind.scaled(weights.source_nulls, (self.target_of == NONE).astype(np.float64)),
            target_nulls=kind.scaled(weights.target_nulls, (self.source_of == NONE).astype(np.float64)),
        )


def pinned(positive: Bool, negative: Bool) -> PinnedLinks:
    """The mask that requires some links and forbids others, (p, q) each.

    Two links that share a word cannot both be required: then no link is allowed, and their words cannot be unlinked.
    """
    p, q = positive.shape
    target_of, source_of = np.full(p, NONE), np.full(q, NONE)
    sources, targets = np.nonzero(positive)
    target_of[sources], source_of[targets] = targets, sources
    allowed = ~negative
    allowed[sources] = False
    allowed[:, targets] = False
    allowed[sources, targets] = len(sources) == np.sum(target_of != NONE) == np.sum(source_of != NONE)
    return PinnedLinks(target_of, source_of, allowed.astype(np.float64))


def nothing_pinned(p: int, q: int) -> PinnedLinks:
    none = np.zeros((p, q), dtype=np.bool_)
    return pinned(none, none)


@dataclass(frozen=True, eq=False)
class KeptStates:
    """The alignments over some bispans: `states` and `log_weights` (None: 0) are (source spans, target spans)."""

    states: Bool
    log_weights: Float | None = None
    can_be_turned = False

    @property
    def turned(self) -> KeptStates:
        raise NotImplementedError

    def keep(self, kept: SpanMask) -> None:
        keep_states(self.states, kept)

    def weigh(self, weights: Weights, kind: Kind) -> Weights:
        """Ranges may hold more than what is kept: that weighs nothing."""
        logs = np.where(self.states, 0.0 if self.log_weights is None else self.log_weights, -np.inf)
        own = weights.bispans
        return weights._replace(bispans=kind.scaled(own, np.exp(logs)) if length(own) else kind.exp(logs))


# The chart of an inversion transduction grammar, filled under one mask after another; and its best alignment.
#
# Numbers are summed in float64 where its range suffices, else in wide numbers (`kernels/numbers.py`).


# Large Schroeder numbers, which count the permutations that can be built, grow by this factor at most.
LOG_SCHROEDER = math.log(3 + 2 * math.sqrt(2))


class ItgChart(SweepFactorisation):
    """The items of one sentence pair in one kind of numbers; what an earlier mask left is never looked at.

    With `is_turned` the chart within is that of the pair turned round; what comes in and out is not. `log_z` is that
    under the last mask; -inf where there is no alignment.
    """

    def __init__(self, shifted: Shifted, kind: Kind = REAL, is_turned: bool = False) -> None:
        self._shifted, self.kind, self._is_turned = shifted, kind, is_turned
        own = shifted.turned if is_turned else shifted
        self._p, self._q = p, q = own.size
        shape = TABLES, spans_of(p), spans_of(q)
        with _memory_for(*shifted.size, charts=4 if kind is WIDE else 2):
            self._items, self._adjoints = kind.zeros(shape), kind.zeros(shape)
        self._kept, self._log_alignments = new_ranges(p, q), log_alignments(p, q)
        self._unmasked = self._weights = _weights(own, kind.exp)
        self._total: Any = None
        self.log_z = -math.inf

    def _in(self, kind: Kind) -> ItgChart:
        return ItgChart(self._shifted, kind, self._is_turned)

    def filled(self, mask: Mask) -> ItgChart:
        """Sum over the alignments under a mask: the chart itself or one in wide numbers, valid until the next mask."""
        return self.answer(lambda own: own._filled(mask))

    def _filled(self, mask: Mask) -> tuple[ItgChart, bool]:
        mask = mask.turned if self._is_turned else mask
        mask.keep(self._kept)
        self._weights = mask.weigh(self._unmasked, self.kind)
        for begin, end in pieces(self._p, self._q, f"sums of {_words(self._shifted)}"):
            self._total = inside(self._weights, self._kept, self._items, begin, end)
        log_z = logarithm(self._total) if is_positive(self._total) else -math.inf
        self.log_z, self.in_range = log_z + self._shifted.constant, self.is_wide or self._holds(log_z)
        return self, self.in_range

    def _holds(self, log_z: float) -> bool:
        """Whether float64 held every item that is a part of Z.

        What surrounds an item has at most as many alignments as there are, each of a limited weight: of links and
        unlinked words at most 1, of parts, of which there are fewer than two a link, that of the best bispan.
        """
        highest = math.log(self._weights.bispans.max(initial=1.0))
        surroundings = self._log_alignments + 2 * min(self._p, self._q) * highest
        return log_z < math.inf and log_z > LOG_SMALLEST - LOG_LOST + surroundings

    def marginals(self) -> Float:
        """P(link) under the mask, (p, q)."""
        found = self.kind.zeros((self._p, self._q))
        given = self._weights, self._kept, self._items, self._total, self._adjoints, found
        for begin, end in pieces(self._p, self._q, f"probabilities of {_words(self._shifted)}", backwards=True):
            outside(*given, begin, end)
        marginals: Float = self.kind.floats(found)
        return marginals.T.copy() if self._is_turned else marginals

    def sample(self, size: int, rng: np.random.Generator) -> Heads:
        """Independent exact alignments under the mask, (size, p): every source word's target word, -1 for none."""
        targets = np.empty((size, self._p), dtype=np.int32)
        sample_links(self._weights, self._kept, self._items, self._total, kernel_state(rng), targets)
        return _turned(targets, self._q) if self._is_turned else targets


def _turned(links: Heads, n: int) -> Heads:
    """From the word that each word is linked with, -1 for none, to the same of the n words of the other side."""
    found = np.full((len(links), n), -1, dtype=links.dtype)
    rows, words = np.nonzero(links >= 0)
    found[rows, links[rows, words]] = words
    return found


def _memory_for(p: int, q: int, charts: int) -> AbstractContextManager[None]:
    what = f"the chart of {p} by {q} words"
    return memory_for(charts * chart_size(p, q), what, "Remove the pair, or align parts of it")


def _words(shifted: Shifted) -> str:
    p, q = shifted.size
    return f"{p:,} by {q:,} words"


def log_alignments(p: int, q: int) -> float:
    """An upper bound of the logarithm of the number of alignments: any k words of either side, in some order."""
    logs = [log_choices(p, k) + log_choices(q, k) + k * LOG_SCHROEDER for k in range(min(p, q) + 1)]
    return max(logs) + math.log(len(logs))


def log_choices(n: int, k: int) -> float:
    return math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)


def _weights(shifted: Shifted, exp: Callable[[Float], Any]) -> Weights:
    """The weights of a pair's parts as numbers of some kind; bispans may be beyond float64."""
    p, q = shifted.size
    runs = np.zeros((p + 1, p + 1)), np.zeros((q + 1, q + 1))
    with np.errstate(over="ignore"):
        return Weights(*map(exp, (shifted.links, shifted.source_nulls, shifted.target_nulls, shifted.bispans, *runs)))


def best_links(shifted: Shifted) -> Heads | None:
    """The links of the alignment of the largest weight, (p,); None where there is none. As costly as log Z."""
    with _memory_for(*shifted.size, charts=1):
        own = shifted.turned if shifted.pays_turned else shifted
        p, q = own.size
        items, kept = Tropical(np.empty((TABLES, spans_of(p), spans_of(q)))), new_ranges(p, q)
    nothing_pinned(p, q).keep(kept)
    weights = _weights(own, Tropical)
    for begin, end in pieces(p, q, f"best links of {_words(shifted)}"):
        total = inside(weights, kept, items, begin, end)
    if total.log == -np.inf:
        return None
    targets = np.empty(p, dtype=np.int32)
    follow(weights, kept, items, targets)
    return _turned(targets[None], q)[0] if shifted.pays_turned else targets


# What a simpler model says of a sentence pair: which links are likely, and what parts of both sentences go together.
#
# The simpler model links every word of one side with a word of the other or with none, independently of all other
# words: IBM model 1 with the scores at hand, in both directions.


# A word that the simpler model is certain of is not quite so certain: merits stay finite.
DOUBT = 1e-12


class Direction(NamedTuple):
    """One direction of the simpler model: P(link) given a word, (words, other words), and P(none), (words,)."""

    links: Float
    nulls: Float


def directions(scores: LinkScores) -> tuple[Direction, Direction]:
    return _direction(scores.links, scores.source_nulls), _direction(scores.links.T, scores.target_nulls)


def _direction(links: Float, nulls: Float) -> Direction:
    choices = np.concatenate([links, nulls[:, None]], axis=1)
    highest = choices.max(axis=1, keepdims=True)
    weights = np.exp(choices - np.where(np.isfinite(highest), highest, 0.0))
    shares = weights / np.maximum(weights.sum(axis=1, keepdims=True), np.finfo(float).tiny)
    return Direction(shares[:, :-1], shares[:, -1])


def confidences(scores: LinkScores) -> Float:
    """P(link) in the direction that is less sure of it, (p, q). Above 1/2 it is the best link of both its words."""
    source, target = directions(scores)
    found: Float = np.minimum(source.links, target.links.T)
    return found


def bispan_merits(scores: LinkScores) -> Float:
    """Log-probabilities that both halves of a cut are linked within, (source spans, target spans), of spans of words.

    Tic-tac-toe (Zhang and Gildea 2005): the words within a bispan stay within, those outside of it outside, in the
    product of both directions. O(p^2 q^2)
    """
    source, target = directions(scores)
    return _staying(source) + _staying(target).T


def _staying(direction: Direction) -> Float:
    """The same in one direction: of the given words, (spans of words, spans of other words)."""
    words, others = direction.links.shape
    sums = np.concatenate([np.zeros((words, 1)), np.cumsum(direction.links, axis=1)], axis=1)
    first, last = np.triu_indices(others + 1, 1)
    inside = sums[:, last] - sums[:, first]
    nulls = direction.nulls[:, None] + DOUBT
    within = np.log(nulls + np.maximum(inside, 0.0))
    outside = np.log(nulls + np.maximum(sums[:, -1:] - inside, 0.0))
    gains = np.concatenate([np.zeros((1, len(first))), np.cumsum(within - outside, axis=0)])
    begin, end = np.triu_indices(words + 1, 1)
    found: Float = gains[end] - gains[begin] + outside.sum(axis=0)
    return found


# The dynamic program over the alignments of a sentence pair, as randomized pruning and its rivals want it.


# Links are pinned that both directions of the simpler model find more likely than this: above 1/2 no two share a word,
# and links that are hardly more likely than not make chains slower by more than they save.
CONFIDENT = 0.6


class LinkProgram(CellProgram[Mask, ItgChart, Heads]):
    """The alignments of a sentence pair; its variables are links (source word, target word), row by row.

    A link that is pinned prunes all bispans that hold one of its words without the other, the words' other links, and
    their being unlinked. The states of a cell, a source span, are its target spans. Structures are arrays (p,): the
    target word of every source word, -1 for none. Confidence and merits go by the scores `heuristic`, of the same
    words.
    """

    def __init__(self, shifted: Shifted, heuristic: LinkScores) -> None:
        self._shifted, self._shape = shifted, shifted.size
        self._heuristic = heuristic

    def variables(self) -> int:
        p, q = self._shape
        return p * q

    def confident(self) -> Int:
        return np.flatnonzero(confidences(self._heuristic) > CONFIDENT)

    def compile(self, selected: Bool, assigned: Bool) -> Mask:
        return pinned((selected & assigned).reshape(self._shape), (selected & ~assigned).reshape(self._shape))

    def inside(self, mask: Mask) -> tuple[float, ItgChart]:
        """The chart is valid until the next call. O(p^3 q^3) where nothing is pruned."""
        turns = self._shifted.pays_turned and mask.can_be_turned
        chart = (self._turned if turns else self._as_it_is).filled(mask)
        return chart.log_z, chart

    @cached_property
    def _as_it_is(self) -> ItgChart:
        return ItgChart(self._shifted)

    @cached_property
    def _turned(self) -> ItgChart:
        return ItgChart(self._shifted, is_turned=True)

    def outside(self, chart: ItgChart) -> Float:
        """P(link) under the mask, (p, q)."""
        return chart.marginals()

    def sample(self, chart: ItgChart, rng: np.random.Generator) -> Heads:
        """See `Program`."""
        found: Heads = chart.sample(1, rng)[0]
        return found

    def assign(self, structure: Heads) -> Bool:
        return self._are_linked(structure).ravel()

    def features(self, structure: Heads) -> Float:
        """Return 1 for links that are there, (p, q)."""
        return self._are_linked(structure).astype(np.float64)

    def _are_linked(self, targets: Heads) -> Bool:
        found: Bool = targets[:, None] == np.arange(self._shape[1])
        return found

    def no_structure(self) -> DeptreeError:
        return no_alignment(self._shifted)

    def merits(self) -> Float:
        """Links by themselves are no question, nor is what reaches the ends of both sides."""
        merits = bispan_merits(self._heuristic)
        (s, t), (u, v) = (np.triu_indices(n + 1, 1) for n in self._shape)
        merits[((t - s) == 1)[:, None] & ((v - u) == 1)] = np.inf
        merits[(t == t[-1])[:, None] & (v == v[-1])] = np.inf
        return merits

    def keep(self, kept: Bool, log_weights: Float | None = None) -> Mask:
        return KeptStates(kept, log_weights)
