"""Distributions over alignments: sums, samples and best links against brute force, of weights of any size."""

from __future__ import annotations

import pickle
from collections import Counter
from typing import Any

import numpy as np
import pytest

from deptree_cli.bitext.distribution import AlignmentDistribution, ItgChart, nothing_pinned
from deptree_cli.bitext.scores import shift
from deptree_cli.core.dtypes import Float
from deptree_cli.core.numbers import REAL
from deptree_cli.core.streams import sentence_stream
from tests.brute_itg import Alignments, Grammar, targets_of
from tests.pearson import chi_square

TOLERANCE = 1e-10
DRAWS = 20_000
LOST = np.exp(-100.0)
LEVEL = 1e-6  # a test of a law fails by chance once in a million seeds

SHAPES = pytest.mark.parametrize(("p", "q"), [(1, 1), (1, 5), (5, 1), (2, 2), (3, 2), (3, 3), (4, 3), (5, 5)])


def grammar_of(p: int, q: int, scale: float, seed: int = 0, holes: float = 0.0) -> Grammar:
    """Gaussian log-weights of everything, of bispans with odd seeds only; some links and words are forbidden."""
    rng = np.random.default_rng([seed, p, q])
    arrays = [scale * rng.normal(size=shape) for shape in ((p, q), (p,), (q,), (p + 1, p + 1, q + 1, q + 1))]
    for array in arrays[:3]:
        array[rng.random(array.shape) < holes] = -np.inf
    return Grammar(*arrays[:3], arrays[3] if seed % 2 else None)


def pair_of(grammar: Grammar, **settings: Any) -> AlignmentDistribution:
    nulls = {"source_nulls": grammar.source_nulls, "target_nulls": grammar.target_nulls}
    return AlignmentDistribution(grammar.scores, **nulls, bispans=grammar.bispans, **settings)


def check_law(targets: np.ndarray, exact: Alignments) -> None:
    """Chi-square, rare alignments pooled; one of probability 0 fails at once."""
    p = targets.shape[1]
    probs = {targets_of(links, p): probability for links, probability in exact.probabilities().items()}
    counts = Counter(map(tuple, targets.tolist()))
    assert counts.keys() <= probs.keys()
    assert chi_square(np.array([counts[each] for each in probs]), np.array([*probs.values()]))[2] > LEVEL


@SHAPES
@pytest.mark.parametrize("scale", [0.1, 1.0, 10.0, 200.0, 1000.0])
def test_sums_and_best(p: int, q: int, scale: float) -> None:
    """With weights of bispans (odd seeds) and without, with and without forbidden links and nulls.

    Marginals below e^-100 may be lost (`core/spaces.py`), all others are right to ten digits.
    """
    for seed, holes in ((0, 0.0), (1, 0.0), (3, 0.3)):
        grammar = grammar_of(p, q, scale, seed, holes)
        pair, exact = pair_of(grammar), Alignments(grammar)
        if not exact.count:
            continue
        assert np.exp(pair.log_partition - exact.log_partition) == pytest.approx(1.0, rel=TOLERANCE)
        assert pair.marginals() == pytest.approx(exact.marginals(), rel=TOLERANCE, abs=LOST)
        assert tuple(pair.argmax().tolist()) == targets_of(exact.best()[1], p)


@pytest.mark.slow("statistics")
@pytest.mark.parametrize("shift", [0.0, 1e3, -1e3, 1e5, -1e5])
@pytest.mark.parametrize(("p", "q"), [(1, 2), (3, 2), (4, 4)])
@pytest.mark.filterwarnings("error")
def test_samples(p: int, q: int, shift: float) -> None:
    """H0: links are independent draws with their exact probabilities. 20,000 draws, threshold 1e-6.

    What reaches the ends of both sentences weighs e^shift more: one part of every alignment with links. The first words
    cannot be unlinked, so that this changes no probability, and takes float64 out of its range.
    """
    grammar = grammar_of(p, q, 1.0, seed=1, holes=0.1)
    assert grammar.bispans is not None
    grammar.scores[0, 0], grammar.source_nulls[0] = 0.0, -np.inf
    plain, exact = pair_of(grammar), Alignments(grammar)
    grammar.bispans[0, p, :, q] += shift
    pair = pair_of(grammar)
    check_law(pair.sample(DRAWS, 1), exact)
    assert pair.log_partition - shift == pytest.approx(plain.log_partition, abs=1e-9)
    assert pair.marginals() == pytest.approx(plain.marginals(), rel=TOLERANCE)


