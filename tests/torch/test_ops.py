"""log Z and marginals as functions of tensors: derivatives by finite differences, precision, padding and errors."""

from __future__ import annotations

import shutil

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from benchmarks.sums import exact
from deptree_cli.core.distribution import TreeDistribution
from deptree_cli.core.errors import DeptreeError
from deptree_cli.core.spaces import SPACES
from deptree_cli.torch import log_partition, log_partition_and_marginals, marginals

EACH_SPACE = pytest.mark.parametrize("space", SPACES.names)
LENGTHS = torch.tensor([4, 1, 3])


def scores(seed: int = 0, scale: float = 1.0) -> torch.Tensor:
    """A batch of three sentences of 4, 1 and 3 words with forbidden arcs, NaN where nobody must look."""
    generator = torch.Generator().manual_seed(seed)
    found = torch.randn(3, 5, 5, generator=generator, dtype=torch.float64) * scale
    found[0, 2, 3] = found[0, 0, 1] = found[2, 3, 1] = -torch.inf
    for b, n in enumerate(LENGTHS.tolist()):
        found[b, n + 1 :] = found[b, :, n + 1 :] = torch.nan
    found[:, :, 0] = torch.nan
    return found


def allowed_only(function, log_scores: torch.Tensor):
    """The function of the numbers that count, and those: finite differences cannot be taken at -inf."""
    counts = torch.isfinite(log_scores)

    def of_numbers(numbers: torch.Tensor) -> torch.Tensor:
        return function(log_scores.masked_scatter(counts, numbers))

    return of_numbers, log_scores[counts].clone().requires_grad_()


@pytest.mark.filterwarnings("ignore::UserWarning")  # PyTorch's own, about what is slow there
@EACH_SPACE
def test_derivatives_against_finite_differences(space: str) -> None:
    """Backward and forward, one direction and many at a time."""
    how = {"check_forward_ad": True, "check_batched_grad": True}
    of_numbers, numbers = allowed_only(lambda x: log_partition(x, LENGTHS, space), scores())
    assert torch.autograd.gradcheck(of_numbers, numbers, **how)
    assert torch.autograd.gradgradcheck(of_numbers, numbers)
    of_numbers, numbers = allowed_only(lambda x: marginals(x, LENGTHS, space), scores(1))
    assert torch.autograd.gradcheck(of_numbers, numbers, **how)


@EACH_SPACE
@pytest.mark.parametrize("name", ["log_partition", "log_partition_and_marginals", "arc_covariance"])
def test_operators_keep_the_rules_of_pytorch(space: str, name: str) -> None:
    """Schema, autograd registration, shapes under tracing; `opcheck` raises where one is broken."""
    given = [torch.nan_to_num(scores(), nan=0.0), LENGTHS]
    if name == "arc_covariance":
        given.append(torch.ones(3, 5, 5, dtype=torch.float64, requires_grad=True))
    given[0].requires_grad_(name == "log_partition_and_marginals")
    torch.library.opcheck(getattr(torch.ops.deptree, name).default, (*given, space, "float64"))


@EACH_SPACE
def test_what_does_not_count_has_gradient_0(space: str) -> None:
    """Of first and of second derivatives."""
    log_scores = scores().requires_grad_()
    first = torch.autograd.grad(log_partition(log_scores, LENGTHS, space).sum(), log_scores)[0]
    found = marginals(log_scores, LENGTHS, space)
    second = torch.autograd.grad((found**2).sum(), log_scores)[0]
    nothing = ~torch.isfinite(log_scores)
    for gradient in (first, second):
        assert torch.isfinite(gradient).all()
        assert (gradient[nothing] == 0).all()
    diagonal = torch.eye(5, dtype=torch.bool)
    assert (first[:, diagonal] == 0).all()


@EACH_SPACE
def test_sums_are_those_of_the_library(space: str) -> None:
    log_scores = scores(2, scale=3.0)
    log_z, found = log_partition_and_marginals(log_scores, LENGTHS, space)
    for b, n in enumerate(LENGTHS.tolist()):
        own = log_scores[b, : n + 1, : n + 1].numpy().copy()
        own[:, 0] = 0.0
        distribution = TreeDistribution(own, space=space)
        assert float(log_z[b]) == pytest.approx(distribution.log_partition, rel=1e-14)
        np.testing.assert_allclose(found[b, : n + 1, : n + 1], distribution.marginals(), rtol=0, atol=1e-14)
    with torch.no_grad():
        torch.testing.assert_close(log_partition(log_scores, LENGTHS, space), log_z)


