"""What the tests of audits share: every outcome of a small experiment, and whether p-values keep their promise."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import combinations

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.special import gammaln

Float = NDArray[np.float64]


def outcomes(cells: int, size: int) -> Iterator[NDArray[np.int64]]:
    """All counts of cells that add up to size (stars and bars)."""
    for bars in combinations(range(size + cells - 1), cells - 1):
        edges = np.array([-1, *bars, size + cells - 1])
        yield np.diff(edges) - 1


def worst_excess(p_value: Callable[[NDArray[np.int64]], float], probs: Float, size: int) -> float:
    """The largest P(p-value <= u) / u over all u, by adding up all outcomes' probabilities: at most 1 if valid."""
    every = list(outcomes(len(probs), size))
    log_probs = [gammaln(size + 1) - gammaln(one + 1).sum() + (one * np.log(probs)).sum() for one in every]
    p_values = np.array([p_value(one) for one in every])
    order = np.argsort(p_values)
    ranked, reached = p_values[order], np.cumsum(np.exp(log_probs)[order])
    last = np.append(ranked[1:] > ranked[:-1], True)
    return float((reached[last] / ranked[last]).max())


@pytest.fixture(scope="session")
def excess() -> Callable[..., float]:
    """`worst_excess`."""
    return worst_excess
