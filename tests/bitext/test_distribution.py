"""Distributions over alignments: sums, samples and best links against brute force, of weights of any size."""

from __future__ import annotations

import pickle
from math import comb

import numpy as np
import pytest

from deptree_cli.bitext import scores as module
from deptree_cli.bitext.distribution import AlignmentDistribution, ItgChart, nothing_pinned
from deptree_cli.bitext.scores import is_turned, links_of, shift
from deptree_cli.core.numbers import REAL
from deptree_cli.core.streams import sentence_stream
from tests.bitext.conftest import TOLERANCE, check_law, pair_of, says
from tests.brute_itg import Alignments, Grammar, targets_of

NAN, INF = np.nan, np.inf


def grammar_of(p, q, scale=1.0, seed=0, holes=0.0):
    """Gaussian log-weights of everything, of bispans with odd seeds only; some links and words are forbidden."""
    rng = np.random.default_rng([seed, p, q])
    arrays = [scale * rng.normal(size=shape) for shape in ((p, q), (p,), (q,), (p + 1, p + 1, q + 1, q + 1))]
    for array in arrays[:3]:
        array[rng.random(array.shape) < holes] = -INF
    return Grammar(*arrays[:3], arrays[3] if seed % 2 else None)


@pytest.mark.parametrize(("p", "q"), [(1, 1), (1, 5), (5, 1), (2, 2), (3, 2), (3, 3), (4, 3), (5, 5)])
@pytest.mark.parametrize("scale", [0.1, 1.0, 10.0, 200.0, 1000.0])
def test_sums_and_best(p, q, scale):
    """With weights of bispans (odd seeds) and without, with and without forbidden links and nulls.

    Marginals below e^-100 may be lost (`core/spaces.py`), all others are right to ten digits.
    """
    for seed, holes in ((0, 0.0), (1, 0.0), (3, 0.3)):
        grammar = grammar_of(p, q, scale, seed, holes)
        pair, exact = pair_of(grammar), Alignments(grammar)
        if not exact.count:
            continue
        assert np.exp(pair.log_partition - exact.log_partition) == pytest.approx(1.0, rel=TOLERANCE)
        assert pair.marginals() == pytest.approx(exact.marginals(), rel=TOLERANCE, abs=np.exp(-100))
        assert tuple(pair.argmax().tolist()) == targets_of(exact.best()[1], p)


@pytest.mark.parametrize("turned", [False, True])
def test_ties_are_won_by_one_of_the_best(turned, monkeypatch):
    """Whole scores, many of them equal: what is found weighs as much as any, on whichever side the chart begins."""
    monkeypatch.setattr(module, "is_turned", lambda p, q: turned)
    rng = np.random.default_rng(4)
    for _ in range(20):
        p, q = rng.integers(1, 5, size=2)
        grammar = Grammar(*(rng.integers(-1, 2, size=shape).astype(float) for shape in ((p, q), p, q)))
        assert grammar.log_weight(links_of(pair_of(grammar).argmax())) == Alignments(grammar).best()[0]


@pytest.mark.slow("statistics")
@pytest.mark.parametrize("shift", [0.0, 1e3, -1e3, 1e5, -1e5])
@pytest.mark.parametrize(("p", "q"), [(1, 2), (3, 2), (4, 4)])
@pytest.mark.filterwarnings("error")
def test_samples(p, q, shift):
    """H0: links are independent draws with their exact probabilities. 20,000 draws, threshold 1e-6.

    What reaches the ends of both sentences weighs e^shift more: one part of every alignment with links. The first words
    cannot be unlinked, so that this changes no probability, and takes float64 out of its range.
    """
    grammar = grammar_of(p, q, seed=1, holes=0.1)
    grammar.scores[0, 0], grammar.source_nulls[0] = 0.0, -INF
    plain, exact = pair_of(grammar), Alignments(grammar)
    grammar.bispans[0, p, :, q] += shift
    pair = pair_of(grammar)
    check_law(pair.sample(20_000, 1), exact)
    assert pair.log_partition - shift == pytest.approx(plain.log_partition, abs=1e-9)
    assert pair.marginals() == pytest.approx(plain.marginals(), rel=TOLERANCE)


def test_a_seed_is_that_of_the_pairs_own_stream():
    """By its id; what holds for all seeds is in tests/core."""
    pair = pair_of(grammar_of(3, 3), id="s-7")
    draws = pair.sample(50, 5)
    assert (draws.shape, draws.dtype, pair.sample(0, 1).shape) == ((50, 3), np.int32, (0, 3))
    assert np.array_equal(draws, pair.sample(50, sentence_stream(5, "s-7")))
    assert not np.array_equal(draws, pair_of(grammar_of(3, 3), id="s-8").sample(50, 5))


