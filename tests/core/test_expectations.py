"""Every quantity against enumeration, every gradient against finite differences, both at any scale."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from deptree_cli.core import expectations
from deptree_cli.core.errors import DeptreeError
from deptree_cli.core.expectations import QUANTITIES, Quantity, quantity
from deptree_cli.core.oracle import Oracle
from deptree_cli.core.sentence import Sentence

Float = NDArray[np.float64]

BOTH = pytest.mark.parametrize("single_root", [True, False], ids=["single", "multi"])
# those with one number and a gradient; features have tests of their own
EACH = pytest.mark.parametrize(
    "name", sorted(line.name for line in QUANTITIES.values() if "features" not in line.needed)
)
N = pytest.mark.parametrize("n", [1, 2, 4, 5])


def known(graphs, n: int, scale: float, single_root: bool) -> dict[str, Any]:
    """What quantities may need besides the sentence."""
    gold = np.arange(n, dtype=np.int32)
    gold[n // 2] = -1 if n > 2 else 0
    return {"alpha": 0.7, "other": graphs.sentence(graphs.gaussian(n, scale, seed=5), single_root), "gold": gold}


def by_enumeration(name: str, sentence: Sentence, given: dict[str, Any]) -> float:
    """The definition, summed over trees."""
    oracle = Oracle(sentence)
    log_p, p = oracle.log_probs, np.exp(oracle.log_probs)
    log_q = given["other"].log_probs(oracle.trees)
    wrong = ((oracle.trees != given["gold"]) & (given["gold"] >= 0)).sum(axis=1)
    alpha = given["alpha"]
    return float(
        {
            "entropy": lambda: -(p * log_p).sum(),
            "renyi": lambda: np.log((p**alpha).sum()) / (1 - alpha),
            "kl": lambda: (p * (log_p - log_q)).sum(),
            "cross-entropy": lambda: -(p * log_q).sum(),
            "risk": lambda: (p * wrong).sum(),
            "attachment": lambda: 1 - (p * wrong).sum() / max((given["gold"] >= 0).sum(), 1),
        }[name]()
    )


@EACH
@BOTH
@N
@pytest.mark.parametrize("scale", [1, 10])
def test_values_against_enumeration(name: str, single_root: bool, n: int, scale: int, graphs) -> None:
    sentence = graphs.sentence(graphs.gaussian(n, scale), single_root)
    given = known(graphs, n, scale, single_root)
    line = QUANTITIES[name]
    expected = by_enumeration(name, sentence, given)
    assert line.value(sentence, *line.given(**given)) == pytest.approx(expected, rel=1e-10, abs=1e-12)


def finite_differences(line: Quantity, sentence: Sentence, given: dict[str, Any], step: float = 1e-4) -> Float:
    """Central differences of fourth order in every allowed arc's log-score."""
    gradient = np.zeros_like(sentence.log_scores)

    def at(arc: tuple[int, int], change: float) -> float:
        scores = sentence.log_scores.copy()
        scores[arc] += change
        return line.value(replace(sentence, log_scores=scores), *line.given(**given))

    for arc in zip(*np.nonzero(np.isfinite(sentence.log_scores)), strict=True):
        near, far = at(arc, step) - at(arc, -step), at(arc, 2 * step) - at(arc, -2 * step)
        gradient[arc] = (8 * near - far) / (12 * step)
    return gradient


@EACH
@BOTH
@N
@pytest.mark.parametrize("scale", [1, 10])
def test_gradients_against_finite_differences(name: str, single_root: bool, n: int, scale: int, graphs) -> None:
    sentence = graphs.sentence(graphs.gaussian(n, scale, seed=2), single_root)
    given = known(graphs, n, scale, single_root)
    line = QUANTITIES[name]
    gradient = line.gradient(sentence, *line.given(**given))
    np.testing.assert_allclose(gradient, finite_differences(line, sentence, given), rtol=1e-6, atol=1e-8 * scale)


@EACH
@BOTH
def test_forbidden_arcs_have_gradient_0(name: str, single_root: bool, graphs) -> None:
    sentence = graphs.sentence(graphs.holes(5, 3, single_root), single_root)
    given = known(graphs, 5, 1, single_root)
    line = QUANTITIES[name]
    gradient = line.gradient(sentence, *line.given(**given))
    assert np.isfinite(gradient).all()
    forbidden = np.isneginf(sentence.log_scores)
    assert forbidden.sum() > 11
    assert not gradient[forbidden].any()


