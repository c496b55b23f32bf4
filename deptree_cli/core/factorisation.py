"""What tree spaces stand on: their rules, shifted scores, feasibility, and sums worked out once."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any, NamedTuple, Self

import numpy as np

from deptree_cli import kernels
from deptree_cli.core.dtypes import Bool, Float, Heads, Int, Integers
from deptree_cli.core.errors import DeptreeError
from deptree_cli.core.many_trees import blocks_to_fill, blocks_to_read, empty_heads
from deptree_cli.core.numbers import WIDE, Kind
from deptree_cli.core.streams import kernel_state
from deptree_cli.kernels.budget import foresee

# What a tree space asks of its trees: how many arcs leave ROOT, whether arcs may cross, and which arcs there may be.
#
# These are conditions on single arcs and on pairs of arcs, so that a space is data, and membership is decided here
# alone. Two arcs cross if, above words in a row and ROOT before the first, one begins below the other and ends
# outside it.


Arc = tuple[int, int]  # head, dependent


@dataclass(frozen=True, kw_only=True)
class Rules:
    """The conditions of a tree space.

    Attributes:
        single_root: exactly one arc leaves ROOT; otherwise one or more.
        projective: no two arcs cross, where the words stand in a row behind ROOT.
    """

    single_root: bool
    projective: bool = False

    def allows(self, heads: Any, words: Any) -> Any:
        """Whether arcs may be in its trees at all, whatever they weigh: nodes and words, arrays or tensors."""
        return (heads >= 0) | (words > 0)

    def contains(self, heads: Integers) -> Bool:
        """Whether each row of heads (k, n) of integers is a tree of this space, (k,); O(k n), or k n^2."""
        found = are_trees(heads) & self.allows(heads, np.arange(1, heads.shape[1] + 1)).all(axis=1)
        if self.single_root:
            found &= (heads == 0).sum(axis=1) == 1
        if self.projective:
            found[found] = ~crossings(heads[found]).any(axis=1)
        return found

    def contains_padded(self, heads: Integers, lengths: Int) -> Bool:
        """Whether heads (..., N) of sentences of this many words (...,) are trees of this space, (...,).

        Entry j is the head of node j; those of ROOT and of padding are ignored.
        """
        from deptree_cli.core.padded import hung

        trees, sound = hung(np, heads, lengths)
        words = np.arange(heads.shape[-1])
        allowed = self.allows(heads, words) | (words > lengths[..., None])
        rules = Rules(single_root=self.single_root, projective=self.projective)
        found: Bool = rules.contains(trees.reshape(-1, trees.shape[-1])).reshape(sound.shape)
        return found & sound & allowed[..., 1:].all(-1)

    def compatible_arcs(self, pinned: Bool) -> Bool:
        """Return which arcs may be in a tree that has all pinned ones, (..., n+1, n+1), ``[head, dependent]``.

        Not: the other heads of a pinned arc's dependent, and its opposite; under the single-root constraint ROOT's
        other arcs if one is pinned; arcs that a pinned one crosses, if trees are projective; arcs that no tree has.
        """
        heads, words = np.ix_(*map(np.arange, pinned.shape[-2:]))
        found: Bool = self.allows(heads, words) & ~(np.swapaxes(pinned, -1, -2) | _others(pinned, axis=-2))
        if self.single_root:
            found[..., 0, :] &= ~_others(pinned[..., 0, :], axis=-1)
        if self.projective:
            first, last = reach_of(pinned)
            for place in np.ndindex(pinned.shape[:-2]):
                kernels.trees.prune_crossing(first[place], last[place], found[place])
        return found


def are_trees(heads: Integers) -> Bool:
    """Whether each row of heads (k, n), 0 for ROOT, is a tree over the words, with one ROOT arc or more, (k,)."""
    found: Bool = kernels.orders.are_trees(np.array(heads, dtype=np.int64, order="C"))
    return found


def crossings(heads: Integers) -> Int:
    """The first word whose arc crosses each word's, (k, n); 0 where none does. Those between the arc's ends are first.

    heads: (k, n), which need not be trees.
    """
    foresee(float(np.abs(heads - np.arange(1, heads.shape[1] + 1)).sum()))
    found: Int = kernels.orders.crossings(np.array(heads, dtype=np.int64, order="C"))
    return found


def reach_of(pinned: Bool) -> tuple[Int, Int]:
    """Return the outermost nodes that every node is linked with by pinned arcs, or is itself, (..., n+1) each."""
    linked = pinned | np.swapaxes(pinned, -1, -2) | np.eye(pinned.shape[-1], dtype=np.bool_)
    return linked.argmax(axis=-1), pinned.shape[-1] - 1 - linked[..., ::-1].argmax(axis=-1)


def _others(pinned: Bool, axis: int) -> Bool:
    return pinned.sum(axis=axis, keepdims=True) > pinned


def crossing_pairs(arcs: Bool) -> Iterator[tuple[Arc, Arc]]:
    """The pairs of arcs (n+1, n+1), ``[head, dependent]``, that cross, the one that begins first before the other."""
    heads, words = np.nonzero(arcs)
    first, last = np.minimum(heads, words), np.maximum(heads, words)
    named = list(zip(heads.tolist(), words.tolist(), strict=True))
    for i, arc in enumerate(named):
        crossing = (first[i] < first) & (first < last[i]) & (last[i] < last)
        yield from ((arc, named[other]) for other in np.flatnonzero(crossing).tolist())


# Log-scores less a constant for each word: what sums, samplers and expectations compute with, free of offsets.


class Shifted(NamedTuple):
    """Log-scores less a constant for each word, so that the highest are 0; log Z loses `constant` by it."""

    log_weights: Float
    constant: float


def shift(log_scores: Float, space: Rules) -> Shifted:
    """Shift log-scores (n+1, n+1), each word's column to a maximum of 0; no distribution changes by it.

    Under the single-root constraint the maximum is over words as heads, and ROOT's row is shifted as a whole.
    """
    log_weights, peaks = np.empty_like(log_scores), np.empty(len(log_scores))
    constant = kernels.shift.shift_sentence(log_scores, np.inf, space.single_root, peaks, log_weights)[0]
    return Shifted(log_weights, float(constant))


def all_allowed(allowed: Bool) -> bool:
    """Whether no arc is missing: (n+1, n+1), none of which is on the diagonal or leads to ROOT."""
    return np.count_nonzero(allowed) == (len(allowed) - 1) ** 2


# Questions: kernels over the sentences of a batch in one kind of numbers (`kernels/questions.py`), and what they fill.


# Which sentences of a batch: a stretch, or their numbers.
Rows = slice | Int
EVERY = slice(None)

# A function of what kernels are given of some sentences (what is swept, weights, log Z, whether that is known), and of
# which these are among those that results are for.
Question = Callable[[tuple[Any, ...], Rows], Any]


def chosen(matrices: tuple[Any, ...], rows: Rows) -> tuple[Any, ...]:
    """The matrices of some sentences, as kernels take them."""
    values, starts, sizes = matrices
    return (values, starts, sizes) if rows is EVERY else (values, starts[rows], sizes[rows])


def sums_into(out: Any) -> Question:
    """Fill log Z, and the matrices with marginals; None: no marginals."""

    def question(given: tuple[Any, ...], rows: Rows) -> None:
        packed, log_z = given[2:4]
        own = _no_matrices(getattr(packed[0], "dtype", None)) if out is None else chosen(out, rows)
        if not (packed[5] and kernels.questions.sums_side_by_side(packed, log_z, own)):
            kernels.questions.sums(*given, own)

    return question


_LOG_Z = sums_into(None)


def covariances_into(values: Any, out: Any) -> Question:
    """Fill the matrices with the covariances of arcs with sums of values, which are matrices too."""
    return lambda given, rows: kernels.questions.covariances(*given, chosen(values, rows), chosen(out, rows))


def samples_into(heads: Heads, starts: Int, size: int, states: Any) -> Question:
    """Fill `heads` with `size` trees of each sentence, (size, n) from its start on, by the states (B, 4) of kernels."""
    return lambda given, rows: kernels.questions.samples(*given, states[rows], size, heads, starts[rows])


@cache
def _no_matrices(dtype: Any) -> tuple[Any, ...]:
    return np.empty(0, dtype), np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64)


@cache
def _only(number: int) -> Int:
    """An array of one number, which nobody writes to: a sentence is asked in microseconds."""
    return np.array((number,))


def _matrices_of_one(array: Float) -> tuple[Any, ...]:
    return array.reshape(-1), _only(0), _only(len(array))


class LogPartitions(NamedTuple):
    """The log-partition functions (B,) of shifted scores, what these lost by the shift, and which are `in_range`."""

    shifted: Float
    constants: Float
    in_range: Bool

    @classmethod
    def unknown(cls, size: int) -> LogPartitions:
        return cls(np.empty(size), np.empty(size), np.zeros(size, dtype=np.bool_))

    @property
    def total(self) -> Float:
        return self.shifted + self.constants

    def log_ratios(self, other: LogPartitions) -> Float:
        """log Z less that of the same scores over other trees, (B,): offsets cost no digits."""
        return (self.shifted - other.shifted) + (self.constants - other.constants)


# What is worked out once from a sentence's log-scores: its log-partition function, edge marginals and samples.


@dataclass(frozen=True, eq=False)
class Factorisation(ABC):
    """The sums of one sentence; immutable, made by `TreeSpace.factorise`.

    Attributes:
        space: of its trees.
        shifted: the log-scores that it was made of, shifted; by node.
        shifted_log_z: the logarithm of the partition function of the shifted weights.
    """

    space: Rules
    shifted: Shifted
    shifted_log_z: float

    @property
    def n(self) -> int:
        return len(self.shifted.log_weights) - 1

    @property
    def log_z(self) -> float:
        """The log-partition function: the natural logarithm of the sum of all trees' weights."""
        return self.shifted_log_z + self.shifted.constant

    def tree_log_probs(self, trees: Integers) -> Float:
        """Log-probabilities of trees, (k, n) heads -> (k,), -inf where an arc is forbidden; offsets cost no digits."""
        out = np.empty(len(trees))
        for rows, heads in blocks_to_read(trees):
            kernels.trees.tree_log_probs(self.shifted.log_weights, self.shifted_log_z, heads, out[rows])
        return out

    @abstractmethod
    def marginals(self) -> Float:
        """P(head -> dependent), (n+1, n+1); the columns of words sum to 1."""

    def root_marginals(self) -> Float:
        return self.marginals()[0]

    def arc_covariance(self, values: Float) -> Float:
        """Cov(1[arc in tree], sum of the tree's values) for every arc, (n+1, n+1).

        0 for forbidden arcs, whose values do not count, NaN for others if one is not finite. It is the derivative of
        the marginals in that direction, behind every gradient of Zmigrod et al. 2021b.
        """
        possible = self.shifted.log_weights > -np.inf
        if not np.isfinite(values, where=possible, out=np.ones(possible.shape, dtype=np.bool_)).all():
            return np.where(possible, np.nan, 0.0)
        return self._arc_covariance(np.ascontiguousarray(values, dtype=np.float64))

    @abstractmethod
    def _arc_covariance(self, values: Float) -> Float: ...

    @abstractmethod
    def sample(self, size: int, rng: np.random.Generator) -> Integers:
        """Independent exact trees, (size, n), as `many_trees` keeps them: heads of words, 0 for ROOT. O(n^2) each."""


