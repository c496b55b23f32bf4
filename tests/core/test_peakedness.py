"""The facts about a distribution's numbers, by hand and by enumeration."""

from __future__ import annotations

import numpy as np
import pytest

from deptree_cli.core.peakedness import peakedness
from deptree_cli.core.spaces import SPACES, TreeSpace, space
from tests.oracle import Oracle


@pytest.mark.parametrize("trees", SPACES, ids=SPACES.names)
def test_against_enumeration(trees: TreeSpace, graphs) -> None:
    distribution = graphs.over(graphs.holes(4, 2, trees.single_root), trees)
    found, oracle = peakedness(distribution), Oracle(distribution)
    scores = distribution.log_scores[np.isfinite(distribution.log_scores)]
    assert (found.lowest, found.highest) == (scores.min(), scores.max())
    assert found.forbidden == 16 - len(scores)
    assert found.best_head == pytest.approx(oracle.marginals()[:, 1:].max(axis=0).mean())
    assert found.entropy == pytest.approx(-np.exp(oracle.log_probs) @ oracle.log_probs / 4)
    multi = Oracle(distribution.multi_root())
    mass = np.exp(multi.log_probs[(multi.trees == 0).sum(axis=1) == 1]).sum()
    assert found.single_root_mass == pytest.approx(mass if trees.single_root else 1.0)
    every = Oracle(distribution.over(space(trees.single_root)))
    projective = space(trees.single_root, projective=True).contains(every.trees)
    assert not projective.all()
    assert found.projective_mass == pytest.approx(np.exp(every.log_probs[projective]).sum())


def test_whether_heads_are_normalised(graphs) -> None:
    log_scores = graphs.gaussian(5)
    assert not peakedness(graphs.distribution(log_scores)).normalised
    log_scores[:, 1:] -= np.logaddexp.reduce(log_scores[:, 1:], axis=0)
    assert peakedness(graphs.distribution(log_scores)).normalised
    assert not peakedness(graphs.distribution(log_scores + 0.01)).normalised


def test_one_word(graphs) -> None:
    found = peakedness(graphs.distribution(graphs.uniform(1)))
    assert (found.forbidden, found.best_head, found.entropy, found.single_root_mass) == (0, 1.0, 0.0, 1.0)
