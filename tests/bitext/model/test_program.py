"""Sentence pairs as programs for randomized pruning: what every function answers, and every method over them."""

from __future__ import annotations

from itertools import combinations, product

import numpy as np
import pytest

from deptree_cli.bitext.distribution import CONFIDENT, AlignmentDistribution, LinkProgram, bispan_merits, confidences
from deptree_cli.core.errors import DeptreeError
from deptree_cli.pruning.methods import METHODS, expectations
from tests.brute_itg import Alignments, Grammar

SCORES = np.array([[2.0, 0.0, -1.0], [0.5, 1.5, 0.0], [-1.0, 0.3, 2.2]])


@pytest.fixture
def pair() -> AlignmentDistribution:
    return AlignmentDistribution(SCORES, "log", -0.5, -0.3)


@pytest.fixture
def program(pair: AlignmentDistribution) -> LinkProgram:
    return pair.program()


def test_variables_are_links_row_by_row(program: LinkProgram, pair: AlignmentDistribution) -> None:
    assert program.variables() == 9
    targets = np.array([2, -1, 0], dtype=np.int32)
    assert program.assign(targets).tolist() == [0, 0, 1, 0, 0, 0, 1, 0, 0]
    assert program.assign(targets).dtype == np.bool_
    assert program.features(targets).tolist() == [[0, 0, 1], [0, 0, 0], [1, 0, 0]]
    assert program.confident().tolist() == np.flatnonzero(confidences(pair.link_scores) > CONFIDENT).tolist()
    assert 0 < len(program.confident()) <= 3


def test_the_simpler_model_goes_by_the_scores_as_they_are(pair: AlignmentDistribution) -> None:
    """Not by those that are shifted word by word, which changes what a word's links are against its being unlinked."""
    assert pair.link_scores.links is pair.log_scores
    assert pair.link_scores.source_nulls is pair.source_nulls
    assert pair.link_scores.target_nulls is pair.target_nulls


def test_confidence_and_merits_may_come_from_another_pair(pair: AlignmentDistribution) -> None:
    """The sums remain those of the pair itself."""
    other = AlignmentDistribution(SCORES[::-1].copy() * 2)
    program = pair.program(other)
    assert program.confident().tolist() == np.flatnonzero(confidences(other.link_scores) > CONFIDENT).tolist()
    assert program.confident().tolist() != pair.program().confident().tolist()
    finite = np.isfinite(program.merits())
    assert np.array_equal(program.merits()[finite], bispan_merits(other.link_scores)[finite])
    assert program.inside(program.everything())[0] == pair.log_partition


def test_a_heuristic_is_of_the_same_words(pair: AlignmentDistribution) -> None:
    with pytest.raises(DeptreeError, match=r"^1: the heuristic has 3 x 4 words, the pair 3 x 3\. Give scores of"):
        pair.program(AlignmentDistribution(np.zeros((3, 4))))


def test_which_states_are_no_question(program: LinkProgram) -> None:
    """Kept are links by themselves, and what reaches the ends of both sentences, with which every alignment begins."""
    merits = program.merits()
    spans = [*combinations(range(4), 2)]
    for ((s, t), row), (place, (u, v)) in product(zip(spans, merits, strict=True), enumerate(spans)):
        assert (row[place] == np.inf) == ((t - s, v - u) == (1, 1) or (t, v) == (3, 3))
        assert row[place] > -np.inf


def test_sums_are_the_distributions(program: LinkProgram, pair: AlignmentDistribution) -> None:
    log_z, chart = program.inside(program.everything())
    assert log_z == pair.log_partition
    assert np.array_equal(program.outside(chart), pair.marginals())
    drawn = program.sample(chart, np.random.default_rng(4))
    assert np.array_equal(drawn, pair.sample(1, np.random.default_rng(4))[0])


def test_every_method_runs(program: LinkProgram, pair: AlignmentDistribution) -> None:
    """Those that are right in the limit within six standard errors; the others exactly where they prune nothing."""
    exact = Alignments(Grammar(SCORES, np.full(3, -0.5), np.full(3, -0.3))).marginals()
    for method in METHODS:
        found = expectations(program, method.name, 1, iterations=300, margin=1e3, kept=4)
        assert found.expectations.shape == (3, 3)
        if found.standard_errors is not None:
            assert (np.abs(found.expectations - exact) <= 6 * found.standard_errors + 1e-12).all()
            assert found.standard_errors.max() < 0.05
        elif method.name != "fixed":
            assert found.expectations == pytest.approx(exact, rel=1e-10)
