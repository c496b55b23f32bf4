"""Dominators against their definition: take a word out of the graph and see what can still be reached."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from deptree_cli.kernels.trees import forbid_dominating

Bool = NDArray[np.bool_]


def reached(allowed: Bool, starts: Bool, without: int) -> Bool:
    """The words on ways from ROOT that do not pass one word."""
    found = starts.copy()
    found[without] = False
    for _ in range(len(allowed)):
        found |= allowed[found].any(axis=0)
        found[without] = False
    return found


def by_definition(allowed: Bool, starts: Bool) -> Bool:
    """[h, d]: there is a way to h that does not pass d."""
    rows = [reached(allowed, starts, word) for word in range(len(allowed))]
    return np.array(rows).T


@given(st.integers(1, 9), st.integers(0, 10**6), st.floats(0.05, 0.6))
def test_random_graphs(n: int, seed: int, density: float) -> None:
    rng = np.random.default_rng(seed)
    allowed = rng.random((n + 1, n + 1)) < density
    np.fill_diagonal(allowed, False)
    allowed[:, 0] = allowed[0] = False
    starts = rng.random(n + 1) < 0.4
    starts[0] = False
    starts |= ~reached(allowed, starts, 0)  # every word is reached
    starts[0] = False
    supported = np.ones((n + 1, n + 1), dtype=bool)
    forbid_dominating(allowed, starts, supported)
    assert (supported[1:, 1:] == by_definition(allowed, starts)[1:, 1:]).all()


@pytest.mark.parametrize("n", [1, 2, 50])
def test_a_chain(n: int) -> None:
    """Every word is on the only way to those after it, and arcs back are in no tree."""
    allowed = np.zeros((n + 1, n + 1), dtype=bool)
    allowed[np.arange(1, n), np.arange(2, n + 1)] = True
    allowed[np.arange(2, n + 1), np.arange(1, n)] = True
    starts = np.arange(n + 1) == 1
    supported = allowed.copy()
    forbid_dominating(allowed, starts, supported)
    assert (supported == np.triu(allowed)).all()
