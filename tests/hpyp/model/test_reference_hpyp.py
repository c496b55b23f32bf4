"""The reference processes by themselves: sums to one, exchangeability, enumeration, and their own Gibbs sampler."""

from __future__ import annotations

import math
from collections import Counter
from itertools import product

import numpy as np
import pytest

from tests.hpyp.model.reference_hpyp import Event, Franchise, Posterior, Seating, log_seating, set_partitions
from tests.pearson import chi_square

DISCOUNTS, STRENGTHS = (0.3, 0.6, 0.8), (1.5, 0.0, -0.2)
EVENTS: list[Event] = [((1, 1), 0), ((1, 1), 0), ((1, 1), 1), ((1, 2), 0), ((2, 2), 0), ((2, 2), 2)]
VOCABULARY = 3
LEVEL = 1e-6


def seated(seed: int, times: int = 4) -> Franchise:
    """The events, each several times."""
    franchise, rng = Franchise(VOCABULARY, DISCOUNTS, STRENGTHS), np.random.default_rng(seed)
    for context, dish in EVENTS * times:
        franchise.add(context, dish, rng)
    return franchise


def closed_form(seating: Seating) -> float:
    """The likelihood as the text on hyper-parameters writes it, with gamma functions."""
    restaurants: dict[tuple[int, ...], list[int]] = {}
    for (prefix, _), sizes in seating:
        restaurants.setdefault(prefix, []).extend(sizes)
    total = 0.0
    for prefix, sizes in restaurants.items():
        d, theta, tables = DISCOUNTS[len(prefix)], STRENGTHS[len(prefix)], len(sizes)
        total += math.lgamma(theta + 1) - math.lgamma(theta + sum(sizes)) + (tables - 1) * math.log(d)
        total += math.lgamma(theta / d + tables) - math.lgamma(theta / d + 1)
        total += sum(math.lgamma(size - d) - math.lgamma(1 - d) for size in sizes)
    return total


def test_bell_numbers() -> None:
    assert [sum(1 for _ in set_partitions(count)) for count in range(7)] == [1, 1, 2, 5, 15, 52, 203]


@pytest.mark.parametrize("seed", range(5))
def test_predictions_sum_to_one(seed: int) -> None:
    franchise = seated(seed)
    franchise.check()
    for context in [(), (1,), (1, 1), (2, 2), (1, 3), (3, 3), (3,)]:
        assert math.fsum(franchise.prob(context, dish) for dish in range(VOCABULARY)) == pytest.approx(1, abs=1e-14)


@pytest.mark.parametrize("seed", range(5))
def test_what_is_added_can_be_removed(seed: int) -> None:
    franchise, rng = seated(seed), np.random.default_rng(seed + 100)
    for context, dish in [EVENTS[place % len(EVENTS)] for place in rng.permutation(4 * len(EVENTS))]:
        franchise.remove(context, dish, rng)
        franchise.check()
    assert franchise.seating() == ()


def test_misfits_are_found() -> None:
    """A table too many, in the root and in a leaf."""
    for prefix in [(), (1, 1)]:
        franchise = seated(0)
        franchise.tables[prefix][0].append(1)
        with pytest.raises(AssertionError):
            franchise.check()


@pytest.mark.parametrize("seed", range(5))
def test_the_order_of_customers_makes_no_difference(seed: int) -> None:
    """And the closed form is the product over customers."""
    seating, rng = seated(seed).seating(), np.random.default_rng(seed)
    expected = log_seating(seating, DISCOUNTS, STRENGTHS)
    assert log_seating(seating, DISCOUNTS, STRENGTHS, rng) == pytest.approx(expected, abs=1e-12)
    assert closed_form(seating) == pytest.approx(expected, abs=1e-11)


def test_dishes_of_all_customers_sum_to_one() -> None:
    """The evidence, over all dishes that four customers could have."""
    contexts = [(1, 1), (1, 1), (1, 2), (2, 2)]
    dishes = product(range(VOCABULARY), repeat=len(contexts))
    found = [Posterior(VOCABULARY, DISCOUNTS, STRENGTHS, list(zip(contexts, one, strict=True))) for one in dishes]
    assert math.fsum(posterior.evidence for posterior in found) == pytest.approx(1, abs=1e-12)


@pytest.mark.parametrize("context", [(1, 1), (1, 2), (1, 3), (2, 2), (3, 1)])
@pytest.mark.parametrize("dish", range(VOCABULARY))
def test_predictions_are_ratios_of_evidences(context: tuple[int, int], dish: int) -> None:
    """P(dish | events), seatings summed out, is P(events and dish) / P(events)."""
    posterior = Posterior(VOCABULARY, DISCOUNTS, STRENGTHS, EVENTS[:4])
    longer = Posterior(VOCABULARY, DISCOUNTS, STRENGTHS, [*EVENTS[:4], (context, dish)])
    assert posterior.prob(context, dish) == pytest.approx(longer.evidence / posterior.evidence, rel=1e-12)


@pytest.mark.slow("statistics")
def test_gibbs_sampling_has_the_enumerated_distribution() -> None:
    """H0: seatings are draws from the posterior.

    4,000 seatings, three sweeps apart, so that they are nearly independent; chi-square, seatings expected fewer than
    five times pooled; p < 1e-6 by chance.
    """
    events, rng = EVENTS[:5], np.random.default_rng(7)
    posterior = Posterior(VOCABULARY, DISCOUNTS, STRENGTHS, events)
    franchise, posterior = (
        Franchise(VOCABULARY, DISCOUNTS, STRENGTHS),
        Posterior(VOCABULARY, DISCOUNTS, STRENGTHS, events),
    )
    for context, dish in events:
        franchise.add(context, dish, rng)
    found: Counter[Seating] = Counter()
    for _ in range(4000):
        for context, dish in events * 3:
            franchise.remove(context, dish, rng)
            franchise.add(context, dish, rng)
        found[franchise.seating()] += 1
    assert set(found) <= set(posterior.probs)
    observed = np.array([found[seating] for seating in posterior.probs])
    assert chi_square(observed, np.array(list(posterior.probs.values())))[2] > LEVEL
