"""How many heads are right under a distribution: its variance by enumeration, and how often its interval covers."""

from __future__ import annotations

import numpy as np
import pytest

from deptree_cli.core.distribution import TreeDistribution
from deptree_cli.core.expectations import risk, risk_variance
from deptree_cli.core.intervals import normal_interval
from deptree_cli.core.spaces import SPACES
from tests.oracle import Oracle


@pytest.mark.parametrize("space", ["single-root", "multi-root", "projective"])
@pytest.mark.parametrize("n", [1, 2, 4])
def test_by_enumeration(space: str, n: int) -> None:
    """Also where some heads are not known."""
    random = np.random.default_rng(n)
    distribution = TreeDistribution(random.normal(0, 2, (n + 1, n + 1)), space=SPACES.get(space))
    oracle = Oracle(distribution)
    heads = distribution.argmax()
    for gold in (heads, np.where(np.arange(n) == 0, -1, heads)):
        wrong = ((oracle.trees != gold) & (gold >= 0)).sum(axis=1)
        probs = np.exp(oracle.log_probs)
        mean = probs @ wrong
        assert risk_variance(distribution, gold) == pytest.approx(probs @ (wrong - mean) ** 2, abs=1e-12)


def test_an_interval_from_it_covers() -> None:
    """40 sentences of 12 words, gold trees drawn 400 times from their own distributions: 380 of the scores should be in
    the interval; 4 standard deviations are 17.4. Half the width must not do."""
    random = np.random.default_rng(9)
    right, mean, variance = np.zeros(400), 0.0, 0.0
    for number in range(40):
        distribution = TreeDistribution(random.normal(0, 2, (13, 13)), id=str(number))
        heads = distribution.argmax()
        right += (distribution.sample(400, seed=9) == heads).sum(axis=1)
        mean += 12 - risk(distribution, heads)
        variance += risk_variance(distribution, heads)
    low, high = normal_interval(mean, variance, 0.95)
    assert 362 <= ((low <= right) & (right <= high)).sum() <= 397
    assert (np.abs(right - mean) <= (high - low) / 4).sum() < 362