def test_pairs_travel_and_never_change():
    grammar = grammar_of(3, 2, seed=1)
    scores = grammar.scores.copy()
    pair = pair_of(grammar, id="s-1")
    assert pair.marginals() is pair.marginals()
    back = pickle.loads(pickle.dumps(pair))
    assert repr(back) == repr(pair) == "<AlignmentDistribution 's-1': 3 source and 2 target words, 6 links>"
    assert np.array_equal(back.marginals(), pair.marginals())
    assert np.array_equal(back.sample(5, 1), pair.sample(5, 1))
    for array in (back.log_scores, back.source_nulls, back.target_nulls, back.bispans, pair.bispans, pair.marginals()):
        assert not array.flags.writeable
    grammar.scores[:] = 0.0
    assert np.array_equal(pair.log_scores, scores)


def test_a_chart_that_a_program_fills_is_not_the_distributions_own():
    """What a program is asked meanwhile changes nothing of the distribution."""
    pair = pair_of(grammar_of(3, 3))
    log_z, draws = pair.log_partition, pair.sample(20, 1)
    program = pair.program()
    program.inside(program.compile(np.ones(9, dtype=np.bool_), np.eye(3, dtype=np.bool_).ravel()))
    assert pair.log_partition == log_z
    assert np.array_equal(pair.sample(20, 1), draws)


def test_flat_scores_count_alignments():
    """Permutations that can be built are counted by the large Schroeder numbers (OEIS A006318)."""
    number = sum(comb(8, k) ** 2 * s for k, s in enumerate([1, 1, 2, 6, 22, 90, 394, 1806, 8558]))
    assert np.exp(AlignmentDistribution(np.zeros((8, 8))).log_partition) == pytest.approx(number, rel=1e-12)


@pytest.mark.parametrize(("p", "q"), [(2, 900), (60, 2), (200, 2)])
def test_words_that_must_stay_unlinked_do_not_leave_float64(p, q):
    """Each of them prefers its best link by 20 nats or more, and most of them cannot have it."""
    links = np.random.default_rng(7).uniform(20.0, 25.0, size=(p, q))
    shifted = shift(links, np.zeros(p), np.zeros(q), None)
    chart = ItgChart(shifted).filled(nothing_pinned(shifted))
    assert chart.kind is REAL
    weights = np.exp(links if p == 2 else links.T)  # of two words: at most two links, of any two words
    sums = weights.sum(axis=1)
    log_z = np.log(1.0 + sums.sum() + sums.prod() - weights.prod(axis=0).sum())
    assert chart.log_z == pytest.approx(log_z, rel=1e-13)


def uneven(p, q, spread):
    """With one side much longer the sides of the chart are exchanged."""
    rng = np.random.default_rng([0, p, q])
    links, sources, targets = (spread * rng.normal(size=size) for size in ((p, q), p, q))
    links[rng.random((p, q)) < 0.1] = -INF
    return AlignmentDistribution(links, "log", sources, targets)


@pytest.mark.parametrize("spread", [0.1, 1.0, 30.0])
def test_two_target_words_beside_many(spread):
    """They may have any two source words, in any order, or nothing (the last row and column)."""
    assert is_turned(100, 2)
    pair = uneven(100, 2, spread)
    odds = pair.log_scores - pair.source_nulls[:, None]
    first, second = (np.append(odds[:, j], pair.target_nulls[j]) for j in (0, 1))
    joint = first[:, None] + second
    np.fill_diagonal(joint[:-1, :-1], -INF)
    log_z = np.logaddexp.reduce(joint, axis=None)
    joint = np.exp(joint - log_z)
    assert pair.log_partition == pytest.approx(log_z + pair.source_nulls.sum(), rel=1e-12)
    marginals = np.stack([joint.sum(axis=1)[:-1], joint.sum(axis=0)[:-1]], axis=1)
    assert pair.marginals() == pytest.approx(marginals, rel=1e-11, abs=1e-300)
    best = np.full(101, -1)
    first, second = np.unravel_index(joint.argmax(), joint.shape)
    best[first], best[second] = 0, 1
    assert pair.argmax().tolist() == best[:-1].tolist()


@pytest.mark.parametrize(("p", "q"), [(7, 5), (5, 7), (24, 3), (40, 1)])
@pytest.mark.parametrize("spread", [1.0, 30.0, 400.0])
def test_either_side_gives_the_same(p, q, spread, monkeypatch):
    """Also where float64 does not suffice."""
    found = []
    for turned in (False, True):
        monkeypatch.setattr(module, "is_turned", lambda p, q, turned=turned: turned)
        pair = uneven(p, q, spread)
        found.append((pair.log_partition, pair.marginals(), pair.argmax()))
    for one, other in zip(*found, strict=True):
        assert other == pytest.approx(one, rel=1e-12, abs=1e-12)


