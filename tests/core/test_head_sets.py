"""Conformal sets of heads: by hand, and how often they contain the right one."""

from __future__ import annotations

import numpy as np
import pytest

from deptree_cli import read
from deptree_cli.core.calibration import (
    ArcEvidence,
    Fit,
    GoldArcs,
    HeadSets,
    gold_scores,
    head_sets,
    nonconformity,
    threshold,
    tried_on,
)


def drawn(graphs, seeds: range) -> ArcEvidence:
    """Sentences of six words whose gold trees are not drawn at the temperature of their scores."""
    found = []
    for seed in seeds:
        distribution = graphs.distribution(graphs.gaussian(6, 2, seed))
        (gold,) = distribution.tempered(2.5).sample(1, seed=seed)
        found.append(GoldArcs.of(distribution, gold))
    return ArcEvidence(found, distribution.space)


def test_by_hand() -> None:
    marginals = np.array([[0, 0.7, 0.2], [0, 0, 0.8], [0, 0.3, 0]])
    scores = nonconformity(marginals)
    assert scores.tolist() == [[0, 0.8], [np.inf, 0], [0.7, np.inf]]
    assert head_sets(marginals, 0.0) == [[0], [1]]
    assert head_sets(marginals, 0.75) == [[0, 2], [1]]
    assert head_sets(marginals, 1.0) == [[0, 2], [1, 0]]


@pytest.mark.parametrize(("coverage", "expected"), [(0.5, 5), (0.9, 9), (0.91, 1.0)])
def test_the_threshold_is_that_of_finite_samples(coverage: float, expected: float) -> None:
    """Of 9 scores the ceil(10 coverage)-th; where there is none all heads are in."""
    assert threshold(np.arange(1.0, 10.0)[::-1], coverage) == expected


def test_a_threshold_of_no_coverage_is_that_of_the_most_probable_heads() -> None:
    assert threshold(np.array([0.1, 0.2, 0.9]), 0.0) == 0.0


def test_ranks_are_those_of_decimal_numbers() -> None:
    """100 times 0.07 is 7, and 7.000000000000001 as a float; of 9, 99, 999 and 9,999 scores, and all hundredths."""
    for count in (9, 99, 999, 9999):
        scores = np.arange(1.0, count + 1)
        for hundredths in range(1, 100):
            rank = -(-(count + 1) * hundredths // 100)
            assert threshold(scores, hundredths / 100) == (rank if rank <= count else 1.0)


def test_coverage_is_what_was_asked(graphs) -> None:
    """H0: words are exchangeable. 20 times thresholds of 100 sentences on 100 others: 12,000 words, with a standard
    error of the mean coverage of 0.005 at most (words of a sentence and thresholds included); within three of them."""
    part = drawn(graphs, range(400))
    rng, found = np.random.default_rng(1), np.zeros((2, 3))
    for _ in range(20):
        order = rng.permutation(400)[:200]
        one, other = (ArcEvidence([part.sentences[at] for at in half], part.space) for half in np.split(order, 2))
        scores = gold_scores(one, 1.0)
        found += tried_on(other, 1.0, [threshold(scores, each) for each in (0.8, 0.9)])
    assert found[:, 1] / found[:, 0] == pytest.approx([0.8, 0.9], abs=0.015)


@pytest.mark.slow("statistics")
def test_coverage_of_a_trained_parser(shared) -> None:
    """Thresholds of one half of real_ru on the other: the mean of 20 random halves within a percentage point."""
    folder = shared / "real_ru"
    every = list(read(str(folder / "scores.npz"), str(folder / "gold.conllu"), preset="natasha"))
    sentences = [GoldArcs.of(each.distribution, each.record.known_heads) for each in every]
    rng, shares = np.random.default_rng(1), []
    for _ in range(20):
        order = rng.permutation(len(sentences))
        one, other = (
            ArcEvidence([sentences[at] for at in half], every[0].distribution.space)
            for half in np.array_split(order, 2)
        )
        scores = gold_scores(one, 1.0)
        words, covered, _ = tried_on(other, 1.0, [threshold(scores, each) for each in (0.9, 0.95)]).T
        shares.append(covered / words)
    assert np.mean(shares, axis=0) == pytest.approx([0.9, 0.95], abs=0.01)


def test_thresholds_judge_none_of_their_own_words(graphs) -> None:
    """Parts whose gold differs in kind: thresholds of the others, not of all, tell how often sets contain the head."""
    parts = [drawn(graphs, range(20)), drawn(graphs, range(20, 60))]
    fit = Fit.of(parts, "likelihood")
    (found,) = HeadSets.of(parts, fit, [0.9])
    expected = np.zeros(3)
    for part, other, each in zip(parts, parts[::-1], fit.others, strict=True):
        expected += tried_on(part, each, [threshold(gold_scores(other, each), 0.9)])[0]
    assert (found.covered, found.heads) == pytest.approx((expected[1] / 360, expected[2] / 360))
    scores = np.concatenate([gold_scores(part, fit.temperature) for part in parts])
    assert found.threshold == threshold(scores, 0.9)
