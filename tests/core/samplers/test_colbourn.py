"""The ancestral sampler in the two kinds of numbers; its law is in tests/laws."""

from __future__ import annotations

import numpy as np
import pytest

from deptree_cli.core import walks
from deptree_cli.core.distribution import TreeDistribution


@pytest.mark.parametrize("single_root", [True, False])
def test_the_one_tree_there_is_is_drawn(single_root: bool) -> None:
    """Every other arc is forbidden, or so unlikely that it does not come in a lifetime."""
    heads = np.array([3, 1, 0, 2, 3, 5, 5])
    for others in (-np.inf, -500.0, -1e5):
        log_scores = np.full((8, 8), others)
        log_scores[heads, np.arange(1, 8)] = np.linspace(-3, 3, 7)
        distribution = TreeDistribution(log_scores, single_root=single_root)
        assert (walks.draw_colbourn(distribution, 50, np.random.default_rng(2)) == heads).all()


class Fixed:
    """A generator whose uniform numbers are always the same."""

    def __init__(self, number: float) -> None:
        self._number = number

    def random(self, size: int) -> np.ndarray:
        return np.full(size, self._number)


@pytest.mark.parametrize("number", [0.0, 0.5, 1 - 2**-53])
def test_a_root_of_probability_0_is_never_drawn(number: float) -> None:
    """Not with the smallest of uniform numbers, and not with the largest and what rounding leaves over."""
    for probs in ([0, 0, 0.3, 0.7, 0], [0, 1, 0, 0], [0, 1 / 3, 1 / 3, 0, 1 / 3 - 1e-16, 0], [0, 1e-300, 0.0]):
        root = walks.draw_roots(np.array(probs), 1, Fixed(number))[0]  # type: ignore[arg-type]
        assert probs[root] > 0