def bispans(at, value):
    found = np.zeros((3, 3, 4, 4))
    found[at] = value
    return found


@pytest.mark.quick
@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"scores": [[0.0, NAN]]}, "the score of the link 1-2 is NaN. Repair the scores."),
        ({"scores": [[0.0], [INF]]}, "the score of the link 2-1 is too large for a score (beyond 1e+15)."),
        ({"scores": [[1.0, INF]], "scale": "weight"}, "the score of the link 1-2 is infinite."),
        ({"scores": [[1, -0.5]], "scale": "weight"}, "the score of the link 1-2 is negative. If these are log-scores"),
        ({"scores": [[0.0]], "scale": "logit"}, "unknown scale 'logit'. Choose one of weight, log."),
        ({"scores": [0.0, 1.0]}, "the scores of links have shape (2,), not (source words, target words)."),
        ({"scores": np.zeros((0, 3))}, "there are no source words (shape (0, 3)). Remove this pair."),
        ({"scores": np.zeros((3, 0))}, "there are no target words (shape (3, 0)). Remove this pair."),
        ({"scores": [[0.0], [1.0, 2.0]]}, "the scores of links are not an array of numbers."),
        ({"source_nulls": [0.0, NAN]}, "the null score of source word 2 is NaN."),
        ({"target_nulls": INF}, "the null score of target word 1 is too large for a score"),
        ({"source_nulls": [0.0]}, "the source null scores have shape (1,), but there are 2 source words."),
        ({"target_nulls": np.zeros((3, 1))}, "the target null scores have shape (3, 1), but there are 3 target words."),
        ({"source_nulls": -1.0, "scale": "weight"}, "the null score of source word 1 is negative."),
        ({"bispans": np.zeros((2, 3))}, "the scores of bispans have shape (2, 3). Give an array (3, 3, 4, 4): s, t, u"),
        ({"bispans": bispans((0, 1, 1, 2), NAN)}, "the score of the bispan (0, 1, 1, 2) is NaN."),
        ({"bispans": bispans((0, 2, 0, 3), INF)}, "the score of the bispan (0, 2, 0, 3) is too large"),
        ({"temperature": 0.0}, "the temperature is 0. Give a positive number"),
        ({"temperature": NAN}, "the temperature is nan. Give a positive number"),
        ({"scores": [[1e5]], "temperature": 1e-12}, "the temperature 1e-12 takes scores out of range."),
    ],
)
def test_what_is_wrong(settings, message):
    with says(f"s-3: {message}"):
        AlignmentDistribution(**{"scores": np.ones((2, 3)), "id": "s-3"} | settings)


@pytest.mark.quick
@pytest.mark.parametrize(
    ("scores", "source_nulls", "target_nulls", "where"),
    [
        ([[-INF, -INF], [0.0, 0.0]], [-INF, 0.0], 0.0, ": source word 1 has neither a link nor a null"),
        ([[0.0, -INF]], 0.0, [0.0, -INF], ": target word 2 has neither a link nor a null"),
        ([[0.0, 0.0]], -INF, -INF, ". Allow more links"),
        ([[0.0], [0.0]], -INF, 0.0, ". Allow more links"),
    ],
)
def test_no_alignment(scores, source_nulls, target_nulls, where):
    """One cannot be summed over, drawn or found; until then a pair may be made."""
    pair = AlignmentDistribution(scores, "log", source_nulls, target_nulls, "s-5")
    for ask in (lambda: pair.log_partition, pair.marginals, pair.argmax, lambda: pair.sample(3, 1)):
        with says(f"s-5: no alignment is possible{where}"):
            ask()


def test_bispans_may_forbid_everything():
    """All that has links; words that are all unlinked have no parts."""
    pair = AlignmentDistribution([[0.0]], source_nulls=-INF, bispans=np.full((2, 2, 2, 2), -INF))
    with says("no alignment is possible"):
        _ = pair.log_partition
    assert AlignmentDistribution([[0.0]], bispans=np.full((2, 2, 2, 2), -INF)).log_partition == 0.0


@pytest.mark.parametrize("scale", ["log", "weight"])
def test_unlinked_words_weigh_one_unless_said(scale):
    pair = AlignmentDistribution([[1, 1, 1], [1, 1, 1]], scale)
    assert pair.source_nulls.tolist() == [0.0] * 2
    assert pair.target_nulls.tolist() == [0.0] * 3
