"""Losses against their definitions by enumeration, their gradients against finite differences, and what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from deptree_cli.core.errors import DeptreeError
from deptree_cli.torch import losses
from deptree_cli.torch.distribution import TreeDistribution

# All but `reinforce_loss`, which draws trees: test_reinforce.py.
FUNCTIONS = {name: getattr(losses, name) for name in losses.__all__ if name != "reinforce_loss"}


def of_sentences(batch: Any, function: Any, *args: Any, **how: Any) -> Any:
    return function(batch.log_scores, *args, lengths=batch.lengths, **batch.how, reduction="none", **how)


def some_features(batch: Any) -> Any:
    """Two features an arc, (B, 2, N, N), NaN where no arc counts."""
    values = np.random.default_rng(7).normal(size=(len(batch.lengths), 2, 5, 5))
    values[~np.broadcast_to(batch.counted()[:, None], values.shape)] = np.nan
    return torch.from_numpy(values)


def arguments(batch: Any) -> dict[str, tuple[Any, ...]]:
    """What each loss takes besides log-scores: trees of positive probability, every second word of them, features."""
    heads = batch.heads([each.trees[-1] for each in batch.oracles], torch, fill=9)
    partial = heads.clone()
    partial[:, ::2] = -1
    features = some_features(batch)
    return {
        "negative_log_likelihood": (heads,),
        "partial_annotation_loss": (partial,),
        "minimum_risk_loss": (partial,),
        "expected_cost": (features[:, 0],),
        "entropy_regularisation": (),
        "generalised_expectation_loss": (features, torch.tensor([0.3, -0.2], dtype=torch.float64)),
    }


def test_every_loss_is_tested(flat: Any) -> None:
    assert arguments(flat).keys() == FUNCTIONS.keys()


def test_values(padded: Any) -> None:
    """Each by its definition, over every tree."""
    given = arguments(padded)
    found = {name: of_sentences(padded, FUNCTIONS[name], *args) for name, args in given.items()}
    features = given["generalised_expectation_loss"][0].numpy()
    heads, partial = given["negative_log_likelihood"][0].numpy(), given["partial_annotation_loss"][0].numpy()
    for b, oracle in enumerate(padded.oracles):
        words = np.arange(1, oracle.trees.shape[1] + 1)
        probs, known = np.exp(oracle.log_probs), partial[b, words] >= 0
        right = oracle.trees == heads[b, words]
        means = probs @ features[b][:, oracle.trees, words].sum(-1).T
        consistent = np.logaddexp.reduce(oracle.log_probs[right[:, known].all(1)])
        expected = {
            "negative_log_likelihood": -oracle.log_probs[right.all(1)].item(),
            "partial_annotation_loss": -min(consistent, 0.0),
            "minimum_risk_loss": probs @ (~right[:, known]).sum(1),
            "expected_cost": means[0],
            "entropy_regularisation": -probs @ oracle.log_probs,
            "generalised_expectation_loss": 0.5 * np.square(means - [0.3, -0.2]).sum(),
        }
        for name, value in expected.items():
            assert float(found[name][b]) == pytest.approx(value, rel=1e-12, abs=1e-12), name


@pytest.mark.parametrize("name", FUNCTIONS)
def test_gradients(holes: Any, name: str) -> None:
    """By finite differences, forbidden arcs and padding among the inputs; 0 there, exactly."""
    args = arguments(holes)[name]

    def loss(scores: Any) -> Any:
        return FUNCTIONS[name](scores, *args, holes.lengths, **holes.how, reduction="none")

    scores = holes.log_scores.clone().requires_grad_()
    assert torch.autograd.gradcheck(loss, (scores,), atol=1e-6)
    (found,) = torch.autograd.grad(loss(scores).sum(), scores)
    assert found.isfinite().all()
    assert not found[torch.from_numpy(~holes.counted())].any()


@pytest.mark.parametrize("name", FUNCTIONS)
def test_reductions(flat: Any, name: str) -> None:
    """The sum, and the mean over words; of distances from targets, over sentences. In the type of the scores."""
    args = arguments(flat)[name]
    scores = flat.log_scores.float()

    def loss(reduction: str) -> Any:
        return FUNCTIONS[name](scores, *args, flat.lengths, **flat.how, reduction=reduction)

    whole = loss("none")
    assert whole.shape == (4,)
    assert whole.dtype == loss("mean").dtype == torch.float32
    assert float(loss("sum")) == pytest.approx(float(whole.sum()), rel=1e-6)
    count = 4 if name == "generalised_expectation_loss" else int(flat.lengths.sum())
    assert float(loss("mean")) == pytest.approx(float(whole.sum()) / count, rel=1e-6)
    with pytest.raises(DeptreeError, match=r"unknown reduction 'average'. Choose one of mean, sum, none"):
        loss("average")


def test_partial_annotation_between_its_extremes(flat: Any) -> None:
    """Nothing known: 0, and no gradient; all known: the likelihood of the tree."""
    heads = flat.heads([each.trees[0] for each in flat.oracles], torch)
    scores = flat.log_scores.clone().requires_grad_()
    nothing = losses.partial_annotation_loss(scores, torch.full_like(heads, -1), flat.lengths, **flat.how)
    (grad,) = torch.autograd.grad(nothing, scores)
    assert nothing.item() == 0.0
    assert not grad.any()
    found = of_sentences(flat, losses.partial_annotation_loss, heads)
    np.testing.assert_allclose(found, of_sentences(flat, losses.negative_log_likelihood, heads), rtol=1e-12, atol=1e-13)


def test_expectations_over_a_corpus(flat: Any) -> None:
    """Pooled, features of all sentences are summed before they are compared with the targets."""
    features, targets = arguments(flat)["generalised_expectation_loss"]
    means = [of_sentences(flat, losses.expected_cost, features[:, r]) for r in range(2)]
    expected = 0.5 * sum((float(mean.sum()) - float(target)) ** 2 for mean, target in zip(means, targets, strict=True))
    for reduction in ("mean", "none"):
        how = {"lengths": flat.lengths, **flat.how, "pooled": True, "reduction": reduction}
        found = losses.generalised_expectation_loss(flat.log_scores, features, targets, **how)
        assert float(found) == pytest.approx(expected, rel=1e-12)
    shared = losses.generalised_expectation_loss(flat.log_scores, torch.ones(1, 5, 5), torch.zeros(1), flat.lengths)
    assert float(shared) == pytest.approx(0.5 * float((flat.lengths**2).double().mean()))  # as many arcs as words


def test_costs_have_gradients(flat: Any) -> None:
    """They are the marginals."""
    costs = torch.randn(5, 5, dtype=torch.float64, requires_grad=True)
    (grad,) = torch.autograd.grad(of_sentences(flat, losses.expected_cost, costs).sum(), costs)
    marginals = TreeDistribution(flat.log_scores, flat.lengths, **flat.how).marginals
    np.testing.assert_allclose(grad, marginals.sum(0), atol=1e-13)


@pytest.mark.parametrize("loss", [losses.negative_log_likelihood, losses.partial_annotation_loss])
def test_no_loss_is_negative(loss: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of 200 near-certain trees in float64, several would be, by rounding."""
    scores = torch.from_numpy(np.random.default_rng(1).normal(size=(200, 6, 6)) * 200)
    heads = TreeDistribution(scores).argmax
    assert (loss(scores, heads, reduction="none") >= 0).all()
    monkeypatch.setattr(losses, "at_least_zero", lambda values: values)
    assert (loss(scores, heads, reduction="none") < 0).any()


