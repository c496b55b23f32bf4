"""Customers who come and go, what restaurants predict, and their discounts and strengths, against the reference."""

import math
from collections import Counter
from itertools import chain, product

import numpy as np
import pytest

from deptree_cli.hpyp.kernels.restaurants import (
    BINS,
    ENTRIES,
    FREE,
    NEXT_BIN,
    NOBODY,
    NONE,
    histograms,
    log_likelihood,
    pairs_of,
    predict,
    resample_levels,
    slice_sample,
    sweep,
)
from tests.hpyp.reference import log_seating, posterior
from tests.hpyp.toys import Tables, check_law, random_events, sizes_of
from tests.pearson import chi_square

VOCABULARY, SYMBOLS = 5, 4


def probs_of(tables, context):
    symbols = np.array(context, dtype=np.int32)
    return [predict(tables.restaurants, symbols, dish) for dish in range(VOCABULARY)]


@pytest.mark.parametrize(
    "hyper", [((0.8,) * 4, (0.0,) * 4), ((0.1, 0.4, 0.9, 0.5), (3.0, -0.05, 0.0, 20.0))], ids=["initial", "mixed"]
)
def test_predictions_before_customers_come_and_after_some_went(hyper, state):
    """In every context, those that end early and with a symbol that was never seen too; some restaurants are empty."""
    tables = Tables(VOCABULARY, *hyper, random_events(150, 4, SYMBOLS, VOCABULARY, seed=1))
    np.testing.assert_allclose(probs_of(tables, tables.events[0][0]), 1 / VOCABULARY, rtol=1e-15)
    for event, (context, dish) in enumerate(tables.events):
        expected = tables.franchise(range(event)).prob(context, dish)
        assert tables.add(event, state) == pytest.approx(expected, rel=1e-12)
    for event in range(0, 150, 3):
        tables.remove(event, state)
    franchise = tables.franchise([event for event in range(150) if event % 3])
    for context in (each for length in range(4) for each in product(range(SYMBOLS + 1), repeat=length)):
        expected = [franchise.prob(context, dish) for dish in range(VOCABULARY)]
        np.testing.assert_allclose(probs_of(tables, context), expected, rtol=1e-12)
        assert sum(expected) == pytest.approx(1, abs=1e-12)


