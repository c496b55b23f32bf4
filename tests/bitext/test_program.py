"""Sentence pairs as programs for randomized pruning: sums and samples under masks, the simpler model, every method."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import combinations, product

import numpy as np
import pytest

from deptree_cli.bitext import scores as module
from deptree_cli.bitext.distribution import (
    CONFIDENT,
    AlignmentDistribution,
    bispan_merits,
    confidences,
)
from deptree_cli.bitext.scores import LinkScores
from deptree_cli.core.errors import DeptreeError
from tests.bitext.conftest import TOLERANCE, check_law, pair_of
from tests.brute_itg import Alignments, Grammar


def grammar_of(p, q, seed=0, wide=0.0):
    """Gaussian log-weights; what reaches the ends of both sentences weighs e^wide more."""
    rng = np.random.default_rng([seed, p, q])
    scores, source, target = (rng.normal(size=shape) for shape in ((p, q), p, q))
    bispans = rng.normal(size=(p + 1, p + 1, q + 1, q + 1))
    bispans[:, p, :, q] += wide
    return Grammar(scores, source, target, bispans)


@pytest.fixture(params=[False, True], ids=["as it is", "turned"])
def linked(request, monkeypatch):
    """Grammars without weights of bispans, whose charts are turned as for pairs of very different lengths, or not."""
    monkeypatch.setattr(module, "is_turned", lambda p, q: request.param)
    return lambda p, q: replace(grammar_of(p, q), bispans=None)


def random_pins(p, q, rng, most=3):
    """Some links pinned to anything, so that some share a word."""
    links = rng.permutation(p * q)[: rng.integers(0, most + 1)]
    return {(int(k) // q, int(k) % q): bool(rng.random() < 0.6) for k in links}


def selection(pins, p, q, rng):
    """Which links are selected, and what is assigned: to those that are not, anything."""
    selected, assigned = np.zeros((p, q), dtype=np.bool_), rng.random((p, q)) < 0.5
    for link, positive in pins.items():
        selected[link], assigned[link] = True, positive
    return selected.ravel(), assigned.ravel()


def chosen(states, p, q):
    """The bispans that are marked, (source spans, target spans)."""
    source, target = ([*combinations(range(n + 1), 2)] for n in (p, q))
    return frozenset((*source[i], *target[j]) for i, j in np.argwhere(states))


def check(program, mask, exact):
    log_z, chart = program.inside(mask)
    if not exact.count:
        assert log_z == -math.inf
        return
    assert math.exp(log_z - exact.log_partition) == pytest.approx(1.0, rel=TOLERANCE)
    assert program.outside(chart) == pytest.approx(exact.marginals(), rel=TOLERANCE, abs=1e-300)


def check_pins(grammar):
    """Also links that exclude each other."""
    (p, q), program = grammar.scores.shape, pair_of(grammar).program()
    rng = np.random.default_rng([p, q])
    for _ in range(12):
        pins = random_pins(p, q, rng, 4)
        check(program, program.compile(*selection(pins, p, q, rng)), Alignments(grammar, pins))


@pytest.mark.parametrize("wide", [0.0, -2000.0])
@pytest.mark.parametrize(("p", "q"), [(1, 1), (1, 3), (2, 2), (3, 2), (3, 3), (5, 4)])
def test_pinned_links(p, q, wide):
    check_pins(grammar_of(p, q, wide=wide))


@pytest.mark.parametrize(("p", "q"), [(1, 3), (3, 2), (5, 4)])
def test_pinned_links_on_either_side(linked, p, q):
    check_pins(linked(p, q))


def test_a_path_of_three_pins():
    """0-1 and 0-3 share a word, and so do 0-1 and 1-1: no alignment has all three."""
    program = AlignmentDistribution(np.zeros((3, 4))).program()
    required = np.isin(np.arange(12), [1, 3, 5])
    assert program.inside(program.compile(required, required))[0] == -math.inf


@pytest.mark.parametrize(("p", "q"), [(2, 2), (3, 2), (2, 4), (3, 3), (4, 4)])
def test_kept_states(p, q):
    """A state is a part of that extent: alignments that have one that is pruned are gone, others weigh as said."""
    grammar, rng = grammar_of(p, q), np.random.default_rng([p, q])
    program = pair_of(grammar).program()
    merits = program.merits()
    (s, t), (u, v) = np.triu_indices(p + 1, 1), np.triu_indices(q + 1, 1)
    for share in (0.3, 0.7, 0.9, 0.9, 1.0):
        states, log_weights = rng.random(merits.shape) < share, rng.normal(size=merits.shape)
        check(program, program.keep(states), Alignments(grammar, states=chosen(states, p, q)))
        weighted = replace(grammar, bispans=grammar.bispans.copy())
        weighted.bispans[s[:, None], t[:, None], u, v] += log_weights
        check(program, program.keep(states, log_weights), Alignments(weighted, states=chosen(states, p, q)))


def test_kept_states_on_either_side(linked):
    """Which parts are pruned depends on the order in which they are joined: the same as without turning."""
    grammar, rng = linked(4, 4), np.random.default_rng(1)
    program = pair_of(grammar).program()
    for share in (0.7, 0.9, 0.9):
        states = rng.random(program.merits().shape) < share
        assert not program.keep(states).is_turned
        check(program, program.keep(states), Alignments(grammar, states=chosen(states, 4, 4)))
        check(program, program.everything(), Alignments(grammar))


def test_weights_of_parts_are_not_turned(monkeypatch):
    monkeypatch.setattr(module, "is_turned", lambda p, q: True)
    program = pair_of(grammar_of(4, 4)).program()
    check(program, program.everything(), Alignments(grammar_of(4, 4)))
    assert not program.everything().is_turned


def test_samples_on_either_side(linked):
    """H0: links are drawn as probable as their alignments. 4,000 draws, threshold 1e-6."""
    grammar, rng = linked(3, 2), np.random.default_rng(1)
    program = pair_of(grammar).program()
    _, chart = program.inside(program.everything())
    check_law(chart.sample(4000, rng), Alignments(grammar))


@pytest.mark.parametrize("wide", [0.0, 3000.0])
@pytest.mark.parametrize("pins", [{(0, 1): True}, {(0, 0): False, (1, 1): True}, {(2, 0): True, (0, 1): True}])
def test_samples(pins, wide):
    """H0: links are drawn as probable as their alignments under the pins. 4,000 draws, threshold 1e-6."""
    grammar, rng = grammar_of(3, 2, seed=2, wide=wide), np.random.default_rng(1)
    program = pair_of(grammar).program()
    program.inside(program.everything())
    _, chart = program.inside(program.compile(*selection(pins, 3, 2, rng)))
    check_law(chart.sample(4000, rng), Alignments(grammar, pins))


@pytest.mark.parametrize(("wide", "kinds"), [(0.0, {"REAL"}), (-1200.0, {"REAL", "WIDE"})])
def test_nothing_is_left_of_earlier_masks(wide, kinds):
    """One program under 60 masks, of pins and of states, some of which leave nothing: bit by bit as a fresh one.

    Half of the charts are not asked for marginals, or for samples, before the next mask.
    """
    p, q, rng = 4, 4, np.random.default_rng(7)
    grammar = grammar_of(p, q, wide=wide)
    used, merits = pair_of(grammar).program(), pair_of(grammar).program().merits()
    found = []
    for number in range(60):
        mask = used.compile(*selection(random_pins(p, q, rng, 6), p, q, rng))
        if number % 3 == 2:
            states = (rng.random(merits.shape) < 0.6) | (merits == np.inf)
            mask = used.keep(states, rng.normal(size=merits.shape) if number % 2 else None)
        fresh = pair_of(grammar).program()
        (log_z, chart), (expected, fresh_chart) = used.inside(mask), fresh.inside(mask)
        assert log_z == expected
        if log_z == -math.inf:
            continue
        found.append(chart.kind.name)
        if rng.random() < 0.5:
            assert np.array_equal(used.outside(chart), fresh.outside(fresh_chart))
        if rng.random() < 0.5:
            assert np.array_equal(*(each.sample(5, np.random.default_rng(number)) for each in (chart, fresh_chart)))
    assert 30 < len(found) < 60
    assert set(found) == kinds


def test_weights_of_states_may_bring_back_what_float64_loses():
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


def scores_of(p, q, scale=2.0, seed=0, holes=0.0):
    rng = np.random.default_rng([seed, p, q])
    scores = LinkScores(*(scale * rng.normal(size=shape) for shape in ((p, q), p, q)))
    for array in scores:
        array[rng.random(array.shape) < holes] = -np.inf
    return scores


def model_1(links, nulls):
    """The simpler model: each word's shares of links and of none, one by one."""
    shares, alone = np.zeros_like(links), np.zeros_like(nulls)
    for i, (row, null) in enumerate(zip(links, nulls, strict=True)):
        total = math.fsum(map(math.exp, (*row, null)))
        if total > 0:
            shares[i], alone[i] = [math.exp(each) / total for each in row], math.exp(null) / total
    return shares, alone


