"""What is drawn and decoded, as tensors of any batch shape: against enumeration, by seed, and in place."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from scipy import stats

torch = pytest.importorskip("torch")

from deptree_cli.core.errors import DeptreeError
from deptree_cli.torch.distribution import TreeDistribution
from deptree_cli.torch.ops import heads_to_arcs


def distribution(batch: Any, **how: Any) -> TreeDistribution:
    return TreeDistribution(batch.log_scores, batch.lengths, **batch.how, **how)


def test_best_trees(padded: Any) -> None:
    """The most probable, all of them in order, and the one with the highest sum of marginals."""
    d = distribution(padded)
    best = d.top_k(30)
    assert best.trees.shape == (30, 4, 5)
    assert torch.equal(d.mode, d.argmax)
    for b, oracle in enumerate(padded.oracles):
        n, count = padded.sentences[b].n, min(len(oracle.trees), 30)
        order = np.sort(oracle.log_probs)[::-1][:count]
        np.testing.assert_allclose(best.log_probs[:count, b], order, rtol=1e-13, atol=1e-12)
        assert float(d.log_prob(d.argmax)[b]) == pytest.approx(order[0], abs=1e-12)
        assert (best.log_probs[count:, b] == -1e30).all()
        assert (best.trees[count:, b] == -1).all()
        assert (best.trees[:count, b, n + 1 :] == -1).all()
        right = oracle.marginals()[oracle.trees, np.arange(1, n + 1)].sum(1)
        assert oracle.marginals()[d.mbr[b, 1 : n + 1], np.arange(1, n + 1)].sum() == pytest.approx(
            right.max(), abs=1e-12
        )


@pytest.mark.parametrize("event", ["heads", "arcs"])
def test_samples_follow_the_distribution(flat: Any, event: str) -> None:
    """Chi-square against enumeration, 20,000 trees a sentence; p at least 1e-4 of 4 sentences in each of 8 cases.

    Trees that are expected fewer than 5 times are counted together; a right sampler fails at 1 of 300 seeds in all, and
    this one is not among them.
    """
    torch.manual_seed(3)
    samples = distribution(flat, event=event).sample((20_000,))
    heads = samples if event == "heads" else torch.where(samples.any(-2), samples.argmax(-2), -1)
    for b, oracle in enumerate(flat.oracles):
        n = oracle.trees.shape[1]
        assert (heads[:, b, [0, *range(n + 1, 5)]] == -1).all()
        counted = dict(zip(*_unique(heads[:, b, 1 : n + 1]), strict=True))
        found = np.array([counted.pop(tuple(tree), 0) for tree in oracle.trees.tolist()])
        assert not counted
        expected = np.exp(oracle.log_probs) * 20_000
        rare = expected < 5
        found, expected = (np.append(each[~rare], each[rare].sum()) for each in (found, expected))
        kept = expected > 0
        assert stats.chisquare(found[kept], expected[kept]).pvalue > 1e-4 if kept.sum() > 1 else True


def _unique(heads: Any) -> tuple[list[tuple[int, ...]], list[int]]:
    trees, counts = heads.unique(dim=0, return_counts=True)
    return [tuple(tree) for tree in trees.tolist()], counts.tolist()


def test_seeds(graphs: Any) -> None:
    """`torch.manual_seed` or a generator decides, and a sentence's trees do not depend on those behind it."""
    scores = torch.from_numpy(np.array([graphs.gaussian(5, seed=seed) for seed in range(3)]))
    d, first = TreeDistribution(scores), TreeDistribution(scores[:2])
    for draw in (lambda d, **how: d.sample((50,), **how), lambda d, **how: d.sample_without_replacement(50, **how)[0]):
        torch.manual_seed(5)
        one, two = draw(d), draw(d)
        torch.manual_seed(5)
        assert torch.equal(one, draw(d))
        assert not torch.equal(one, two)
        torch.manual_seed(5)
        assert torch.equal(one[:, :2], draw(first))
        by_generator = [draw(d, generator=torch.Generator().manual_seed(8)) for _ in range(2)]
        assert torch.equal(*by_generator)
        assert not torch.equal(one, by_generator[0])


