"""Distributions over alignments: sums, samples and best links against brute force in numbers of any size."""

from __future__ import annotations

import pickle
from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from mpmath import mp, mpf

from deptree_cli.core.audit import chi_square
from deptree_cli.core.bitext.distribution import AlignmentDistribution
from deptree_cli.core.dtypes import Float
from deptree_cli.core.streams import sentence_stream
from tests.brute_itg import Bispan, Derivations, Grammar, Links, targets_of

TOLERANCE = 1e-10
DRAWS = 20_000
LOST = np.exp(-100.0)
LEVEL = 1e-6  # a test of a law fails by chance once in a million seeds

BRANCHINGS = pytest.mark.parametrize("branching", [2, 3])
SHAPES = pytest.mark.parametrize(("p", "q"), [(1, 1), (1, 3), (3, 1), (2, 2), (3, 2), (2, 3), (3, 3)])


@dataclass(frozen=True)
class PreciseGrammar(Grammar):
    """The same weights as numbers of any exponent."""

    def terminal(self, bispan: Bispan) -> Any:
        """The weight of C over a bispan by itself."""
        s, t, u, v = bispan
        words = t - s, v - u
        if words == (1, 1):
            return mp.exp(self.scores[s, u])
        if words == (1, 0):
            return mp.exp(self.source_nulls[s])
        return mp.exp(self.target_nulls[u]) if words == (0, 1) else mpf(0)

    def factor(self, bispan: Bispan) -> Any:
        """What everything that is built over a bispan is multiplied by."""
        return mpf(1) if self.bispans is None else mp.exp(self.bispans[bispan])


class Exact:
    """log Z, marginals, probabilities of links and the best derivation's links."""

    def __init__(self, grammar: Grammar) -> None:
        whole = {links: entry for links, entry in Derivations(grammar).whole.items() if entry.total > 0}
        z = sum(entry.total for entry in whole.values())
        self.log_z = float(mp.log(z)) if whole else -np.inf
        self.probs: dict[Links, float] = {links: float(entry.total / z) for links, entry in whole.items()}
        self.marginals = np.zeros(grammar.scores.shape)
        for links, probability in self.probs.items():
            for link in links:
                self.marginals[link] += probability
        self.best = max(whole, key=lambda links: whole[links].best) if whole else None


def grammar_of(p: int, q: int, branching: int, scale: float, seed: int = 0, holes: float = 0.0) -> PreciseGrammar:
    """Gaussian log-weights of everything; some links and words are forbidden, but no bispan."""
    rng = np.random.default_rng([seed, p, q])
    arrays = [scale * rng.normal(size=shape) for shape in ((p, q), (p,), (q,), (p + 1, p + 1, q + 1, q + 1))]
    for array in arrays[:3]:
        array[rng.random(array.shape) < holes] = -np.inf
    return PreciseGrammar(*arrays[:3], branching, arrays[3] if seed % 2 else None)


def pair_of(grammar: Grammar, **settings: Any) -> AlignmentDistribution:
    nulls = {"source_nulls": grammar.source_nulls, "target_nulls": grammar.target_nulls}
    return AlignmentDistribution(
        grammar.scores, **nulls, branching=grammar.branching, bispans=grammar.bispans, **settings
    )


def check_law(targets: np.ndarray, exact: Exact) -> None:
    """Chi-square, rare alignments pooled; one of probability 0 fails at once."""
    p = targets.shape[1]
    probs = {targets_of(links, p): probability for links, probability in exact.probs.items()}
    counts = Counter(map(tuple, targets.tolist()))
    assert counts.keys() <= probs.keys()
    assert chi_square(np.array([counts[each] for each in probs]), np.array([*probs.values()]))[2] > LEVEL


@BRANCHINGS
@SHAPES
@pytest.mark.parametrize("scale", [0.1, 1.0, 10.0, 200.0, 1000.0])
def test_sums_and_best(p: int, q: int, scale: float, branching: int) -> None:
    """With weights of bispans (odd seeds) and without, with and without forbidden links and nulls.

    Marginals below e^-100 may be lost (`core/spaces/eisner.py`), all others are right to ten digits.
    """
    for seed, holes in ((0, 0.0), (1, 0.0), (3, 0.3)):
        grammar = grammar_of(p, q, branching, scale, seed, holes)
        pair, exact = pair_of(grammar), Exact(grammar)
        if exact.best is None:
            continue
        assert np.exp(pair.log_partition - exact.log_z) == pytest.approx(1.0, rel=TOLERANCE)
        assert pair.marginals() == pytest.approx(exact.marginals, rel=TOLERANCE, abs=LOST)
        assert tuple(pair.argmax().tolist()) == targets_of(exact.best, p)