SHAPES = pytest.mark.parametrize(("p", "q"), [(1, 1), (1, 4), (3, 2), (4, 4)])


@SHAPES
def test_confidences(p, q):
    for seed in range(5):
        pair = scores_of(p, q, seed=seed)
        there, _ = model_1(pair.links, pair.source_nulls)
        back, _ = model_1(pair.links.T, pair.target_nulls)
        assert confidences(pair) == pytest.approx(np.minimum(there, back.T), rel=1e-12)


@SHAPES
@pytest.mark.parametrize("holes", [0.0, 0.2])
def test_merits(p, q, holes):
    """Every word of the one part stays there or has no link, every word of the other part likewise."""
    pair = scores_of(p, q, holes=holes)
    merits = bispan_merits(pair)
    spans = [[*combinations(range(n + 1), 2)] for n in (p, q)]
    sides = model_1(pair.links, pair.source_nulls), model_1(pair.links.T, pair.target_nulls)
    for (k, source), (m, target) in product(*map(enumerate, spans)):
        expected = 0.0
        for (links, nulls), own, other in ((sides[0], source, target), (sides[1], target, source)):
            for word, row in enumerate(links):
                within = own[0] <= word < own[1]
                stays = math.fsum(x for j, x in enumerate(row) if (other[0] <= j < other[1]) == within)
                expected += math.log(stays + nulls[word] + 1e-12)
        assert merits[k, m] == pytest.approx(expected, rel=1e-6, abs=1e-4 if holes else 1e-6)


