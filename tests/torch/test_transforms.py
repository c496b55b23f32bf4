"""Under PyTorch's transformations: forward-mode derivatives, `torch.func`, and graphs that are broken for drawing."""

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
    with forward_ad.dual_level(), pytest.raises(DeptreeError, match="forward mode"):
        SUMS[name](forward_ad.make_dual(SCORES, torch.ones_like(SCORES)))
    with pytest.raises(DeptreeError, match="forward mode"):
        torch.func.jvp(SUMS[name], (SCORES,), (torch.ones_like(SCORES),))


def gradient(scores: Any) -> Any:
    """That of log Z as a function, to be differentiated again."""
    return torch.func.grad(SUMS["log Z"])(scores)


MANY: dict[str, Callable[[], Any]] = {
    "hessian": lambda: torch.func.hessian(SUMS["log Z"])(SCORES),
    "reverse of a gradient": lambda: torch.func.jacrev(gradient)(SCORES),
    "forward": lambda: torch.func.jacfwd(SUMS["log Z"])(SCORES),
    "without gradients": lambda: torch.func.vmap(log_partition)(SCORES[None]),
    "gradients": lambda: torch.func.vmap(gradient)(SCORES[None]),
    "marginals": lambda: torch.func.vmap(marginals)(SCORES[None]),
    "vectorised": lambda: torch.autograd.functional.hessian(SUMS["log Z"], SCORES, vectorize=True),
    "losses": lambda: torch.func.hessian(SUMS["likelihood"])(SCORES),
    "entropies": lambda: torch.func.vmap(lambda scores: TreeDistribution(scores).entropy())(SCORES[None]),
}


@pytest.mark.filterwarnings("ignore::UserWarning")  # PyTorch's own, about what is slow there
@pytest.mark.parametrize("name", MANY)
def test_many_at_once_are_refused_in_one_line(name: str) -> None:
    """And the line names what works."""
    with pytest.raises(DeptreeError, match=r"no rules for torch\.func\.vmap.*torch\.autograd\.functional\.hessian"):
        MANY[name]()


def test_hessians() -> None:
    """What the line names gives the covariance of each two arcs: it is symmetric, and each word has one head."""
    found = torch.autograd.functional.hessian(log_partition, SCORES[0])
    of_an_arc = torch.func.grad(lambda scores: gradient(scores)[0, 2, 1])(SCORES)[0]
    torch.testing.assert_close(found[2, 1], of_an_arc, rtol=1e-12, atol=1e-14)
    torch.testing.assert_close(found, found.permute(2, 3, 0, 1), rtol=1e-10, atol=1e-12)
    assert found.sum(2).abs().max() < 1e-12


@pytest.mark.parametrize("name", DRAWN)
@pytest.mark.filterwarnings("ignore")  # PyTorch's own, about its caches
def test_compiled_steps_that_draw(name: str) -> None:
    """The graph is broken there, and the numbers are the same."""
    torch.manual_seed(3)
    expected = DRAWN[name](SCORES)
    torch.manual_seed(3)
    torch.testing.assert_close(torch.compile(DRAWN[name], backend="eager")(SCORES), expected)
