"""Masses by subtraction, and where that would cancel by summing; laws are in tests/laws."""

from __future__ import annotations

import numpy as np
import pytest

from deptree_cli.core import conditionals as module
from deptree_cli.core.conditionals import Conditionals, draw_zmigrod
from deptree_cli.core.spaces import SPACES, TreeSpace


@pytest.mark.parametrize("trees", SPACES, ids=lambda trees: trees.name)
@pytest.mark.parametrize("safe_share", [0.0, 1e-6, 1.1])
def test_subtracting_and_summing_agree_on_flat_scores(
    safe_share: float, trees: TreeSpace, graphs, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A threshold of 0 always subtracts, one above 1 never; the trees drawn are the same."""
    distribution = graphs.over(graphs.gaussian(4), trees)
    expected = draw_zmigrod(distribution, 25, np.random.default_rng(1)).heads
    monkeypatch.setattr(module, "SAFE_SHARE", safe_share)
    assert np.array_equal(draw_zmigrod(distribution, 25, np.random.default_rng(1)).heads, expected)


def test_a_remainder_far_below_a_rounding_error(graphs) -> None:
    """One tree has all mass but 1e-40: one minus its probability is 0 in float64, what is left is not."""
    distribution = graphs.distribution(graphs.gaussian(3, 60, seed=2))
    conditionals = Conditionals(distribution)
    first = draw_zmigrod(distribution, 1, np.random.default_rng(0))
    rest = draw_zmigrod(distribution, 9, np.random.default_rng(0))
    assert first.mass == 1.0
    root = int(np.argmin(first.heads[0])) + 1
    prefix = (root, *(int(h) for w, h in enumerate(first.heads[0], 1) if w != root))
    log_left = module._log_left(conditionals, (), np.array([prefix]), first.log_probs)
    others = np.logaddexp.reduce(rest.log_probs[1:])
    assert others < -30
    assert np.logaddexp.reduce(log_left) == pytest.approx(others, rel=1e-12)
