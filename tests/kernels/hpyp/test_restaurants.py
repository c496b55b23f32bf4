"""Predictions against the reference, after customers came and some went."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from numpy.typing import NDArray

from deptree_cli.kernels.hpyp.restaurants import occupied, predict, predict_all, predict_along
from tests.kernels.hpyp.processes import Process, random_events

VOCABULARY, SYMBOLS = 5, 4
HYPER = [((0.8,) * 4, (0.0,) * 4), ((0.1, 0.4, 0.9, 0.5), (3.0, -0.05, 0.0, 20.0))]
WITH_HYPER = pytest.mark.parametrize("hyper", HYPER, ids=["initial", "mixed"])


def busy(hyper: tuple[tuple[float, ...], tuple[float, ...]], state: NDArray[np.uint64]) -> Process:
    """Two hundred customers came, and those of every third event went; some restaurants are empty again."""
    process = Process(VOCABULARY, *hyper, random_events(200, 4, SYMBOLS, VOCABULARY, seed=1))
    for event in range(200):
        process.add(event, state)
    for event in range(0, 200, 3):
        process.remove(event, state)
    return process


def all_contexts() -> list[tuple[int, ...]]:
    """With a symbol that was never seen."""
    return list(product(range(SYMBOLS + 1), repeat=3))


@WITH_HYPER
def test_predictions_are_those_of_the_reference(hyper, state) -> None:
    process = busy(hyper, state)
    franchise = process.franchise([event for event in range(200) if event % 3])
    path, probs = np.empty(4, dtype=np.int64), np.full(VOCABULARY, np.nan)
    for context in all_contexts():
        symbols = np.array(context, dtype=np.int32)
        expected = [franchise.prob(context, dish) for dish in range(VOCABULARY)]
        predict_all(process.restaurants, symbols, path, probs)
        np.testing.assert_allclose(probs, expected, rtol=1e-12)
        assert probs.sum() == pytest.approx(1, abs=1e-12)
        one_by_one = [predict(process.restaurants, symbols, path, dish) for dish in range(VOCABULARY)]
        np.testing.assert_allclose(one_by_one, expected, rtol=1e-12)


@WITH_HYPER
def test_shorter_contexts(hyper, state) -> None:
    """A context may end early: its restaurant is one above the deepest."""
    process = busy(hyper, state)
    franchise, path = process.franchise([event for event in range(200) if event % 3]), np.empty(4, dtype=np.int64)
    for context in [(), (0,), (0, 0), (1, 0), (SYMBOLS, 0)]:
        symbols = np.array(context, dtype=np.int32)
        found = [predict(process.restaurants, symbols, path, dish) for dish in range(VOCABULARY)]
        np.testing.assert_allclose(found, [franchise.prob(context, dish) for dish in range(VOCABULARY)], rtol=1e-12)


@WITH_HYPER
def test_predictions_may_go_on_from_a_level(hyper, state) -> None:
    """The same in two parts, cut at every level."""
    process = busy(hyper, state)
    restaurants, path = process.restaurants, np.zeros(4, dtype=np.int64)
    for context in all_contexts():
        symbols = np.array(context, dtype=np.int32)
        for cut, dish in product(range(3), range(VOCABULARY)):
            upper = occupied(restaurants, symbols[:cut], 0, path)
            prob = predict_along(restaurants, path, 0, upper, dish, 1 / VOCABULARY)
            if upper == cut:
                deepest = occupied(restaurants, symbols, cut, path)
                prob = predict_along(restaurants, path, cut + 1, deepest, dish, prob)
            assert prob == pytest.approx(predict(restaurants, symbols, path, dish), rel=1e-13)


def test_before_anybody_came(state) -> None:
    """Every dish is as likely as another, with strengths of 0 too."""
    process = Process(VOCABULARY, *HYPER[0], [((1, 1, 1), 2)])
    probs = np.empty(VOCABULARY)
    predict_all(process.restaurants, np.array([1, 1, 1], dtype=np.int32), np.empty(4, dtype=np.int64), probs)
    np.testing.assert_allclose(probs, 1 / VOCABULARY, rtol=1e-15)


@WITH_HYPER
def test_the_probability_of_a_customer_is_the_prediction_before(hyper, state) -> None:
    process = Process(VOCABULARY, *hyper, random_events(120, 4, SYMBOLS, VOCABULARY, seed=2))
    for number, (context, dish) in enumerate(process.events):
        expected = process.franchise(range(number)).prob(context, dish)
        assert process.add(number, state) == pytest.approx(expected, rel=1e-12)
