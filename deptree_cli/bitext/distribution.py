"""A distribution over the alignments of a sentence pair: scores of links in; sums, samples and best links out.

The distribution, its chart, under pruning masks too, and the program for `deptree_cli.pruning`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import cached_property, partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from deptree_cli.bitext.kernels import (
    TABLES,
    LinkWeights,
    SpanMask,
    follow,
    inside,
    keep_around_links,
    keep_states,
    new_ranges,
    outside,
    sample_links,
    spans_of,
)
from deptree_cli.bitext.scores import (
    NO_TABLE,
    LinkScores,
    ShiftedLinks,
    chart_size,
    checked_bispans,
    checked_links,
    checked_nulls,
    pieces,
    shift,
)
from deptree_cli.core.arc_factored import Frozen
from deptree_cli.core.counts import how_many, room_for_trees
from deptree_cli.core.dtypes import Bool, Float, Heads, Int, read_only
from deptree_cli.core.errors import DeptreeError, counted
from deptree_cli.core.memory import memory_for
from deptree_cli.core.numbers import REAL, WIDE, Kind
from deptree_cli.core.streams import Randomness, kernel_state, stream_of
from deptree_cli.kernels.charts import LOG_LOST, LOG_SMALLEST
from deptree_cli.kernels.numbers import Tropical
from deptree_cli.kernels.operations import is_positive, length, logarithm
from deptree_cli.kernels.walker import NONE
from deptree_cli.pruning.program import CellProgram


class AlignmentDistribution(Frozen):
    """A distribution over the alignments of a sentence pair by an inversion transduction grammar (Wu 1997).

    Every word is linked with at most one word of the other sentence. Links may cross if neighbouring parts of the
    sentences swap places, part within part. The weight of an alignment is the product of the weights of its links and
    of its unlinked words. Every alignment has exactly one derivation (`bitext/kernels.py`).

    Args:
        scores: (p, q), ``[i, j]`` scores the link of source word i with target word j.
        scale: ``log`` (natural logarithms; ``-inf`` forbids, and so does a mask of -1e15 or below) or ``weight``
            (non-negative, 0 forbids), for nulls too.
        source_nulls: (p,) or one number, scores of leaving source words unlinked; a log-score of 0 if None.
        target_nulls: (q,) or one number, the same for target words.
        id: the pair's name in messages; its random stream depends on it.
        temperature: divides the log-scores.
        bispans: (p+1, p+1, q+1, q+1), ``[s, t, u, v]``, log-scores of parts that consist of the source words s..t-1 and
            the target words u..v-1; or None. A part is a link with the unlinked words behind its two words, or two
            parts side by side. If three or more parts follow each other in one order, the last is joined to the part of
            all others.

    Attributes:
        log_scores, source_nulls, target_nulls: float64, read-only; ``-inf`` forbids.

    Raises:
        DeptreeError: says what is wrong with the scores and what to do.
    """

    FIELDS = ("log_scores", "source_nulls", "target_nulls", "bispans", "id")

    log_scores: Float
    source_nulls: Float
    target_nulls: Float
    bispans: Float | None
    id: str

    def __init__(
        self,
        scores: ArrayLike,
        scale: str = "log",
        source_nulls: ArrayLike | None = None,
        target_nulls: ArrayLike | None = None,
        id: str = "1",
        *,
        temperature: float = 1.0,
        bispans: ArrayLike | None = None,
    ) -> None:
        try:
            links = checked_links(scores, scale, temperature)
            p, q = links.shape
            nulls = (
                checked_nulls("source", source_nulls, p, scale, temperature),
                checked_nulls("target", target_nulls, q, scale, temperature),
            )
            parts = None if bispans is None else checked_bispans(bispans, p, q, temperature)
        except DeptreeError as error:
            raise error.at(sent_id=id) from None
        self._set(log_scores=links, source_nulls=nulls[0], target_nulls=nulls[1], bispans=parts, id=id)

    def __repr__(self) -> str:
        links = int(np.isfinite(self.log_scores).sum())
        size = f"{self.p} source and {self.q} target words, {counted(links, 'link')}"
        return f"<{type(self).__name__} {self.id!r}: {size}>"

    @property
    def p(self) -> int:
        """The number of source words."""
        return len(self.log_scores)

    @property
    def q(self) -> int:
        """The number of target words."""
        return self.log_scores.shape[1]

    @property
    def link_scores(self) -> LinkScores:
        return LinkScores(self.log_scores, self.source_nulls, self.target_nulls)

    @cached_property
    def shifted(self) -> ShiftedLinks:
        return shift(self.log_scores, self.source_nulls, self.target_nulls, self.bispans)

    @cached_property
    def _chart(self) -> ItgChart:
        """The chart of all alignments. O(p^3 q^3)

        Raises:
            DeptreeError: no alignment is possible.
        """
        found = ItgChart(self.shifted).filled(nothing_pinned(self.shifted))
        if found.log_z == -np.inf:
            raise self.shifted.no_alignment().at(sent_id=self.id)
        return found

    @property
    def log_partition(self) -> float:
        """The natural logarithm of the partition function, the sum of all alignments' weights.

        Raises:
            DeptreeError: no alignment is possible. `marginals` and `sample` raise it too.
        """
        return self._chart.log_z

    def marginals(self) -> Float:
        """The probability of every link, (p, q), read-only."""
        return self._marginals

    @cached_property
    def _marginals(self) -> Float:
        return read_only(self._chart.marginals())

    def argmax(self) -> Heads:
        """The most probable alignment: the target word of every source word, -1 for none, (p,).

        Raises:
            DeptreeError: no alignment is possible.
        """
        found = best_links(self.shifted)
        if found is None:
            raise self.shifted.no_alignment().at(sent_id=self.id)
        return found

    def sample(self, k: int, rng: Randomness | None = None, *, seed: int | None = None) -> Heads:
        """Sample k independent alignments: the target word of every source word, -1 for none, (k, p).

        Args:
            rng, seed: a seed, from which each pair has its own stream, or a Generator; a fresh seed if neither is
                given.

        Raises:
            DeptreeError: k or the seed is invalid, or no alignment is possible.
        """
        stream = stream_of(rng, seed, self.id)
        with room_for_trees(how_many(k, "alignments"), "alignments") as size:
            return self._chart.sample(size, stream)

    def program(self, heuristic: AlignmentDistribution | None = None) -> LinkProgram:
        """The dynamic program over the alignments, for `expectations`.

        Args:
            heuristic: a distribution over the same words, whose scores tell which links and states matter; this one if
                None.

        Raises:
            DeptreeError: the heuristic has other numbers of words.
        """
        if heuristic and heuristic.log_scores.shape != self.log_scores.shape:
            problem = f"the heuristic has {heuristic.p} x {heuristic.q} words, the pair {self.p} x {self.q}"
            raise DeptreeError(problem, "Give scores of the same words", sent_id=self.id)
        return LinkProgram(self.shifted, (heuristic or self).link_scores)


# Masks of the chart over bispans: by links that are pinned, by states that are kept, or none.


class AlignmentMask(NamedTuple):
    """What a mask leaves of a chart.

    Attributes:
        keep: fills the ranges of bispans that are kept.
        factors: of the weights of links (p, q) and of unlinked words (p,) and (q,): 0 for what is forbidden, else 1.
        log_weights: of bispans, (source spans, target spans), beside their own; (0, 0) for none. Ranges may hold more
            than what is kept: that weighs nothing.
        is_turned: whether it is for a pair that is turned (`ShiftedLinks`).
    """

    keep: Callable[[SpanMask], None]
    factors: tuple[Float, Float, Float]
    log_weights: Float = NO_TABLE
    is_turned: bool = False


def pinned(positive: Bool, negative: Bool, is_turned: bool = False) -> AlignmentMask:
    """The mask that requires some links and forbids others, (p, q) each.

    Two links that share a word cannot both be required: then no link is allowed, and their words cannot be unlinked.
    """
    p, q = positive.shape
    target_of, source_of = np.full(p, NONE), np.full(q, NONE)  # the words that words are pinned to
    sources, targets = np.nonzero(positive)
    target_of[sources], source_of[targets] = targets, sources
    allowed = ~negative
    allowed[sources] = False
    allowed[:, targets] = False
    allowed[sources, targets] = len(sources) == np.sum(target_of != NONE) == np.sum(source_of != NONE)
    factors = allowed.astype(float), (target_of < 0).astype(float), (source_of < 0).astype(float)
    return AlignmentMask(partial(keep_around_links, target_of, source_of), factors, NO_TABLE, is_turned)


def nothing_pinned(shifted: ShiftedLinks) -> AlignmentMask:
    none = np.zeros(shifted.links.shape, dtype=np.bool_)
    return pinned(none, none, shifted.is_turned)


# The chart of an inversion transduction grammar, filled under one mask after another; and its best alignment.
#
# Sums are in float64 if its range is large enough, else in wide numbers (`kernels/numbers.py`).


# Large Schroeder numbers, which count the permutations that can be built, grow by this factor at most.
LOG_SCHROEDER = math.log(3 + 2 * math.sqrt(2))


class ItgChart:
    """The items of one sentence pair in one kind of numbers; what an earlier mask left is never looked at.

    If the scores are turned, so is the chart; results are not. `log_z` is of the last mask, -inf if no alignment is
    possible.
    """

    def __init__(self, shifted: ShiftedLinks, kind: Kind = REAL) -> None:
        self._shifted, self.kind = shifted, kind
        self._p, self._q = p, q = shifted.links.shape
        with _memory_for(shifted, charts=4 if kind is WIDE else 2):
            self._items, self._adjoints = (kind.zeros((TABLES, spans_of(p), spans_of(q))) for _ in range(2))
        self._kept, self._log_alignments = new_ranges(p, q), log_alignments(p, q)
        self._unmasked = self._weights = _weights(shifted, kind.exp)
        self._total: Any = None
        self.log_z = -math.inf

    @cached_property
    def in_wide_numbers(self) -> ItgChart:
        return ItgChart(self._shifted, WIDE)

    def filled(self, mask: AlignmentMask) -> ItgChart:
        """Sum over the alignments under a mask: the chart itself or one in wide numbers, valid until the next mask."""
        mask.keep(self._kept)
        kind, bispans, logs = self.kind, self._unmasked.bispans, mask.log_weights
        if len(logs):
            bispans = kind.scaled(bispans, np.exp(logs)) if length(bispans) else kind.exp(logs)
        links, *nulls = map(kind.scaled, self._unmasked, mask.factors)
        self._weights = LinkWeights(links, nulls[0], nulls[1], bispans, *self._unmasked[4:])
        self._total = _sum(self._shifted, self._weights, self._kept, self._items, "sums")
        log_z = logarithm(self._total) if is_positive(self._total) else -math.inf
        self.log_z = log_z + self._shifted.constant
        return self if self.kind is WIDE or self._holds(log_z) else self.in_wide_numbers.filled(mask)

    def _holds(self, log_z: float) -> bool:
        """Whether float64 held every item that is a part of Z.

        What surrounds an item has at most as many alignments as there are, each of a limited weight: of links and
        unlinked words at most 1, of parts, of which there are fewer than two a link, that of the best bispan.
        """
        highest = math.log(self._weights.bispans.max(initial=1.0))
        surroundings = self._log_alignments + 2 * min(self._p, self._q) * highest
        return log_z < math.inf and log_z > LOG_SMALLEST - LOG_LOST + surroundings

    def marginals(self) -> Float:
        found = self.kind.zeros((self._p, self._q))
        given = self._weights, self._kept, self._items, self._total, self._adjoints, found
        what = f"probabilities of {_words(self._shifted)}"
        for begin, end in pieces(self._p, self._q, what, backwards=True):
            outside(*given, begin, end)
        marginals: Float = self.kind.floats(found)
        return marginals.T.copy() if self._shifted.is_turned else marginals

    def sample(self, size: int, rng: np.random.Generator) -> Heads:
        """Independent exact alignments under the mask, (size, p): every source word's target word, -1 for none."""
        targets = np.empty((size, self._p), dtype=np.int32)
        sample_links(self._weights, self._kept, self._items, self._total, kernel_state(rng), targets)
        return _as_given(self._shifted, targets)


