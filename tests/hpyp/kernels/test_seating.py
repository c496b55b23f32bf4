"""Customers who come and go, against the enumerated posterior of all their seatings."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from deptree_cli.hpyp.kernels.restaurants import BINS, FREE, NOBODY, NONE, Paths, sweep
from tests.hpyp.kernels.processes import Process, random_events
from tests.hpyp.model.reference_hpyp import Event, Posterior, Seating
from tests.pearson import chi_square

LEVEL = 1e-6  # a test fails by chance once in a million seeds
SWEEPS = 3  # between two seatings that are counted, which so are nearly independent

ONE_RESTAURANT: list[Event] = [((), 0)] * 6
TWO_LEVELS: list[Event] = [((1,), 0)] * 3 + [((2,), 0)] * 2 + [((2,), 1)]
THREE_LEVELS: list[Event] = [((1, 1), 0), ((1, 1), 0), ((1, 2), 0), ((2, 2), 0), ((1, 2), 1), ((1, 1), 1)]
TOYS = [
    pytest.param(ONE_RESTAURANT, (0.5,), (0.7,), id="one restaurant"),
    pytest.param(TWO_LEVELS, (0.8, 0.8), (0.0, 0.0), id="two levels"),
    pytest.param(THREE_LEVELS, (0.2, 0.5, 0.7), (2.0, -0.3, 0.5), id="three levels"),
]


@pytest.mark.slow("statistics")
@pytest.mark.parametrize(("events", "discounts", "strengths"), TOYS)
def test_sweeps_have_the_enumerated_posterior(events, discounts, strengths, draws, state) -> None:
    """H0: seatings are draws from the posterior, though all customers are events of one sentence.

    5,000 seatings (150 in plain Python), three sweeps apart; chi-square, seatings expected fewer than five times
    pooled; p < 1e-6 by chance.
    """
    process = Process(3, discounts, strengths, events)
    found: Counter[Seating] = Counter()
    process.seat_all(state)
    for _ in range(draws // 4):
        process.sweep(SWEEPS, state)
        found[process.seating()] += 1
    probs = Posterior(3, discounts, strengths, events).probs
    assert set(found) <= set(probs)
    observed = np.array([found[seating] for seating in probs])
    assert chi_square(observed, np.array(list(probs.values())))[2] > LEVEL


def test_a_wrong_posterior_is_noticed(draws, state) -> None:
    """The law above, with another discount than the one that was sampled with, fails."""
    process = Process(3, (0.5,), (0.7,), ONE_RESTAURANT)
    found: Counter[Seating] = Counter()
    process.seat_all(state)
    for _ in range(draws // 4):
        process.sweep(SWEEPS, state)
        found[process.seating()] += 1
    probs = Posterior(3, (0.9,), (0.7,), ONE_RESTAURANT).probs
    observed = np.array([found[seating] for seating in probs])
    assert chi_square(observed, np.array(list(probs.values())))[2] < LEVEL


def test_customers_come_and_go(state) -> None:
    """Every twentieth step all invariants hold: c, t and sizes fit each other, parents have their children's tables."""
    process, rng = (
        Process(4, (0.7, 0.7, 0.7), (0.5, 0.0, 0.0), random_events(60, 3, 3, 4, seed=3)),
        np.random.default_rng(3),
    )
    seated: set[int] = set()
    for step in range(1500):
        event = int(rng.integers(60))
        (process.remove if event in seated else process.add)(event, state)
        seated ^= {event}
        if step % 20 == 0:
            process.franchise(sorted(seated))
            assert process.bins_in_use() + process.free_bins() == process.restaurants.used[BINS]
    for event in sorted(seated):
        process.remove(event, state)
    assert process.seating() == ()
    assert process.bins_in_use() == 0


def test_events_leave_and_return_one_by_one(state) -> None:
    """Sweeps over sentences keep invariants and return the sum of log-probabilities, each given all other events."""
    process = Process(4, (0.7, 0.6, 0.5), (0.5, 0.1, 0.2), random_events(50, 3, 3, 4, seed=4))
    cuts, order = np.array([0, 20, 20, 21, 50]), np.array([3, 0, 2, 1])
    arguments = process.restaurants, Paths(process.nodes, process.entries), cuts, order
    copy = Process(4, (0.7, 0.6, 0.5), (0.5, 0.1, 0.2), random_events(50, 3, 3, 4, seed=4))
    same_state = state.copy()
    log_prob = sweep(*arguments, False, NOBODY, 0.0, state)
    expected = sum(np.log(copy.add(event, same_state)) for event in [*range(21, 50), *range(20), 20])
    assert log_prob == pytest.approx(expected, rel=1e-12)
    assert process.seating() == copy.seating()
    for _ in range(20):
        log_prob = sweep(*arguments, True, NOBODY, 0.0, state)
        expected = 0.0
        for event in [*range(21, 50), *range(20), 20]:
            copy.remove(event, same_state)
            expected += np.log(copy.add(event, same_state))
        assert log_prob == pytest.approx(expected, rel=1e-12)
        assert process.seating() == copy.seating()
        process.franchise()


def test_paths_lead_to_the_contexts_and_dishes_of_events(state) -> None:
    process = Process(4, (0.7,) * 4, (0.0,) * 4, random_events(100, 4, 3, 4, seed=5))
    prefixes, entries = process.prefixes, process.restaurants.entries
    for (context, dish), nodes, own in zip(process.events, process.nodes, process.entries, strict=True):
        assert [prefixes[int(node)] for node in nodes] == [context[:level] for level in range(4)]
        assert entries[own, 0].tolist() == [dish] * 4
    distinct = {context[:level] for context, _ in process.events for level in range(4)}
    assert len(distinct) == len(prefixes) == process.restaurants.used[0]
    assert process.restaurants.used[FREE] == NONE


def test_customers_move_from_old_events_to_new_ones(state) -> None:
    """Six sentences of ten events each: of the old ones none is left, of the new ones all are seated."""
    process = Process(6, [0.5] * 4, [0.3] * 4, random_events(120, 4, 3, 6, seed=3))
    for event in range(60):
        process.add(event, state)
    old, new = (Paths(process.nodes[part], process.entries[part]) for part in (slice(60), slice(60, 120)))
    cuts, order = np.arange(0, 61, 10), np.array([3, 1, 5, 0, 4, 2])
    sweep(process.restaurants, new, cuts, order, False, old, 0.0, state)
    process.franchise(range(60, 120))
