"""Under PyTorch's transformations: forward-mode derivatives, `torch.func`, and graphs that are broken for drawing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from torch.autograd import forward_ad

from deptree_cli.torch import TreeDistribution, log_partition, losses, marginals

SCORES = torch.randn(2, 5, 5, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
HEADS = torch.tensor([[-1, 2, 0, 2, 3]] * 2)

SUMS: dict[str, Callable[[Any], Any]] = {
    "log Z": lambda scores: log_partition(scores).sum(),
    "log Z on the device": lambda scores: log_partition(scores, implementation="device").sum(),
    "marginals": lambda scores: (marginals(scores) ** 2).sum(),
    "log-probability": lambda scores: TreeDistribution(scores).log_prob(HEADS).sum(),
    "likelihood": lambda scores: losses.negative_log_likelihood(scores, HEADS),
    "partial": lambda scores: losses.partial_annotation_loss(scores, HEADS),
    "risk": lambda scores: losses.minimum_risk_loss(scores, HEADS),
    "entropy": losses.entropy_regularisation,
}

DRAWN: dict[str, Callable[[Any], Any]] = {
    "argmax": lambda scores: TreeDistribution(scores).argmax,
    "mbr": lambda scores: TreeDistribution(scores).mbr,
    "top_k": lambda scores: TreeDistribution(scores).top_k(3).log_probs,
    "sample": lambda scores: TreeDistribution(scores).sample((4,)),
    "without replacement": lambda scores: TreeDistribution(scores).sample_without_replacement(3).log_probs,
    "rewards": lambda scores: losses.reinforce_loss(scores, lambda heads: (heads == 0).sum(-1).double(), 3),
    "infinite divergence": lambda scores: TreeDistribution(scores).kl(
        TreeDistribution(scores.masked_fill(torch.eye(5).roll(1, 1).bool(), -torch.inf))
    ),
}


@pytest.mark.parametrize("name", SUMS)
def test_gradients_as_functions(name: str) -> None:
    """`torch.func.grad` gives what backward() does."""
    leaf = SCORES.clone().requires_grad_()
    expected = torch.autograd.grad(SUMS[name](leaf), leaf)[0]
    torch.testing.assert_close(torch.func.grad(SUMS[name])(SCORES), expected, rtol=1e-14, atol=1e-15)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # PyTorch's own
@pytest.mark.parametrize("name", SUMS)
def test_derivatives_forward_are_refused(name: str) -> None:
    """They are not there; a tangent that is lost without a word would be taken for 0."""
    with forward_ad.dual_level(), pytest.raises(NotImplementedError, match="forward mode AD"):
        SUMS[name](forward_ad.make_dual(SCORES, torch.ones_like(SCORES)))
    with pytest.raises(NotImplementedError, match="forward mode AD"):
        torch.func.jvp(SUMS[name], (SCORES,), (torch.ones_like(SCORES),))


@pytest.mark.parametrize("name", DRAWN)
@pytest.mark.filterwarnings("ignore")  # PyTorch's own, about its caches
def test_compiled_steps_that_draw(name: str) -> None:
    """The graph is broken there, and the numbers are the same."""
    torch.manual_seed(3)
    expected = DRAWN[name](SCORES)
    torch.manual_seed(3)
    torch.testing.assert_close(torch.compile(DRAWN[name], backend="eager")(SCORES), expected)