def test_large_scales_in_float32(graphs: Any) -> None:
    """Losses are finite, not negative, and pull where they should: towards a gold tree with almost no probability."""
    scores = torch.tensor(np.array([graphs.gaussian(8, scale) for scale in (1, 20, 100, 200)])).float().requires_grad_()
    worst = TreeDistribution(-scores.detach()).argmax
    for name in ("negative_log_likelihood", "partial_annotation_loss", "minimum_risk_loss", "entropy_regularisation"):
        args = () if name == "entropy_regularisation" else (worst,)
        found = FUNCTIONS[name](scores, *args, reduction="none")
        (grad,) = torch.autograd.grad(found.sum(), scores)
        assert found.isfinite().all(), name
        assert (found >= 0).all(), name
        assert grad.isfinite().all(), name
    (grad,) = torch.autograd.grad(losses.negative_log_likelihood(scores, worst, reduction="sum"), scores)
    assert (grad.gather(1, worst[:, None].clamp(min=0))[:, 0, 1:] < 0.01).all()


@pytest.mark.parametrize(
    ("name", "heads", "message"),
    [
        (
            "negative_log_likelihood",
            [[0, 0, 1, 1], [0, 2, 0, -1]],
            "the head of word 3 is -1, missing. For partial",
        ),
        (
            "negative_log_likelihood",
            [[0, 0, 1, 1], [0, 2, 1, 0]],
            "the gold heads are not a tree of this space, or have an arc that the scores forbid. "
            "Correct them, or allow their arcs, or pass single_root=False.",
        ),
        (
            "negative_log_likelihood",
            [[0, 0, 1, 1], [0, 0, 0, 1]],
            "the gold heads are not a tree of this space, or have",
        ),
        (
            "negative_log_likelihood",
            [[0, 0, 1, 1], [0, 3, 0, 2]],
            "the gold heads are not a tree of this space, or have",
        ),
        ("minimum_risk_loss", [[0, 0, 1, 1], [0, -1, 4, -1]], "the head of word 2 is 4. Give 0 for ROOT, or another"),
        (
            "partial_annotation_loss",
            [[0, 0, 1, 1], [0, -1, 2, -1]],
            "the head of word 2 is 2. Give 0 for ROOT",
        ),
        ("partial_annotation_loss", [[0, 0, 1, 1], [0, 2, 1, -1]], "no single-root tree is possible"),
        ("partial_annotation_loss", [[0, 0, 1, 1], [0, 3, -1, -1]], "no single-root tree is possible"),
    ],
)
def test_known_heads_are_refused(name: str, heads: list[list[int]], message: str) -> None:
    """The sentence and what is wrong: unknown, no tree, two roots, an arc that is forbidden, no such head."""
    scores = torch.zeros(2, 4, 4)
    scores[1, 3, 1] = -torch.inf
    with pytest.raises(DeptreeError) as error:
        FUNCTIONS[name](scores, torch.tensor(heads))
    assert str(error.value).startswith(f"sentence 1 of the batch: {message}")
    assert name != "partial_annotation_loss" or "annotated heads" in str(error.value) or "Give 0" in str(error.value)