@pytest.mark.parametrize(("scale", "holes"), [(1000.0, 0.0), (1.0, 0.9), (1e6, 0.5)])
def test_merits_are_finite_whatever_the_scores(scale, holes):
    pair = scores_of(4, 5, scale, holes=holes)
    assert np.isfinite(bispan_merits(pair)).all()
    assert np.isfinite(confidences(pair)).all()


SCORES = np.array([[2.0, 0.0, -1.0], [0.5, 1.5, 0.0], [-1.0, 0.3, 2.2]])


@pytest.fixture
def pair():
    return AlignmentDistribution(SCORES, "log", -0.5, -0.3)


def test_variables_are_links_row_by_row(pair):
    """Those that are confident are so by the scores as they are, not as they are shifted word by word."""
    program = pair.program()
    assert program.variables() == 9
    targets = np.array([2, -1, 0], dtype=np.int32)
    assert program.assign(targets).tolist() == [False, False, True, False, False, False, True, False, False]
    assert program.features(targets).tolist() == [[0, 0, 1], [0, 0, 0], [1, 0, 0]]
    assert program.confident().tolist() == np.flatnonzero(confidences(pair.link_scores) > CONFIDENT).tolist()
    assert 0 < len(program.confident()) <= 3


def test_confidence_and_merits_may_come_from_another_pair(pair):
    """The sums remain those of the pair itself."""
    other = AlignmentDistribution(SCORES[::-1].copy() * 2)
    program = pair.program(other)
    assert program.confident().tolist() == np.flatnonzero(confidences(other.link_scores) > CONFIDENT).tolist()
    assert program.confident().tolist() != pair.program().confident().tolist()
    finite = np.isfinite(program.merits())
    assert np.array_equal(program.merits()[finite], bispan_merits(other.link_scores)[finite])
    assert program.inside(program.everything())[0] == pair.log_partition


def test_a_heuristic_is_of_the_same_words(pair):
    with pytest.raises(DeptreeError, match=r"^1: the heuristic has 3 x 4 words, the pair 3 x 3\. Give scores of"):
        pair.program(AlignmentDistribution(np.zeros((3, 4))))


def test_which_states_are_no_question(pair):
    """Kept are links by themselves, and what reaches the ends of both sentences, with which every alignment begins."""
    states = product(combinations(range(4), 2), repeat=2)
    for ((s, t), (u, v)), merit in zip(states, pair.program().merits().ravel().tolist(), strict=True):
        assert (merit == np.inf) == ((t - s, v - u) == (1, 1) or (t, v) == (3, 3))
        assert merit > -np.inf