def test_samples_where_links_are_far_apart() -> None:
    """H0 as above; both words like one target word, and what is left is e^-1000 as good: two ways to share."""
    scores = np.array([[0.0, -1000.0], [0.3, -1000.0]])
    grammar = Grammar(scores, np.full(2, -np.inf), np.full(2, -np.inf))
    check_law(pair_of(grammar).sample(DRAWS, 3), Alignments(grammar))
    assert pair_of(grammar).log_partition == pytest.approx(Alignments(grammar).log_partition, rel=TOLERANCE)


def test_a_law_that_does_not_hold_is_noticed() -> None:
    """Draws from one pair, probabilities of another of which a link is 0.5 better."""
    grammar = grammar_of(2, 2, 1.0)
    targets = pair_of(grammar).sample(DRAWS, 1)
    grammar.scores[0, 0] += 0.5
    with pytest.raises(AssertionError):
        check_law(targets, Alignments(grammar))


def test_sources_of_draws() -> None:
    """A seed is that of the pair's own stream, by its id; a Generator is used as it is."""
    grammar = grammar_of(3, 3, 1.0)
    pair = pair_of(grammar, id="s-7")
    draws = pair.sample(50, 5)
    assert draws.shape == (50, 3)
    assert draws.dtype == np.int32
    assert np.array_equal(draws, pair.sample(50, 5))
    assert np.array_equal(draws, pair.sample(50, sentence_stream(5, "s-7")))
    assert not np.array_equal(draws, pair.sample(50, 6))
    assert not np.array_equal(draws, pair_of(grammar, id="s-8").sample(50, 5))
    rng = np.random.default_rng(5)
    assert not np.array_equal(pair.sample(50, rng), pair.sample(50, rng))
    assert pair.sample(0, 1).shape == (0, 3)


def test_temperature_and_weights() -> None:
    """Temperature divides every log-score; weights are what logarithms are taken of."""
    grammar = grammar_of(3, 2, 1.0, seed=1)
    assert grammar.bispans is not None
    quarter = (0.25 * each for each in (grammar.scores, grammar.source_nulls, grammar.target_nulls))
    cold = pair_of(Grammar(*quarter, 0.25 * grammar.bispans))
    assert pair_of(grammar, temperature=4.0).marginals() == pytest.approx(cold.marginals(), rel=1e-12)
    weights = np.array([[0.5, 0.0], [2.0, 1.0]])
    with np.errstate(divide="ignore"):
        logarithms = AlignmentDistribution(np.log(weights), "log", np.log(0.7), np.log([0.1, 3.0]))
    by_weight = AlignmentDistribution(weights, "weight", 0.7, [0.1, 3.0])
    assert by_weight.log_partition == pytest.approx(logarithms.log_partition, rel=1e-14)
    assert by_weight.log_scores[0, 1] == -np.inf
    assert by_weight.source_nulls.shape == (2,)


def test_masks_of_parsers_forbid() -> None:
    """-1e32 is what is padded with, no score."""
    assert AlignmentDistribution([[0.0, -1e32]]).log_scores[0, 1] == -np.inf


def test_pairs_travel_and_never_change() -> None:
    grammar = grammar_of(3, 2, 1.0, seed=1)
    scores = grammar.scores.copy()
    pair = pair_of(grammar, id="s-1")
    pair.marginals()
    back = pickle.loads(pickle.dumps(pair))
    assert (back.id, back.p, back.q) == ("s-1", 3, 2)
    assert back.log_partition == pair.log_partition
    assert np.array_equal(back.marginals(), pair.marginals())
    assert np.array_equal(back.sample(5, 1), pair.sample(5, 1))
    assert repr(back) == repr(pair) == "<AlignmentDistribution 's-1': 3 source and 2 target words, 6 links>"
    for each in (pair, back):
        for array in (each.log_scores, each.source_nulls, each.target_nulls, each.bispans, each.marginals()):
            with pytest.raises(ValueError, match="read-only"):
                array[...] = 0.0
        with pytest.raises(AttributeError, match="never changes"):
            each.id = "other"
    grammar.scores[:] = 0.0
    assert np.array_equal(pair.log_scores, scores)


