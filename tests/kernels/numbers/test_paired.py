"""Scores as pairs of float64: what decides between trees that need masks."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from deptree_cli.kernels.numbers import operations as ops
from deptree_cli.kernels.numbers.paired import Paired, paired, paired_products, paired_sums
from deptree_cli.kernels.numbers.tropical import Tropical


def test_scores_that_are_pairs() -> None:
    """Sums and differences of masks to the last digit of the rest; -inf stays so; comparisons look at both parts."""
    x, y, none = Paired(-9e14, 0.03), Paired(0.7, 0.0), Paired(-math.inf, 0.0)
    total = ops.add(x, y)
    assert Fraction(total.high) + Fraction(total.low) == Fraction(-9e14) + Fraction(0.03) + Fraction(0.7)
    assert ops.subtract(total, y) == x
    assert ops.add(none, x) == ops.add(x, none) == ops.subtract(none, x) == none
    assert ops.is_less(x, Paired(-9e14, 0.031))
    assert ops.is_less(none, x)
    assert not ops.is_less(x, x)
    tropical = ops.multiply_add(Tropical(x), Tropical(x), Tropical(Paired(0.0, 0.0)))
    assert tropical == Tropical(x)
    assert ops.multiply(Tropical(x), Tropical(y)) == Tropical(total)


def test_arrays_of_pairs() -> None:
    """Sums and products of arrays are those of numbers, whatever shapes are broadcast."""
    x, y = paired(np.array([[1e15, 0.1], [-np.inf, 3.0]])), Paired(np.array([0.3, -0.1]), np.array([1e-17, 0.0]))
    found = paired_sums(x, y)
    for i, j in np.ndindex(2, 2):
        expected = ops.add(ops.get(x, (i, j)), ops.get(y, j))
        assert (found.high[i, j], found.low[i, j]) == (expected.high, expected.low)
    product = paired_products(paired(np.array([1e15, 0.1])), y)
    assert Fraction(product.high[1]) + Fraction(product.low[1]) == Fraction(0.1) * Fraction(-0.1)
