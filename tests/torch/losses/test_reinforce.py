"""REINFORCE without replacement: the set's chances against all orders, the gradient's mean and variance over draws."""

from __future__ import annotations

import math
from itertools import permutations
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from deptree_cli.core.errors import DeptreeError
from deptree_cli.torch.distribution import TreeDistribution
from deptree_cli.torch.losses import first_and_next, reinforce_loss

GOLD = (2, 0, 2)
DRAWS = 4000


def all_correct(heads: Any) -> Any:
    """A reward that is not a sum over arcs: 1 for the gold tree, and half a point for a right first head."""
    gold = torch.tensor(GOLD)
    return (heads[..., 1:4] == gold).all(-1) + 0.5 * (heads[..., 1] == GOLD[0])


def by_all_orders(probs: list[float]) -> tuple[Any, Any]:
    """What `first_and_next` returns, from the chance of every order in which the set can have been drawn."""
    k = len(probs)
    first, pairs = np.zeros(k), np.zeros((k, k))
    for order in permutations(range(k)):
        chance, left = 1.0, 1.0
        for i in order:
            chance *= probs[i] / left
            left -= probs[i]
        first[order[0]] += chance
        pairs[order[:2]] += chance
    average = pairs / pairs.sum(1, keepdims=True) * (1 - np.array(probs))[:, None]
    np.fill_diagonal(average, probs)
    return first / first.sum(), average


@pytest.mark.parametrize(
    "probs",
    [
        [0.5, 0.3],
        [0.2, 0.1, 0.05, 0.2, 0.05, 0.1],
        [0.9, 0.05, 1e-3, 1e-4],
        [1e-3, 2e-3, 1e-3, 5e-4, 1e-3, 1e-3],
        [1e-9, 1e-12, 3e-10, 1e-9, 1e-10],
        [0.999999, 1e-8, 1e-12],
        [0.25, 0.25, 0.25, 0.2499],
    ],
)
def test_chances_of_a_set(probs: list[float]) -> None:
    """The trapezoidal rule has 12 digits, or what rounding leaves of the rest's probability."""
    first, average = first_and_next(np.log(probs), exhausted=False)
    expected = by_all_orders(probs)
    digits = max(1e-12, 1e-15 / (1 - math.fsum(probs)))
    np.testing.assert_allclose(first, expected[0], rtol=digits)
    np.testing.assert_allclose(average, expected[1], rtol=digits)


def test_chances_of_large_and_improbable_sets() -> None:
    """Sums are 1 to the last digit; 500 trees, alike or not, and trees below the range of float64."""
    spread = np.linspace(0, -40, 500)
    for log_probs in (
        np.full(500, -9.0),
        spread - np.log(np.exp(spread).sum()) - 1e-3,
        np.array([-1e-9, -800.0, -900.0]),
    ):
        first, average = first_and_next(log_probs, exhausted=False)
        assert np.isfinite(average).all()
        assert first.sum() == pytest.approx(1.0, abs=1e-14)
        np.testing.assert_allclose(average.sum(1), 1.0, atol=1e-12)
        assert first.min() >= 0
    np.testing.assert_allclose(first_and_next(np.full(500, -9.0), False)[0], 1 / 500, rtol=1e-12)


def exact(scores: Any) -> tuple[float, Any]:
    """Minus the expected reward, and its gradient, over all trees."""
    leaf = scores.clone().requires_grad_()
    d = TreeDistribution(leaf)
    trees = d.enumerate_support()
    loss = -(d.log_prob(trees).exp() * all_correct(trees)).sum()
    return loss.item(), torch.autograd.grad(loss, leaf)[0]


def estimated(scores: Any, k: int, seed: int = 0) -> tuple[Any, Any]:
    """DRAWS independent estimates of the same, (DRAWS,) and (DRAWS, N, N)."""
    leaf = scores.expand(DRAWS, 4, 4).clone().requires_grad_()
    generator = torch.Generator().manual_seed(seed)
    losses = reinforce_loss(leaf, all_correct, k, reduction="none", generator=generator)
    return losses.detach(), torch.autograd.grad(losses.sum(), leaf)[0]


@pytest.mark.parametrize("scale", [0.3, 1.0])
@pytest.mark.parametrize("k", [2, 4])
def test_value_and_gradient_are_unbiased(k: int, scale: float, graphs: Any) -> None:
    """The means over 4,000 draws: |z| below 5 for the value and each of 9 arcs, p = 6e-6 in all for a right estimator.

    Standard errors are 0.004 at most, of gradients of up to 0.3: without the baseline's own term p(s) f(s), or with
    trees weighted by their probabilities among those drawn, z is beyond 8 in each case.
    """
    scores = torch.from_numpy(graphs.gaussian(3, scale, seed=4))
    (loss, grad), (losses, grads) = exact(scores), estimated(scores, k)
    assert abs(float(losses.mean()) - loss) < 5 * float(losses.std()) / DRAWS**0.5
    errors = grads.std(0) / DRAWS**0.5
    counted = errors > 0
    assert int(counted.sum()) == 9
    assert ((grads.mean(0) - grad)[counted].abs() < 5 * errors[counted]).all()


def with_replacement(scores: Any, k: int, baseline: bool) -> Any:
    """Gradients of plain REINFORCE, (DRAWS, N, N): each reward as it is, or less the mean of the other k - 1."""
    leaf = scores.expand(DRAWS, 4, 4).clone().requires_grad_()
    d = TreeDistribution(leaf)
    trees = d.sample((k,), torch.Generator().manual_seed(1))
    rewards = all_correct(trees).double()
    less = (rewards.sum(0) - rewards) / (k - 1) if baseline else 0.0
    return torch.autograd.grad(-((rewards - less) * d.log_prob(trees)).sum() / k, leaf)[0]


