"""The scores of a sentence pair, checked and shifted, what sums over its alignments cost, and links that were found."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import astuple, dataclass, field
from operator import add
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from deptree_cli.core.dtypes import Float
from deptree_cli.core.errors import DeptreeError
from deptree_cli.core.scores import check_numbers, checked_temperature, real_numbers, to_log

# Functions that are told the progress of a long computation in this process.
_watching: list[Callable[[str], object]] = []


@contextmanager
def watched(tell: Callable[[str], object]) -> Iterator[None]:
    _watching.append(tell)
    try:
        yield
    finally:
        _watching.remove(tell)


# What sums over the alignments of a sentence pair cost, and how they are divided where that is much.


# Nanoseconds as measured, of both orders: of two source spans that are joined, of two rows of target spans, and of two
# of their items. They are about right on any machine of today.
JOIN, ROW, PRODUCT = 100.0, 8.0, 0.5

# What takes fewer seconds is done in one piece.
LONG = 1.0

# The sides of a pair change places where that saves this many seconds, and more than half of them.
WORTH_TURNING = 0.01


def chart_size(p: int, q: int) -> int:
    """How many bytes the chart of p by q words takes, three tables of float64 over bispans."""
    return 3 * 8 * (p * (p + 1) // 2) * (q * (q + 1) // 2)


def seconds(p: int, q: int) -> float:
    """About how long it takes to fill the chart of p by q words; to go back through it takes as long again."""
    return _filling(q, p) if is_turned(p, q) else _filling(p, q)


def is_turned(p: int, q: int) -> bool:
    """Whether the chart of p by q words is that of the target words by the source words.

    The grammar takes both sides alike, but every join of source spans costs something, however few target words there
    are. Pairs of about the same lengths stay as they are, and with them the last digits of their sums.
    """
    as_it_is, turned = _filling(p, q), _filling(q, p)
    return as_it_is > max(2 * turned, turned + WORTH_TURNING)


def _filling(p: int, q: int) -> float:
    return 1e-9 * p**3 / 6 * (JOIN + ROW * q**2 / 2 + PRODUCT * q**3 / 6)


def pieces(p: int, q: int, what: str, backwards: bool = False) -> Iterator[tuple[int, int]]:
    """Ranges of lengths of source spans, to be filled one after another; reports the progress to `watched`."""
    if _filling(p, q) < LONG:
        yield 1, p + 1
        return
    done, joins = 0, max((p**3 - p) // 6, 1)
    for size in range(p, 0, -1) if backwards else range(1, p + 1):
        for tell in _watching:
            tell(f"{what}: {done / joins:.0%}")
        yield size, size + 1
        done += (p + 1 - size) * (size - 1)


# Scores of a sentence pair become checked log-scores.


class LinkScores(NamedTuple):
    """Log-scores of links, (p, q), and of leaving words unlinked, (p,) and (q,); -inf forbids."""

    links: Float
    source_nulls: Float
    target_nulls: Float

    @property
    def transposed(self) -> LinkScores:
        return LinkScores(self.links.T, self.target_nulls, self.source_nulls)

    @property
    def none_pays(self) -> bool:
        return not (self.links > self.source_nulls[:, None] + self.target_nulls).any()


def checked_links(scores: ArrayLike, scale: str, temperature: float) -> Float:
    """Natural logarithms of the weights of links, (p, q); -inf forbids."""
    array = real_numbers(scores, "scores of links")
    if array.ndim != 2:
        problem = f"the scores of links have shape {array.shape}, not (source words, target words)"
        raise DeptreeError(problem, "Give one matrix per sentence pair")
    if not array.size:
        side = "source" if not len(array) else "target"
        raise DeptreeError(f"there are no {side} words (shape {array.shape})", "Remove this pair")
    return _checked(array, scale, temperature, lambda at: f"score of the link {at[0] + 1}-{at[1] + 1}")


def checked_nulls(side: str, scores: ArrayLike | None, n: int, scale: str, temperature: float) -> Float:
    """Natural logarithms of the weights of leaving n words unlinked, (n,).

    scores: for each word, or one number for all; None for logarithms of 0.
    """
    if scores is None:
        return np.zeros(n)
    array = real_numbers(scores, f"{side} null scores")
    if array.shape not in ((), (n,)):
        problem = f"the {side} null scores have shape {array.shape}, but there are {n} {side} words"
        raise DeptreeError(problem, "Give one number for each word, or one for all")
    array = np.broadcast_to(array, (n,)).copy()
    return _checked(array, scale, temperature, lambda at: f"null score of {side} word {at[0] + 1}")


def checked_bispans(scores: ArrayLike, p: int, q: int, temperature: float) -> Float:
    """Log-weights of parts, (p+1, p+1, q+1, q+1)."""
    array = real_numbers(scores, "scores of bispans")
    shape = (p + 1, p + 1, q + 1, q + 1)
    if array.shape != shape:
        raise DeptreeError(f"the scores of bispans have shape {array.shape}", f"Give an array {shape}: s, t, u, v")
    return _checked(array, "log", temperature, lambda at: f"score of the bispan {at}")


def _checked(array: Float, scale: str, temperature: float, name: Callable[[tuple[int, ...]], str]) -> Float:
    check_numbers(array, scale, lambda at, what: name(at))
    return checked_temperature(to_log(array, scale), temperature)


# Log-scores of links and of unlinked words less a constant for each word, which changes no probability.


# Log-weights of bispans where there are none.
NO_TABLE: Float = np.empty((0, 0))


class ShiftedLinks(NamedTuple):
    """Logarithms of weights, of links (p, q) and nulls (p,) and (q,) none above 0.

    `bispans` has a row for every source span s..t, sorted by s and t, a column for every target span; (0, 0) for none.
    `constant` is what log Z loses by the shift, for every alignment has every word once.

    `is_turned`: source words are target words here, and the other way round. Sums are much faster that way, and the
    same, as every alignment has one derivation either way.
    """

    links: Float
    source_nulls: Float
    target_nulls: Float
    bispans: Float
    constant: float
    is_turned: bool = False

    @property
    def size(self) -> tuple[int, int]:
        """The numbers of source and of target words."""
        p, q = self.links.shape
        return (q, p) if self.is_turned else (p, q)

    @property
    def turned(self) -> ShiftedLinks:
        links = np.ascontiguousarray(self.links.T)
        return ShiftedLinks(links, self.target_nulls, self.source_nulls, NO_TABLE, self.constant, not self.is_turned)

    def no_alignment(self) -> DeptreeError:
        if self.is_turned:
            return self.turned.no_alignment()
        problem = "no alignment is possible"
        for side, nulls, axis in (("source", self.source_nulls, 1), ("target", self.target_nulls, 0)):
            stuck = np.flatnonzero(np.isneginf(nulls) & np.isneginf(self.links).all(axis=axis))
            if len(stuck):
                problem += f": {side} word {stuck[0] + 1} has neither a link nor a null with a finite score"
                break
        return DeptreeError(problem, "Allow more links, or let words stay unlinked")


def shift(links: Float, source_nulls: Float, target_nulls: Float, bispans: Float | None) -> ShiftedLinks:
    """Shift checked log-scores: of what a word may have the best is 0, for words of the longer side first.

    The pair is turned if that pays, and if no part has a weight of its own.

    bispans: (p+1, p+1, q+1, q+1) log-weights, ``[s, t, u, v]``, or None.
    """
    p, q = links.shape
    if p > q:
        of_sources, of_targets = _constants(links.T, target_nulls, source_nulls)
    else:
        of_targets, of_sources = _constants(links, source_nulls, target_nulls)
    links = links - of_targets - of_sources[:, None]
    table, constant = NO_TABLE, math.fsum((*of_targets, *of_sources))
    if bispans is not None:
        (s, t), (u, v) = (np.triu_indices(n + 1, 1) for n in (p, q))
        table = np.ascontiguousarray(bispans[s[:, None], t[:, None], u, v])
    found = ShiftedLinks(links, source_nulls - of_sources, target_nulls - of_targets, table, constant)
    return found.turned if bispans is None and is_turned(p, q) else found


def _constants(links: Float, shorter: Float, longer: Float) -> tuple[Float, Float]:
    """What words of the longer side, and of the shorter side, lose; links are (shorter, longer).

    However they are linked, some words of the longer side stay unlinked. Those that lose least by it get 0 for that,
    not for their best link, or their losses would add up to what float64 cannot hold.
    """
    of_longer = np.maximum(longer, links.max(axis=0))
    possible = np.isfinite(longer)
    losses = np.subtract(of_longer, longer, out=np.full(len(longer), np.inf), where=possible)
    unlinked = losses.argsort(kind="stable")[: min(len(longer) - len(shorter), possible.sum())]
    of_longer[unlinked] = longer[unlinked]
    of_longer = _finite(of_longer)
    return of_longer, _finite(np.maximum(shorter, (links - of_longer).max(axis=1)))


def _finite(peaks: Float) -> Float:
    """Peaks that can be subtracted: 0 where everything is forbidden."""
    return np.where(np.isfinite(peaks), peaks, 0.0)


# Links between source and target words, and how those that were found agree with gold ones (Och and Ney 2003).


# (source word, target word), both from 0.
Link = tuple[int, int]
Links = frozenset[Link]


def links_of(targets: ArrayLike) -> Links:
    """Return the links of an alignment, (p,): the target word of every source word, -1 for none."""
    found = np.asarray(targets)
    linked = np.flatnonzero(found >= 0)
    return frozenset(zip(linked.tolist(), found[linked].tolist(), strict=True))


@dataclass(frozen=True, slots=True)
class KnownLinks:
    """The links of a sentence pair as annotators made them; all sure ones are among the possible ones.

    `place` is where they were read, for messages.
    """

    sure: Links
    possible: Links
    place: str = field(default="", compare=False)

    def check_within(self, p: int, q: int) -> None:
        """Raise where a link is of a word that a pair of p source words and q target words does not have."""
        beyond = min((link for link in self.possible if link[0] >= p or link[1] >= q), default=None)
        if beyond is not None:
            problem = f"the link {beyond[0]}-{beyond[1]} is outside the {p} source and {q} target words"
            raise DeptreeError(problem, "Check that both files hold the same sentence pairs; words are counted from 0")


@dataclass(frozen=True, slots=True)
class LinkCounts:
    """Counts over sentence pairs that can be added, of links but for `pairs`; sure ones are possible, too.

    Of links A that were found, S that are sure and P that are possible: precision |A & P| / |A|, recall |A & S| / |S|,
    alignment error rate 1 - (|A & S| + |A & P|) / (|A| + |S|); None for a share of nothing.
    """

    pairs: int = 0
    found: int = 0
    sure: int = 0
    found_sure: int = 0
    found_possible: int = 0

    @classmethod
    def of(cls, found: Links, known: KnownLinks) -> LinkCounts:
        return cls(1, len(found), len(known.sure), len(found & known.sure), len(found & known.possible))

    def __add__(self, other: LinkCounts) -> LinkCounts:
        return LinkCounts(*map(add, astuple(self), astuple(other)))

    @property
    def precision(self) -> float | None:
        return self.found_possible / self.found if self.found else None

    @property
    def recall(self) -> float | None:
        return self.found_sure / self.sure if self.sure else None

    @property
    def alignment_error_rate(self) -> float | None:
        links = self.found + self.sure
        return 1 - (self.found_sure + self.found_possible) / links if links else None

    def summary(self) -> dict[str, Any]:
        counts = {"pairs": self.pairs, "links": self.found, "sure": self.sure}
        rates = {"precision": self.precision, "recall": self.recall}
        return counts | rates | {"alignment_error_rate": self.alignment_error_rate}