@dataclass(frozen=True, eq=False)
class Swept(Factorisation):
    """Sums by kernels: a batch of one sentence, of which is kept what they swept.

    Attributes:
        kind: of its numbers.
        packed: exp of the shifted scores, as kernels take them: see `Packed`.
        swept: what `kernels/questions.py` makes of them, items and pivots.
    """

    kind: Kind
    packed: tuple[Any, ...]
    swept: tuple[Any, Any]

    @staticmethod
    @abstractmethod
    def memory(new: Callable[[int], Any], nodes: int) -> tuple[Any, Any]:
        """Memory for a sweep over this many nodes, of 0 nothing; kernels know the space and kind of numbers by it."""

    @classmethod
    def of(cls, shifted: Shifted, space: Rules, kind: Kind, final_word: int = 0) -> Self:
        """Sweep, in numbers of a kind; `final_word`: the one that elimination takes last."""
        nodes, log_z = len(shifted.log_weights), np.empty(1)
        weights, swept = kind.exp(shifted.log_weights.reshape(-1)), cls.memory(kind.zeros, nodes)
        numbers = _only(0), _only(nodes - 1), _only(final_word)
        packed = weights, *numbers, space.single_root, 0, np.array((True,))
        _LOG_Z((*swept, packed, log_z, False), EVERY)
        return cls(space, shifted, float(log_z[0]), kind, packed, swept)

    def checked(self) -> Self:
        """These sums, or those in wide numbers where they do not suffice, if there is a tree."""
        found = self if self.in_range else self.in_wide_numbers
        if found.shifted_log_z == -np.inf:
            what = "projective tree" if self.space.projective else "tree"
            raise DeptreeError(f"no {what} has a positive weight", "Allow more arcs")
        return found

    @property
    def in_range(self) -> bool:
        """Whether these numbers held every term of log Z that counts."""
        return bool(self.packed[-1][0])

    @property
    def is_wide(self) -> bool:
        """Whether float64's range did not suffice."""
        return self.kind is WIDE

    @cached_property
    def in_wide_numbers(self) -> Self:
        return self if self.is_wide else self.of(self.shifted, self.space, WIDE, self.final_word)

    @property
    def weights(self) -> Any:
        return self.kind.each(lambda part: part.reshape(self.n + 1, -1), self.packed[0])

    @property
    def final_word(self) -> int:
        return int(self.packed[3][0])

    def _ask(self, question: Question) -> None:
        """Put a question, in whichever numbers suffice."""
        in_range = np.array((True,))
        question((*self.swept, (*self.packed[:-1], in_range), np.empty(1), True), EVERY)
        if not (in_range[0] or self.is_wide):
            self.in_wide_numbers._ask(question)

    def marginals(self) -> Float:
        """See `Factorisation`; the derivative of log Z in reverse mode (Zmigrod et al. 2021b, section 4)."""
        found = np.zeros(self.shifted.log_weights.shape)
        self._ask(sums_into(_matrices_of_one(found)))
        return found

    def _arc_covariance(self, values: Float) -> Float:
        found = np.zeros(values.shape)
        self._ask(covariances_into(_matrices_of_one(values), _matrices_of_one(found)))
        return found

    def sample(self, size: int, rng: np.random.Generator) -> Integers:
        heads, state = empty_heads(size, self.n), kernel_state(rng)
        for _, block in blocks_to_fill(heads):
            self._draw(state, block)
        return heads

    @abstractmethod
    def _draw(self, state: Any, heads: Heads) -> None:
        """Fill heads (k, n) with independent trees; state: of a kernel's generator."""