def test_numpys_own_state_is_left_alone() -> None:
    state = np.random.get_state()[1].copy()
    TreeDistribution(torch.zeros(2, 4, 4)).sample((3,))
    np.testing.assert_array_equal(state, np.random.get_state()[1])


def test_distinct_trees(padded: Any) -> None:
    """All of them where there are fewer than asked for: their weights are their probabilities."""
    d = distribution(padded)
    counts = [len(oracle.trees) for oracle in padded.oracles]
    for k in (2, 130):
        drawn = d.sample_without_replacement(k)
        assert drawn.exhausted.tolist() == [count <= k for count in counts]
        for b, (oracle, count) in enumerate(zip(padded.oracles, counts, strict=True)):
            n, found = oracle.trees.shape[1], min(count, k)
            rows = [tuple(row) for row in drawn.trees[:found, b, 1 : n + 1].tolist()]
            exact = dict(zip(map(tuple, oracle.trees.tolist()), oracle.log_probs, strict=True))
            assert len(set(rows)) == found
            np.testing.assert_allclose(drawn.log_probs[:found, b], [exact[row] for row in rows], rtol=1e-12, atol=1e-11)
            assert (drawn.trees[found:, b] == -1).all()
            assert not drawn.weights[found:, b].any()
            assert (drawn.log_probs[found:, b] == -1e30).all()
            if count <= k:
                np.testing.assert_allclose(drawn.weights[:found, b], drawn.log_probs[:found, b].exp(), rtol=1e-12)


def test_weights_of_distinct_trees_are_unbiased(graphs: Any) -> None:
    """The mean over 4,000 draws of 3 trees estimates all marginals: |z| below 5 for each of 9 arcs (p = 5e-6)."""
    scores = torch.from_numpy(graphs.gaussian(3, 1.5))
    d = TreeDistribution(scores).expand((4000,))
    drawn = d.sample_without_replacement(3, torch.Generator().manual_seed(1))
    found = (drawn.weights[..., None, None] * heads_to_arcs(drawn.trees, torch.float64)).sum(0)
    z = (found.mean(0) - d[0].marginals) / (found.std(0) / 4000**0.5)
    assert (z[torch.isfinite(torch.from_numpy(graphs.uniform(3)))].abs() < 5).all()


def test_log_probs_of_distinct_trees_are_differentiable(holes: Any) -> None:
    """The same gradient as that of `log_prob`; padded trees, of weight 0, add nothing, and are no NaN in a sum."""
    scores = holes.log_scores.clone().requires_grad_()
    d = TreeDistribution(scores, holes.lengths, **holes.how)
    drawn = d.sample_without_replacement(5)
    surrogate = (drawn.weights * drawn.log_probs).sum()
    (found,) = torch.autograd.grad(surrogate, scores, retain_graph=True)
    expected = torch.zeros_like(found)
    for k, b in itertools.product(range(5), range(4)):
        if drawn.weights[k, b] > 0:
            (part,) = torch.autograd.grad(d[b].log_prob(drawn.trees[k, b]), scores, retain_graph=True)
            expected += drawn.weights[k, b] * part
    assert surrogate.isfinite()
    assert not drawn.weights.requires_grad
    np.testing.assert_allclose(found, expected, atol=1e-13)


