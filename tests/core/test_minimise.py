"""Minima by L-BFGS, against linear algebra and closed forms."""

from __future__ import annotations

import numpy as np
import pytest

from deptree_cli.core.dtypes import Float
from deptree_cli.core.minimise import minimise


class Function:
    """A function that remembers where it was asked, and the norm of its last gradient."""

    def __init__(self, function) -> None:
        self.function, self.points, self.norm = function, [], np.inf

    def __call__(self, point: Float) -> tuple[float, Float]:
        value, gradient = self.function(point)
        self.points.append(point)
        self.norm = float(np.abs(gradient).max())
        return value, gradient


@pytest.mark.parametrize("seed", range(5))
def test_quadratic_forms(seed: int) -> None:
    rng = np.random.default_rng(seed)
    root = rng.normal(size=(12, 12))
    matrix, target = root @ root.T + np.eye(12), rng.normal(size=12)
    function = Function(lambda x: (0.5 * x @ matrix @ x - target @ x, matrix @ x - target))
    minimise(function, np.zeros(12), matrix.diagonal() ** -0.5, lambda: function.norm < 1e-9)
    np.testing.assert_allclose(function.points[-1], np.linalg.solve(matrix, target), atol=1e-7)
    assert len(function.points) < 200


def test_sums_of_exponentials_from_afar() -> None:
    """log sum exp(x) - p x, whose minimum is log p but for a constant, from 8 nats away."""
    probs = np.array([0.7, 0.2, 0.0999, 0.0001])

    def dual(x: Float) -> tuple[float, Float]:
        log_z = np.logaddexp.reduce(x)
        return log_z - probs @ x, np.exp(x - log_z) - probs

    function = Function(dual)
    minimise(function, np.array([-8.0, 0, 0, 0]), probs**-0.5, lambda: function.norm < 1e-9)
    found = function.points[-1]
    np.testing.assert_allclose(found - found[0], np.log(probs / probs[0]), atol=1e-4)
    assert len(function.points) < 200


def test_it_ends_where_no_step_helps() -> None:
    """At the minimum, though that is not what was asked for."""
    function = Function(lambda x: (float(x @ x), 2 * x))
    minimise(function, np.ones(3), np.ones(3), lambda: False)
    np.testing.assert_allclose(function.points[-1], 0, atol=1e-6)
