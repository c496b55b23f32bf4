"""Bootstrap intervals cover, the paired test keeps its level and finds differences; both against enumeration."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from scipy.stats import binom, norm
from scipy.stats import t as student

from deptree_cli.core.intervals import bootstrap, f1, percentiles, randomisation_test

# The difficulty of a sentence, of which the words of a corpus are not independent: the share of right words is 0.8.
EASY = 8, 2


def corpora(random: np.random.Generator, size: int, sentences: int, gain: float = 0.0) -> np.ndarray:
    """Two systems' counts of sentences of 5 to 25 words, (size, sentences, 2, 1, 3); the second is better by a gain."""
    words = random.integers(5, 26, (size, sentences))
    shares = random.beta(*EASY, (size, sentences))
    right = [random.binomial(words, np.minimum(shares + more, 1)) for more in (0.0, gain)]
    return np.stack([np.stack([each, words, words], axis=-1) for each in right], axis=2)[:, :, :, None]


@pytest.mark.slow("statistics")
def test_intervals_cover() -> None:
    """400 corpora of 200 sentences: 380 of the 95 % intervals should cover 0.8; 4 standard deviations are 17.4.

    Intervals that take words for independent fail: that is what sentences are resampled for.
    """
    random = np.random.default_rng(1)
    covered = by_words = 0
    for counts in corpora(random, 400, 200)[:, :, 0]:
        low, high = percentiles(bootstrap(counts, 400, random), 0.95, 200)
        covered += low[0] <= 0.8 <= high[0]
        share, words = f1(counts.sum(axis=0))[0], counts[:, 0, 1].sum()
        by_words += abs(share - 0.8) <= 1.96 * np.sqrt(share * (1 - share) / words)
    assert 362 <= covered <= 397
    assert by_words < 362


@pytest.mark.slow("statistics")
def test_intervals_of_few_sentences() -> None:
    """400 corpora of 10 sentences: plain percentiles cover in less than 92 % (368), these in more; 4 standard
    deviations above 380 are 397."""
    random = np.random.default_rng(10)
    covered = np.zeros(2, dtype=int)
    for counts in corpora(random, 400, 10)[:, :, 0]:
        drawn = bootstrap(counts, 400, random)
        ends = percentiles(drawn, 0.95, 10), np.quantile(drawn, [0.025, 0.975], axis=0)
        covered += [low[0] <= 0.8 <= high[0] for low, high in ends]
    ours, plain = covered
    assert plain < 368 <= ours <= 397


@pytest.mark.parametrize("units", [2, 5, 30])
def test_percentiles_of_few_units_are_expanded(units: int) -> None:
    """Those of Student's t, farther out by sqrt(n / (n - 1)) (Hesterberg 2015, section 5.3)."""
    ends = norm.cdf(np.sqrt(units / (units - 1)) * student.ppf([0.1, 0.9], units - 1))
    found = percentiles(np.linspace(0, 1, 100_001), 0.8, units)
    assert [*found] == pytest.approx(ends)


def test_resampled_scores_are_those_of_drawn_sentences() -> None:
    """Of three sentences 27 draws are equally likely: each score as often as it should be (5 standard errors)."""
    counts = np.array([[[1, 2, 2]], [[3, 4, 6]], [[0, 5, 1]]])
    exact = np.array([f1(counts[list(draw)].sum(axis=0))[0] for draw in product(range(3), repeat=3)])
    found = bootstrap(counts, 5000, np.random.default_rng(2))[:, 0]
    for value in np.unique(exact.round(12)):
        share = np.isclose(exact, value).mean()
        assert np.isclose(found, value).mean() == pytest.approx(share, abs=5 * np.sqrt(share * (1 - share) / 5000))


def test_units_of_the_same_counts_are_drawn_together() -> None:
    """30 right words and 10 wrong ones, each a unit: the right ones drawn are binomial (each share to 5 standard errors
    of 5,000 draws); so is the swapped difference of a system with 30 right ones and one with 24 of these."""
    counts = np.array([[[1, 1, 1]]] * 30 + [[[0, 1, 1]]] * 10)
    found = np.rint(40 * bootstrap(counts, 5000, np.random.default_rng(20))[:, 0]).astype(int)
    shares = binom.pmf(np.arange(41), 40, 0.75)
    width = 5 * np.sqrt(shares * (1 - shares) / 5000) + 1e-3
    assert (np.abs(np.bincount(found, minlength=41) / 5000 - shares) < width).all()
    other = counts.copy()
    other[:6, 0, 0] = 0
    exact = binom.pmf([0, 6], 6, 0.5).sum()
    p = randomisation_test(counts[:, 0], other[:, 0], 5000, np.random.default_rng(21))
    assert p == pytest.approx(exact, abs=5 * np.sqrt(exact * (1 - exact) / 5000))


def test_p_values_are_those_of_all_swaps() -> None:
    """Of 8 sentences there are 256 ways to swap: 5 standard errors of 5,000 draws."""
    first, second = corpora(np.random.default_rng(3), 1, 8, gain=0.05)[0].transpose(1, 0, 2, 3)
    observed = abs(f1(second.sum(axis=0)) - f1(first.sum(axis=0)))
    larger = [
        abs(f1(np.where(swap, first, second).sum(axis=0)) - f1(np.where(swap, second, first).sum(axis=0))) >= observed
        for swap in np.array(list(product([False, True], repeat=8)))[:, :, None, None]
    ]
    exact = np.mean(larger)
    found = randomisation_test(first, second, 5000, np.random.default_rng(4))[0]
    assert 0.05 < exact < 0.95
    assert found == pytest.approx(exact, abs=5 * np.sqrt(exact * (1 - exact) / 5000))


def test_the_test_keeps_its_level() -> None:
    """600 pairs of equally good systems: 30 p-values up to 0.05 are expected; 4 standard deviations are 21."""
    random = np.random.default_rng(5)
    p = [randomisation_test(*pair.transpose(1, 0, 2, 3), 199, random)[0] for pair in corpora(random, 600, 40)]
    assert 9 <= np.sum(np.array(p) <= 0.05) <= 51


def test_the_test_finds_a_difference() -> None:
    """3 points over 300 sentences are found in at least 45 of 50 pairs, and the p-value is never 0."""
    random = np.random.default_rng(6)
    pairs = corpora(random, 50, 300, gain=0.03)
    p = np.array([randomisation_test(*pair.transpose(1, 0, 2, 3), 199, random)[0] for pair in pairs])
    assert (p <= 0.05).sum() >= 45
    assert p.min() >= 1 / 200


def test_equal_systems_do_not_differ() -> None:
    counts = corpora(np.random.default_rng(7), 1, 30)[0][:, 0]
    assert randomisation_test(counts, counts, 99, np.random.default_rng(8)).tolist() == [1.0]


def test_without_words_a_score_is_0() -> None:
    assert f1(np.array([0, 0, 0])) == 0.0
