"""Differences that cancel, once more in precise numbers: entropies and divergences that are small beside their terms.

Every function takes distributions with log-scores as they were shifted, of which neither offsets nor masks are left.

Where one tree has nearly everything, nothing is subtracted at all. With x the weight of all other trees relative to the
best one's, log Z - log w(best) = log(1 + x): where x is 1e-20 even 31 digits of Z know nothing of it. So the other
trees are divided by the first word whose head is not the best tree's (Lawler 1972), and each part summed by itself: n
factorisations.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from deptree_cli.core.arc_factored import ArcFactored
from deptree_cli.core.decoding import maximum_tree
from deptree_cli.core.dtypes import Float, Heads
from deptree_cli.core.errors import DeptreeError
from deptree_cli.kernels.numbers.pairs import (
    LOG_RADIX,
    add_product,
    inner_of_pairs,
    multiple_of_radix,
    pair_add,
    pair_divide,
    pair_exp,
    pair_multiply,
    two_product,
)

Pair = tuple[float, float]

# Below this product of an entropy and its order's distance from 1, a difference of pairs has fewer than 13 digits left.
LEAST = 1e-15


def entropy(distribution: ArcFactored) -> float:
    """log Z - E[log-score]."""
    sums = distribution.precise()
    log_z = multiple_of_radix(sums.log_z, sums.exponent)
    found = float(pair_add(log_z, minus(expected_log_score(distribution, distribution)))[0])
    return entropy_by_parts(distribution) if found < LEAST else found


def kl(distribution: ArcFactored, other: ArcFactored) -> float:
    """E[difference of log-scores] - log Z + log Z of the other."""
    ours, theirs = distribution.precise(), other.precise()
    expected = pair_add(expected_log_score(distribution, distribution), minus(expected_log_score(distribution, other)))
    log_ratio = pair_add(theirs.log_z, minus(ours.log_z))
    return float(pair_add(expected, multiple_of_radix(log_ratio, theirs.exponent - ours.exponent))[0])


def renyi(distribution: ArcFactored, order: float) -> float:
    """(log Z of the power - order log Z) / (1 - order), for an order near 1."""
    powered, plain = distribution.precise(order), distribution.precise()
    log_ratio = pair_add(powered.log_z, minus(pair_multiply(plain.log_z, (order, 0.0))))
    # exponents may be as large as masks; their difference is exact
    turns, rest = add_product((powered.exponent, 0.0), -order, plain.exponent)
    log_ratio = pair_add(log_ratio, pair_multiply((turns, rest), LOG_RADIX[:2]))
    log_ratio = pair_add(log_ratio, two_product(turns, LOG_RADIX[2]))
    found = float(pair_divide(log_ratio, (1.0 - order, 0.0))[0])
    return renyi_by_parts(distribution, order) if found * abs(order - 1.0) < LEAST else found


def marginals_moved(distribution: ArcFactored, order: float) -> Float:
    """The marginals of the distribution's power minus its own, (n+1, n+1)."""
    (high, low), (other, rest) = distribution.precise(order).marginals, distribution.precise().marginals
    return (high - other) + (low - rest)


def expected_log_score(distribution: ArcFactored, scored: ArcFactored) -> Pair:
    """The expectation of a tree's log-score, as it was shifted, by the scores of the same distribution or another."""
    shifted = scored.factorisation.shifted
    arrays = (*distribution.precise().marginals, shifted.high, shifted.low)
    return inner_of_pairs(*(array.ravel() for array in arrays))


def minus(x: Pair) -> Pair:
    """The pair of the negative number."""
    return -x[0], -x[1]


class Part(NamedTuple):
    """Some of the trees that are not the best.

    Attributes:
        distribution: over them.
        offset: what its shifted scores lack, less the log-weight of the best tree, a pair.
    """

    distribution: ArcFactored
    offset: Pair

    def log_ratio(self, power: float = 1.0) -> Pair:
        """The logarithm of their weight relative to the best tree's, all weights raised to a power."""
        sums = self.distribution.precise(power)
        log_z = multiple_of_radix(sums.log_z, sums.exponent)
        return pair_add(log_z, pair_multiply(self.offset, (power, 0.0)))

    def expected_log_ratio(self) -> Pair:
        """The expectation over them of a tree's log-weight, less the best tree's."""
        return pair_add(expected_log_score(self.distribution, self.distribution), self.offset)


def entropy_by_parts(distribution: ArcFactored) -> float:
    """Shannon's entropy, to about 15 digits: log(1 + x) plus what the other trees' log-weights lack, on average."""
    other_trees = list(parts(distribution))
    shares = [pair_exp(part.log_ratio()) for part in other_trees]
    x = _sum(shares)
    lacking = _sum(
        [pair_multiply(share, part.expected_log_ratio()) for share, part in zip(shares, other_trees, strict=True)]
    )
    average = pair_divide(lacking, pair_add((1.0, 0.0), x))
    return float(pair_add(log_of_one_plus(x), minus(average))[0])


def renyi_by_parts(distribution: ArcFactored, order: float) -> float:
    """Renyi's entropy, to about 15 digits, of any order but 1: (log(1 + y) - order log(1 + x)) / (1 - order)."""
    other_trees = list(parts(distribution))
    x, y = (_sum([pair_exp(part.log_ratio(power)) for part in other_trees]) for power in (1.0, order))
    difference = pair_add(log_of_one_plus(y), minus(pair_multiply(log_of_one_plus(x), (order, 0.0))))
    return float(pair_divide(difference, (1.0 - order, 0.0))[0])


def parts(distribution: ArcFactored) -> Iterator[Part]:
    """All trees but the best, by the first word that has another head."""
    best = maximum_tree(distribution)
    highest = _log_weight(distribution, best)
    agreeing: list[int | None] = [None] * distribution.n
    for word, head in enumerate(best.tolist(), 1):
        try:
            others = distribution.given(agreeing).without(head, word)
        except DeptreeError:  # there are no such trees
            pass
        else:
            yield Part(others, pair_add(others.factorisation.shifted.constant, minus(highest)))
        agreeing[word - 1] = head


def log_of_one_plus(x: Pair) -> Pair:
    """log(1 + x) of a pair far below 1, to its last digit: 2 artanh(x / (2 + x)) by its series."""
    z = pair_divide(x, pair_add((2.0, 0.0), x))
    square, power, total = pair_multiply(z, z), z, (0.0, 0.0)
    for odd in range(1, 40, 2):
        total = pair_add(total, pair_divide(power, (float(odd), 0.0)))
        power = pair_multiply(power, square)
    return 2.0 * total[0], 2.0 * total[1]


def _log_weight(distribution: ArcFactored, tree: Heads) -> Pair:
    arcs = tree, np.arange(1, distribution.n + 1)
    rest = [] if distribution.rest is None else distribution.rest[arcs].tolist()
    scores = [*distribution.log_scores[arcs].tolist(), *rest]
    rounded = math.fsum(scores)
    return rounded, math.fsum([*scores, -rounded])


def _sum(pairs: list[Pair]) -> Pair:
    total = 0.0, 0.0
    for pair in pairs:
        total = pair_add(total, pair)
    return total
