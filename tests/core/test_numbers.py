"""Log-scores turned into numbers of each kind."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from deptree_cli.core.numbers import REAL, WIDE, Kind
from deptree_cli.kernels.numbers.wide import wide_log


@pytest.mark.parametrize(("kind", "log"), [(REAL, np.log), (WIDE, wide_log)])
def test_a_kind_of_numbers(kind: Kind, log: Callable[..., np.ndarray]) -> None:
    logs = np.array([[0.0, -3.0], [-np.inf, 2.0]])
    numbers = kind.exp(logs)
    with np.errstate(divide="ignore"):
        np.testing.assert_allclose(log(numbers), logs, atol=1e-15)
        assert np.isneginf(log(kind.zeros((2, 3)))).all()
    assert log(kind.each(lambda part: part[:1], numbers)).shape == (1, 2)
    twin = kind.each(np.copy, numbers)
    kind.each(lambda part: part.fill(0), twin)
    assert np.isfinite(log(kind.each(lambda part: part[:1], numbers))).all()