@BRANCHINGS
def test_sums_of_longer_sentences(branching: int) -> None:
    grammar = grammar_of(4, 3, branching, 3.0)
    pair, exact = pair_of(grammar), Exact(grammar)
    assert pair.log_partition == pytest.approx(exact.log_z, rel=TOLERANCE)
    assert pair.marginals() == pytest.approx(exact.marginals, rel=TOLERANCE)
    assert tuple(pair.argmax().tolist()) == targets_of(exact.best or frozenset(), 4)


@BRANCHINGS
@pytest.mark.parametrize("shift", [0.0, 1e3, -1e3, 1e5, -1e5])
@pytest.mark.parametrize(("p", "q"), [(1, 2), (3, 2), (3, 3)])
@pytest.mark.filterwarnings("error")
def test_samples(p: int, q: int, shift: float, branching: int) -> None:
    """H0: links are independent draws with their exact probabilities. 20,000 draws, threshold 1e-6.

    The whole pair weighs e^shift more, which changes no probability and takes float64 out of its range. The sums are
    those of the same pair without the shift.
    """
    grammar = grammar_of(p, q, branching, 1.0, seed=1, holes=0.1)
    assert grammar.bispans is not None
    plain, exact = pair_of(grammar), Exact(grammar)
    grammar.bispans[0, p, 0, q] += shift
    pair = pair_of(grammar)
    check_law(pair.sample(DRAWS, 1), exact)
    assert pair.log_partition - shift == pytest.approx(plain.log_partition, abs=1e-9)
    assert pair.marginals() == pytest.approx(plain.marginals(), rel=TOLERANCE)


@BRANCHINGS
def test_samples_where_links_are_far_apart(branching: int) -> None:
    """H0 as above; both words like one target word, and what is left is e^-1000 as good: two ways to share."""
    scores = np.array([[0.0, -1000.0], [0.3, -1000.0]])
    grammar = PreciseGrammar(scores, np.full(2, -np.inf), np.full(2, -np.inf), branching)
    check_law(pair_of(grammar).sample(DRAWS, 3), Exact(grammar))
    assert pair_of(grammar).log_partition == pytest.approx(Exact(grammar).log_z, rel=TOLERANCE)


def test_a_law_that_does_not_hold_is_noticed() -> None:
    """Draws from one pair, probabilities of another of which a link is 0.5 better."""
    grammar = grammar_of(2, 2, 2, 1.0)
    targets = pair_of(grammar).sample(DRAWS, 1)
    grammar.scores[0, 0] += 0.5
    with pytest.raises(AssertionError):
        check_law(targets, Exact(grammar))


def test_sources_of_draws() -> None:
    """A seed is that of the pair's own stream, by its id; a Generator is used as it is."""
    grammar = grammar_of(3, 3, 2, 1.0)
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
    grammar = grammar_of(3, 2, 3, 1.0, seed=1)
    assert grammar.bispans is not None
    quarter = (0.25 * each for each in (grammar.scores, grammar.source_nulls, grammar.target_nulls))
    cold = pair_of(PreciseGrammar(*quarter, 3, 0.25 * grammar.bispans))
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
    grammar = grammar_of(3, 2, 3, 1.0, seed=1)
    scores = grammar.scores.copy()
    pair = pair_of(grammar, id="s-1")
    pair.marginals()
    back = pickle.loads(pickle.dumps(pair))
    assert (back.id, back.branching, back.p, back.q) == ("s-1", 3, 3, 2)
    assert back.log_partition == pair.log_partition
    assert np.array_equal(back.marginals(), pair.marginals())
    assert np.array_equal(back.sample(5, 1), pair.sample(5, 1))
    assert (
        repr(back) == repr(pair) == "<AlignmentDistribution 's-1': 3 source and 2 target words, 6 links, branching 3>"
    )
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
    pair = pair_of(grammar_of(3, 3, 2, 1.0))
    assert pair.marginals() is pair.marginals()
    assert pair._chart is pair._chart


def test_a_chart_that_a_program_fills_is_not_the_distributions_own() -> None:
    """What a program is asked meanwhile changes nothing of the distribution."""
    pair = pair_of(grammar_of(3, 3, 2, 1.0))
    log_z, draws = pair.log_partition, pair.sample(20, 1)
    program = pair.program()
    program.inside(program.compile(np.ones(9, dtype=np.bool_), np.eye(3, dtype=np.bool_).ravel()))
    assert pair.log_partition == log_z
    assert np.array_equal(pair.sample(20, 1), draws)


@pytest.mark.parametrize("branching", [2, 3])
def test_one_word_linked_for_certain(branching: int) -> None:
    """p = q = 1 with nothing else allowed: log Z is the score."""
    pair = AlignmentDistribution([[2.5]], source_nulls=-np.inf, target_nulls=-np.inf, branching=branching)
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
