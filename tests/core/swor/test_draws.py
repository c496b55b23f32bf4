"""Draws cut short, their times, and how many trees are drawn to reach a mass."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from deptree_cli.core.swor import ALGORITHMS, Algorithm, Draws, most_certain, size_for_mass

EACH = pytest.mark.parametrize("algorithm", ALGORITHMS, ids=lambda algorithm: algorithm.name)

THREE = Draws(
    np.array([[0, 1], [2, 0], [0, 2]], dtype=np.int32),
    np.log([0.5, 0.25, 0.125]),
    np.array([1.0, 2.5, 7.0]),
    9.0,
    exhausted=False,
)


def test_the_first_are_draws_of_their_own() -> None:
    two = THREE.first(2)
    assert (two.heads.tolist(), two.arrivals.tolist(), two.tau) == ([[0, 1], [2, 0]], [1.0, 2.5], 7.0)
    every = replace(THREE, tau=np.inf, exhausted=True)
    assert every.first(3) is every.first(10) is every
    assert (every.first(2).tau, every.first(2).exhausted) == (7.0, False)


def test_times() -> None:
    assert (THREE.since, THREE.window) == (0.0, 9.0)
    two_certain = replace(THREE, certain=2)
    assert (two_certain.since, two_certain.window) == (2.5, 6.5)
    assert replace(two_certain, tau=np.inf).window == np.inf


def test_the_number_that_reaches_a_mass() -> None:
    assert [THREE.reach(mass) for mass in (0.1, 0.5, 0.6, 0.75, 0.8, 0.99)] == [1, 1, 2, 2, 3, 3]


@pytest.mark.parametrize(
    ("size", "most", "totals"),
    [
        (3, 0, {}),
        (5, 0, {}),
        (7, 2, {1: 6, 2: 7}),
        (12, 6, {1: 6, 5: 10, 6: 12}),
        (10_000, 5_000, {1: 6, 50: 55, 51: 57, 4_999: 5_499, 5_000: 10_000}),
    ],
)
def test_how_many_are_drawn(size: int, most: int, totals: dict[int, int]) -> None:
    """At least five and a tenth behind those that reach the mass; all, where half of them do not."""
    assert most_certain(size) == most
    assert {certain: size_for_mass(certain, size) for certain in totals} == totals
    assert all(size_for_mass(certain, size) <= size for certain in range(1, most + 1))


@EACH
@pytest.mark.parametrize(("mass", "size"), [(0.3, 64), (0.9, 64), (0.5, 12), (0.9, 12), (0.999, 7), (0.5, 5)])
def test_draws_to_a_mass_are_the_first_of_all(algorithm: Algorithm, mass: float, size: int, graphs) -> None:
    """The same trees at the same times; the fewest that reach the mass are certain, if half of all can."""
    distribution = graphs.distribution(graphs.gaussian(4, 2))
    for seed in range(5):
        first, plain = np.random.default_rng(seed), np.random.default_rng(seed)
        found = algorithm.draw(distribution, size, first, mass)
        every = algorithm.draw(distribution, size if not algorithm.sequential else 64, plain)
        reached = int((np.exp(every.log_probs).cumsum() < mass).sum()) + 1
        most = most_certain(size)
        assert found.certain == min(reached, most)
        assert len(found.heads) == (size_for_mass(found.certain, size) if most else size)
        expected = every.first(len(found.heads))
        assert np.array_equal(found.heads, expected.heads)
        assert (found.arrivals.tolist(), found.tau) == (expected.arrivals.tolist(), expected.tau)


@EACH
def test_all_trees_are_few(algorithm: Algorithm, graphs) -> None:
    """With the mass of all but the last of three trees, all three come."""
    draws = algorithm.draw(graphs.distribution(graphs.figure1()), 100, np.random.default_rng(1), 0.6)
    assert (len(draws.heads), draws.exhausted, draws.window) == (3, True, np.inf)
    assert draws.certain == 2
