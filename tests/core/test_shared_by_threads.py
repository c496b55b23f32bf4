"""What an object keeps is there for all threads: what one is told never depends on what another asks meanwhile."""

from __future__ import annotations

import numpy as np
import pytest

from deptree_cli.core.constrained import Constrained
from deptree_cli.core.distribution import TreeDistribution
from tests.interrupted import at_every_line

# What was asked before: the same question, so that the answer is known, or another one.
EACH = pytest.mark.parametrize("before", [0, 1], ids=["known", "anew"])


@EACH
def test_powers(graphs, before: int) -> None:
    shared = graphs.distribution(graphs.gaussian(4))
    ask, other = (lambda: shared.raised_to(2.0)), (lambda: shared.raised_to(3.0))
    expected = 2.0 * shared.factorisation.shifted.log_weights
    found = list(at_every_line(TreeDistribution.raised_to, ask, other, first=(ask, other)[before]))
    assert len(found) > 1
    for each in found:
        np.testing.assert_array_equal(each.log_scores, expected)


@EACH
def test_best_trees_under_rules(graphs, before: int) -> None:
    shared = Constrained(graphs.distribution(graphs.gaussian(4)), [])
    ask, other = (lambda: shared.best_trees(2)), (lambda: shared.best_trees(3))
    expected = [tree.heads.tolist() for tree in ask()]
    found = list(at_every_line(Constrained._search, ask, other, first=(ask, other)[before]))
    assert len(found) > 1
    for trees in found:
        assert [tree.heads.tolist() for tree in trees] == expected
