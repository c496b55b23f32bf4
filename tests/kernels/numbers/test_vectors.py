"""Vectors: machine code and Python come to the same digits, and touch nothing beyond the end."""

from __future__ import annotations

import numpy as np
import pytest
from numba import njit

from deptree_cli.kernels.operations import inner, lane_count, load_from, store_from

LENGTHS = range(20)


def shifted(source, target, stop):
    """Store what a row holds before `stop` in another, times the number before it there."""
    for j in range(0, stop, 8):
        store_from(target, j, stop, load_from(source, j, stop) * load_from(target, j, stop))


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_the_same_digits(dtype: type) -> None:
    rng = np.random.default_rng(0)
    compiled = njit(lambda x, y: inner(x, y))
    for n in LENGTHS:
        x, y = rng.normal(size=(2, n)).astype(dtype)
        lanes = lane_count(dtype)
        padded = np.zeros((-(-n // lanes) or 1) * lanes, dtype)
        padded[:n] = x * y
        sums = padded.reshape(-1, lanes).cumsum(axis=0)[-1]  # one after another, as a loop adds
        while len(sums) > 1:
            sums = sums[: len(sums) // 2] + sums[len(sums) // 2 :]
        assert inner(x, y) == compiled(x, y) == sums[0]


def test_nothing_beyond_the_end() -> None:
    rng = np.random.default_rng(0)
    compiled = njit(shifted)
    for n in LENGTHS:
        source, target = rng.normal(size=(2, 24))
        expected = np.where(np.arange(24) < n, source * target, target)
        for each in (shifted, compiled):
            found = target.copy()
            each(source, found, n)
            assert (found == expected).all()
