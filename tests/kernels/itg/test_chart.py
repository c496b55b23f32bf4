"""Sums over derivations, and marginals, against brute force and against the number of derivations."""

from __future__ import annotations

from math import factorial, log, prod
from typing import Any

import numpy as np
import pytest

from deptree_cli.core.dtypes import Float
from deptree_cli.core.numbers import PRECISE, REAL, WIDE, Kind
from deptree_cli.kernels.itg.chart import clear, outside
from deptree_cli.kernels.numbers.operations import logarithm
from tests.brute_itg import Derivations, Grammar

KINDS = pytest.mark.parametrize("kind", [REAL, WIDE, PRECISE], ids=lambda kind: kind.name)
BRANCHINGS = pytest.mark.parametrize("branching", [2, 3])
SHAPES = pytest.mark.parametrize(("p", "q"), [(1, 1), (1, 3), (3, 1), (2, 2), (3, 2), (2, 3)])

# Binary trees of k leaves, and those with any number of children, in normal form: large Schroeder numbers (OEIS
# A006318), and with six orders of three children beside them.
SCHROEDER = [0, 1, 2, 6, 22, 90, 394, 1806]


def with_three(leaves: int) -> list[int]:
    """The number of trees of 0, 1, ... leaves for branching 3: by leaves alone."""
    t, a = [0] * (leaves + 1), [0] * (leaves + 1)
    for k in range(1, leaves + 1):
        a[k] = sum(t[i] * (t[k - i] - a[k - i]) for i in range(1, k))
        t[k] = (k == 1) + 2 * a[k]
        t[k] += 6 * sum(t[i] * t[j] * t[k - i - j] for i in range(1, k) for j in range(1, k - i))
    return t


@BRANCHINGS
@KINDS
@pytest.mark.parametrize(("p", "q"), [(1, 1), (1, 4), (2, 3), (3, 3), (4, 3)])
def test_the_number_of_derivations(p: int, q: int, branching: int, kind: Kind, itg_chart) -> None:
    """With m links there are p + q - m leaves, in any order of links and unlinked words on the source side."""
    trees = SCHROEDER if branching == 2 else with_three(p + q)
    number = sum(
        factorial(p + q - m) // prod(map(factorial, (m, p - m, q - m))) * trees[p + q - m] for m in range(min(p, q) + 1)
    )
    found = itg_chart(Grammar(np.zeros((p, q)), np.zeros(p), np.zeros(q), branching), kind)
    assert logarithm(found.total) == pytest.approx(log(number), rel=1e-13)


@BRANCHINGS
@KINDS
@SHAPES
@pytest.mark.parametrize("holes", [0.0, 0.2])
def test_sums(p: int, q: int, holes: float, branching: int, kind: Kind, itg, itg_chart) -> None:
    for seed in range(2):
        grammar = itg(p, q, branching, seed, holes)
        exact, (weights, kept, items, total) = Derivations(grammar), itg_chart(grammar, kind)
        if exact.z == 0.0:
            assert kind.floats(kind.each(np.atleast_1d, total)) == 0.0
            continue
        assert logarithm(total) == pytest.approx(exact.log_partition, rel=1e-10, abs=1e-10)
        adjoints, marginals = kind.zeros(parts(items, kind)[0].shape), kind.zeros((p, q))
        outside(weights, kept, items, adjoints, marginals)
        assert kind.floats(marginals) == pytest.approx(exact.marginals(), rel=1e-10, abs=1e-300)


@BRANCHINGS
def test_marginals_are_derivatives(branching: int, itg, itg_chart) -> None:
    """Of log Z by the log-scores of links, by central differences: with bispans of any weight, 4 x 3 words."""
    grammar = itg(4, 3, branching)
    weights, kept, items, _ = itg_chart(grammar, REAL)
    marginals = np.zeros((4, 3))
    outside(weights, kept, items, np.zeros_like(items), marginals)
    for i, j in ((0, 0), (1, 2), (3, 1)):
        step = np.zeros((4, 3))
        step[i, j] = 1e-5
        high, low = (
            log(itg_chart(Grammar(grammar.scores + sign * step, *vars_of(grammar)), REAL).total) for sign in (1, -1)
        )
        assert marginals[i, j] == pytest.approx((high - low) / 2e-5, rel=1e-6, abs=1e-9)


def vars_of(grammar: Grammar) -> tuple[Any, ...]:
    """A grammar but for its scores of links."""
    return grammar.source_nulls, grammar.target_nulls, grammar.branching, grammar.bispans


def parts(array: Any, kind: Kind) -> list[Float]:
    """The plain arrays that an array of numbers consists of."""
    found: list[Float] = []

    def note(each: Float) -> Float:
        found.append(each)
        return each

    kind.each(note, array)
    return found


@BRANCHINGS
@KINDS
def test_clear_leaves_nothing(branching: int, kind: Kind, itg, itg_chart) -> None:
    """In the chart and, after the marginals, in its adjoints; it clears what is listed only."""
    weights, kept, items, _ = itg_chart(itg(3, 2, branching), kind)
    shape = parts(items, kind)[0].shape
    adjoints = kind.zeros(shape)
    outside(weights, kept, items, adjoints, kind.zeros((3, 2)))
    for tables in (items, adjoints):
        assert kind.floats(tables).any()
        clear(kept, 3, 2, tables)
        for part, empty in zip(parts(tables, kind), parts(kind.zeros(shape), kind), strict=True):
            assert np.array_equal(part, empty)
