"""Sums and samples under masks, by pinned links and by kept states, against brute force."""

from __future__ import annotations

import math
from collections import Counter
from itertools import combinations_with_replacement

import numpy as np
import pytest

from deptree_cli.core.audit import chi_square
from deptree_cli.core.bitext.distribution import AlignmentDistribution
from deptree_cli.core.bitext.masks import KeptStates, nothing_pinned, pinned
from deptree_cli.core.bitext.program import LinkProgram
from deptree_cli.core.dtypes import Bool, Float
from tests.brute_itg import Bispan, Derivations, Grammar, Link, kept_bispans, targets_of

TOLERANCE = 1e-10
LEVEL = 1e-6  # a test of a law fails by chance once in a million seeds

Pins = dict[Link, bool]

BRANCHINGS = pytest.mark.parametrize("branching", [2, 3])


def grammar_of(p: int, q: int, branching: int, seed: int = 0, wide: float = 0.0) -> Grammar:
    """Gaussian log-weights; the whole pair weighs e^wide more."""
    rng = np.random.default_rng([seed, p, q])
    scores, source, target = (rng.normal(size=shape) for shape in ((p, q), p, q))
    bispans = rng.normal(size=(p + 1, p + 1, q + 1, q + 1))
    bispans[0, p, 0, q] += wide
    return Grammar(scores, source, target, branching, bispans)


def program_of(grammar: Grammar) -> LinkProgram:
    nulls = grammar.source_nulls, grammar.target_nulls
    return AlignmentDistribution(
        grammar.scores, "log", *nulls, branching=grammar.branching, bispans=grammar.bispans
    ).program()


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


class OverStates(Derivations):
    """The derivations over some bispans."""

    states: frozenset[Bispan] = frozenset()

    @property
    def kept(self) -> set[Bispan]:  # type: ignore[override]
        """The bispans that are not refused."""
        return set(self.states)


def over_states(grammar: Grammar, states: Bool, log_weights: Float | None = None) -> Derivations:
    """The derivations over kept states of a chart, whose weights multiply those of bispans."""
    p, q = grammar.scores.shape
    source, target = ([*combinations_with_replacement(range(n + 1), 2)] for n in (p, q))
    bispans = np.zeros((p + 1, p + 1, q + 1, q + 1)) if grammar.bispans is None else grammar.bispans.copy()
    if log_weights is not None:
        for (i, span), (j, other) in ((a, b) for a in enumerate(source) for b in enumerate(target)):
            bispans[*span, *other] += log_weights[i, j]
    found = OverStates(Grammar(grammar.scores, grammar.source_nulls, grammar.target_nulls, grammar.branching, bispans))
    found.states = frozenset((*source[i], *target[j]) for i, j in np.argwhere(states)) - {
        (s, s, u, u) for s in range(p + 1) for u in range(q + 1)
    }
    return found


def check(program: LinkProgram, mask: object, exact: Derivations, wide: float = 0.0) -> None:
    """log Z and marginals; wide: by how much the pair's log Z is more than that of brute force."""
    log_z, chart = program.inside(mask)
    if exact.z == 0.0:
        assert log_z == -math.inf
        return
    assert math.exp(log_z - wide - exact.log_partition) == pytest.approx(1.0, rel=1e-9 if wide else TOLERANCE)
    assert program.outside(chart) == pytest.approx(exact.marginals(), rel=TOLERANCE, abs=1e-300)


@BRANCHINGS
@pytest.mark.parametrize("wide", [0.0, -2000.0])
@pytest.mark.parametrize(("p", "q"), [(1, 1), (1, 3), (2, 2), (3, 2), (3, 3)])
def test_pinned_links(p: int, q: int, wide: float, branching: int) -> None:
    """Also links that exclude each other, and in wide numbers."""
    grammar, rng = grammar_of(p, q, branching), np.random.default_rng([p, q])
    program = program_of(grammar_of(p, q, branching, wide=wide))
    for _ in range(12):
        pins = random_pins(p, q, rng)
        check(program, program.compile(*selection(pins, p, q, rng)), Derivations(grammar, pins), wide)


@pytest.mark.parametrize(("p", "q"), [(2, 2), (3, 2), (2, 4), (3, 3)])
def test_kept_states(p: int, q: int) -> None:
    """A state is A, B or C over a bispan: derivations that need one that is pruned are gone, others weigh as said."""
    grammar, rng = grammar_of(p, q, 2), np.random.default_rng([p, q])
    program = program_of(grammar)
    shape = program.merits().shape
    for share in (0.3, 0.7, 0.9, 0.9, 1.0):
        states, log_weights = rng.random(shape) < share, rng.normal(size=shape)
        states |= program.merits() == np.inf
        check(program, program.keep(states), over_states(grammar, states))
        check(program, program.keep(states, log_weights), over_states(grammar, states, log_weights))


