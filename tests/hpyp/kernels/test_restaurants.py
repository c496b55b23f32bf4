"""Predictions against the reference, after customers came and some went."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from numpy.typing import NDArray

from deptree_cli.hpyp.kernels.restaurants import predict
from tests.hpyp.kernels.processes import Process, random_events

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
    for context in all_contexts():
        symbols = np.array(context, dtype=np.int32)
        expected = [franchise.prob(context, dish) for dish in range(VOCABULARY)]
        probs = [predict(process.restaurants, symbols, dish) for dish in range(VOCABULARY)]
        np.testing.assert_allclose(probs, expected, rtol=1e-12)
        assert sum(probs) == pytest.approx(1, abs=1e-12)


@WITH_HYPER
def test_shorter_contexts(hyper, state) -> None:
    """A context may end early: its restaurant is one above the deepest."""
    process = busy(hyper, state)
    franchise = process.franchise([event for event in range(200) if event % 3])
    for context in [(), (0,), (0, 0), (1, 0), (SYMBOLS, 0)]:
        symbols = np.array(context, dtype=np.int32)
        found = [predict(process.restaurants, symbols, dish) for dish in range(VOCABULARY)]
        np.testing.assert_allclose(found, [franchise.prob(context, dish) for dish in range(VOCABULARY)], rtol=1e-12)


def test_before_anybody_came(state) -> None:
    """Every dish is as likely as another, with strengths of 0 too."""
    process = Process(VOCABULARY, *HYPER[0], [((1, 1, 1), 2)])
    symbols = np.array([1, 1, 1], dtype=np.int32)
    probs = [predict(process.restaurants, symbols, dish) for dish in range(VOCABULARY)]
    np.testing.assert_allclose(probs, 1 / VOCABULARY, rtol=1e-15)


@WITH_HYPER
def test_the_probability_of_a_customer_is_the_prediction_before(hyper, state) -> None:
    process = Process(VOCABULARY, *hyper, random_events(120, 4, SYMBOLS, VOCABULARY, seed=2))
    for number, (context, dish) in enumerate(process.events):
        expected = process.franchise(range(number)).prob(context, dish)
        assert process.add(number, state) == pytest.approx(expected, rel=1e-12)
