"""Masks of -1e6 to -9e14, whether trees need them or not: values and gradients of tensors against 350 digits."""

from __future__ import annotations

from typing import Any

import mpmath as mp
import numpy as np
import pytest

torch = pytest.importorskip("torch")

from torch import Tensor

from deptree_cli.core.distribution import TreeDistribution as CoreDistribution
from deptree_cli.core.errors import DeptreeError
from deptree_cli.core.spaces import SPACES
from deptree_cli.torch import TreeDistribution, log_partition, losses, marginals
from tests.masks import DIGITS, Exact, Graph, Worst, pairs

GRAPHS = 80  # 500 of each were looked at once
WITHIN = {torch.float64: 1e-10, torch.float32: 1e-5}

SETTINGS = pytest.mark.parametrize("dtype", [torch.float64, torch.float32], ids=["float64", "float32"])


def tensor(graph: Graph, dtype: torch.dtype) -> Tensor:
    return torch.tensor(graph.log_scores, dtype=dtype).requires_grad_()


def see(worst: Worst, question: str, value: Tensor, expected: Any, **gradients: tuple[Tensor, Any]) -> None:
    """A value, and its gradients in some scores."""
    worst.see(question, value.detach().double().numpy(), expected)
    for name, (scores, gradient) in gradients.items():
        found = torch.autograd.grad(value.sum(), scores, retain_graph=True)[0]
        worst.see(f"{question} by {name}", found.double().numpy(), gradient)


def questions(worst: Worst, graph: Graph, other: Graph, implementation: str, dtype: torch.dtype) -> None:
    ours, theirs = tensor(graph, dtype), tensor(other, dtype)
    trees = {"single_root": graph.space.single_root, "projective": graph.space.projective}
    how = {**trees, "implementation": implementation}
    p, q = (TreeDistribution(scores, **how) for scores in (ours, theirs))
    exact, their = Exact.of(graph), Exact.of(other)
    heads = torch.tensor(np.pad(exact.trees, [(0, 0), (1, 0)], constant_values=-1)).long()
    arcs = np.zeros((len(exact.trees), graph.n + 1, graph.n + 1))
    np.put_along_axis(arcs[:, :, 1:], exact.trees[:, None], 1.0, 1)
    values = np.round(np.random.default_rng(graph.n).normal(size=ours.shape) * 8) / 8
    sums = exact.sums(values)
    surprisals = -exact.covariances(exact.log_probs)
    by_sum = {"scores": (ours, (arcs - exact.marginals).sum(0))}
    see(worst, "log_partition", log_partition(ours, **how), exact.log_z, scores=(ours, exact.marginals))
    see(worst, "log_partition of a distribution", p.log_partition, exact.log_z, scores=(ours, exact.marginals))
    see(worst, "marginals", marginals(ours, **how), exact.marginals)
    weighted = (marginals(ours, **how) * torch.tensor(values, dtype=dtype)).sum()
    see(worst, "expectation", weighted, exact.expectation(sums), scores=(ours, exact.covariances(sums)))
    see(worst, "marginals of a distribution", p.marginals, exact.marginals)
    see(worst, "log_prob", p.log_prob(heads), exact.log_probs, **by_sum)
    see(worst, "entropy", p.entropy(), exact.entropy, scores=(ours, surprisals))
    log_q = exact.under(their)
    if log_q is None:
        assert p.kl(q).isinf()
        assert p.cross_entropy(q).isinf()
    else:
        with mp.workdps(DIGITS):
            ratios = [x - y for x, y in zip(exact.log_probs, log_q, strict=True)]
        moved = theirs, their.marginals - exact.marginals
        see(worst, "kl", p.kl(q), exact.expectation(ratios), scores=(ours, exact.covariances(ratios)), other=moved)
        expected, gradient = -exact.expectation(log_q), -exact.covariances(log_q)
        see(worst, "cross-entropy", p.cross_entropy(q), expected, scores=(ours, gradient), other=moved)
    best = p.top_k(3)
    known = dict(zip(map(tuple, exact.trees.tolist()), exact.log_probs, strict=True))
    ranked = sorted(known.values(), reverse=True)[:3]
    worst.see("top_k", best.log_probs[: len(ranked)].detach().double().numpy(), ranked)
    of_losses(worst, graph, exact, ours, how)


