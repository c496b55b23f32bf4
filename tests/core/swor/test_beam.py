"""Prefixes that grow together against each by itself."""

from __future__ import annotations

import numpy as np
import pytest

from deptree_cli.core import conditionals as module
from deptree_cli.core.conditionals import Conditionals, HeadPaths

BOTH = pytest.mark.parametrize("single_root", [True, False], ids=["single", "multi"])


@BOTH
@pytest.mark.parametrize("log_gap", [0.0, 150.0, 400.0, 1000.0])
@pytest.mark.parametrize("n", [1, 2, 5, 12])
def test_what_prefixes_share_changes_no_probability(n: int, log_gap: float, single_root: bool, graphs) -> None:
    """Prefixes are dropped, doubled and exchanged at random; a deep gap takes them to wide numbers on the way."""
    log_scores, rng = graphs.gaussian(n, 3, seed=n), np.random.default_rng(n)
    log_scores[1 : n // 2 + 1, n // 2 + 1 :] -= log_gap
    log_scores[n // 2 + 1 :, 1 : n // 2 + 1] -= log_gap
    conditionals = Conditionals(graphs.distribution(log_scores, single_root))
    beam = conditionals.beam(7)
    assert isinstance(beam, HeadPaths)
    prefixes, above = np.empty((1, 0), dtype=np.int64), np.zeros(1, dtype=np.int64)
    for _ in range(n):
        log_probs = beam(prefixes, above)
        np.testing.assert_allclose(log_probs, conditionals.log_probs_of_each(prefixes), rtol=1e-12, atol=1e-12)
        possible = np.argwhere(np.isfinite(log_probs))
        above, values = possible[rng.choice(len(possible), min(7, len(possible)), replace=False)].T
        prefixes = np.column_stack([prefixes[above], values])
    assert prefixes.shape[1] == n


def test_without_enough_memory_each_goes_by_itself(monkeypatch: pytest.MonkeyPatch, graphs) -> None:
    monkeypatch.setattr(module, "MOST_NUMBERS", 1000)
    conditionals, prefixes = Conditionals(graphs.distribution(graphs.uniform(4), True)), np.array([[1], [2]])
    beam = conditionals.beam(100)
    assert not isinstance(beam, HeadPaths)
    assert np.array_equal(beam(prefixes, np.zeros(2, dtype=np.int64)), conditionals.log_probs_of_each(prefixes))
