"""Scores to log-scores, and back to weights."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from deptree_cli.bitext.distribution import AlignmentDistribution
from deptree_cli.core import expectations
from deptree_cli.core.distribution import TreeDistribution
from deptree_cli.core.errors import DeptreeError
from deptree_cli.core.scores import SCALES, checked_log_scores, to_weights
from deptree_cli.second_order.distribution import SecondOrder


@pytest.mark.parametrize("scale", SCALES)
def test_log_scores_of_arcs_with_labels(scale: str) -> None:
    scores = np.random.default_rng(1).random((4, 4, 3)) + 0.1
    found = checked_log_scores(scores, scale, labels=3)
    assert found.shape == (4, 4, 3)
    assert np.isneginf(found[:, 0]).all()
    assert np.isneginf(found[np.arange(4), np.arange(4)]).all()
    np.testing.assert_array_equal(found[1, 2], np.log(scores[1, 2]) if scale == "weight" else scores[1, 2])


def test_weights_where_float64_has_room(graphs) -> None:
    for log_scores in (graphs.gaussian(4, 10), graphs.holes(4, 1)):
        weights, lost = to_weights(log_scores)
        np.testing.assert_array_equal(weights, np.exp(log_scores))
        assert lost == 0


def test_weights_of_large_scores_keep_the_distribution(graphs) -> None:
    """Columns are multiplied by constants: no probability changes."""
    log_scores = graphs.gaussian(4, 3) + np.array([0.0, 900.0, -900.0, 5.0, 1000.0])
    weights, lost = to_weights(log_scores)
    assert np.isfinite(weights).all()
    assert lost == 0
    before, after = TreeDistribution(log_scores), TreeDistribution(weights, "weight")
    np.testing.assert_allclose(after.marginals(), before.marginals(), rtol=1e-11, atol=1e-300)


def test_arcs_that_float64_cannot_hold_beside_others_are_counted(graphs) -> None:
    log_scores = graphs.gaussian(3)
    log_scores[[0, 1], [1, 3]] -= 1e4
    log_scores[2, 3] = -np.inf
    weights, lost = to_weights(log_scores)
    assert lost == 2
    assert weights[0, 1] == weights[1, 3] == weights[2, 3] == 0


def test_weights_of_arcs_with_labels() -> None:
    """A column is shifted as a whole, labels and all; an arc is lost if one of its labels is."""
    log_scores = np.full((3, 3, 2), -np.inf)
    log_scores[0, 1:] = 800.0
    log_scores[1, 2], log_scores[2, 1] = [799.0, -800.0], [800.0 + np.log(2.0), -np.inf]
    weights, lost = to_weights(log_scores)
    assert lost == 1
    np.testing.assert_allclose(weights[[0, 2], 1], [[0.5, 0.5], [1.0, 0.0]])
    np.testing.assert_allclose(weights[[0, 1], 2], [[1.0, 1.0], [np.exp(-1.0), 0.0]])
    assert not weights[:, 0].any()


@pytest.mark.parametrize("mask", [-1e15, float(np.float32(-1e15)), -998356558020608.0, -1e32, -np.inf], ids=str)
def test_a_mask_is_one_in_every_type(mask: float) -> None:
    """-1e15 as float64, as float32 and as bfloat16 hold it."""
    scores = np.zeros((3, 3))
    scores[1, 2] = mask
    assert checked_log_scores(scores, "log")[1, 2] == -np.inf
    scores[1, 2] = mask * 0.5 if mask > -1e16 else -1e14
    assert checked_log_scores(scores, "log")[1, 2] == scores[1, 2]


class Tensor:
    """As PyTorch's that requires a gradient."""

    def detach(self) -> Tensor:
        return self

    def __array__(self, dtype: object = None, copy: bool | None = None) -> np.ndarray:
        raise RuntimeError("Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead.")


NO_NUMBERS = {
    "complex": (np.zeros((3, 3), complex), "of type complex128, not real numbers"),
    "complex in a list": ([[0, 1j, 0]] * 3, "of type complex128, not real numbers"),
    "text": ([["1", "2", "3"]] * 3, "of type <U1, not real numbers"),
    "dates": (np.zeros((3, 3), "M8[D]"), "of type datetime64"),
    "durations": (np.zeros((3, 3), "m8[s]"), "of type timedelta64"),
    "objects": (np.array([["1", 2, 3]] * 3, object), "of type object, not real numbers"),
    "nothing": ([[None, 1.0, 2.0]] * 3, "of type object, not real numbers"),
    "masked": (np.ma.masked_less(np.zeros((3, 3)), 1), "some of the .* are masked"),
    "ragged": ([[1.0], [1.0, 2.0]], "are not an array of numbers"),
    "a tensor with a gradient": (Tensor(), r"Give a tensor of .* as tensor\.detach\(\)"),
    "too large": ([[10**400] * 3] * 3, "are not an array of numbers"),
}

ENTRANCES: dict[str, Callable[[Any], object]] = {
    "scores": lambda x: TreeDistribution(x),
    "weights": lambda x: TreeDistribution(x, "weight"),
    "labelled": lambda x: TreeDistribution(x, labels=["a"]),
    "scores of labels": lambda x: TreeDistribution(np.zeros((3, 3))).labelled(["a"], x),
    "second order": lambda x: SecondOrder(x),
    "grandparent": lambda x: SecondOrder(np.zeros((3, 3)), x),
    "sibling": lambda x: SecondOrder(np.zeros((3, 3)), None, x),
    "links": lambda x: AlignmentDistribution(x),
    "nulls": lambda x: AlignmentDistribution(np.zeros((3, 3)), source_nulls=x),
    "features": lambda x: expectations.expected_features(TreeDistribution(np.zeros((3, 3))), x),
}


def refuse(entrance: str, kind: str) -> None:
    """Nothing is dropped (imaginary parts, masks) or guessed (numbers in texts), and nothing is warned of instead."""
    values, problem = NO_NUMBERS[kind]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(DeptreeError, match=problem):
            ENTRANCES[entrance](values)


@pytest.mark.parametrize("kind", NO_NUMBERS)
def test_what_is_no_real_number_is_refused(kind: str) -> None:
    refuse("scores", kind)


@pytest.mark.parametrize("entrance", ENTRANCES)
def test_no_entrance_takes_what_is_no_real_number(entrance: str) -> None:
    """Complex numbers, which a conversion would take but for a warning."""
    refuse(entrance, "complex")


@pytest.mark.parametrize(
    "kind", [bool, np.int8, np.uint16, np.float16, np.float32, np.longdouble, object, Fraction, Decimal]
)
def test_real_numbers_of_any_type_are_taken(kind: Any) -> None:
    weights = [[0, 1, 1], [0, 0, 1], [0, 1, 0]]
    scores = [[kind(x) for x in row] for row in weights] if kind in (Fraction, Decimal) else np.array(weights, kind)
    assert TreeDistribution(scores, "weight").log_partition == pytest.approx(np.log(2))


def test_all_weights_of_0_may_be_log_scores() -> None:
    """Those would be a uniform distribution, these forbid every arc: an error that says so."""
    remedy = r'If these are log-scores \(logits\), all alike, pass `scale="log"`'
    with pytest.raises(DeptreeError, match=rf"all weights are 0.*\. {remedy}"):
        TreeDistribution(np.zeros((3, 3)), "weight")
    assert TreeDistribution(np.zeros((3, 3))).log_partition == pytest.approx(np.log(2))
