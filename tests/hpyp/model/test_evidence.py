"""Surprisals from several filters: their sums, their errors, and the exact ones of small parsers."""

from __future__ import annotations

import numpy as np
import pytest

from deptree_cli.core.errors import DeptreeError
from deptree_cli.hpyp.model.parsing import Evidence, evidence
from tests.hpyp.kernels.toy_models import Known, Toy
from tests.hpyp.model.reference_parser import Enumeration
from tests.hpyp.model.toy_parsers import sentence_of, trained_of


def test_a_single_filter_knows_no_error() -> None:
    found = Evidence(np.log([[0.5, 0.125, 0.0625]]))
    np.testing.assert_allclose(found.surprisals, [1, 2, 1])
    assert found.log2[-1] == pytest.approx(-4)
    assert found.surprisal_errors is None
    assert found.error is None


def test_means_are_of_probabilities() -> None:
    """Not of their logarithms, whose mean is not that of an unbiased estimate."""
    found = Evidence(np.log([[0.5, 0.5], [0.5, 0.25], [0.5, 0.0625]]))
    assert 2.0 ** found.log2[-1] == pytest.approx((0.5 + 0.25 + 0.0625) / 3)
    assert found.surprisals.sum() == pytest.approx(-found.log2[-1])


def test_filters_that_agree_have_no_error() -> None:
    found = Evidence(np.log([[0.3, 0.1], [0.3, 0.1]]))
    assert found.error == 0
    assert found.surprisal_errors is not None
    assert not found.surprisal_errors.any()


def test_stretches_of_words() -> None:
    """The surprisal of two words is the sum of theirs; the error that of the ratio over both, by the delta method."""
    rng = np.random.default_rng(3)
    found = Evidence(rng.normal(-1, 0.1, (3, 5)).cumsum(axis=1))
    one, many = found.surprisals, found.surprisals_to([0, 2, 3, 4])
    np.testing.assert_allclose(many, [one[0], one[1] + one[2], one[3], one[4]])
    shares = np.exp(found.log_prefixes) / np.exp(found.log_prefixes).mean(axis=0)
    expected = (shares[:, 2] - shares[:, 0]).std(ddof=1) / np.sqrt(3) / np.log(2)
    errors, all_errors = found.errors_to([0, 2, 3, 4]), found.surprisal_errors
    assert errors is not None
    assert all_errors is not None
    assert errors[1] == pytest.approx(expected)
    np.testing.assert_allclose(errors[[0, 2, 3]], all_errors[[0, 3, 4]])


def test_probabilities_that_no_float_holds() -> None:
    found = Evidence(np.array([[-2000.0, -4000.0], [-2001.0, -4000.0]]))
    assert np.isfinite(found.surprisals).all()
    assert found.surprisal_errors is not None
    assert (found.surprisal_errors > 0).all()


@pytest.mark.slow("statistics")
@pytest.mark.parametrize("filters", [2, 5])
def test_errors_are_standard_deviations(filters: int) -> None:
    """H0: the mean square of the errors is the variance of what is estimated.

    4,000 experiments with log-evidences of words that vary by 0.05 nats: a mean square of so many has a relative
    standard deviation of sqrt(2 / 4000) = 0.022 (two filters), the variance the same; 0.15 is 4.8 of them together.
    """
    rng = np.random.default_rng(5)
    steps = rng.normal(-1.0, 0.05, (4000, filters, 3))
    found = [Evidence(each) for each in steps.cumsum(axis=2)]
    varies = np.var([each.surprisals for each in found], axis=0)
    told = np.mean([np.square(each.surprisal_errors) for each in found], axis=0)
    np.testing.assert_allclose(told, varies, rtol=0.15)
    whole = np.mean([np.square(each.error) for each in found])
    assert whole == pytest.approx(np.var([each.log2[-1] for each in found]), rel=0.15)


@pytest.mark.parametrize(
    ("known", "predicts"), [(Known.ALL, False), (Known.ALL, True), (Known.SOME, False), (Known.NONE, False)]
)
def test_surprisals_of_a_small_parser(known: Known, predicts: bool) -> None:
    """H0: surprisals are the exact ones, those of all derivations, but for their errors.

    40 runs of 8 filters of 300 particles: the mean of each surprisal is within 5 standard errors (once in 1.7 million),
    and 1 % of a bit for the bias of logarithms. A tag that the parser does not know is summed out, all others are not.
    """
    toy = Toy(3)
    words, tags = toy.sentence(3, known)
    exact = Enumeration(toy.reference, words, toy.candidates([0, 0, 0] if predicts else tags))
    trained, rng = trained_of(toy), np.random.default_rng(8)
    runs = [evidence(trained, sentence_of(words, tags), rng, 300, predicts, filters=8) for _ in range(40)]
    found = np.array([run.surprisals for run in runs])
    end = np.log2(exact.prefix_evidences[-1] / exact.evidence)
    distance = np.abs(found.mean(axis=0) - [*exact.surprisals(), end])
    assert (distance < 5 * found.std(axis=0) / np.sqrt(40) + 0.01).all()
    assert found.std() > 0


def test_words_do_not_look_ahead() -> None:
    """The beginning of a sentence has the surprisals that it has alone, bit by bit, and another end."""
    toy = Toy(4)
    words, tags = toy.sentence(5)
    trained = trained_of(toy)
    long, short = (
        evidence(trained, sentence_of(words[:n], tags[:n]), np.random.default_rng(2), 50, filters=1).surprisals
        for n in (5, 3)
    )
    np.testing.assert_array_equal(long[:3], short[:3])
    assert long[3] != short[3]


def test_a_parser_without_words_predicts_no_tags() -> None:
    trained = trained_of(Toy(1, lexicalised=False))
    with pytest.raises(DeptreeError, match="without words cannot predict tags"):
        evidence(trained, sentence_of([2], [2]), np.random.default_rng(1), predicts_tags=True)