def hard_graphs(scale: float) -> dict[str, np.ndarray]:
    """Gaussian logits times a scale, and pairs of words that choose each other by that many nats."""
    gaussian = np.random.default_rng(int(scale)).normal(size=(9, 9)) * scale
    pairs = np.random.default_rng(1).normal(size=(9, 9))
    for word in range(1, 8, 2):
        pairs[word, word + 1] += scale
        pairs[word + 1, word] += scale
    return {"gaussian": gaussian, "saturated": pairs}


@pytest.mark.parametrize("scale", [1, 5, 20, 50, 100, 200])
@pytest.mark.parametrize(("dtype", "bound"), [(torch.float32, 1e-6), (torch.float64, 1e-12)], ids=["32", "64"])
def test_gradients_against_many_digits(scale: float, dtype: torch.dtype, bound: float) -> None:
    """Against mpmath in 400 digits, of the scores as the type holds them."""
    for graph in hard_graphs(scale).values():
        log_scores = torch.tensor(graph, dtype=dtype)[None].requires_grad_()
        log_partition(log_scores).sum().backward()
        truth = exact.marginals(TreeDistribution(log_scores.detach()[0].numpy()))
        np.testing.assert_allclose(log_scores.grad[0].numpy(), truth, rtol=0, atol=bound)


@pytest.mark.skipif(shutil.which("g++") is None, reason="torch.compile needs a C++ compiler")
@pytest.mark.filterwarnings("ignore")  # PyTorch's own, about its caches
def test_a_compiled_loss_gives_the_same_numbers() -> None:
    """In one graph, with the gradient."""

    def loss(log_scores: torch.Tensor) -> torch.Tensor:
        log_z, found = log_partition_and_marginals(log_scores * 2.0, LENGTHS)
        return (log_z - (found * 0.5).sum((1, 2))).sum()

    gradients = []
    for function in (loss, torch.compile(loss, fullgraph=True)):
        log_scores = torch.nan_to_num(scores(3), nan=0.0).requires_grad_()
        value = function(log_scores)
        value.backward()
        gradients.append((value.detach(), log_scores.grad))
    torch.testing.assert_close(*gradients, rtol=1e-12, atol=1e-12)


def test_any_leading_shape_and_half_precision() -> None:
    log_scores = torch.randn(2, 3, 5, 5, generator=torch.Generator().manual_seed(1))
    log_z, found = log_partition_and_marginals(log_scores)
    assert log_z.shape == (2, 3)
    assert found.shape == (2, 3, 5, 5)
    torch.testing.assert_close(log_partition(log_scores[1, 2]), log_z[1, 2])
    half = log_scores.bfloat16().requires_grad_()
    of_half = log_partition(half)
    assert of_half.dtype == torch.float32
    of_half.sum().backward()
    assert half.grad.dtype == torch.bfloat16
    torch.testing.assert_close(of_half, log_partition(half.detach().float()))
    assert log_partition(torch.empty(0, 4, 4)).shape == (0,)
    torch.testing.assert_close(log_partition(log_scores.mT), log_partition(log_scores.mT.contiguous()))


@pytest.mark.parametrize(
    ("log_scores", "lengths", "message"),
    [
        (torch.zeros(2, 3, 4), None, r"shape \(2, 3, 4\), not floats of"),
        (torch.zeros(2, 3, 3, dtype=torch.int64), None, "torch.int64"),
        (torch.zeros(2, 3, 3), torch.tensor([1]), r"lengths are torch.int64 of shape \(1,\)"),
        (torch.zeros(2, 3, 3), torch.tensor([1.0, 2.0]), "lengths are torch.float32"),
        (torch.zeros(2, 3, 3), torch.tensor([1, 0]), "sentence 1 of the batch: the length is 0, not 1 to 2"),
        (
            torch.zeros(2, 3, 3),
            torch.tensor([3, 2]),
            "sentence 0 of the batch: the length is 3, not 1 to 2",
        ),
        (torch.full((2, 3, 3), torch.nan), None, r"sentence 0 of the batch: the score of .* is NaN.*with -inf\."),
        (torch.full((2, 3, 3), -torch.inf), None, "sentence 0 of the batch: .*no head with a finite score"),
    ],
)
def test_what_cannot_be_served_is_one_line(log_scores, lengths, message: str) -> None:
    with pytest.raises(DeptreeError, match=message) as caught:
        log_partition(log_scores, lengths)
    assert "\n" not in str(caught.value)


def test_a_third_derivative_is_refused() -> None:
    log_scores = scores().requires_grad_()
    found = marginals(torch.nan_to_num(log_scores), LENGTHS)
    first = torch.autograd.grad((found**2).sum(), log_scores, create_graph=True)[0]
    with pytest.raises(DeptreeError, match="one derivative more"):
        first.sum().backward()