def test_kept_states_of_three_children() -> None:
    """With branching 3 a pair of neighbours is a state too: what a mask loses are derivations, and it makes none.

    Under weights of 1 for states that are kept and 0 for all others log Z is at most that of brute force, which needs
    no such pair; if none is pruned both are equal.
    """
    grammar, rng = grammar_of(3, 3, 3), np.random.default_rng(1)
    program = program_of(grammar)
    merits = program.merits()
    for share in (0.5, 0.8, 0.9, 0.95):
        states = (rng.random(merits.shape) < share) | (merits == np.inf)
        log_z, _ = program.inside(program.keep(states))
        assert log_z < over_states(grammar, states).log_partition
    check(program, program.keep(np.ones_like(merits, dtype=np.bool_)), Derivations(grammar))


@BRANCHINGS
@pytest.mark.parametrize("wide", [0.0, 3000.0])
@pytest.mark.parametrize("pins", [{(0, 1): True}, {(0, 0): False, (1, 1): True}, {(2, 0): True, (0, 1): True}])
def test_samples(pins: Pins, wide: float, branching: int) -> None:
    """H0: links are drawn as probable as their derivations under the pins. 4,000 draws, threshold 1e-6."""
    grammar, rng = grammar_of(3, 2, branching, seed=2), np.random.default_rng(1)
    program = program_of(grammar_of(3, 2, branching, seed=2, wide=wide))
    program.inside(program.everything())
    _, chart = program.inside(program.compile(*selection(pins, 3, 2, rng)))
    counts = Counter(map(tuple, chart.sample(4000, rng).tolist()))
    probs = {targets_of(links, 3): x for links, x in Derivations(grammar, pins).probabilities().items()}
    assert counts.keys() <= probs.keys()
    assert chi_square(np.array([counts[each] for each in probs]), np.array([*probs.values()]))[2] > LEVEL


@BRANCHINGS
@pytest.mark.parametrize("wide", [0.0, -1200.0])
def test_nothing_is_left_of_earlier_masks(wide: float, branching: int) -> None:
    """One program under 60 masks, of pins and of states, some of which leave nothing: bit by bit as a fresh one.

    Half of the charts are not asked for marginals, or for samples, before the next mask.
    """
    p, q, rng = 4, 4, np.random.default_rng(7)
    grammar = grammar_of(p, q, branching, wide=wide)
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
            kinds.add(chart is used._charts._real)
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
    log_weights = np.zeros((10, 10))
    log_weights[2, 2] = 200.0  # words 0 and 1 of either side
    log_z, _ = program.inside(program.keep(np.ones((10, 10), dtype=np.bool_), log_weights))
    assert log_z == pytest.approx(-560.0, rel=1e-8)


def test_pins_by_hand() -> None:
    positive, negative = np.zeros((2, 2, 3), dtype=np.bool_)
    positive[0, 1] = negative[1, 0] = True
    mask = pinned(positive, negative)
    assert mask.target_of.tolist() == [1, -1]
    assert mask.source_of.tolist() == [-1, 0, -1]
    assert mask.allowed.tolist() == [[0, 1, 0], [0, 0, 1]]
    assert nothing_pinned(2, 3).allowed.all()


def test_what_a_pin_saves() -> None:
    """A step costs what its mask keeps: all bispans that the link does not cross, and no other."""
    program = program_of(grammar_of(6, 6, 2))
    for pins in ({}, {(2, 3): True}, {(0, 0): True, (3, 3): True, (5, 5): True}):
        _, chart = program.inside(program.compile(*selection(pins, 6, 6, np.random.default_rng(1))))
        assert chart._kept.count[0] == len(kept_bispans(6, 6, pins))


def test_states_that_are_no_states_change_nothing() -> None:
    """Spans of nothing beside spans of nothing may be marked or not."""
    program = program_of(grammar_of(2, 2, 2))
    everything = np.ones((6, 6), dtype=np.bool_)
    assert isinstance(program.keep(everything), KeptStates)
    assert program.inside(program.keep(everything))[0] == program.inside(program.everything())[0]
    assert program.inside(program.keep(program.merits() > -np.inf))[0] == program.inside(program.everything())[0]
