"""Discounts and strengths: the likelihood against the product over customers, draws against their exact density."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest
from numpy.typing import NDArray

from deptree_cli.hpyp.kernels.restaurants import (
    Restaurants,
    histograms,
    log_likelihood,
    pairs_of,
    resample_levels,
    slice_sample,
)
from tests.hpyp.kernels.processes import Process, random_events
from tests.hpyp.model.reference_hpyp import Seating, log_seating
from tests.pearson import chi_square

Float = NDArray[np.float64]
Counts = tuple[Float, Float, Float]

LEVEL = 1e-6  # a test of a law fails by chance once in a million seeds
DISCOUNTS, STRENGTHS = (0.3, 0.6, 0.8), (1.5, 0.0, -0.2)
NOTHING: Counts = (np.empty((0, 2)), np.empty((0, 2)), np.empty((0, 2)))


def busy(state: NDArray[np.uint64]) -> Process:
    """Eighty customers; of forty more the restaurants are known but empty."""
    process = Process(4, DISCOUNTS, STRENGTHS, random_events(120, 3, 4, 4, seed=6))
    for event in range(120):
        process.add(event, state)
    for event in range(80, 120):
        process.remove(event, state)
    return process


def counts_of(process: Process, level: int) -> Counts:
    """A level's histograms as pairs."""
    arrays = [np.full(121, 77, dtype=np.int64) for _ in range(3)]
    histograms(process.restaurants, level, *arrays)
    return tuple(pairs_of(array) for array in arrays)


def at_level(seating: Seating, level: int) -> Seating:
    """The tables of the restaurants of one level."""
    return tuple((event, sizes) for event, sizes in seating if len(event[0]) == level)


@pytest.mark.slow("statistics")
@pytest.mark.parametrize("level", range(3))
def test_histograms(level: int, state) -> None:
    process, customers, tables, sizes = busy(state), Counter(), Counter(), Counter()
    for (prefix, _), own in at_level(process.seating(), level):
        customers[prefix] += sum(own)
        tables[prefix] += len(own)
        sizes.update(own)
    expected = [Counter(customers.values()), Counter(tables.values()), sizes]
    for found, counter in zip(counts_of(process, level), expected, strict=True):
        assert found.tolist() == [[value, counter[value]] for value in sorted(counter)]


@pytest.mark.parametrize("level", range(3))
@pytest.mark.parametrize(("discount", "strength"), [(0.8, 0.0), (0.8, -0.79), (0.01, 7.0), (0.5, 0.3)])
def test_the_likelihood_is_the_product_over_customers(level: int, discount: float, strength: float, state) -> None:
    """Of the seating, each customer given those before; and of the priors."""
    process = busy(state)
    seating = at_level(process.seating(), level)
    expected = log_seating(seating, (discount,) * 3, (strength,) * 3) - (discount + strength)
    assert log_likelihood(discount, strength, *counts_of(process, level)) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize(("discount", "strength"), [(0.0, 1.0), (1.0, 1.0), (-0.1, 1.0), (1.2, 0.0), (0.5, -0.5)])
def test_what_is_out_of_bounds_has_no_likelihood(discount: float, strength: float) -> None:
    assert log_likelihood(discount, strength, *NOTHING) == -math.inf


class Density:
    """The posterior of a discount d and u = theta + d on a grid, from the seating of the restaurants of a level.

    Attributes:
        edges: of five cells of d and six of u; probs: (5, 6), what is in each.
    """

    def __init__(self, seating: Seating) -> None:
        step_d, step_u = 1 / 400, 1 / 200
        d, u = np.arange(step_d / 2, 1, step_d)[:, None], np.arange(step_u / 2, 30, step_u)[None, :]
        log_density = -u + np.zeros_like(d)
        restaurants: dict[tuple[int, ...], list[int]] = {}
        for (prefix, _), sizes in seating:
            restaurants.setdefault(prefix, []).extend(sizes)
        for sizes in restaurants.values():
            log_density += sum(np.log(u - d + d * k) for k in range(1, len(sizes)))
            log_density -= sum(np.log(u - d + k) for k in range(1, sum(sizes)))
            log_density += sum(np.log(k - d) for size in sizes for k in range(1, size))
        density = np.exp(log_density - log_density.max())
        self.edges = [0, 0.2, 0.4, 0.6, 0.8, 1], [0, 0.25, 0.5, 1, 2, 4, 30]
        cells = density.reshape(5, 80, -1).sum(axis=1)
        cuts = [round(edge / step_u) for edge in self.edges[1][:-1]]
        self.probs = np.add.reduceat(cells, cuts, axis=1) / density.sum()


def resample_level(restaurants: Restaurants, level: int, counts: Counts, state: NDArray[np.uint64]) -> None:
    """Draw a level's discount and strength anew, given its histograms."""
    discounts, strengths = restaurants.discounts, restaurants.strengths
    discounts[level] = slice_sample(0, discounts[level], strengths[level], counts, state)
    strengths[level] = slice_sample(1, discounts[level], strengths[level], counts, state)


def chain(counts: Counts, draws: int, state: NDArray[np.uint64]) -> tuple[Float, Float]:
    """Discounts and theta + d of a level with these histograms, five steps apart."""
    restaurants, found = Process(3, (0.5,), (0.5,), [((), 0)]).restaurants, np.empty((draws, 2))
    for row in found:
        for _ in range(5):
            resample_level(restaurants, 0, counts, state)
        row[:] = restaurants.discounts[0], restaurants.strengths[0]
    return found[:, 0], found.sum(axis=1)


SEATINGS: list[Seating] = [
    (),
    ((((), 0), (3, 1)), (((), 1), (2,))),
    ((((0,), 0), (9, 2, 1, 1)), (((1,), 1), (1,)), (((2,), 0), (5, 5))),
]


@pytest.mark.slow("statistics")
@pytest.mark.parametrize("seating", SEATINGS, ids=["nothing known", "one restaurant", "three restaurants"])
def test_draws_follow_the_density(seating: Seating, draws, state) -> None:
    """H0: pairs of d and theta are draws from the posterior.

    20,000 pairs (600 in plain Python), five steps of slice sampling apart, so that they are nearly independent;
    chi-square over thirty cells, those expected fewer than five times pooled; p < 1e-6 by chance.
    """
    restaurants: dict[tuple[int, ...], list[int]] = {}
    for (prefix, _), sizes in seating:
        restaurants.setdefault(prefix, []).extend(sizes)
    totals = [[sum(sizes) for sizes in restaurants.values()], [len(sizes) for sizes in restaurants.values()]]
    totals.append([size for sizes in restaurants.values() for size in sizes])
    counts = tuple(np.column_stack(np.unique(np.array(values, float), return_counts=True)) for values in totals)
    expected = Density(seating)
    found, _, _ = np.histogram2d(*chain(counts, draws, state), bins=expected.edges)
    assert found.sum() == draws
    assert chi_square(found.ravel().astype(np.int64), expected.probs.ravel())[2] > LEVEL


def test_all_levels_are_drawn_from_their_own_histograms(state) -> None:
    others = busy(state.copy())
    process = busy(state)
    assert process.seating() == others.seating()
    counts, same_state = [counts_of(others, level) for level in range(3)], state.copy()
    resample_levels(process.restaurants, state)
    for level in range(3):
        resample_level(others.restaurants, level, counts[level], same_state)
    for name in ("discounts", "strengths"):
        found = getattr(process.restaurants, name)
        np.testing.assert_array_equal(found, getattr(others.restaurants, name))
        assert (found != (DISCOUNTS if name == "discounts" else STRENGTHS)).all()
