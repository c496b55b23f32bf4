"""Precise numbers made of log-values: against multi-precision arithmetic. Their arithmetic is in test_operations."""

from __future__ import annotations

import mpmath as mp
import numpy as np
import pytest

from deptree_cli.kernels.numbers import precise as q


@pytest.mark.parametrize("size", [1.0, 300.0, 1e6, 1e15])
@pytest.mark.parametrize("factor", [1.0, 1.0 + 1e-12, 0.5])
def test_exponentials(size: float, factor: float) -> None:
    rng = np.random.default_rng(1)
    x = rng.uniform(-size, size, (3, 5))
    rest = np.spacing(x) * rng.uniform(-0.5, 0.5, x.shape)
    found = q.precise_exp(x, rest, factor)
    assert (np.abs(np.log2(found.high)) <= 256 + 1e-9).all()
    with mp.workdps(60):
        for i in np.ndindex(x.shape):
            number = mp.mpf(float(found.high[i])) + mp.mpf(float(found.low[i]))
            log = mp.log(number) + int(found.exponent[i]) * 512 * mp.log(2)
            assert abs(log - mp.mpf(factor) * (mp.mpf(float(x[i])) + mp.mpf(float(rest[i])))) < mp.mpf(10) ** -28


def test_zeros_and_float64() -> None:
    nothing = q.precise_exp(np.array([-np.inf, 0.0, -2000.0]))
    assert q.precise_floats(nothing).tolist() == [0.0, 1.0, 0.0]
    assert q.precise_floats(q.precise_zeros((2, 2))).tolist() == [[0.0, 0.0], [0.0, 0.0]]
    high, low = q.pairs_of(q.precise_exp(np.array([-40.0]), 0.0))
    with mp.workdps(40):
        assert abs(mp.mpf(float(high[0])) + mp.mpf(float(low[0])) - mp.exp(-40)) < mp.exp(-40) * mp.mpf(10) ** -28
    scaled = q.precise_scaled(q.precise_exp(np.array([0.0, 3000.0])), np.array([0.0, 2.0]))
    assert q.precise_floats(scaled).tolist() == [0.0, np.inf]
