"""Masks of -1e6 to -9e14: no harm where no tree needs them, fewer digits where every tree does, and then an error."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from deptree_cli.core.errors import DeptreeError
from deptree_cli.torch import TreeDistribution, log_partition, losses, marginals

MASK = -9e14
CYCLE = torch.tensor(
    [[0, MASK, MASK, 0.3], [0, 0, 0.7, MASK], [0, -0.4, 0, MASK], [0, MASK, MASK, 0]], dtype=torch.float64
)
HEADS = torch.tensor([[-1, 3, 1, 0]])
ENTROPY = 0.5620492089608015

ASKED: dict[str, Callable[[Any], Any]] = {
    "log Z": log_partition,
    "marginals": marginals,
    "entropy": lambda scores: TreeDistribution(scores).entropy(),
    "KL": lambda scores: TreeDistribution(scores).kl(TreeDistribution(scores * 0.5)),
    "likelihood": lambda scores: losses.negative_log_likelihood(scores[None], HEADS),
    "partial": lambda scores: losses.partial_annotation_loss(scores[None], torch.tensor([[-1, -1, 1, -1]])),
}


def with_mask(mask: float) -> Any:
    return torch.where(CYCLE == MASK, mask, CYCLE)


@pytest.mark.parametrize("mask", [-1e6, -1e9, -9e14])
def test_masks_that_no_tree_needs(holes: Any, mask: float) -> None:
    """Values and gradients are those of arcs that are forbidden."""
    heads = TreeDistribution(holes.log_scores, holes.lengths, **holes.how).sample((5,))

    def asked(scores: Any) -> Any:
        d, other = (TreeDistribution(each, holes.lengths, **holes.how) for each in (scores, scores * 0.5))
        return torch.stack([d.log_partition, d.entropy(), d.kl(other), d.log_prob(heads).sum(0)])

    masked = holes.log_scores.masked_fill(holes.log_scores == -torch.inf, mask)
    values, gradients = [], []
    for scores in (holes.log_scores, masked):
        leaf = scores.clone().requires_grad_()
        values.append(asked(leaf))
        gradients.append(torch.autograd.grad(values[-1].sum(), leaf)[0])
    torch.testing.assert_close(*values, rtol=1e-12, atol=1e-12)
    torch.testing.assert_close(*gradients, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("mask", [-1e4, -1e6, -2e7])
@pytest.mark.parametrize("name", ASKED)
def test_masks_that_every_tree_needs(name: str, mask: float) -> None:
    """They are taken, where the tree's best score stays above -1e8: all digits that matter are there."""
    far, near = (with_mask(each).requires_grad_() for each in (mask, -1e3))
    found, expected = (ASKED[name](scores) for scores in (far, near))
    if name != "log Z":
        torch.testing.assert_close(found, expected, rtol=0, atol=1e-8)
    gradients = [
        torch.autograd.grad(each.square().sum(), scores)[0] for each, scores in ((found, far), (expected, near))
    ]
    if name not in ("log Z", "KL"):
        torch.testing.assert_close(*gradients, rtol=0, atol=1e-7)
    if name == "entropy":
        assert found.item() == pytest.approx(ENTROPY, abs=1e-8)


@pytest.mark.parametrize("mask", [-1e9, -9e14])
@pytest.mark.parametrize("name", ASKED)
def test_larger_ones_are_refused(name: str, mask: float) -> None:
    with pytest.raises(DeptreeError, match=r"sentence 0 of the batch: .*masks.*-inf") as caught:
        ASKED[name](with_mask(mask))
    assert "\n" not in str(caught.value)


def test_the_sentence_is_named() -> None:
    with pytest.raises(DeptreeError, match="sentence 1 of the batch"):
        log_partition(torch.stack([torch.zeros(4, 4).double(), CYCLE]))


@pytest.mark.parametrize("mask", [-1e9, -9e14])
def test_a_row_of_root_that_is_masked_as_a_whole(mask: float) -> None:
    """The shift takes it away."""
    plain = torch.from_numpy(np.round(np.random.default_rng(0).normal(size=(5, 5)) * 8) / 8)
    masked = plain.clone()
    masked[0] += mask
    for ask in (lambda d: d.entropy(), lambda d: d.marginals, lambda d: d.log_prob(torch.tensor([-1, 0, 1, 2, 3]))):
        torch.testing.assert_close(*(ask(TreeDistribution(each)) for each in (plain, masked)), rtol=0, atol=1e-13)
