"""Best links: the weight of the best derivation of all, by brute force, and ties."""

from __future__ import annotations

import numpy as np
import pytest

from deptree_cli.core.bitext.chart import best_links
from deptree_cli.core.bitext.distribution import AlignmentDistribution
from deptree_cli.core.bitext.shifted import shift
from deptree_cli.core.errors import DeptreeError
from tests.brute_itg import Derivations, Grammar, Link


@pytest.mark.parametrize("branching", [2, 3])
def test_ties_are_won_by_one_of_the_best(branching: int) -> None:
    """Whole scores, many of them equal: what is found has a derivation as good as any."""
    rng = np.random.default_rng(4)
    for _ in range(20):
        p, q = rng.integers(1, 4, size=2)
        arrays = (rng.integers(-1, 2, size=shape).astype(float) for shape in ((p, q), p, q))
        grammar = Grammar(*arrays, branching)
        targets = AlignmentDistribution(grammar.scores, "log", *nulls(grammar), branching).argmax()
        found: frozenset[Link] = frozenset((i, j) for i, j in enumerate(targets.tolist()) if j >= 0)
        exact = Derivations(grammar)
        assert exact.whole[found].best == pytest.approx(np.exp(exact.best()[0]), rel=1e-12)


def nulls(grammar: Grammar) -> tuple[np.ndarray, np.ndarray]:
    return grammar.source_nulls, grammar.target_nulls


def test_the_best_derivation_is_not_the_most_probable_alignment() -> None:
    """Four unlinked words have the most derivations, all of weight 1; two links have fewer, of weight e^1.5 each."""
    scores = np.array([[1.0, -9.0], [-9.0, 0.5]])
    probs = Derivations(Grammar(scores, np.zeros(2), np.zeros(2))).probabilities()
    assert max(probs, key=lambda links: probs[links]) == frozenset()
    assert AlignmentDistribution(scores).argmax().tolist() == [0, 1]


def test_products_beyond_the_range_of_any_number() -> None:
    """40 links of e^2000 each, ten of them in reverse: logarithms are added."""
    scores = np.full((40, 40), -2000.0)
    order = np.arange(40)
    order[10:20] = order[10:20][::-1]
    scores[np.arange(40), order] = 2000.0
    assert AlignmentDistribution(scores).argmax().tolist() == order.tolist()


def test_permutations_that_cannot_be_built() -> None:
    """2 4 1 3 cannot be cut into two or three blocks that change places: one link is given up."""
    scores = np.full((4, 4), -50.0)
    scores[np.arange(4), [1, 3, 0, 2]] = 5.0
    for branching in (2, 3):
        linked = AlignmentDistribution(scores, branching=branching).argmax()
        assert np.sum(linked == [1, 3, 0, 2]) == 3
        assert np.sum(linked == -1) == 1


def test_no_derivation_has_no_best() -> None:
    """Two source words, one target word, nothing may be left out: None from the chart, an error from the pair."""
    scores, source, target = np.zeros((2, 1)), np.full(2, -np.inf), np.full(1, -np.inf)
    assert best_links(shift(scores, source, target, None), 2) is None
    with pytest.raises(DeptreeError, match="no derivation is possible"):
        AlignmentDistribution(scores, "log", source, target).argmax()
