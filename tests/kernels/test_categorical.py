"""Draws by weight from either kind of numbers."""

from __future__ import annotations

import numpy as np
import pytest

from deptree_cli.core.numbers import REAL, WIDE, Kind
from deptree_cli.kernels.categorical import NONE, draw_categorical
from tests.pearson import chi_square

KINDS = pytest.mark.parametrize("kind", [REAL, WIDE], ids=["float64", "wide"])
LARGEST = np.uint64(2**64 - 1)


def total_of(kind: Kind, weights: list[float]) -> object:
    return kind.each(lambda part: part[0], kind.exp(np.log([sum(weights)])))


@KINDS
def test_draws_follow_the_weights(kind: Kind, draws: int, state) -> None:
    """H0: an index is drawn in proportion to its weight; chi-square, p < 1e-6 by chance."""
    weights = [0.05, 0.2, 0.4, 0.0, 0.35]
    with np.errstate(divide="ignore"):
        numbers = kind.exp(np.log(weights))
    found = [draw_categorical(numbers, 1, 5, total_of(kind, weights[1:]), state) for _ in range(draws)]
    counts = np.bincount(found, minlength=5)
    assert counts[[0, 3]].sum() == 0
    assert chi_square(counts[[1, 2, 4]], np.array([0.2, 0.4, 0.35]) / 0.95)[2] > 1e-6


@KINDS
def test_nothing_to_draw_from(kind: Kind, state) -> None:
    assert draw_categorical(kind.zeros(3), 0, 3, kind.each(lambda part: part[0], kind.zeros(1)), state) == NONE


@KINDS
def test_what_rounding_leaves_over_goes_to_the_last_possible_index(kind: Kind) -> None:
    """The total is larger than the sum of weights, and the random number as large as there is: all bits set."""
    with np.errstate(divide="ignore"):
        numbers = kind.exp(np.log([0.0, 0.25, 0.25, 0.0]))
    all_bits = np.array([LARGEST, 0, 0, 0], dtype=np.uint64)  # the first output is rotl(s0 + s3, 23) + s0
    assert draw_categorical(numbers, 0, 4, total_of(kind, [0.75]), all_bits) == 2