def best_links(shifted: ShiftedLinks) -> Heads | None:
    """The links of the alignment of the largest weight, (p,); None if no alignment is possible. As costly as log Z."""
    p, q = shifted.links.shape
    with _memory_for(shifted, charts=1):
        items, kept = Tropical(np.empty((TABLES, spans_of(p), spans_of(q)))), new_ranges(p, q)
    nothing_pinned(shifted).keep(kept)
    weights = _weights(shifted, Tropical)
    if _sum(shifted, weights, kept, items, "best links").log == -np.inf:
        return None
    targets = np.empty((1, p), dtype=np.int32)
    follow(weights, kept, items, targets[0])
    found: Heads = _as_given(shifted, targets)[0]
    return found


def _sum(shifted: ShiftedLinks, weights: LinkWeights, kept: SpanMask, items: Any, what: str) -> Any:
    p, q = shifted.links.shape
    for begin, end in pieces(p, q, f"{what} of {_words(shifted)}"):
        total = inside(weights, kept, items, begin, end)
    return total


def _as_given(shifted: ShiftedLinks, links: Heads) -> Heads:
    """Links (k, words of the chart's rows), -1 for none, as links (k, source words)."""
    if not shifted.is_turned:
        return links
    found = np.full((len(links), shifted.links.shape[1]), -1, dtype=links.dtype)
    rows, words = np.nonzero(links >= 0)
    found[rows, links[rows, words]] = words
    return found


