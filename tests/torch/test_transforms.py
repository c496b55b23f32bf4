"""Under PyTorch's transformations: `torch.func`, forward-mode derivatives, and graphs that are broken for drawing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from torch.autograd import forward_ad

from deptree_cli.core.errors import DeptreeError
from deptree_cli.torch import TreeDistribution, log_partition, losses, marginals

SCORES = torch.randn(2, 5, 5, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
HEADS = torch.tensor([[-1, 2, 0, 2, 3]] * 2)

SUMS: dict[str, Callable[[Any], Any]] = {
    "log Z": lambda scores: log_partition(scores).sum(),
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
def test_derivatives_forward(name: str) -> None:
    """They are the gradient in that direction: a tangent that is lost without a word would be taken for 0."""
    direction = torch.randn(SCORES.shape, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
    expected = (torch.func.grad(SUMS[name])(SCORES) * direction).sum()
    with forward_ad.dual_level():
        found = forward_ad.unpack_dual(SUMS[name](forward_ad.make_dual(SCORES, direction))).tangent
    torch.testing.assert_close(found, expected, rtol=1e-12, atol=1e-14)
    found = torch.func.jvp(SUMS[name], (SCORES,), (direction,))[1]
    torch.testing.assert_close(found, expected, rtol=1e-12, atol=1e-14)


def gradient(scores: Any) -> Any:
    """That of log Z as a function, to be differentiated again."""
    return torch.func.grad(SUMS["log Z"])(scores)


HESSIANS: dict[str, Callable[[Any], Any]] = {
    "forward of a gradient": torch.func.hessian(SUMS["log Z"]),
    "reverse of a gradient": torch.func.jacrev(gradient),
    "forward of marginals": lambda scores: torch.func.jacfwd(marginals)(scores[0]),
    "of a loss": torch.func.hessian(lambda scores: 8 * SUMS["likelihood"](scores)),
    "vectorised": lambda scores: torch.autograd.functional.hessian(SUMS["log Z"], scores, vectorize=True),
}


@pytest.mark.filterwarnings("ignore::UserWarning")  # PyTorch's own, about what is slow there
@pytest.mark.parametrize("name", HESSIANS)
def test_hessians(name: str) -> None:
    """The covariance of each two arcs, in whatever way it is asked for; each word has one head."""
    expected = torch.autograd.functional.hessian(SUMS["log Z"], SCORES)
    torch.testing.assert_close(expected, expected.permute(3, 4, 5, 0, 1, 2), rtol=1e-10, atol=1e-12)
    assert expected.sum(1).abs().max() < 1e-12
    found = HESSIANS[name](SCORES)
    torch.testing.assert_close(found, expected[0, :, :, 0] if found.dim() == 4 else expected, rtol=1e-12, atol=1e-14)


MANY: dict[str, Callable[[Any], Any]] = {
    "log Z": log_partition,
    "marginals": marginals,
    "gradients": gradient,
    "entropies": lambda scores: TreeDistribution(scores).entropy(),
    "entropies' gradients": torch.func.grad(losses.entropy_regularisation),
    "log-probabilities": lambda scores: TreeDistribution(scores, validate_args=False).log_prob(HEADS),
    "risks": SUMS["risk"],
}


@pytest.mark.parametrize("name", MANY)
def test_many_batches_at_once(name: str) -> None:
    """`torch.func.vmap` gives what a loop does."""
    several = torch.stack([SCORES, SCORES * 2.0, SCORES.mT])
    expected = torch.stack([MANY[name](scores) for scores in several])
    torch.testing.assert_close(torch.func.vmap(MANY[name])(several), expected, rtol=1e-12, atol=1e-14)
    turned = torch.func.vmap(MANY[name], in_dims=2)(several.movedim(0, 2))
    torch.testing.assert_close(turned, expected, rtol=1e-12, atol=1e-14)


def test_a_third_derivative_is_refused_forward_too() -> None:
    with pytest.raises(DeptreeError, match="one derivative more"):
        torch.func.hessian(SUMS["entropy"])(SCORES)


@pytest.mark.parametrize("name", DRAWN)
@pytest.mark.filterwarnings("ignore")  # PyTorch's own, about its caches
def test_compiled_steps_that_draw(name: str) -> None:
    """The graph is broken there, and the numbers are the same."""
    torch.manual_seed(3)
    expected = DRAWN[name](SCORES)
    torch.manual_seed(3)
    torch.testing.assert_close(torch.compile(DRAWN[name], backend="eager")(SCORES), expected)
