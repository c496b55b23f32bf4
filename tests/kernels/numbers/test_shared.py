"""Wide numbers that share exponents, against exact fractions: however far apart neighbours are."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from deptree_cli.kernels.numbers.operations import get, inner, part, put, row
from deptree_cli.kernels.numbers.shared import BLOCK, MIXED, Shared, shared_zeros

COLUMNS = 3 * BLOCK + 5
Number = tuple[float, int]


def exact(x: Number) -> Fraction:
    return Fraction(float(x[0])) * Fraction(2) ** (512 * int(x[1])) if x[0] else Fraction(0)


def random_row(rng: np.random.Generator, width: float, share_of_zeros: float) -> list[Number]:
    """Numbers whose logarithms to base 2 are spread so widely, some of them 0."""
    found = []
    for log_size in rng.normal(0.0, width, COLUMNS):
        exponent = round(log_size / 512)
        found.append((float(2.0 ** (log_size - 512 * exponent)), exponent))
    return [(0.0, -(2**60)) if zero else x for x, zero in zip(found, rng.random(COLUMNS) < share_of_zeros, strict=True)]


def filled(rows: list[list[Number]], order: np.ndarray) -> Shared:
    """An array of one table with these rows, after other numbers that are overwritten."""
    array = shared_zeros((1, len(rows), COLUMNS))
    for i, numbers in enumerate(rows):
        for j in order.tolist():
            put(array, (0, i, j), numbers[-1 - j])
        for j in order.tolist():
            put(array, (0, i, j), numbers[j])
    return array


@pytest.mark.parametrize("width", [1.0, 200.0, 600.0, 5000.0, 50_000.0])
@pytest.mark.parametrize("share_of_zeros", [0.0, 0.5])
def test_numbers_and_sums_of_products(width: float, share_of_zeros: float) -> None:
    rng = np.random.default_rng(1)
    for _ in range(5):
        rows = [random_row(rng, width, share_of_zeros) for _ in range(2)]
        array = filled(rows, rng.permutation(COLUMNS))
        for i, numbers in enumerate(rows):
            assert [exact(get(array, (0, i, j))) for j in range(COLUMNS)] == [exact(x) for x in numbers]
        first, stop = sorted(rng.integers(0, COLUMNS + 1, 2).tolist())
        x, y = (part(row(array, (0, i)), first, stop) for i in range(2))
        products = [exact(a) * exact(b) for a, b in zip(*(numbers[first:stop] for numbers in rows), strict=True)]
        expected = sum(products, Fraction(0))
        assert abs(exact(inner(x, y)) - expected) <= Fraction(COLUMNS, 2**52) * expected


def test_one_exponent_for_a_block_unless_its_numbers_are_far_apart() -> None:
    near, far = shared_zeros((1, 1, BLOCK)), shared_zeros((1, 1, BLOCK))
    for j in range(BLOCK):
        put(near, (0, 0, j), (2.0 ** (-20.0 * j), 7))
        put(far, (0, 0, j), (1.0, -7 * j))
    assert near.blocks.ravel().tolist() == [7]
    assert not near.exponents.any()
    assert far.blocks.ravel().tolist() == [MIXED]
