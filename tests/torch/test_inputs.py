"""What is given in another shape or type than was asked for: refused in one line, never broadcast in silence."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from deptree_cli.core.errors import DeptreeError
from deptree_cli.torch import TreeDistribution, log_partition, losses

SCORES = torch.zeros(2, 5, 5)
HEADS = torch.tensor([[-1, 2, 0, 2, 3]] * 2)
FEATURES = torch.ones(1, 5, 5)  # of which every tree has 4
NESTED = TreeDistribution(torch.zeros(2, 3, 5, 5))

REFUSED: dict[str, tuple[Callable[[], object], str]] = {
    "whole scores": (lambda: log_partition(SCORES.long()), "log_scores are torch.int64"),
    "scores of NumPy": (lambda: log_partition(SCORES.numpy()), "log_scores are of type ndarray"),
    "scores of NumPy in a loss": (
        lambda: losses.negative_log_likelihood(SCORES.numpy(), HEADS),
        "log_scores are of type ndarray",
    ),
    "scores of NumPy for rewards": (
        lambda: losses.reinforce_loss(SCORES.numpy(), lambda heads: heads.sum(-1), 2),
        "log_scores are of type ndarray",
    ),
    "a list of lengths": (lambda: log_partition(SCORES, [4, 4]), "lengths are of type list"),
    "a list of heads": (lambda: losses.negative_log_likelihood(SCORES, HEADS.tolist()), "heads are of type list"),
    "lengths yes or no": (lambda: log_partition(SCORES, torch.tensor([True, True])), "lengths are torch.bool"),
    "complex lengths": (lambda: log_partition(SCORES, torch.ones(2, dtype=torch.complex64)), "torch.complex64"),
    "heads yes or no": (lambda: losses.negative_log_likelihood(SCORES, HEADS > 0), "heads are torch.bool"),
    "known heads, transposed": (lambda: NESTED.given(torch.full((3, 2, 5), -1)), r"of shape \(3, 2, 5\)"),
    "known heads, flat": (lambda: NESTED.given(torch.full((6, 5), -1)), r"of shape \(6, 5\)"),
    "known heads of words": (lambda: NESTED.given(torch.full((2, 3, 4), -1)), r"of shape \(2, 3, 4\)"),
    "targets of one feature": (
        lambda: losses.generalised_expectation_loss(SCORES, FEATURES, torch.tensor([4.0, 9.0])),
        r"targets have shape \(2,\).* \(1,\) or \(2, 1\)\.",
    ),
    "a target of a sentence where they are pooled": (
        lambda: losses.generalised_expectation_loss(SCORES, FEATURES, torch.tensor([[4.0], [9.0]]), pooled=True),
        r"targets have shape \(2, 1\).* \(1,\)\.",
    ),
    "a target without a dimension": (
        lambda: losses.generalised_expectation_loss(SCORES, FEATURES, torch.tensor(4.0)),
        r"targets have shape \(\)",
    ),
    "one feature, without its dimension": (
        lambda: losses.generalised_expectation_loss(SCORES, FEATURES[0], torch.tensor([4.0])),
        r"features have shape \(5, 5\)",
    ),
    "features of another batch": (
        lambda: losses.generalised_expectation_loss(SCORES, torch.ones(3, 1, 5, 5), torch.tensor([4.0])),
        r"features have shape \(3, 1, 5, 5\)",
    ),
    "a misspelt reduction of one number": (
        lambda: losses.generalised_expectation_loss(
            SCORES, FEATURES, torch.tensor([8.0]), pooled=True, reduction="men"
        ),
        "unknown reduction 'men'",
    ),
    "costs of another batch": (
        lambda: losses.expected_cost(SCORES, torch.ones(3, 5, 5)),
        r"costs have shape \(3, 5, 5\)",
    ),
    "costs with a dimension more": (
        lambda: losses.expected_cost(SCORES, torch.ones(1, 2, 5, 5)),
        r"costs have shape \(1, 2, 5, 5\)",
    ),
    "a precision, before it is wanted": (
        lambda: TreeDistribution(SCORES, precision="float23"),
        "Did you mean float32",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name: str) -> None:
    ask, message = REFUSED[name]
    with pytest.raises(DeptreeError, match=message) as caught:
        ask()
    assert "\n" not in str(caught.value)


def test_targets_and_costs_of_every_shape() -> None:
    features, four = torch.cat([FEATURES, 2 * FEATURES]), torch.tensor([4.0, 8.0])
    for targets in (four, four.expand(2, 2)):
        for given in (features, features.expand(2, 2, 5, 5)):
            assert losses.generalised_expectation_loss(SCORES, given, targets) == pytest.approx(0.0, abs=1e-10)
    assert losses.generalised_expectation_loss(SCORES, features, 2 * four, pooled=True) == pytest.approx(0.0, abs=1e-10)
    for shape in ((), (5, 5), (1, 5, 5), (2, 5, 5), (1, 5)):
        assert losses.expected_cost(SCORES, torch.ones(shape), reduction="sum") == pytest.approx(8.0)


@pytest.mark.parametrize("score", [1e16, float(np.finfo(np.float32).max)])
def test_a_score_too_large_for_one(score: float) -> None:
    """In float32 such a score leaves no digit of the others: nothing is answered as if there were some."""
    log_scores = torch.randn(2, 5, 5, generator=torch.Generator().manual_seed(0))
    log_scores[1, 1, 3] = score
    asked: list[Callable[[], Any]] = [
        lambda: TreeDistribution(log_scores).entropy(),
        lambda: losses.negative_log_likelihood(log_scores, HEADS),
        lambda: log_partition(log_scores),
    ]
    for ask in asked:
        with pytest.raises(DeptreeError, match=r"sentence 1 of the batch: the score of 1 -> 3 .* is too large"):
            ask()


def test_lengths_that_are_strided() -> None:
    lengths = torch.tensor([4, 0, 2, 0])[::2]
    torch.testing.assert_close(log_partition(SCORES, lengths), log_partition(SCORES, lengths.clone()))


def test_another_default_device() -> None:
    """Tensors on the CPU are served where PyTorch makes its own elsewhere, as after set_default_device("cuda")."""
    heads = HEADS.clone()
    with torch.device("meta"):
        for loss in (losses.negative_log_likelihood, losses.partial_annotation_loss, losses.minimum_risk_loss):
            assert loss(SCORES, heads) > 0
        assert TreeDistribution(SCORES).given(heads).log_partition.shape == (2,)
