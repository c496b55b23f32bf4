"""Processes that grow, rest and go on, and what they predict, against the reference."""

from __future__ import annotations

from collections import Counter
from itertools import product

import numpy as np
import pytest
from numpy.typing import NDArray

from deptree_cli.hpyp.kernels.restaurants import Predictions, predict_dish, predict_dishes
from deptree_cli.hpyp.model import process as module
from deptree_cli.hpyp.model.process import Paths, Process
from tests.hpyp.kernels.processes import franchise_of, random_events
from tests.hpyp.model.reference_hpyp import Event, Franchise

CHOICES, SYMBOLS, LEVELS = 11, 4, 4
SENTENCES, EACH = 60, 20
CUTS = np.arange(0, SENTENCES * EACH + 1, EACH)
EVENTS = random_events(SENTENCES * EACH, LEVELS, SYMBOLS, CHOICES, seed=8)


def states(seed: int) -> NDArray[np.uint64]:
    """A random state, the same for the same seed."""
    return np.random.default_rng(seed).integers(2**63, size=4).astype(np.uint64)


def indexed(process: Process, events: list[Event]) -> Paths:
    """The paths of events."""
    contexts, dishes = zip(*events, strict=True)
    return process.index(np.array(contexts, dtype=np.int32), np.array(dishes, dtype=np.int32))


def trained(sweeps: int = 2) -> tuple[Process, Paths]:
    """All events seated; room grew many times."""
    process = Process(LEVELS - 1, CHOICES)
    process.restaurants.discounts[:] = 0.4, 0.8, 0.6, 0.3
    process.restaurants.strengths[:] = 1.0, -0.1, 0.0, 2.0
    paths, state = indexed(process, EVENTS), states(1)
    for number in range(sweeps):
        process.sweep(paths, CUTS, np.random.default_rng(number).permutation(SENTENCES), number > 0, state)
    return process, paths


def as_franchise(process: Process, events: list[Event]) -> Franchise:
    """The same seating in a reference, with invariants checked."""
    franchise = franchise_of(process.restaurants)
    franchise.events = Counter(events)
    franchise.check()
    return franchise


def test_processes_grow() -> None:
    process, paths = trained(sweeps=4)
    as_franchise(process, EVENTS)
    more = random_events(300, LEVELS, SYMBOLS + 3, CHOICES, seed=9)
    indexed(process, more)
    as_franchise(process, EVENTS)  # nobody of those is seated, and nobody has moved
    process.sweep(paths, CUTS, np.arange(SENTENCES), True, states(2))
    as_franchise(process, EVENTS)


def test_how_often_it_grows_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    at_once, _ = trained()
    monkeypatch.setattr(module, "EVENTS", 30)
    monkeypatch.setattr(module, "SENTENCES", 7)
    often, _ = trained()
    assert len(often.restaurants.bins) < len(at_once.restaurants.bins)
    for name, array in often.at_rest().arrays().items():
        np.testing.assert_array_equal(array, getattr(at_once.at_rest(), name))


def test_the_log_probability_of_a_first_sweep() -> None:
    """The sum over events, each given those before, is that of the same events one by one."""
    process, one_by_one = Process(LEVELS - 1, CHOICES), Process(LEVELS - 1, CHOICES)
    log_prob = process.sweep(indexed(process, EVENTS), CUTS, np.arange(SENTENCES), False, states(3))
    cuts, order = np.arange(len(EVENTS) + 1), np.arange(len(EVENTS))
    assert log_prob == pytest.approx(one_by_one.sweep(indexed(one_by_one, EVENTS), cuts, order, False, states(3)))


def test_a_restored_process_goes_the_same_ways() -> None:
    process, paths = trained()
    other = Process.restored(process.at_rest())
    for name, array in other.at_rest().arrays().items():
        np.testing.assert_array_equal(array, getattr(process.at_rest(), name))
    for seed in range(3):
        arguments = paths, CUTS, np.arange(SENTENCES), True
        assert process.sweep(*arguments, states(seed)) == other.sweep(*arguments, states(seed))
    assert as_franchise(process, EVENTS).seating() == as_franchise(other, EVENTS).seating()


def check_predictions(found: Predictions, root: int, franchise: Franchise) -> None:
    """Of every dish in every context, seen or not."""
    path, probs = np.empty(LEVELS, dtype=np.int64), np.empty(CHOICES)
    for context in product(range(SYMBOLS + 1), repeat=LEVELS - 1):
        symbols = np.array(context, dtype=np.int32)
        predict_dishes(found, root, symbols, path, probs)
        expected = [franchise.prob(context, dish) for dish in range(CHOICES)]
        np.testing.assert_allclose(probs, expected, rtol=1e-11)
        assert [predict_dish(found, root, symbols, path, dish) for dish in range(CHOICES)] == pytest.approx(expected)


@pytest.mark.parametrize(("many", "most"), [(1, 1 << 21), (8, 1 << 21), (1, 600), (2, 40)])
def test_predictions(many: int, most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """With all restaurants written out, some, or the roots alone; some are empty, and one process has no customers."""
    monkeypatch.setattr(module, "MANY", many)
    monkeypatch.setattr(module, "MOST", most)
    processes = [trained(sweeps)[0] for sweeps in (2, 0, 3)]
    indexed(processes[0], random_events(300, LEVELS, SYMBOLS + 1, CHOICES, seed=9))
    found, roots = module.predictions([process.at_rest() for process in processes], [CHOICES] * 3)
    for root, process, events in zip(roots.tolist(), processes, (EVENTS, [], EVENTS), strict=True):
        check_predictions(found, root, as_franchise(process, events))
    assert ((found.rows >= 0).sum() == 3) == (most < 100)


def test_nobody_predicts_the_root() -> None:
    """With one dish more than choices the root's, 1, has probability 0, and all others sum to one."""
    process = Process(1, CHOICES)
    events = [(context, dish + 1 if dish else 0) for context, dish in random_events(50, 2, SYMBOLS, CHOICES, seed=2)]
    process.sweep(indexed(process, events), np.array([0, 50]), np.zeros(1, dtype=np.int64), False, states(0))
    (found, [root]), probs = module.predictions([process.at_rest()], [CHOICES + 1]), np.empty(CHOICES + 1)
    for symbol in range(SYMBOLS + 1):
        predict_dishes(found, root, np.array([symbol], dtype=np.int32), np.empty(2, dtype=np.int64), probs)
        assert probs[1] == 0
        assert probs.sum() == pytest.approx(1, abs=1e-12)
        assert (np.delete(probs, 1) > 0).all()
