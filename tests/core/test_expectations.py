"""Expectations against sums over all trees."""

from __future__ import annotations

import numpy as np
import pytest

from deptree_cli.core.expectations import entropy
from deptree_cli.core.oracle import Oracle
from deptree_cli.core.sentence import Sentence

BOTH = pytest.mark.parametrize("single_root", [True, False], ids=["single", "multi"])


def entropy_by_enumeration(sentence: Sentence) -> float:
    log_probs = Oracle(sentence).log_probs
    return -float((np.exp(log_probs) * log_probs).sum())


@BOTH
@pytest.mark.parametrize("n", range(1, 6))
@pytest.mark.parametrize("scale", [0.3, 1.0, 10.0, 80.0])
def test_entropy(n: int, scale: float, single_root: bool, graphs) -> None:
    """Absolute error: log Z, up to scale * n * 3, and the mean score cancel."""
    for seed in range(3):
        sentence = graphs.sentence(graphs.gaussian(n, scale, seed), single_root)
        assert entropy(sentence) == pytest.approx(entropy_by_enumeration(sentence), abs=1e-12 + 1e-14 * scale * n)


@BOTH
def test_entropy_with_forbidden_arcs(single_root: bool, graphs) -> None:
    for seed in range(8):
        sentence = graphs.sentence(graphs.holes(4, seed, single_root), single_root)
        assert entropy(sentence) == pytest.approx(entropy_by_enumeration(sentence), abs=1e-12)


def test_entropy_of_uniform_trees_is_the_logarithm_of_their_number(graphs) -> None:
    assert entropy(graphs.sentence(graphs.uniform(20))) == pytest.approx(19 * np.log(20), rel=1e-13)
    assert entropy(graphs.sentence(graphs.uniform(20), single_root=False)) == pytest.approx(19 * np.log(21), rel=1e-13)


def test_entropy_of_a_single_tree_is_zero() -> None:
    log_scores = np.full((4, 4), -np.inf)
    log_scores[[0, 1, 2], [1, 2, 3]] = [3.0, -4.0, 5.0]
    assert entropy(Sentence.from_scores(log_scores, scale="log")) == pytest.approx(0.0, abs=1e-14)
