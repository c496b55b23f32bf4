"""The facts about a distribution's numbers, by hand and by enumeration."""

from __future__ import annotations

import numpy as np
import pytest

from deptree_cli.core.oracle import Oracle
from deptree_cli.core.peakedness import peakedness


@pytest.mark.parametrize("single_root", [True, False], ids=["single", "multi"])
def test_against_enumeration(single_root: bool, graphs) -> None:
    distribution = graphs.distribution(graphs.holes(4, 2, single_root), single_root)
    found, oracle = peakedness(distribution), Oracle(distribution)
    scores = distribution.log_scores[np.isfinite(distribution.log_scores)]
    assert (found.lowest, found.highest) == (scores.min(), scores.max())
    assert found.forbidden == 16 - len(scores)
    assert found.best_head == pytest.approx(oracle.marginals()[:, 1:].max(axis=0).mean())
    assert found.entropy == pytest.approx(-np.exp(oracle.log_probs) @ oracle.log_probs / 4)
    multi = Oracle(distribution.multi_root())
    mass = np.exp(multi.log_probs[(multi.trees == 0).sum(axis=1) == 1]).sum()
    assert found.single_root_mass == pytest.approx(mass if single_root else 1.0)


def test_whether_heads_are_normalised(graphs) -> None:
    log_scores = graphs.gaussian(5)
    assert not peakedness(graphs.distribution(log_scores)).normalised
    log_scores[:, 1:] -= np.logaddexp.reduce(log_scores[:, 1:], axis=0)
    assert peakedness(graphs.distribution(log_scores)).normalised
    assert not peakedness(graphs.distribution(log_scores + 0.01)).normalised


def test_one_word(graphs) -> None:
    found = peakedness(graphs.distribution(graphs.uniform(1)))
    assert (found.forbidden, found.best_head, found.entropy, found.single_root_mass) == (0, 1.0, 0.0, 1.0)
