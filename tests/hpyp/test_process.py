"""Processes that grow and rest, what they predict, and which of their numbers at rest are refused."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from deptree_cli.hpyp.kernels.restaurants import predict_dish, predict_dishes
from deptree_cli.hpyp.model import process as module
from deptree_cli.hpyp.model.process import Process, Snapshot
from tests.hpyp.toys import franchise_of, indexed, random_events

CHOICES, SYMBOLS, LEVELS = 11, 4, 4
SENTENCES, EACH = 60, 20
CUTS = np.arange(0, SENTENCES * EACH + 1, EACH)
EVENTS = random_events(SENTENCES * EACH, LEVELS, SYMBOLS, CHOICES, seed=8)


def trained(sweeps=2):
    """All events seated, and the log-probability of the last sweep; room grew many times."""
    process, log_prob = Process(LEVELS - 1, CHOICES), 0.0
    process.restaurants.discounts[:] = 0.4, 0.8, 0.6, 0.3
    process.restaurants.strengths[:] = 1.0, -0.1, 0.0, 2.0
    paths, state = indexed(process, EVENTS), np.array([5, 6, 7, 8], dtype=np.uint64)
    for number in range(sweeps):
        order = np.random.default_rng(number).permutation(SENTENCES)
        log_prob = process.sweep(paths, CUTS, order, number > 0, state)
    return process, paths, log_prob


def test_others_events_move_nobody_and_seat_nobody(state):
    process, paths, _ = trained(sweeps=4)
    for _ in range(2):
        franchise_of(process.restaurants, EVENTS)
        indexed(process, random_events(300, LEVELS, SYMBOLS + 3, CHOICES, seed=9))
        franchise_of(process.restaurants, EVENTS)
        process.sweep(paths, CUTS, np.arange(SENTENCES), True, state)


def test_how_often_it_grows_changes_nothing(monkeypatch):
    at_once, _, log_prob = trained()
    monkeypatch.setattr(module, "EVENTS", 30)
    monkeypatch.setattr(module, "SENTENCES", 7)
    often, _, same_log_prob = trained()
    assert same_log_prob == pytest.approx(log_prob)
    assert len(often.restaurants.bins) < len(at_once.restaurants.bins)
    for name, array in often.at_rest().arrays().items():
        np.testing.assert_array_equal(array, getattr(at_once.at_rest(), name))


@pytest.mark.parametrize(("many", "most"), [(1, 1 << 21), (8, 1 << 21), (1, 600), (2, 40)])
def test_predictions(many, most, monkeypatch):
    """Of every dish in every context, seen or not; with all restaurants written out, some, or the roots alone.

    Some restaurants are empty, and one process has no customers.
    """
    monkeypatch.setattr(module, "MANY", many)
    monkeypatch.setattr(module, "MOST", most)
    processes = [trained(sweeps)[0] for sweeps in (2, 0, 3)]
    indexed(processes[0], random_events(300, LEVELS, SYMBOLS + 1, CHOICES, seed=9))
    found, roots = module.predictions([process.at_rest() for process in processes], [CHOICES] * 3)
    path, probs = np.empty(LEVELS, dtype=np.int64), np.empty(CHOICES)
    for root, process, events in zip(roots.tolist(), processes, (EVENTS, [], EVENTS), strict=True):
        franchise = franchise_of(process.restaurants, events)
        for context in product(range(SYMBOLS + 1), repeat=LEVELS - 1):
            symbols = np.array(context, dtype=np.int32)
            predict_dishes(found, root, symbols, path, probs)
            expected = [franchise.prob(context, dish) for dish in range(CHOICES)]
            np.testing.assert_allclose(probs, expected, rtol=1e-11)
            alone = [predict_dish(found, root, symbols, path, dish) for dish in range(CHOICES)]
            assert alone == pytest.approx(expected)
    assert ((found.rows >= 0).sum() == 3) == (most < 100)


def test_nobody_predicts_the_root():
    """It is the one dish more than there are choices."""
    (found, [root]), probs = module.predictions([Process(1, CHOICES).at_rest()], [CHOICES + 1]), np.empty(CHOICES + 1)
    predict_dishes(found, root, np.array([2], dtype=np.int32), np.empty(2, dtype=np.int64), probs)
    np.testing.assert_allclose(probs, [1 / CHOICES, 0, *[1 / CHOICES] * (CHOICES - 1)])


# Numbers at rest, which kernels would follow anywhere.

DISHES = 40


def snapshot(**changes):
    """Three restaurants; dish 3 at tables of 1, 1 and 4 in the root, dish 5 at tables of 2 and 2, and 7 at one of 9."""
    arrays = {
        "parents": [-1, 0, 1],
        "symbols": [-1, 4, 4],
        "places": [0, 0, 0, 1],
        "dishes": [3, 5, 7, 3],
        "seated": [6, 4, 9, 8],
        "served": [3, 2, 1, 6],
        "sizes": [1, 4, 2, 1, 3],
        "counts": [2, 1, 2, 5, 1],
    }
    arrays = {name: np.array(values, dtype=np.int32) for name, values in (arrays | changes).items() if name in arrays}
    discounts, strengths = changes.get("discounts", [0.5, 0.1, 0.9]), changes.get("strengths", [0.0, -0.05, 100.0])
    return Snapshot(**arrays, discounts=np.array(discounts), strengths=np.array(strengths), choices=30)


def test_what_is_sound():
    assert snapshot().is_sound(DISHES)
    assert snapshot().levels.tolist() == [0, 1, 2]
    empty = dict.fromkeys(("places", "dishes", "seated", "served", "sizes", "counts"), ())
    assert snapshot(parents=[-1], symbols=[-1], **empty).is_sound(1)
    for levels in (0, 3):
        assert Process(levels, 5).at_rest().is_sound(6)


UNSOUND = {
    "parents": [[0, 0, 1], [-1, 1, 1], [-1, -1, 1], [-1, 0], [-1, 0, 0]],  # the last: two children of one symbol
    "symbols": [[-1, -2, 4], [-1, 4, 1 << 20], [[-1], [4], [4]]],
    "places": [[0, 0, 0, 3], [-1, 0, 0, 1], [0, 0, 0, 0]],  # the last: two entries of one dish
    "dishes": [[3, 5, DISHES, 3], [-3, 5, 7, 3]],
    "seated": [[6, 4, 0, 8], [7, 4, 9, 8], [6, 4, 2**31 - 1, 8]],
    "served": [[2, 3, 1, 6], [3, 2, 0, 6], [3, 2, -1, 6]],
    "sizes": [[0, 5, 2, 1, 3]],
    "counts": [[3, 1, 1, 5, 1], [2, 1, 2, 6, 0], [-2, 1, 2, 5, 1]],
    "discounts": [[0.0, 0.1, 0.9], [0.5, 1.0, 0.9]],
    "strengths": [[0.0, -0.1, 1.0], [0.0, np.inf, 1.0]],
}
BOTH = [
    {"sizes": [1, 4, 2, 1, 3, 1], "counts": [2, 1, 2, 5, 1, 1]},
    {"sizes": [1, 4, 2], "counts": [2, 1, 2]},
    {"sizes": [], "counts": []},
    {"discounts": [0.5, 0.1], "strengths": [0.0, 0.0]},  # a node is too deep
]


@pytest.mark.quick
@pytest.mark.parametrize("changes", BOTH + [{key: each} for key, values in UNSOUND.items() for each in values], ids=str)
def test_what_is_not_sound(changes):
    assert not snapshot(**changes).is_sound(DISHES)


def test_a_chain_of_a_million_contexts_does_not_hang():
    size = 1_000_000
    chain = np.arange(-1, size - 1, dtype=np.int32)
    assert not replace(snapshot(), parents=chain, symbols=np.zeros(size, dtype=np.int32)).is_sound(DISHES)