def _memory_for(shifted: ShiftedLinks, charts: int) -> AbstractContextManager[None]:
    p, q = shifted.size
    what = f"the chart of {p} by {q} words"
    return memory_for(charts * chart_size(p, q), what, "Remove the pair, or align parts of it")


def _words(shifted: ShiftedLinks) -> str:
    p, q = shifted.size
    return f"{p:,} by {q:,} words"


def log_alignments(p: int, q: int) -> float:
    """An upper bound of the logarithm of the number of alignments: any k words of either side, in some order."""

    def log_choices(n: int, k: int) -> float:
        return math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)

    logs = [log_choices(p, k) + log_choices(q, k) + k * LOG_SCHROEDER for k in range(min(p, q) + 1)]
    return max(logs) + math.log(len(logs))


def _weights(shifted: ShiftedLinks, exp: Callable[[Float], Any]) -> LinkWeights:
    """The weights of a pair's parts as numbers of some kind; bispans may be beyond float64."""
    runs = (np.zeros((n + 1, n + 1)) for n in shifted.links.shape)
    with np.errstate(over="ignore"):
        return LinkWeights(
            *map(exp, (shifted.links, shifted.source_nulls, shifted.target_nulls, shifted.bispans, *runs))
        )


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


class LinkProgram(CellProgram[AlignmentMask, ItgChart, Heads]):
    """The alignments of a sentence pair; its variables are links (source word, target word), row by row.

    A link that is pinned prunes all bispans that hold one of its words without the other, the words' other links, and
    their being unlinked. The states of a cell, a source span, are its target spans. Structures are arrays (p,): the
    target word of every source word, -1 for none. Confidence and merits go by the scores `heuristic`, of the same
    words.
    """

    def __init__(self, shifted: ShiftedLinks, heuristic: LinkScores) -> None:
        self._shifted, self._shape = shifted, shifted.size
        self._heuristic = heuristic
        self._charts: dict[bool, ItgChart] = {}  # of the pair turned, or not

    def variables(self) -> int:
        return math.prod(self._shape)

    def confident(self) -> Int:
        return np.flatnonzero(confidences(self._heuristic) > CONFIDENT)

    def compile(self, selected: Bool, assigned: Bool) -> AlignmentMask:
        positive, negative = ((selected & each).reshape(self._shape) for each in (assigned, ~assigned))
        if self._shifted.is_turned:
            positive, negative = positive.T, negative.T
        return pinned(positive, negative, self._shifted.is_turned)

    def inside(self, mask: AlignmentMask) -> tuple[float, ItgChart]:
        """The chart is valid until the next call. O(p^3 q^3) where nothing is pruned."""
        if mask.is_turned not in self._charts:
            is_ours = mask.is_turned == self._shifted.is_turned
            self._charts[mask.is_turned] = ItgChart(self._shifted if is_ours else self._shifted.turned)
        chart = self._charts[mask.is_turned].filled(mask)
        return chart.log_z, chart

    def outside(self, chart: ItgChart) -> Float:
        return chart.marginals()

    def sample(self, chart: ItgChart, rng: np.random.Generator) -> Heads:
        found: Heads = chart.sample(1, rng)[0]
        return found

    def assign(self, structure: Heads) -> Bool:
        found: Bool = structure[:, None] == np.arange(self._shape[1])
        return found.ravel()

    def features(self, structure: Heads) -> Float:
        return self.assign(structure).reshape(self._shape).astype(np.float64)

    def no_structure(self) -> DeptreeError:
        return self._shifted.no_alignment()

    def merits(self) -> Float:
        """Single links and spans that reach the ends of both sides need no decision."""
        merits = bispan_merits(self._heuristic)
        (s, t), (u, v) = (np.triu_indices(n + 1, 1) for n in self._shape)
        merits[((t - s) == 1)[:, None] & ((v - u) == 1)] = np.inf
        merits[(t == t[-1])[:, None] & (v == v[-1])] = np.inf
        return merits

    def keep(self, kept: Bool, log_weights: Float | None = None) -> AlignmentMask:
        """See `CellProgram`. The pair is not turned: which parts an alignment has depends on the side that is first."""
        (p, q), own = self._shape, 0.0 if log_weights is None else log_weights
        factors = np.ones((p, q)), np.ones(p), np.ones(q)
        return AlignmentMask(partial(keep_states, kept), factors, np.where(kept, own, -np.inf))
