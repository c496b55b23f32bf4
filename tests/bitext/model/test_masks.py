"""Sums and samples under masks, by pinned links and by kept states, against brute force."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from itertools import combinations, product

import numpy as np
import pytest

from deptree_cli.bitext import scores as module
from deptree_cli.bitext.distribution import AlignmentDistribution, LinkProgram, nothing_pinned, pinned
from deptree_cli.bitext.scores import shift
from deptree_cli.core.dtypes import Bool
from deptree_cli.core.numbers import WIDE
from tests.brute_itg import Alignments, Bispan, Grammar, Link, targets_of
from tests.pearson import chi_square

TOLERANCE = 1e-10
LEVEL = 1e-6  # a test of a law fails by chance once in a million seeds

Pins = dict[Link, bool]


def grammar_of(p: int, q: int, seed: int = 0, wide: float = 0.0) -> Grammar:
    """Gaussian log-weights; what reaches the ends of both sentences weighs e^wide more."""
    rng = np.random.default_rng([seed, p, q])
    scores, source, target = (rng.normal(size=shape) for shape in ((p, q), p, q))
    bispans = rng.normal(size=(p + 1, p + 1, q + 1, q + 1))
    bispans[:, p, :, q] += wide
    return Grammar(scores, source, target, bispans)


@pytest.fixture(params=[False, True], ids=["as it is", "turned"])
def linked(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Callable[[int, int], Grammar]:
    """Grammars without weights of bispans, whose charts are turned as for pairs of very different lengths, or not."""
    monkeypatch.setattr(module, "is_turned", lambda p, q: request.param)
    return lambda p, q: replace(grammar_of(p, q), bispans=None)


def program_of(grammar: Grammar) -> LinkProgram:
    nulls = grammar.source_nulls, grammar.target_nulls
    return AlignmentDistribution(grammar.scores, "log", *nulls, bispans=grammar.bispans).program()


def random_pins(p: int, q: int, rng: np.random.Generator, most: int = 3) -> Pins:
    """Some links pinned to anything, so that some share a word."""
    links = rng.permutation(p * q)[: rng.integers(0, most + 1)]
    return {(int(k) // q, int(k) % q): bool(rng.random() < 0.6) for k in links}


def selection(pins: Pins, p: int, q: int, rng: np.random.Generator) -> tuple[Bool, Bool]:
    """Which links are selected, and what is assigned: to those that are not, anything."""
    selected, assigned = np.zeros((p, q), dtype=np.bool_), rng.random((p, q)) < 0.5
    for link, positive in pins.items():
        selected[link], assigned[link] = True, positive
    return selected.ravel(), assigned.ravel()


def chosen(states: Bool, p: int, q: int) -> frozenset[Bispan]:
    """The bispans that are marked, (source spans, target spans)."""
    source, target = ([*combinations(range(n + 1), 2)] for n in (p, q))
    return frozenset((*source[i], *target[j]) for i, j in np.argwhere(states))


def check(program: LinkProgram, mask: object, exact: Alignments) -> None:
    """log Z and marginals."""
    log_z, chart = program.inside(mask)
    if not exact.count:
        assert log_z == -math.inf
        return
    assert math.exp(log_z - exact.log_partition) == pytest.approx(1.0, rel=TOLERANCE)
    assert program.outside(chart) == pytest.approx(exact.marginals(), rel=TOLERANCE, abs=1e-300)


@pytest.mark.parametrize("wide", [0.0, -2000.0])
@pytest.mark.parametrize(("p", "q"), [(1, 1), (1, 3), (2, 2), (3, 2), (3, 3), (5, 4)])
def test_pinned_links(p: int, q: int, wide: float) -> None:
    """Also links that exclude each other, and in wide numbers."""
    grammar, rng = grammar_of(p, q, wide=wide), np.random.default_rng([p, q])
    program = program_of(grammar)
    for _ in range(12):
        pins = random_pins(p, q, rng, 4)
        check(program, program.compile(*selection(pins, p, q, rng)), Alignments(grammar, pins))


@pytest.mark.parametrize(("p", "q"), [(1, 3), (3, 2), (5, 4)])
def test_pinned_links_on_either_side(linked: Callable[[int, int], Grammar], p: int, q: int) -> None:
    grammar, rng = linked(p, q), np.random.default_rng([p, q])
    program = program_of(grammar)
    for _ in range(12):
        pins = random_pins(p, q, rng, 4)
        check(program, program.compile(*selection(pins, p, q, rng)), Alignments(grammar, pins))


def test_kept_states_on_either_side(linked: Callable[[int, int], Grammar]) -> None:
    """Which parts are pruned depends on the order in which they are joined: the same as without turning."""
    grammar, rng = linked(4, 4), np.random.default_rng(1)
    program = program_of(grammar)
    for share in (0.7, 0.9, 0.9):
        states = rng.random(program.merits().shape) < share
        check(program, program.keep(states), Alignments(grammar, states=chosen(states, 4, 4)))
        check(program, program.everything(), Alignments(grammar))


def test_weights_of_parts_are_not_turned(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "is_turned", lambda p, q: True)
    grammar = grammar_of(4, 4)
    program = program_of(grammar)
    check(program, program.everything(), Alignments(grammar))
    assert not program.everything().is_turned


def test_states_are_not_turned(linked: Callable[[int, int], Grammar]) -> None:
    program = program_of(linked(2, 3))
    assert not program.keep(np.ones((3, 6), dtype=np.bool_)).is_turned


def test_samples_on_either_side(linked: Callable[[int, int], Grammar]) -> None:
    """H0: links are drawn as probable as their alignments. 4,000 draws, threshold 1e-6."""
    grammar, rng = linked(3, 2), np.random.default_rng(1)
    program = program_of(grammar)
    _, chart = program.inside(program.everything())
    counts = Counter(map(tuple, chart.sample(4000, rng).tolist()))
    probs = {targets_of(links, 3): x for links, x in Alignments(grammar).probabilities().items()}
    assert counts.keys() <= probs.keys()
    assert chi_square(np.array([counts[each] for each in probs]), np.array([*probs.values()]))[2] > LEVEL


@pytest.mark.parametrize(("p", "q"), [(2, 2), (3, 3)])
def test_any_four_pins(p: int, q: int) -> None:
    """Every choice of up to four links that are required: those that share words leave nothing, however they do."""
    grammar, rng = grammar_of(p, q), np.random.default_rng(1)
    program = program_of(grammar)
    for size in range(5):
        for links in combinations(product(range(p), range(q)), size):
            pins = dict.fromkeys(links, True)
            check(program, program.compile(*selection(pins, p, q, rng)), Alignments(grammar, pins))


def test_a_path_of_three_pins() -> None:
    """0-1 and 0-3 share a word, and so do 0-1 and 1-1: no alignment has all three."""
    program = AlignmentDistribution(np.zeros((3, 4))).program()
    required = np.zeros((3, 4), dtype=np.bool_)
    required[[0, 0, 1], [1, 3, 1]] = True
    assert program.inside(program.compile(required.ravel(), required.ravel()))[0] == -math.inf


@pytest.mark.parametrize(("p", "q"), [(2, 2), (3, 2), (2, 4), (3, 3), (4, 4)])
def test_kept_states(p: int, q: int) -> None:
    """A state is a part of that extent: alignments that have one that is pruned are gone, others weigh as said."""
    grammar, rng = grammar_of(p, q), np.random.default_rng([p, q])
    program = program_of(grammar)
    merits = program.merits()
    (s, t), (u, v) = np.triu_indices(p + 1, 1), np.triu_indices(q + 1, 1)
    for share in (0.3, 0.7, 0.9, 0.9, 1.0):
        states, log_weights = rng.random(merits.shape) < share, rng.normal(size=merits.shape)
        check(program, program.keep(states), Alignments(grammar, states=chosen(states, p, q)))
        weighted = Grammar(grammar.scores, grammar.source_nulls, grammar.target_nulls, grammar.bispans.copy())
        weighted.bispans[s[:, None], t[:, None], u, v] += log_weights
        check(program, program.keep(states, log_weights), Alignments(weighted, states=chosen(states, p, q)))


@pytest.mark.parametrize("wide", [0.0, 3000.0])
@pytest.mark.parametrize("pins", [{(0, 1): True}, {(0, 0): False, (1, 1): True}, {(2, 0): True, (0, 1): True}])
def test_samples(pins: Pins, wide: float) -> None:
    """H0: links are drawn as probable as their alignments under the pins. 4,000 draws, threshold 1e-6."""
    grammar, rng = grammar_of(3, 2, seed=2, wide=wide), np.random.default_rng(1)
    program = program_of(grammar)
    program.inside(program.everything())
    _, chart = program.inside(program.compile(*selection(pins, 3, 2, rng)))
    counts = Counter(map(tuple, chart.sample(4000, rng).tolist()))
    probs = {targets_of(links, 3): x for links, x in Alignments(grammar, pins).probabilities().items()}
    assert counts.keys() <= probs.keys()
    assert chi_square(np.array([counts[each] for each in probs]), np.array([*probs.values()]))[2] > LEVEL


@pytest.mark.parametrize("wide", [0.0, -1200.0])
def test_nothing_is_left_of_earlier_masks(wide: float) -> None:
    """One program under 60 masks, of pins and of states, some of which leave nothing: bit by bit as a fresh one.

    Half of the charts are not asked for marginals, or for samples, before the next mask.
    """
    p, q, rng = 4, 4, np.random.default_rng(7)
    grammar = grammar_of(p, q, wide=wide)
    used, merits = program_of(grammar), program_of(grammar).merits()
    finite = 0
    for number in range(60):
        mask = used.compile(*selection(random_pins(p, q, rng, 6), p, q, rng))
        if number % 3 == 2:
            states = (rng.random(merits.shape) < 0.6) | (merits == np.inf)
            mask = used.keep(states, rng.normal(size=merits.shape) if number % 2 else None)
        fresh = program_of(grammar)
        (log_z, chart), (expected, fresh_chart) = used.inside(mask), fresh.inside(mask)
        assert log_z == expected
        if log_z == -math.inf:
            continue
        finite += 1
        if rng.random() < 0.5:
            assert np.array_equal(used.outside(chart), fresh.outside(fresh_chart))
        if rng.random() < 0.5:
            draws = [each.sample(5, np.random.default_rng(number)) for each in (chart, fresh_chart)]
            assert np.array_equal(*draws)
    assert 30 < finite < 60


def test_between_kinds_of_numbers() -> None:
    """Masks that need wide numbers between others that do not: a pin of (1, 0) leaves word 0 nothing above e^-2000."""
    scores = np.array([[0.0, -2000.0], [0.0, -2000.0]])
    pair = AlignmentDistribution(scores, "log", [-2000.0, 0.0], 0.0)
    used, rng = pair.program(), np.random.default_rng(3)
    kinds = set()
    for _ in range(20):
        mask = used.compile(*selection(random_pins(2, 2, rng), 2, 2, rng))
        (log_z, chart), (expected, fresh) = used.inside(mask), pair.program().inside(mask)
        assert log_z == expected
        if log_z > -math.inf:
            kinds.add(chart.kind is WIDE)
            assert np.array_equal(used.outside(chart), fresh.marginals())
    assert kinds == {False, True}


def test_weights_of_states_may_bring_back_what_float64_loses() -> None:
    """Without nulls: words in order, e^-760 for two links that a state lifts to e^-560, or in another one, e^-575.

    In float64 only the second way is left, well within range by itself.
    """
    scores = np.full((3, 3), -np.inf)
    scores[[0, 1, 2, 0, 1, 2], [0, 1, 2, 2, 0, 1]] = 0.0
    bispans = np.zeros((4, 4, 4, 4))
    bispans[0, 1, 0, 1] = bispans[1, 2, 1, 2] = -380.0
    bispans[0, 1, 2, 3] = -575.0
    program = AlignmentDistribution(scores, "log", -np.inf, -np.inf, bispans=bispans).program()
    log_weights = np.zeros((6, 6))
    log_weights[1, 1] = 200.0  # words 0 and 1 of either side
    log_z, _ = program.inside(program.keep(np.ones((6, 6), dtype=np.bool_), log_weights))
    assert log_z == pytest.approx(-560.0, rel=1e-8)


def test_pins_by_hand() -> None:
    positive, negative = np.zeros((2, 2, 3), dtype=np.bool_)
    positive[0, 1] = negative[1, 0] = True
    links, source_nulls, target_nulls = pinned(positive, negative).factors
    assert source_nulls.tolist() == [0, 1]
    assert target_nulls.tolist() == [1, 0, 1]
    assert links.tolist() == [[0, 1, 0], [0, 0, 1]]
    assert nothing_pinned(shift(np.zeros((2, 3)), np.zeros(2), np.zeros(3), None)).factors[0].all()