def test_shapes_are_refused() -> None:
    with pytest.raises(DeptreeError, match=r"heads are torch.int64 of shape \(2, 3\), not integers of \(2, 4\)"):
        losses.minimum_risk_loss(torch.zeros(2, 4, 4), torch.zeros(2, 3, dtype=torch.int64))
    with pytest.raises(DeptreeError, match=r"log_scores have shape \(4, 4\), not \(B, N, N\)"):
        losses.entropy_regularisation(torch.zeros(4, 4))


@pytest.mark.parametrize("name", FUNCTIONS)
def test_compiled(name: str, graphs: Any) -> None:
    """`torch.compile` without a break in the graph: the same values and gradients; infinity for what is not a tree."""
    scores = torch.tensor(np.array([graphs.gaussian(3, seed=seed) for seed in range(2)]), requires_grad=True)
    heads, lengths = torch.tensor([[0, 0, 1, 1], [0, 2, 0, -1]]), torch.tensor([3, 2])
    args = {"expected_cost": (scores.detach(),), "entropy_regularisation": ()}.get(name, (heads,))
    args = (torch.ones(2, 4, 4), torch.zeros(2)) if name == "generalised_expectation_loss" else args
    compiled = torch.compile(FUNCTIONS[name], fullgraph=True, backend="aot_eager")
    for function in (FUNCTIONS[name], compiled):
        value = function(scores, *args, lengths)
        grad = torch.autograd.grad(value, scores)[0]
        assert value.item() == pytest.approx(FUNCTIONS[name](scores, *args, lengths).item(), rel=1e-14)
        assert grad.any()
    if name == "negative_log_likelihood":
        assert compiled(scores, torch.zeros_like(heads), lengths, reduction="none").isinf().all()