@EACH
@BOTH
@pytest.mark.parametrize("scale", [100, 1000])
def test_finite_and_in_range_on_saturated_scores(name: str, single_root: bool, scale: int, graphs) -> None:
    line = QUANTITIES[name]
    for seed in range(5):
        sentence = graphs.sentence(graphs.gaussian(12, scale, seed=seed), single_root)
        given = known(graphs, 12, scale, single_root)
        assert 0.0 <= line.value(sentence, *line.given(**given)) < 1e6
        assert np.isfinite(line.gradient(sentence, *line.given(**given))).all()


def test_the_gradient_of_a_divergence_in_the_other(graphs) -> None:
    sentence, other = graphs.sentence(graphs.gaussian(4)), graphs.sentence(graphs.gaussian(4, seed=8))
    line = Quantity("", lambda q, p: expectations.kl(p, q), expectations.other_gradient, ("other",))
    expected = finite_differences(line, other, {"other": sentence})
    np.testing.assert_allclose(expectations.other_gradient(sentence, other), expected, rtol=1e-6, atol=1e-9)


def test_a_divergence_from_what_is_impossible_there_is_infinite(graphs) -> None:
    sentence, other = graphs.sentence(graphs.gaussian(3)), graphs.sentence(graphs.holes(3, 1, True))
    assert expectations.kl(sentence, other) == np.inf
    assert np.isnan(expectations.kl_gradient(sentence, other)).all()
    assert expectations.kl(other, sentence) < np.inf


def test_limits(graphs) -> None:
    sentence = graphs.sentence(graphs.gaussian(5))
    assert expectations.kl(sentence, sentence) == 0.0
    assert expectations.renyi(sentence, 1.0) == expectations.entropy(sentence)
    assert expectations.renyi(sentence, 1 + 1e-5) == pytest.approx(expectations.entropy(sentence), rel=1e-4)
    assert expectations.entropy(graphs.sentence(np.zeros((5, 5)))) == pytest.approx(3 * np.log(4))


@BOTH
@pytest.mark.parametrize("scale", [1, 10])
def test_features_against_enumeration(single_root: bool, scale: int, graphs) -> None:
    """Mean, covariance and the generalised expectation with its gradient."""
    sentence = graphs.sentence(graphs.gaussian(4, scale), single_root)
    rng = np.random.default_rng(1)
    features, target = rng.normal(size=(5, 5, 3)), rng.normal(size=3)
    oracle = Oracle(sentence)
    probs, sums = np.exp(oracle.log_probs), features[oracle.trees, np.arange(1, 5)].sum(axis=1)
    mean = probs @ sums
    np.testing.assert_allclose(expectations.expected_features(sentence, features), mean, rtol=1e-10)
    covariance = (sums - mean).T @ (probs[:, None] * (sums - mean))
    np.testing.assert_allclose(expectations.feature_covariance(sentence, features), covariance, rtol=1e-10, atol=1e-14)
    objective = Quantity(
        "ge",
        lambda s, f: expectations.generalised_expectation(s, f, target),
        lambda s, f: expectations.generalised_expectation_gradient(s, f, target),
        ("features",),
    )
    means = Quantity("", lambda s, f: expectations.expected_features(s, f)[1], lambda s, f: np.zeros(0), ("features",))
    gradient = expectations.expected_features_gradient(sentence, features)
    expected = finite_differences(means, sentence, {"features": features})
    np.testing.assert_allclose(gradient[1], expected, rtol=1e-6, atol=1e-8)
    expected = finite_differences(objective, sentence, {"features": features})
    assert objective.value(sentence, features) == pytest.approx(-0.5 * ((mean - target) ** 2).sum(), rel=1e-10)
    np.testing.assert_allclose(objective.gradient(sentence, features), expected, rtol=1e-6, atol=1e-8)


@BOTH
def test_both_routes_to_a_covariance_agree_on_flat_scores(single_root: bool, graphs) -> None:
    sentence = graphs.sentence(graphs.gaussian(7), single_root)
    features = np.random.default_rng(2).normal(size=(8, 8, 4))
    np.testing.assert_allclose(
        expectations.feature_covariance_by_hessian(sentence, features),
        expectations.feature_covariance(sentence, features),
        rtol=1e-9,
        atol=1e-12,
    )


def test_names() -> None:
    assert quantity("entropy") is QUANTITIES["entropy"]
    with pytest.raises(DeptreeError, match="there is no quantity 'entropi'"):
        quantity("entropi")
