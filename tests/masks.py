"""Random graphs with masks, some of which trees need, and their distributions by enumeration with 350 digits.

Masks go from -1e6 to -9e14. Beside them float64 rounds other scores to multiples of 1/8, so that the oracle adds scores
up as fractions; trees below 1e-340 of the best one count for nothing in its sums.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from fractions import Fraction
from functools import cached_property
from typing import Any, NamedTuple

import mpmath as mp
import numpy as np
from numpy.typing import NDArray

from deptree_cli.core.errors import DeptreeError
from deptree_cli.core.oracle import all_trees
from deptree_cli.core.spaces import SPACES, TreeSpace

Float = NDArray[np.float64]

DIGITS = 350
NEGLIGIBLE = -790  # a logarithm

# Words 1 and 2 govern each other best, and nothing else governs them without a mask.
CYCLE = np.array([[0, -1e9, -1e9, 0.3], [0, 0, 0.7, -1e9], [0, -0.4, 0, -1e9], [0, -1e9, -1e9, 0]], dtype=np.float32)


class Graph(NamedTuple):
    """Log-scores (n+1, n+1), and the space of trees, of which there is one."""

    log_scores: Float
    space: TreeSpace

    @property
    def n(self) -> int:
        """The number of words."""
        return len(self.log_scores) - 1


def random_scores(rng: np.random.Generator, shape: tuple[int, ...], masked: float) -> Float:
    """Normal scores times 1 to 10, a share of them masked: by one mask, or by many; some by -inf."""
    scores = rng.normal(size=shape) * rng.choice([1.0, 3.0, 10.0])
    masks = -(10.0 ** rng.uniform(6, np.log10(9e14), rng.choice([1, 2, 20])))
    if rng.random() < 0.3:
        masks[0] = -9e14
    where = rng.random(shape) < masked
    scores[where] = rng.choice(masks, int(where.sum()))
    if rng.random() < 0.3 and len(scores) > 2:  # the first two words govern each other best: a mask must break that
        scores[0, ..., 1:3] = scores[3:, ..., 1:3] = scores[0, ..., 1:2].min()
        scores[1, ..., 2], scores[2, ..., 1] = rng.normal(size=(2, *scores[1, ..., 2].shape))
    scores[rng.random(shape) < rng.choice([0.0, 0.1])] = -np.inf
    return scores


def graphs(
    count: int, spaces: Iterable[TreeSpace] = SPACES, seed: int = 25, dtype: Any = np.float64
) -> Iterator[Graph]:
    """So many graphs of 1 to 4 words, one in fifty of 5; scores as the type holds them."""
    rng, spaces = np.random.default_rng(seed), list(spaces)
    for number in range(count):
        n = 5 if number % 50 == 49 else int(rng.choice([1, 2, 3, 3, 4, 4]))
        space = spaces[number % len(spaces)]
        yield graph_of(rng, n, space, dtype)


def pairs(count: int, **given: Any) -> Iterator[tuple[Graph, Graph]]:
    """So many of `graphs`, each with another over the same trees, a few of which that one may forbid."""
    rng = np.random.default_rng(count)
    for graph in graphs(count, **given):
        other = graph_of(rng, graph.n, graph.space, given.get("dtype", np.float64)).log_scores
        if rng.random() < 0.8:
            missing = np.isneginf(other) & np.isfinite(graph.log_scores)
            other = np.where(missing, np.float32(-1e7), other)
        yield graph, Graph(other, graph.space)


def graph_of(rng: np.random.Generator, n: int, space: TreeSpace, dtype: Any = np.float64) -> Graph:
    """A graph that has a tree."""
    while True:
        scores = random_scores(rng, (n + 1, n + 1), rng.choice([0.2, 0.5, 0.8, 0.9, 1.0]))
        scores = scores.astype(dtype).astype(np.float64)
        np.fill_diagonal(scores, -np.inf)
        scores[:, 0] = -np.inf
        try:
            space.check_feasible(np.isfinite(scores))
        except DeptreeError:
            continue
        return Graph(scores, space)


class Exact:
    """A distribution over trees by enumeration.

    Attributes:
        trees: (k, n) heads of all trees of positive weight.
        log_probs: their log-probabilities, of 350 digits.
        log_z: the logarithm of the partition function.
    """

    def __init__(self, trees: NDArray[np.int32], log_weights: Sequence[Fraction | None]) -> None:
        possible = [number for number, weight in enumerate(log_weights) if weight is not None]
        self.trees = trees[possible]
        weights = [log_weights[number] for number in possible]
        best = max(weights)
        with mp.workdps(DIGITS):
            below = [_number(weight - best) for weight in weights]
            total = mp.log(mp.fsum(mp.exp(x) for x in below if x > NEGLIGIBLE))
            self.log_probs = [x - total for x in below]
            self.log_z = _number(best) + total

    @classmethod
    def of(cls, graph: Graph) -> Exact:
        """Of scores of arcs."""
        return cls.by(graph.space, graph.n, lambda tree: [graph.log_scores[head, j] for j, head in enumerate(tree, 1)])

    @classmethod
    def by(cls, space: TreeSpace, n: int, terms: Callable[[list[int]], Sequence[float]]) -> Exact:
        """Of the sums of whatever a tree consists of."""
        trees = all_trees(n, space)
        each = [terms(tree) for tree in trees.tolist()]
        return cls(trees, [sum(map(Fraction, own)) if np.isfinite(own).all() else None for own in each])

    def powered(self, exponent: float) -> Exact:
        """Its power."""
        with mp.workdps(DIGITS):
            log_weights = [mp.mpf(exponent) * x for x in self.log_probs]
            found = object.__new__(Exact)
            best = max(log_weights)
            total = mp.log(mp.fsum(mp.exp(x - best) for x in log_weights if x - best > NEGLIGIBLE))
            found.trees, found.log_z = self.trees, best + total
            found.log_probs = [x - found.log_z for x in log_weights]
        return found

    @cached_property
    def numbers(self) -> list[int]:
        """Of the trees that count."""
        return [number for number, x in enumerate(self.log_probs) if x > NEGLIGIBLE]

    @cached_property
    def probs(self) -> list[mp.mpf]:
        """Of the trees that count."""
        with mp.workdps(DIGITS):
            return [mp.exp(self.log_probs[number]) for number in self.numbers]

    def expectation(self, values: Sequence[Any]) -> mp.mpf:
        """Of a value of each tree."""
        with mp.workdps(DIGITS):
            return mp.fsum(p * values[number] for p, number in zip(self.probs, self.numbers, strict=True))

    def covariances(self, values: Sequence[Any]) -> Float:
        """Of each arc with a value of each tree, (n+1, n+1)."""
        mean = self.expectation(values)
        with mp.workdps(DIGITS):
            return self._by_arc([p * (values[t] - mean) for p, t in zip(self.probs, self.numbers, strict=True)])

    @cached_property
    def marginals(self) -> Float:
        """P(head -> dependent), (n+1, n+1)."""
        return self._by_arc(self.probs)

    def _by_arc(self, numbers: Sequence[mp.mpf]) -> Float:
        n = self.trees.shape[1]
        with mp.workdps(DIGITS):
            found = [[mp.mpf(0)] * (n + 1) for _ in range(n + 1)]
            for x, number in zip(numbers, self.numbers, strict=True):
                for word, head in enumerate(self.trees[number].tolist(), 1):
                    found[head][word] += x
        return np.array(found, dtype=float)

    @cached_property
    def entropy(self) -> mp.mpf:
        """Shannon's."""
        return -self.expectation(self.log_probs)

    def renyi(self, order: float) -> mp.mpf:
        """Renyi's."""
        with mp.workdps(DIGITS):
            return self.powered(order).log_z / (1 - mp.mpf(order))

    def under(self, other: Exact) -> list[mp.mpf] | None:
        """The other's log-probability of each tree; None if one has none."""
        known = dict(zip(map(tuple, other.trees.tolist()), other.log_probs, strict=True))
        found = [known.get(tuple(tree)) for tree in self.trees.tolist()]
        return None if None in found else found

    def sums(self, values: Float) -> list[mp.mpf]:
        """The sum of each tree's arcs' values."""
        words = range(1, len(values))
        with mp.workdps(DIGITS):
            return [mp.fsum(values[tree[j - 1], j].item() for j in words) for tree in self.trees.tolist()]


def _number(x: Fraction) -> mp.mpf:
    return mp.mpf(x.numerator) / x.denominator


class Worst:
    """The largest error of each question, absolute below 1 and relative above."""

    def __init__(self) -> None:
        self.errors: dict[str, float] = {}

    def see(self, question: str, found: Any, expected: Any) -> None:
        """Compare an answer, a number or an array."""
        error = 0.0
        for one, other in zip(np.ravel(found).tolist(), np.ravel(np.asarray(expected, dtype=object)), strict=True):
            if not (np.isinf(one) and float(other) == one):
                with mp.workdps(DIGITS):
                    difference = abs(mp.mpf(one) - other) / max(1, abs(other))
                error = max(error, float(difference)) if difference == difference else np.inf
        self.errors[question] = max(self.errors.get(question, 0.0), error)

    def check(self, within: float) -> None:
        """All of them."""
        assert {question: error for question, error in self.errors.items() if not error <= within} == {}