@pytest.mark.parametrize("scale", [0.3, 1.0])
def test_variance_is_below_that_of_draws_with_replacement(scale: float, graphs: Any) -> None:
    """At k = 4, summed over arcs: below plain REINFORCE's, and below that with the others' mean as the baseline.

    Variances of 4,000 draws are right to a few per cent; the ratios are 0.5 and 0.6 on flat scores, and 0.05 on others.
    """
    scores = torch.from_numpy(graphs.gaussian(3, scale, seed=4))
    ours = float(estimated(scores, 4)[1].var(0).sum())
    assert ours < 0.8 * float(with_replacement(scores, 4, baseline=True).var(0).sum())
    assert ours < 0.8 * float(with_replacement(scores, 4, baseline=False).var(0).sum())


def test_exact_once_all_trees_are_drawn(graphs: Any) -> None:
    """In sentences of 3, 1 and 2 words, with 9, 1 and 2 trees: no noise for k = 9, and NaN for trees that are none."""
    scores = torch.from_numpy(np.array([graphs.gaussian(3, 2.0, seed) for seed in range(3)])).requires_grad_()
    lengths = torch.tensor([3, 1, 2])

    def reward(heads: Any) -> Any:
        found = (heads == torch.tensor([9, 0, 1, 2])).sum(-1).double().square()
        return torch.where((heads < 0).all(-1), torch.nan, found)

    losses = reinforce_loss(scores, reward, 9, lengths, reduction="none")
    (found,) = torch.autograd.grad(losses.sum(), scores)
    for b, n in enumerate(lengths.tolist()):
        d = TreeDistribution(scores[b], lengths[b])
        trees = torch.nn.functional.pad(
            TreeDistribution(scores[b, : n + 1, : n + 1]).enumerate_support(), (0, 3 - n), value=-1
        )
        loss = -(d.log_prob(trees).exp() * reward(trees)).sum()
        (grad,) = torch.autograd.grad(loss, scores)
        assert losses[b].item() == pytest.approx(loss.item(), rel=1e-12)
        np.testing.assert_allclose(found[b], grad[b], atol=1e-13)


def test_a_constant_changes_no_gradient(graphs: Any) -> None:
    scores = torch.from_numpy(graphs.gaussian(5)[None]).requires_grad_()
    grads = []
    for constant in (0.0, 100.0):
        generator = torch.Generator().manual_seed(2)
        loss = reinforce_loss(scores, lambda heads, c=constant: heads[..., 2] + c, 5, generator=generator)
        grads.append(torch.autograd.grad(loss, scores)[0])
    assert grads[0].any()
    np.testing.assert_allclose(*grads, atol=1e-12)


def test_gradients_of_rewards_are_followed() -> None:
    """A price for each head of word 1: its gradient is the chance of that head, once all trees are drawn."""
    prices = torch.zeros(4, dtype=torch.float64, requires_grad=True)
    scores = torch.randn(1, 4, 4, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    (grad,) = torch.autograd.grad(reinforce_loss(scores, lambda heads: prices[heads[..., 1]], 9), prices)
    np.testing.assert_allclose(grad, -TreeDistribution(scores).marginals[0, :, 1], atol=1e-14)


def test_seeds_reductions_and_types() -> None:
    scores = torch.randn(4, 6, 6, requires_grad=True)

    def loss(**how: Any) -> Any:
        torch.manual_seed(3)
        return reinforce_loss(scores, lambda heads: heads[..., 1], 3, projective=True, single_root=False, **how)

    whole = loss(reduction="none")
    assert whole.dtype == torch.float32
    assert torch.equal(whole, loss(reduction="none"))
    assert loss(reduction="sum").item() == pytest.approx(whole.sum().item(), rel=1e-6)
    assert loss().item() == pytest.approx(whole.mean().item(), rel=1e-6)
    assert torch.autograd.grad(loss(), scores)[0].isfinite().all()


def test_float32_is_rounded_once(graphs: Any) -> None:
    """Where four trees have nearly all of the probability, what is left is not taken from rounded numbers."""
    scores = torch.tensor(np.array([graphs.gaussian(5, 6.0, seed) for seed in range(20)])).float()
    grads = []
    for each in (scores, scores.double()):
        leaf, generator = each.clone().requires_grad_(), torch.Generator().manual_seed(1)
        loss = reinforce_loss(leaf, lambda heads: heads[..., 2], 4, reduction="sum", generator=generator)
        grads.append(torch.autograd.grad(loss, leaf)[0])
    np.testing.assert_allclose(*grads, rtol=1e-6, atol=1e-12)


def test_requests_that_are_refused() -> None:
    scores = torch.zeros(2, 4, 4)
    with pytest.raises(DeptreeError, match=r"k is 1, and the reward of a tree is compared"):
        reinforce_loss(scores, all_correct, 1)
    with pytest.raises(DeptreeError, match=r"log_scores have shape \(4, 4\), not \(B, N, N\)"):
        reinforce_loss(scores[0], all_correct, 2)
    with pytest.raises(DeptreeError, match=r"rewards have shape \(2,\), where heads have \(3, 2, 4\)"):
        reinforce_loss(scores, lambda heads: all_correct(heads).sum(0), 3)