@pytest.mark.parametrize("shape", [(), (2, 3), (0,), (1, 1, 2)])
@pytest.mark.parametrize("event", ["heads", "arcs"])
def test_shapes(shape: tuple[int, ...], event: str) -> None:
    """Everything has the sample's shape, the batch's and the event's, as of all of PyTorch's distributions."""
    own = (4,) if event == "heads" else (4, 4)
    d = TreeDistribution(torch.randn(*shape, 4, 4), event=event)
    assert (d.batch_shape, d.event_shape) == (shape, own)
    assert d.sample().shape == d.argmax.shape == d.mbr.shape == shape + own
    sample = d.sample((5, 2))
    assert sample.shape == (5, 2, *shape, *own)
    assert sample.dtype == (torch.int64 if event == "heads" else torch.float32)
    assert d.log_prob(sample).shape == (5, 2, *shape)
    assert d.support.check(sample).all()
    assert d.top_k(3).trees.shape == d.sample_without_replacement(3).trees.shape == (3, *shape, *own)
    assert d.log_partition.shape == d.entropy().shape == d.perplexity().shape == shape
    assert d.marginals.shape == (*shape, 4, 4)
    assert d.enumerate_support().shape == (9, *shape, *own)
    few = d.enumerate_support(expand=False)
    assert few.shape == (9, *(1 for _ in shape), *own)
    assert d.log_prob(few).shape == (9, *shape)
    assert d.log_prob(d.sample((0,))).shape == (0, *shape)
    assert d.expand((2, *shape)).sample().shape == (2, *shape, *own)


def test_parts_of_a_batch(flat: Any) -> None:
    """Sentences by index, slice or mask are distributions themselves, and a gradient finds its way back."""
    d = distribution(flat)
    for index in (2, slice(1, 3), torch.tensor([True, False, False, True]), [3, 3], (None, 1), ...):
        np.testing.assert_array_equal(d[index].log_partition, d.log_partition[index])
        assert d[index].batch_shape == d.log_partition[index].shape
    circle = torch.tensor([-1, 2, 1])
    assert TreeDistribution(torch.zeros(2, 3, 3), validate_args=False)[1].log_prob(circle).isneginf()
    with pytest.raises(ValueError, match="to be within the support"):
        TreeDistribution(torch.zeros(2, 3, 3), validate_args=True)[1].log_prob(circle)
    scores = torch.zeros(2, 3, 3, requires_grad=True)
    TreeDistribution(scores)[1].log_partition.backward()
    assert scores.grad is not None
    assert not scores.grad[0].any()
    assert scores.grad[1].any()


def test_means_and_precision() -> None:
    """Arcs have a mean, heads have none; half precision comes back as float32, and its gradient as it was."""
    scores = torch.randn(2, 4, 4, dtype=torch.bfloat16).requires_grad_()
    d = TreeDistribution(scores, event="arcs")
    assert torch.equal(d.mean, d.marginals)
    assert d.mean.dtype == d.log_prob(d.sample()).dtype == torch.float32
    assert d.sample().dtype == torch.bfloat16
    (grad,) = torch.autograd.grad(d.entropy().sum(), scores)
    assert grad.dtype == torch.bfloat16
    with pytest.raises(DeptreeError, match="the heads of words are names, which have no mean"):
        _ = TreeDistribution(scores).mean
    assert repr(d) == "TreeDistribution(log_scores: torch.Size([2, 4, 4]), lengths: torch.Size([2]))"


def test_requests_that_are_refused() -> None:
    no_tree = torch.zeros(3, 4, 4)
    no_tree[1, :, 2] = -torch.inf
    nan = torch.zeros(2, 4, 4)
    nan[1, 0, 2] = torch.nan
    for scores, message in ((no_tree, "no single-root tree is possible"), (nan, r".* is NaN.*= -np\.inf\.")):
        for ask in (lambda d: d.argmax, lambda d: d.sample(), lambda d: d.log_partition):
            with pytest.raises(DeptreeError, match=f"sentence 1 of the batch: {message}"):
                ask(TreeDistribution(scores))
    with pytest.raises(TypeError, match=r"unexpected keyword argument 'multiroot'.*single_root=False"):
        TreeDistribution(no_tree, multiroot=True)  # type: ignore[call-arg]
    with pytest.raises(DeptreeError, match=r"unknown event 'head'. Choose one of heads, arcs"):
        TreeDistribution(no_tree, event="head")
    with pytest.raises(DeptreeError, match="6 words have too many trees to enumerate"):
        TreeDistribution(torch.zeros(7, 7)).enumerate_support()
    with pytest.raises(DeptreeError, match="sentences of differing lengths have differing trees"):
        TreeDistribution(torch.zeros(2, 4, 4), torch.tensor([3, 2])).enumerate_support()
