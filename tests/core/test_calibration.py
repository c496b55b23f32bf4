"""Calibration by hand."""

from __future__ import annotations

import numpy as np
import pytest

from deptree_cli.core.calibration import Calibration


def test_by_hand() -> None:
    calibration = Calibration()
    calibration.add([0.95, 1.0, 0.91], [True, True, False])
    calibration.add([0.25, 0.2], [False, True])
    assert calibration.accuracy == pytest.approx(0.6)
    assert calibration.mean_confidence == pytest.approx((0.95 + 1.0 + 0.91 + 0.25 + 0.2) / 5)
    assert calibration.error == pytest.approx((abs(2.86 - 2) + abs(0.45 - 1)) / 5)
    low, high = calibration.rows()
    assert low == ["0.2 to 0.3", 2, pytest.approx(0.225), 0.5]
    assert high == ["0.9 to 1.0", 3, pytest.approx(2.86 / 3), pytest.approx(2 / 3)]


def test_nothing() -> None:
    calibration = Calibration()
    assert calibration.accuracy == calibration.mean_confidence == calibration.error == 0.0
    assert calibration.rows() == []


def test_gold_drawn_from_the_distribution_is_calibrated(graphs) -> None:
    """H0: a head of probability p is right with probability p. 400 sentences of 8 words, gold trees sampled; the gap of
    each tenth within five standard deviations."""
    calibration, rng = Calibration(), np.random.default_rng(1)
    for seed in range(400):
        distribution = graphs.distribution(graphs.gaussian(8, 2, seed=seed))
        tree, gold = distribution.factorisation.sample(2, rng)
        calibration.add(distribution.marginals()[tree, np.arange(1, 9)], tree == gold)
    used = calibration.words > 0
    mean = calibration.confidence[used] / calibration.words[used]
    spread = np.sqrt(mean * (1 - mean) / calibration.words[used])
    assert (np.abs(calibration.right[used] / calibration.words[used] - mean) < 5 * spread).all()