@pytest.mark.slow("statistics")
@pytest.mark.parametrize(
    ("events", "discounts", "strengths"),
    [
        ([((), 0)] * 6, (0.5,), (0.7,)),
        ([((1,), 0)] * 3 + [((2,), 0)] * 2 + [((2,), 1)], (0.8, 0.8), (0.0, 0.0)),
        ([((1, 1), 0)] * 2 + [((1, 2), 0), ((2, 2), 0), ((1, 2), 1), ((1, 1), 1)], (0.2, 0.5, 0.7), (2.0, -0.3, 0.5)),
    ],
    ids=["one restaurant", "two levels", "three levels"],
)
def test_sweeps_have_the_enumerated_posterior(events, discounts, strengths, draws, state):
    """H0: seatings are draws from the posterior, though all customers are events of one sentence.

    5,000 seatings (150 in plain Python), three sweeps apart, so that they are nearly independent; chi-square, seatings
    expected fewer than five times pooled; p < 1e-6 by chance.
    """
    tables, found = Tables(3, discounts, strengths, events), Counter()
    arguments = tables.restaurants, tables.paths, np.array([0, len(events)])
    sweep(*arguments, np.zeros(1, dtype=np.int64), False, NOBODY, 0.0, state)
    for _ in range(draws // 4):
        sweep(*arguments, np.zeros(3, dtype=np.int64), True, NOBODY, 0.0, state)
        found[tables.seating()] += 1
    check_law(found, posterior(3, discounts, strengths, events))


def test_customers_come_and_go(state):
    """Every twentieth step all invariants hold: c, t and sizes fit each other, parents have their children's tables;
    and bins are used or free."""
    tables = Tables(4, (0.7, 0.7, 0.7), (0.5, 0.0, 0.0), random_events(60, 3, 3, 4, seed=3))
    now, seated, rng = tables.restaurants, set(), np.random.default_rng(3)

    def bins():
        used = sum(len(set(sizes)) for entry in range(now.used[ENTRIES]) if len(sizes := sizes_of(now, entry)) > 1)
        at, free = now.used[FREE], 0
        while at != NONE:
            at, free = now.bins[at, NEXT_BIN], free + 1
        return used, free

    for step in range(1500):
        event = int(rng.integers(60))
        (tables.remove if event in seated else tables.add)(event, state)
        seated ^= {event}
        if step % 20 == 0:
            tables.franchise(sorted(seated))
            assert sum(bins()) == now.used[BINS]
    for event in sorted(seated):
        tables.remove(event, state)
    assert tables.seating() == ()
    assert bins()[0] == 0


def test_events_leave_and_return_one_by_one(state):
    """Sweeps over sentences return the sum of log-probabilities, each event given all others."""
    made = (0.7, 0.6, 0.5), (0.5, 0.1, 0.2), random_events(50, 3, 3, 4, seed=4)
    tables, copy = Tables(4, *made), Tables(4, *made)
    arguments = tables.restaurants, tables.paths, np.array([0, 20, 20, 21, 50]), np.array([3, 0, 2, 1])
    same_state = state.copy()
    for again in range(20):
        log_prob, expected = sweep(*arguments, again > 0, NOBODY, 0.0, state), 0.0
        for event in [*range(21, 50), *range(20), 20]:
            if again:
                copy.remove(event, same_state)
            expected += np.log(copy.add(event, same_state))
        assert log_prob == pytest.approx(expected, rel=1e-12)
        assert tables.seating() == copy.seating()
    tables.franchise(range(50))


DISCOUNTS, STRENGTHS = (0.3, 0.6, 0.8), (1.5, 0.0, -0.2)


def busy(state):
    """Eighty customers; of forty more the restaurants are known but empty."""
    tables = Tables(4, DISCOUNTS, STRENGTHS, random_events(120, 3, 4, 4, seed=6))
    for event in range(120):
        tables.add(event, state)
    for event in range(80, 120):
        tables.remove(event, state)
    return tables


def counts_of(tables, level):
    """A level's histograms as pairs."""
    arrays = [np.full(121, 77, dtype=np.int64) for _ in range(3)]
    histograms(tables.restaurants, level, *arrays)
    return tuple(pairs_of(array) for array in arrays)


@pytest.mark.parametrize("level", range(3))
@pytest.mark.parametrize(("discount", "strength"), [(0.8, 0.0), (0.8, -0.79), (0.01, 7.0), (0.5, 0.3)])
def test_the_likelihood_is_the_product_over_customers(level, discount, strength, state):
    """Of the seating, each customer given those before; and of the priors."""
    tables = busy(state)
    seating = tuple((event, sizes) for event, sizes in tables.seating() if len(event[0]) == level)
    expected = log_seating(seating, (discount,) * 3, (strength,) * 3) - (discount + strength)
    assert log_likelihood(discount, strength, *counts_of(tables, level)) == pytest.approx(expected, abs=1e-9)


@pytest.mark.quick
@pytest.mark.parametrize(("discount", "strength"), [(0.0, 1.0), (1.0, 1.0), (-0.1, 1.0), (1.2, 0.0), (0.5, -0.5)])
def test_what_is_out_of_bounds_has_no_likelihood(discount, strength):
    assert log_likelihood(discount, strength, *[np.empty((0, 2))] * 3) == -math.inf


def resample_level(restaurants, level, counts, state):
    """Draw a level's discount and strength anew, given its histograms."""
    discounts, strengths = restaurants.discounts, restaurants.strengths
    discounts[level] = slice_sample(0, discounts[level], strengths[level], counts, state)
    strengths[level] = slice_sample(1, discounts[level], strengths[level], counts, state)


# Of a discount d and u = theta + d.
EDGES = [0, 0.2, 0.4, 0.6, 0.8, 1], [0, 0.25, 0.5, 1, 2, 4, 30]


def density(restaurants):
    """The posterior of the cells between `EDGES`, (5, 6), on a grid, from the sizes of each restaurant's tables."""
    step_d, step_u = 1 / 400, 1 / 200
    d, u = np.arange(step_d / 2, 1, step_d)[:, None], np.arange(step_u / 2, 30, step_u)[None, :]
    log_density = -u + np.zeros_like(d)
    for sizes in restaurants:
        log_density += sum(np.log(u - d + d * k) for k in range(1, len(sizes)))
        log_density -= sum(np.log(u - d + k) for k in range(1, sum(sizes)))
        log_density += sum(np.log(k - d) for size in sizes for k in range(1, size))
    found = np.exp(log_density - log_density.max())
    cuts = [round(edge / step_u) for edge in EDGES[1][:-1]]
    return np.add.reduceat(found.reshape(5, 80, -1).sum(axis=1), cuts, axis=1) / found.sum()


@pytest.mark.slow("statistics")
@pytest.mark.parametrize("sizes", [[], [[3, 1, 2]], [[9, 2, 1, 1], [1], [5, 5]]], ids=str)
def test_draws_follow_the_density(sizes, draws, state):
    """H0: pairs of d and theta are draws from the posterior, given the sizes of the tables of each restaurant.

    20,000 pairs (600 in plain Python), five steps of slice sampling apart, so that they are nearly independent;
    chi-square over thirty cells, those expected fewer than five times pooled; p < 1e-6 by chance.
    """
    totals = [list(map(sum, sizes)), list(map(len, sizes)), [*chain(*sizes)]]
    counts = tuple(np.column_stack(np.unique(np.array(values, float), return_counts=True)) for values in totals)
    restaurants, pairs = Tables(3, (0.5,), (0.5,), [((), 0)]).restaurants, np.empty((draws, 2))
    for row in pairs:
        for _ in range(5):
            resample_level(restaurants, 0, counts, state)
        row[:] = restaurants.discounts[0], restaurants.strengths[0]
    found, _, _ = np.histogram2d(pairs[:, 0], pairs.sum(axis=1), bins=EDGES)
    assert found.sum() == draws
    assert chi_square(found.ravel().astype(np.int64), density(sizes).ravel())[2] > 1e-6


def test_all_levels_are_drawn_from_their_own_histograms(state):
    others, tables = busy(state.copy()), busy(state)
    counts, same_state = [counts_of(others, level) for level in range(3)], state.copy()
    resample_levels(tables.restaurants, state)
    for level in range(3):
        resample_level(others.restaurants, level, counts[level], same_state)
    found, expected = ((each.restaurants.discounts, each.restaurants.strengths) for each in (tables, others))
    np.testing.assert_array_equal(found, expected)
    assert (np.array(found) != (DISCOUNTS, STRENGTHS)).all()
