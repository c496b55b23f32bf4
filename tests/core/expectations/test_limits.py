"""Expectations at their limits, by hand; and two routes to one covariance."""

from __future__ import annotations

import numpy as np
import pytest

from deptree_cli.core import expectations
from deptree_cli.core.expectations import arc_covariance, entropy_gradient, expected_sum, kl_gradient, renyi_gradient

BOTH = pytest.mark.parametrize("single_root", [True, False], ids=["single", "multi"])


def test_a_divergence_from_what_is_impossible_there_is_infinite(graphs) -> None:
    distribution, other = graphs.distribution(graphs.gaussian(3)), graphs.distribution(graphs.holes(3, 1, True))
    assert expectations.kl(distribution, other) == np.inf
    assert expectations.cross_entropy(distribution, other) == np.inf
    assert np.isnan(kl_gradient(distribution, other)).all()
    assert expectations.kl(other, distribution) < np.inf


def test_arcs_that_are_impossible_in_both_do_not_count(graphs) -> None:
    """An arc that no tree uses may be forbidden there, though it is allowed here."""
    chain = np.full((4, 4), -np.inf)
    chain[0, 1] = chain[1, 2] = chain[2, 3] = 0.0
    useless = chain.copy()
    useless[3, 2] = 5.0  # 2 is the head of 3: a cycle
    assert expectations.kl(graphs.distribution(useless), graphs.distribution(chain)) == 0.0
    assert np.isfinite(kl_gradient(graphs.distribution(useless), graphs.distribution(chain))).all()


def test_limits(graphs) -> None:
    distribution = graphs.distribution(graphs.gaussian(5))
    assert expectations.kl(distribution, distribution) == 0.0
    assert expectations.renyi(distribution, 1.0) == expectations.entropy(distribution)
    assert np.array_equal(renyi_gradient(distribution, 1.0), entropy_gradient(distribution))
    assert expectations.renyi(distribution, 1 + 1e-5) == pytest.approx(expectations.entropy(distribution), rel=1e-4)
    assert expectations.entropy(graphs.distribution(np.zeros((5, 5)))) == pytest.approx(3 * np.log(4))


@BOTH
def test_renyi_falls_with_its_order(single_root: bool, graphs) -> None:
    """From the logarithm of the number of trees down to that of the best tree's probability."""
    distribution = graphs.distribution(graphs.gaussian(5, 2), single_root)
    found = [expectations.renyi(distribution, order) for order in (1e-6, 0.3, 1.0, 2.0, 50.0, 1000.0)]
    assert found == sorted(found, reverse=True)
    trees = 5**4 if single_root else 6**4
    assert found[0] == pytest.approx(np.log(trees), rel=1e-4)
    assert found[-1] == pytest.approx(-distribution.log_prob(distribution.argmax()), rel=2e-3)


@BOTH
def test_the_expected_sum_of_an_arcs_indicator_is_its_marginal(single_root: bool, graphs) -> None:
    distribution = graphs.distribution(graphs.holes(4, 2, single_root), single_root)
    values = np.full((5, 5), np.inf)
    values[np.isfinite(distribution.log_scores)] = 0.0
    assert expected_sum(distribution, values) == 0.0
    assert not arc_covariance(distribution, values).any()
    values[np.isfinite(distribution.log_scores)] = 1.0
    assert expected_sum(distribution, values) == pytest.approx(4.0)  # every tree has four arcs
    assert arc_covariance(distribution, values) == pytest.approx(np.zeros((5, 5)), abs=1e-14)
