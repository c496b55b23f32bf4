"""Random states without NumPy's objects: NumPy's own are the oracle."""

from __future__ import annotations

import numpy as np
import pytest

from deptree_cli.kernels.batches.seeds import fill_states


@pytest.mark.parametrize("words", [4, 6, 9])
def test_states_are_what_numpy_gives(words: int) -> None:
    """Random entropy, and the words at which carries and shifts go wrong: all 0, all ones."""
    entropy = np.random.default_rng(words).integers(0, 1 << 32, (20, words), dtype=np.uint64)
    entropy[0], entropy[1] = 0, (1 << 32) - 1
    found = np.empty((len(entropy), 5), dtype=np.uint64)
    fill_states(entropy, found)
    for row, states in zip(entropy.tolist(), found, strict=True):
        generator = np.random.Generator(np.random.PCG64(np.random.SeedSequence(row)))
        assert (states == generator.integers(0, 1 << 64, 5, dtype=np.uint64)).all()