class Ours(AlignmentDistribution):
    """Somebody's subclass."""


def test_subclasses_travel_as_what_they_are() -> None:
    assert type(pickle.loads(pickle.dumps(Ours([[0.0]])))) is Ours


def test_nothing_is_worked_out_twice() -> None:
    pair = pair_of(grammar_of(3, 3, 1.0))
    assert pair.marginals() is pair.marginals()
    assert pair._chart is pair._chart


def test_a_chart_that_a_program_fills_is_not_the_distributions_own() -> None:
    """What a program is asked meanwhile changes nothing of the distribution."""
    pair = pair_of(grammar_of(3, 3, 1.0))
    log_z, draws = pair.log_partition, pair.sample(20, 1)
    program = pair.program()
    program.inside(program.compile(np.ones(9, dtype=np.bool_), np.eye(3, dtype=np.bool_).ravel()))
    assert pair.log_partition == log_z
    assert np.array_equal(pair.sample(20, 1), draws)


def test_one_word_linked_for_certain() -> None:
    """p = q = 1 with nothing else allowed: log Z is the score."""
    pair = AlignmentDistribution([[2.5]], source_nulls=-np.inf, target_nulls=-np.inf)
    assert pair.log_partition == pytest.approx(2.5, rel=1e-15)
    assert pair.marginals().tolist() == [[1.0]]
    assert pair.argmax().tolist() == [0]
    assert pair.sample(3, 1).tolist() == [[0]] * 3


def test_marginals_where_all_links_are_certain() -> None:
    """Long sentences with large scores on the diagonal: no marginal is above 1 or NaN."""
    scores: Float = np.full((30, 30), -400.0)
    np.fill_diagonal(scores, 400.0)
    marginals = AlignmentDistribution(scores).marginals()
    assert marginals == pytest.approx(np.eye(30), abs=1e-12)


@pytest.mark.parametrize("n", [5, 20])
def test_a_link_is_as_probable_as_it_weighs_whatever_stands_around_it(n: int) -> None:
    """Diagonal links of e^4, all others and all unlinked words of 1: in the middle 0.98 of the weight has the link.

    Where an unlinked word can be attached in several ways it has 0.48 at n = 20. Two neighbours that give up their
    links for one across them are the rest.
    """
    scores = np.full((n, n), -np.inf)
    np.fill_diagonal(scores, 4.0)
    expected = np.exp(4.0) / (1 + np.exp(4.0))
    assert AlignmentDistribution(scores).marginals().diagonal() == pytest.approx(np.full(n, expected), rel=1e-12)


def test_flat_scores_count_alignments() -> None:
    """8 x 8 words: 843,527 alignments, each once."""
    assert np.exp(AlignmentDistribution(np.zeros((8, 8))).log_partition) == pytest.approx(843_527, rel=1e-12)


@pytest.mark.parametrize(("p", "q"), [(2, 900), (60, 2), (200, 2)])
def test_words_that_must_stay_unlinked_do_not_leave_float64(p: int, q: int) -> None:
    """Each of them prefers its best link by 20 nats or more, and most of them cannot have it."""
    links = np.random.default_rng(7).uniform(20.0, 25.0, size=(p, q))
    shifted = shift(links, np.zeros(p), np.zeros(q), None)
    chart = ItgChart(shifted).filled(nothing_pinned(shifted))
    assert chart.kind is REAL
    assert chart.log_z == pytest.approx(_two_words(links if p == 2 else links.T), rel=1e-13)


def _two_words(links: Float) -> float:
    """Log Z of two words beside many: at most two links, of any two words."""
    weights = np.exp(links)
    sums = weights.sum(axis=1)
    return float(np.log(1.0 + sums.sum() + sums.prod() - weights.prod(axis=0).sum()))
