"""The tests of a small sentence, all of whose trees are enumerated."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache, cached_property
from itertools import combinations

import numpy as np

from deptree_cli.core.arc_factored import ArcFactored
from deptree_cli.core.audit.binomials import mean_deviation, probability_slack
from deptree_cli.core.audit.findings import ARCS, PAIRS, TAILS, TREES, Finding, Tests, events_finding, rival_tree
from deptree_cli.core.audit.omnibus import omnibus
from deptree_cli.core.dtypes import Bool, Float, Heads, Int, Integers
from deptree_cli.core.oracle import all_trees
from deptree_cli.core.spaces import TreeSpace

# The rarest trees that together have at most 1/2, 1/4, ... of the probability.
TAIL_MASSES = 0.5 ** np.arange(1, 41)


@dataclass(frozen=True)
class Events:
    """A group of tests: sets of trees.

    Attributes:
        group: a key of `findings.SHARES`.
        probs: (e,).
        fingerprints: (e,) uint64, the sum of the trees' keys: sets of the same trees have the same.
        rival: (e,) whether the rival tree is in the set.
        count: counts of trees (m,) -> of the events (e,).
        tested: (e,) which of them are tested; the others are the same sets, or the opposites, of some before.
    """

    group: str
    probs: Float
    fingerprints: Integers
    rival: Bool
    count: Callable[[Float], Float]
    tested: Bool


class Enumerated(Tests):
    """A sentence's trees, their exact probabilities, and the tests of how often each was drawn.

    Attributes:
        probs: (m,) of all trees of the space, in the order of `all_trees`; 0 for those with a forbidden arc.
    """

    method = "enumeration"

    def __init__(self, distribution: ArcFactored) -> None:
        self._codes = _tables(distribution.n, distribution.space)
        log_probs = distribution.factorisation.tree_log_probs(self._codes.trees)
        self._possible = log_probs > -np.inf
        self.probs = np.exp(log_probs - np.logaddexp.reduce(log_probs[self._possible]))  # their sum by enumeration
        self.slack = probability_slack(distribution.n)
        self._order = np.argsort(self.probs, kind="stable")[int((~self._possible).sum()) :]
        n = distribution.n
        marginals = np.bincount(self._codes.arcs.numbers.ravel(), np.repeat(self.probs, n), (n + 1) * n)
        rival = rival_tree(distribution, np.pad(marginals.reshape(-1, n), ((0, 0), (1, 0))))
        self._rival = None if rival is None else int(self._codes.index(rival[None])[0])
        self.rival_prob = None if self._rival is None else float(self.probs[self._rival])
        self._events = [] if self._rival is None else self._distinct(self._rival)

    def empty(self) -> Int:
        return np.zeros(len(self.probs), dtype=np.int64)

    def add(self, counts: Int, heads: Integers, times: Int) -> None:
        np.add.at(counts, self._codes.index(heads), times)

    def findings(self, counts: Int, size: int) -> list[Finding | None]:
        given = counts.astype(float)
        found = [
            events_finding(
                one.group, one.count(given)[one.tested], size, one.probs[one.tested], self.slack, one.rival[one.tested]
            )
            for one in self._events
        ]
        return [*found, omnibus(given[self._order], size, self.probs[self._order], self.slack)]

    def distances(self, counts: Int, size: int, impossible: int) -> tuple[float, float]:
        """Total variation distance of observed from exact tree frequencies, and its mean without bias."""
        observed = 0.5 * float(np.abs(counts / size - self.probs).sum() + impossible / size)
        return observed, 0.5 * float(mean_deviation(self.probs, size).sum())

    def log_prob_z(self, counts: Int, size: int) -> float | None:
        probs = self.probs[self._possible]
        with np.errstate(divide="ignore"):
            logs = np.log(probs)
        logs[probs == 0.0] = 0.0
        mean = float(probs @ logs)
        variance = float(probs @ (logs - mean) ** 2)
        if variance <= 1e-20:
            return None
        return float((counts[self._possible] @ logs / size - mean) * np.sqrt(size / variance))

    def _distinct(self, rival: int) -> list[Events]:
        """The groups of events, each set of trees (or its opposite) once, and none that is certain or empty."""
        keys = np.where(self._possible, self._codes.keys, 0).astype(np.uint64)
        is_rival, tested = np.arange(len(keys)) == rival, np.ones(len(keys), dtype=bool)
        groups = [
            Events(TREES, self.probs, keys, is_rival, lambda counts: counts, tested),
            self._marked(ARCS, self._codes.arcs, keys, rival),
            self._marked(PAIRS, self._codes.pairs, keys, rival),
            self._tails(keys, rival),
        ]
        fingerprints = np.concatenate([one.fingerprints for one in groups])
        fingerprints = np.minimum(fingerprints, keys.sum() - fingerprints)  # one name for a set and its opposite
        first = np.zeros(len(fingerprints), dtype=bool)
        first[np.unique(fingerprints, return_index=True)[1]] = True
        first &= fingerprints != 0
        parts = np.split(first, np.cumsum([len(one.probs) for one in groups])[:-1])
        return [replace(one, tested=part) for one, part in zip(groups, parts, strict=True)]

    def _marked(self, group: str, marks: Marks, keys: Integers, rival: int) -> Events:
        """The events that trees carry a mark."""
        is_rival = np.zeros(marks.total, dtype=bool)
        is_rival[marks.numbers[rival]] = True
        fingerprints = marks.fingerprints if self._possible.all() else marks.sums(keys)
        tested = np.ones(marks.total, dtype=bool)
        return Events(group, marks.count(self.probs), fingerprints, is_rival, marks.count, tested)

    def _tails(self, keys: Integers, rival: int) -> Events:
        order = self._order
        mass = np.cumsum(self.probs[order])
        cuts = np.searchsorted(mass, TAIL_MASSES, side="right") - 1  # the last tree of each tail
        cuts = np.unique(cuts[cuts >= 0])
        is_rival = cuts >= int(np.flatnonzero(order == rival)[0])
        tested = np.ones(len(cuts), dtype=bool)
        return Events(
            TAILS, mass[cuts], np.cumsum(keys[order])[cuts], is_rival, lambda c: np.cumsum(c[order])[cuts], tested
        )


@dataclass(frozen=True)
class Marks:
    """What trees have in common, such as arcs.

    Attributes:
        numbers: (m, marks of a tree), those of each tree.
        total: how many there are, all numbers being below it.
        keys: of the trees.
    """

    numbers: Int
    total: int
    keys: Integers

    def count(self, of_trees: Float) -> Float:
        """The sums (total,) of what trees (m,) have, over those that carry each mark."""
        repeated = np.repeat(of_trees, self.numbers.shape[1])
        return np.asarray(np.bincount(self.numbers.ravel(), repeated, self.total), dtype=float)

    def sums(self, keys: Integers) -> Integers:
        """The same of keys, modulo 2^64."""
        found = np.zeros(self.total, dtype=np.uint64)
        np.add.at(found, self.numbers.ravel(), np.repeat(keys, self.numbers.shape[1]))
        return found

    @cached_property
    def fingerprints(self) -> Integers:
        """Those of all trees."""
        return self.sums(self.keys)


@dataclass(frozen=True)
class Tables:
    """What all sentences of a length and a tree space share.

    Attributes:
        trees: (m, n) heads.
        codes: (m,) the heads as one number each, ascending.
        keys: (m,) random numbers of 64 bits, always the same.
        arcs, pairs: n and n (n-1) / 2 of each tree.
    """

    trees: Heads
    codes: Int
    keys: Integers
    arcs: Marks
    pairs: Marks

    def index(self, heads: Integers) -> Int:
        """The numbers of trees (k, n), (k,)."""
        return np.searchsorted(self.codes, _code(heads))


def _code(heads: Integers) -> Int:
    n = heads.shape[1]
    return heads.astype(np.int64) @ ((n + 1) ** np.arange(n - 1, -1, -1, dtype=np.int64))


@cache
def _tables(n: int, space: TreeSpace) -> Tables:
    trees = all_trees(n, space)
    keys = np.random.PCG64(0).random_raw(len(trees))
    arcs = trees.astype(np.int64) * n + np.arange(n)
    chosen = list(combinations(range(n), 2))
    first, second = [i for i, _ in chosen], [j for _, j in chosen]
    pairs = arcs[:, first] * (n * (n + 1)) + arcs[:, second]
    marks = (Marks(numbers, int(numbers.max(initial=-1)) + 1, keys) for numbers in (arcs, pairs))
    return Tables(trees, _code(trees), keys, *marks)
