"""log Z and marginals as functions of tensors: derivatives by finite differences, precision and shapes."""

from __future__ import annotations

import shutil

import pytest

torch = pytest.importorskip("torch")

from deptree_cli.core.errors import DeptreeError
from deptree_cli.core.spaces import SPACES
from deptree_cli.torch import log_partition, log_partition_and_marginals, losses, marginals, ops
from tests.bounded import bounded

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
@pytest.mark.parametrize("name", ["log_partition", "log_partition_and_marginals", "arc_covariance", "are_trees"])
def test_operators_keep_the_rules_of_pytorch(space: str, name: str) -> None:
    """Schema, shapes under tracing; `opcheck` raises where one is broken. They have no derivatives of their own."""
    given = [torch.nan_to_num(scores(), nan=0.0), LENGTHS]
    if name == "arc_covariance":
        given.append(torch.ones(3, 5, 5, dtype=torch.float64))
    of_trees = torch.tensor([[-1, 2, 0, 2, 3]] * 3), LENGTHS, space
    args = of_trees if name == "are_trees" else (*given, space, "float64")
    torch.library.opcheck(getattr(torch.ops.deptree, name).default, args)


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


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float32, torch.float64])
def test_sums_have_the_precision_of_the_scores(dtype: torch.dtype) -> None:
    """Unless another one is asked for; losses too. Both precisions differ, or this shows nothing."""
    log_scores = (3 * torch.randn(4, 9, 9, generator=torch.Generator().manual_seed(2))).to(dtype)
    own, other = ("float64", "float32") if dtype == torch.float64 else ("float32", "float64")
    heads = torch.arange(-1, 8).expand(4, -1)
    assert torch.equal(marginals(log_scores), marginals(log_scores, precision=own))
    found = [losses.negative_log_likelihood(log_scores, heads, precision=each) for each in (None, own)]
    assert torch.equal(*found)
    assert not torch.equal(marginals(log_scores), marginals(log_scores, precision=other))


@pytest.mark.parametrize(
    "name", ["log_partition_by_kernels", "log_partition_and_marginals_by_kernels", "arc_covariance"]
)
def test_errors_in_sums_are_not_taken_for_those_of_transformed_tensors(
    monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """As where no thread can be started: nothing is computed once more in another way."""
    log_scores = scores().requires_grad_(name != "log_partition_by_kernels")
    found = marginals(log_scores, LENGTHS)

    def fails(*_: object) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(ops, "_batch", fails)
    with pytest.raises(RuntimeError, match="can't start new thread"):
        found.backward(found.detach()) if name == "arc_covariance" else log_partition(log_scores, LENGTHS)


def test_a_third_derivative_is_refused() -> None:
    log_scores = scores().requires_grad_()
    found = marginals(torch.nan_to_num(log_scores), LENGTHS)
    first = torch.autograd.grad((found**2).sum(), log_scores, create_graph=True)[0]
    with pytest.raises(DeptreeError, match="one derivative more"):
        first.sum().backward()


@pytest.mark.parametrize("bad", [torch.inf, -torch.inf, torch.nan])
@EACH_SPACE
def test_gradients_that_are_not_finite_pass_on_as_nan(space: str, bad: float) -> None:
    """At the possible arcs of their sentence; the others have the gradients that they had."""
    of_marginals = torch.randn(3, 5, 5, generator=torch.Generator().manual_seed(4), dtype=torch.float64)
    found = []
    for value in (1.0, bad):
        of_marginals[0, 1, 2] = value
        log_scores = scores().requires_grad_()
        probs = marginals(log_scores, LENGTHS, space)
        bounded(lambda probs=probs: probs.backward(of_marginals))
        found.append(log_scores.grad)
    torch.testing.assert_close(torch.isnan(found[1][0]), probs[0] > 0)
    torch.testing.assert_close(found[1][1:], found[0][1:], rtol=0, atol=0)


def test_a_cost_that_is_infinite_ends_a_step() -> None:
    """Of an arc that counts: the loss is infinite too, and its gradient, of one sentence, NaN."""
    costs = torch.ones(3, 5, 5, dtype=torch.float64)
    costs[0, 1, 2] = torch.inf
    log_scores = scores().requires_grad_()
    found = losses.expected_cost(log_scores, costs, LENGTHS, reduction="none")
    assert torch.isinf(found).tolist() == [True, False, False]
    bounded(lambda: found.sum().backward())
    assert torch.isnan(log_scores.grad).any((1, 2)).tolist() == [True, False, False]
