"""Pairs with one side much longer: sums, best alignments and samples are the pair's, though sides are exchanged."""

from __future__ import annotations

import numpy as np
import pytest

from deptree_cli.bitext import scores
from deptree_cli.bitext.distribution import AlignmentDistribution
from deptree_cli.bitext.scores import is_turned
from deptree_cli.core.dtypes import Float
from tests.pearson import chi_square

P, Q = 100, 2
LEVEL = 1e-6  # a test of a law fails by chance once in a million seeds


def pair_of(p: int, q: int, spread: float = 1.0, seed: int = 0) -> AlignmentDistribution:
    """Gaussian log-scores, of which some links are forbidden."""
    rng = np.random.default_rng([seed, p, q])
    links, sources, targets = (spread * rng.normal(size=size) for size in ((p, q), p, q))
    links[rng.random((p, q)) < 0.1] = -np.inf
    return AlignmentDistribution(links, "log", sources, targets)


def joint_of_two(pair: AlignmentDistribution) -> tuple[float, Float]:
    """Log Z, and the probabilities of what two target words are linked with, (p + 1, p + 1): the last is nothing.

    Without a chart: two target words may have any two source words, in any order.
    """
    odds = pair.log_scores - pair.source_nulls[:, None]
    first, second = (np.append(odds[:, j], pair.target_nulls[j]) for j in (0, 1))
    joint = first[:, None] + second
    np.fill_diagonal(joint[:-1, :-1], -np.inf)
    log_z = np.logaddexp.reduce(joint, axis=None)
    return float(log_z + pair.source_nulls.sum()), np.exp(joint - log_z)


@pytest.mark.parametrize("spread", [0.1, 1.0, 30.0])
def test_two_target_words_beside_many(spread: float) -> None:
    assert is_turned(P, Q)
    pair = pair_of(P, Q, spread)
    log_z, joint = joint_of_two(pair)
    assert pair.log_partition == pytest.approx(log_z, rel=1e-12)
    marginals = np.stack([joint.sum(axis=1)[:-1], joint.sum(axis=0)[:-1]], axis=1)
    assert pair.marginals() == pytest.approx(marginals, rel=1e-11, abs=1e-300)
    best = np.full(P + 1, -1)
    first, second = np.unravel_index(joint.argmax(), joint.shape)
    best[first], best[second] = 0, 1
    assert pair.argmax().tolist() == best[:-1].tolist()


def test_samples_of_two_target_words_beside_many() -> None:
    """H0: both target words are linked as the joint distribution says. 20,000 draws in 36 cells, threshold 1e-6."""
    pair = pair_of(P, Q, 0.5)
    _, joint = joint_of_two(pair)
    drawn = pair.sample(20_000, seed=3)
    assert drawn.shape == (20_000, P)
    assert ((drawn == 0).sum(axis=1) <= 1).all()
    assert ((drawn == 1).sum(axis=1) <= 1).all()
    ends = np.hstack([drawn, np.full((len(drawn), 1), -2)])
    first, second = (np.where((drawn == j).any(axis=1), (ends == j).argmax(axis=1), P) for j in (0, 1))
    groups = np.arange(P + 1) * 6 // (P + 1)
    expected, counts = np.zeros((6, 6)), np.zeros((6, 6))
    np.add.at(expected, (groups[:, None], groups), joint)
    np.add.at(counts, (groups[first], groups[second]), 1)
    assert chi_square(counts.ravel(), expected.ravel())[2] > LEVEL


@pytest.mark.parametrize(("p", "q"), [(7, 5), (5, 7), (24, 3), (40, 1)])
@pytest.mark.parametrize("spread", [1.0, 30.0, 400.0])
def test_either_side_gives_the_same(p: int, q: int, spread: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where float64 does not suffice."""
    found = []
    for turned in (False, True):
        monkeypatch.setattr(scores, "is_turned", lambda p, q, turned=turned: turned)
        pair = pair_of(p, q, spread)
        found.append((pair.log_partition, pair.marginals(), pair.argmax()))
    (log_z, marginals, best), (other_log_z, other_marginals, other_best) = found
    assert other_log_z == pytest.approx(log_z, rel=1e-12, abs=1e-12)
    assert other_marginals == pytest.approx(marginals, rel=1e-12, abs=1e-12)
    assert other_best.tolist() == best.tolist()