def of_losses(worst: Worst, graph: Graph, exact: Exact, ours: Tensor, how: dict[str, Any]) -> None:
    batch = ours[None]
    tree = exact.trees[len(exact.trees) // 2]
    heads = torch.tensor([[-1, *tree.tolist()]])
    one_hot = (heads == torch.arange(graph.n + 1)[:, None]).double()
    with mp.workdps(DIGITS):
        log_prob = exact.log_probs[len(exact.trees) // 2]
        found = losses.negative_log_likelihood(batch, heads, reduction="sum", **how)
        see(worst, "negative log-likelihood", found, -log_prob, scores=(ours, exact.marginals - one_hot.numpy()))
        partial = heads.clone()
        partial[0, 1:-1] = -1
        same = [number for number, other in enumerate(exact.trees) if other[-1] == tree[-1]]
        highest = max(exact.log_probs[number] for number in same)
        below = [exact.log_probs[number] - highest for number in same]
        log_given = highest + mp.log(mp.fsum(mp.exp(x) for x in below if x > -790))
    given = Graph(np.where(_fixed(graph, tree), graph.log_scores, -np.inf), graph.space)
    moved = exact.marginals - Exact.of(given).marginals
    found = losses.partial_annotation_loss(batch, partial, reduction="sum", **how)
    see(worst, "partial annotation", found, -log_given, scores=(ours, moved))
    found = losses.entropy_regularisation(batch, reduction="sum", **how)
    see(worst, "entropy loss", found, exact.entropy, scores=(ours, -exact.covariances(exact.log_probs)))
    wrong = (exact.trees != tree).sum(1).tolist()
    found = losses.minimum_risk_loss(batch, heads, reduction="sum", **how)
    see(worst, "risk", found, exact.expectation(wrong), scores=(ours, exact.covariances(wrong)))


def _fixed(graph: Graph, tree: np.ndarray) -> np.ndarray:
    """All arcs but those that give the last word another head."""
    kept = np.ones_like(graph.log_scores, dtype=bool)
    kept[:, -1] = np.arange(graph.n + 1) == tree[-1]
    return kept


@SETTINGS
@pytest.mark.parametrize("implementation", ["kernels", "device"])
def test_every_question(implementation: str, dtype: torch.dtype) -> None:
    """Errors of at most 1e-10, of float32 1e-5, absolute below 1 and relative above."""
    worst = Worst()
    spaces = [each for each in SPACES if implementation == "kernels" or not each.projective]
    kind = np.float32 if dtype == torch.float32 else np.float64
    for graph, other in pairs(GRAPHS, spaces=spaces, dtype=kind):
        questions(worst, graph, other, implementation, dtype)
    worst.check(WITHIN[dtype])


CYCLE = [[0, -9e14, -9e14, 0.3], [0, 0, 0.7, -9e14], [0, -0.4, 0, -9e14], [0, -9e14, -9e14, 0]]
ENTROPY = 0.5620492089608015


def test_compiled() -> None:
    """Where nothing can be looked at before it runs: the same numbers, in one graph."""
    scores = torch.tensor([CYCLE, np.zeros((4, 4)).tolist()], dtype=torch.float64).requires_grad_()
    heads = torch.tensor([[-1, 3, 1, 0], [-1, 0, 1, 1]])

    def loss(scores: Tensor) -> Tensor:
        d = TreeDistribution(scores)
        other = losses.negative_log_likelihood(scores, heads) + losses.partial_annotation_loss(scores, heads)
        return (d.entropy() - d.log_prob(heads)).sum() + other

    for function in (loss, torch.compile(loss, fullgraph=True, backend="aot_eager")):
        value = function(scores)
        assert value.item() == pytest.approx(loss(scores).item(), rel=1e-14)
        (gradient,) = torch.autograd.grad(value, scores)
        torch.testing.assert_close(gradient, torch.autograd.grad(loss(scores), scores)[0], rtol=1e-12, atol=1e-14)
    assert TreeDistribution(scores).entropy()[0].item() == pytest.approx(ENTROPY, abs=1e-14)


@pytest.mark.parametrize("mask", [-1e6, -1e12, -9e14])
def test_divergence_where_both_need_the_same_mask(mask: float) -> None:
    """The masks leave the differences of scores, but not the two log Z, whose difference core has with pairs."""
    ours, theirs = (np.where(np.array(CYCLE) == -9e14, mask, CYCLE) for _ in range(2))
    theirs[1, 2] = -0.9
    expected = CoreDistribution(ours).kl(CoreDistribution(theirs))
    assert expected > 0.1
    found = TreeDistribution(torch.tensor(ours)).kl(TreeDistribution(torch.tensor(theirs)))
    assert found.item() == pytest.approx(expected, abs=1e-14)


@pytest.mark.parametrize("mask", [-5.1e14, -9e14, -9.97e14])
def test_no_sentence_is_refused_that_has_trees(mask: float) -> None:
    """Down to where masks forbid, as core has it."""
    scores = torch.tensor(CYCLE, dtype=torch.float64)
    scores[scores == -9e14] = mask
    d = TreeDistribution(scores)
    assert d.entropy().item() == pytest.approx(ENTROPY, abs=1e-14)
    assert log_partition(scores).item() == d.log_partition.item() == pytest.approx(mask, rel=1e-14)


def test_second_derivatives_are_refused_where_masks_count() -> None:
    scores = torch.tensor(CYCLE, dtype=torch.float64).requires_grad_()
    with pytest.raises(DeptreeError, match=r"differentiated twice where trees need masks\. Forbid arcs by -inf"):
        torch.autograd.grad(TreeDistribution(scores).entropy(), scores, create_graph=True)
