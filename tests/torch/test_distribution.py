"""The distribution's sums, log-probabilities and derivatives, against enumeration and finite differences."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from deptree_cli.core.distribution import TreeDistribution as Sentence
from deptree_cli.core.errors import DeptreeError
from deptree_cli.core.spaces import SPACES, TreeSpace
from deptree_cli.torch import distribution as module
from deptree_cli.torch.distribution import TreeDistribution
from deptree_cli.torch.ops import heads_to_arcs


def distribution(batch: Any, scores: Any = None, **how: Any) -> TreeDistribution:
    return TreeDistribution(batch.log_scores if scores is None else scores, batch.lengths, **batch.how, **how)


def gradient(function: Any, scores: Any) -> Any:
    """Of the sum of what a function returns, at a copy of the scores."""
    leaf = scores.detach().clone().requires_grad_()
    (found,) = torch.autograd.grad(function(leaf).sum(), leaf)
    return found


def test_sums(padded: Any) -> None:
    """log Z, marginals and entropy are those of the enumerated trees; padding has a marginal of 0."""
    d = distribution(padded)
    expected = np.zeros(padded.log_scores.shape)
    for b, oracle in enumerate(padded.oracles):
        n = padded.sentences[b].n
        expected[b, : n + 1, : n + 1] = oracle.marginals()
        assert float(d.log_partition[b]) == pytest.approx(oracle.log_z, rel=1e-14, abs=1e-13)
        probs = np.exp(oracle.log_probs)
        assert float(d.entropy()[b]) == pytest.approx(-(probs * oracle.log_probs).sum(), abs=1e-12)
    np.testing.assert_allclose(d.marginals, expected, rtol=0, atol=1e-13)
    assert (d.entropy() >= 0).all()


@pytest.mark.parametrize("event", ["heads", "arcs"])
def test_log_prob_of_every_tree(padded: Any, event: str) -> None:
    """Probabilities sum to 1, trees with forbidden arcs have none; heads of ROOT and padding do not matter."""
    d = distribution(padded, event=event)
    for b, (sentence, oracle) in enumerate(zip(padded.sentences, padded.oracles, strict=True)):
        exact = dict(zip(map(tuple, oracle.trees.tolist()), oracle.log_probs.tolist(), strict=True))
        heads = distribution(padded)[b].enumerate_support()
        rows = map(tuple, heads[:, 1 : sentence.n + 1].tolist())
        expected = [exact.get(row, -np.inf) for row in rows]
        heads[:, 0] = 5
        value = heads if event == "heads" else heads_to_arcs(heads)
        found = d[b].log_prob(value)
        np.testing.assert_allclose(found, expected, rtol=1e-13, atol=1e-12)
        weights = d[b].unnormalized_log_prob(value)
        np.testing.assert_allclose(weights, np.array(expected) + oracle.log_z, rtol=1e-13, atol=1e-12)
        assert float(found.max()) <= 0.0
        assert float(found.exp().sum()) == pytest.approx(1.0, abs=1e-12)


def test_log_prob_of_what_is_no_tree(flat: Any) -> None:
    """-inf, with a gradient of 0; an error as of PyTorch's own distributions where arguments are validated."""
    good = flat.heads([each.trees[0] for each in flat.oracles], torch)
    circle = good.clone()
    circle[0, 1:5] = torch.tensor([2, 1, 0, 3])
    d = distribution(flat, validate_args=False)
    found = d.log_prob(torch.stack([circle, good]))
    assert found.isneginf().tolist() == [[True, False, False, False], [False] * 4]
    grad = gradient(
        lambda scores: distribution(flat, scores, validate_args=False).log_prob(circle)[1:], flat.log_scores
    )
    assert not grad[0].any()
    assert grad[2:].any(-1).any(-1).all()
    assert not gradient(
        lambda x: distribution(flat, x, validate_args=False).log_prob(circle)[:1], flat.log_scores
    ).any()
    checked = distribution(flat, validate_args=True)  # `torch.compile` turns PyTorch's default off
    with pytest.raises(ValueError, match="to be within the support"):
        checked.log_prob(circle)
    with pytest.raises(ValueError, match="must match event_shape"):
        checked.log_prob(circle[:, :4])
    with pytest.raises(DeptreeError, match=r"heads are of type torch.float32. Give integers"):
        distribution(flat).log_prob(circle.float())
    np.testing.assert_array_equal(distribution(flat).log_prob(good.to(torch.int8)), d.log_prob(good))


def test_given_heads(flat: Any) -> None:
    """Bayes' rule: the trees that have the known heads keep the proportions of their probabilities."""
    known = flat.heads([np.where(np.arange(len(each.trees[0])) % 2, each.trees[0], -1) for each in flat.oracles], torch)
    d = distribution(flat).given(known)
    for b, oracle in enumerate(flat.oracles):
        own = known[b, 1 : oracle.trees.shape[1] + 1].numpy()
        have = ((oracle.trees == own) | (own < 0)).all(1)
        expected = np.where(have, oracle.log_probs - np.logaddexp.reduce(oracle.log_probs[have]), -np.inf)
        trees = torch.nn.functional.pad(torch.from_numpy(oracle.trees), (1, 4 - oracle.trees.shape[1]))
        np.testing.assert_allclose(d[b].log_prob(trees), expected, atol=1e-12)
        assert float(d.log_count[b].exp()) == pytest.approx(have.sum(), rel=1e-12)


def test_divergences(padded: Any, graphs: Any) -> None:
    """Against enumeration, in both directions of a pair with the same trees."""
    d, other = distribution(padded), distribution(padded, padded.log_scores * 0.5 + 0.1)
    for b, (sentence, oracle) in enumerate(zip(padded.sentences, padded.oracles, strict=True)):
        probs = np.exp(oracle.log_probs)
        theirs = Sentence(sentence.log_scores * 0.5 + 0.1, **padded.how).log_probs(oracle.trees)
        assert float(d.cross_entropy(other)[b]) == pytest.approx(-(probs * theirs).sum(), rel=1e-13, abs=1e-12)
        expected = (probs * (oracle.log_probs - theirs)).sum()
        assert float(torch.distributions.kl_divergence(d, other)[b]) == pytest.approx(expected, rel=1e-12, abs=1e-12)
    assert (d.kl(d) == 0).all()
    assert (d.kl(other) >= 0).all()


def test_divergences_of_neighbours_are_curved(graphs: Any) -> None:
    """What rounding takes below 0 is mended in values only: at a divergence of 0 its Hessian is that of log Z."""
    scores = torch.from_numpy(graphs.gaussian(3, 2.0)).nan_to_num(neginf=0.0)[None]
    fixed = TreeDistribution(scores)
    hessian = torch.autograd.functional.hessian
    found = hessian(lambda x: fixed.kl(TreeDistribution(x)).sum(), scores)
    expected = hessian(lambda x: TreeDistribution(x).log_partition.sum(), scores)
    assert expected.abs().max() > 0.1
    torch.testing.assert_close(found, expected, rtol=0, atol=1e-13)


def test_divergences_are_infinite_where_a_possible_tree_is_forbidden() -> None:
    """An arc that is forbidden there, and in a tree here; not one that no tree here has. Gradients are 0."""
    here = torch.zeros(3, 4, 4)
    here[1, 1:, 1] = here[2, 1:, 1] = -torch.inf  # ROOT -> 1 is the only head of word 1: 0 -> 2 and 0 -> 3 in no tree
    there = here.clone()
    there[0, 2, 3] = there[1, 0, 2] = there[2, 1, 2] = -torch.inf
    for measure in ("kl", "cross_entropy"):
        found = getattr(TreeDistribution(here), measure)(TreeDistribution(there))
        assert found.isinf().tolist() == [True, False, True]
        for scores, grad in (
            (here, gradient(lambda x, m=measure: getattr(TreeDistribution(x), m)(TreeDistribution(there)), here)),
            (there, gradient(lambda x, m=measure: getattr(TreeDistribution(here), m)(TreeDistribution(x)), there)),
        ):
            assert grad.isfinite().all(), scores
            assert not grad[[0, 2]].any()


@pytest.mark.parametrize("ours", SPACES, ids=lambda space: space.name)
@pytest.mark.parametrize("theirs", SPACES, ids=lambda space: space.name)
def test_divergences_between_spaces(ours: TreeSpace, theirs: TreeSpace, graphs: Any) -> None:
    """Infinite if and only if some tree of one space is none of the other."""
    scores = torch.from_numpy(graphs.gaussian(4))
    d, other = (TreeDistribution(scores, None, each) for each in (ours, theirs))
    trees = d.enumerate_support()
    beyond = not other.support.check(trees).all()
    found = float(d.kl(other))
    assert np.isinf(found) == beyond
    if not beyond:
        assert found == pytest.approx(
            float((d.log_prob(trees).exp() * (d.log_prob(trees) - other.log_prob(trees))).sum())
        )


def test_divergences_are_between_the_same_sentences() -> None:
    scores = torch.zeros(2, 3, 4, 4)
    d = TreeDistribution(scores)
    assert d.kl(TreeDistribution(scores[0, 1])).shape == TreeDistribution(scores[0, 1]).kl(d).shape == (2, 3)
    with pytest.raises(DeptreeError, match=r"\(2, 3, 4, 4\) on cpu are compared with those of shape \(2, 3, 5, 5\)"):
        d.kl(TreeDistribution(torch.zeros(2, 3, 5, 5)))
    with pytest.raises(DeptreeError, match="of differing lengths are compared"):
        d.cross_entropy(TreeDistribution(scores, torch.full((2, 3), 2)))


def test_derivatives(holes: Any) -> None:
    """By finite differences in float64, all arguments at once, with forbidden arcs and padding among the inputs."""
    heads = holes.heads([each.trees[-1] for each in holes.oracles], torch)
    scores = holes.log_scores[[0, 2]].requires_grad_()
    others = (scores.detach() * 0.5).requires_grad_()
    lengths, heads = holes.lengths[[0, 2]], heads[[0, 2]]

    def asked(x: Any, y: Any) -> tuple[Any, ...]:
        d, other = (TreeDistribution(each, lengths, **holes.how) for each in (x, y))
        sums = d.log_partition, d.marginals, d.entropy(), d.log_prob(heads)
        return *sums, d.unnormalized_log_prob(heads), d.kl(other), d.cross_entropy(other)

    assert torch.autograd.gradcheck(asked, (scores, others), atol=1e-6)


def test_gradients_are_exactly_0_where_nothing_counts(padded: Any) -> None:
    """At forbidden arcs, in padding, in column 0, on the diagonal: of every function, first and second."""
    ignored = torch.from_numpy(~padded.counted())
    heads = padded.heads([each.trees[-1] for each in padded.oracles], torch)
    functions = {
        "log_partition": lambda d: d.log_partition,
        "marginals": lambda d: d.marginals.square(),
        "entropy": lambda d: d.entropy(),
        "log_prob": lambda d: d.log_prob(heads),
        "kl": lambda d: d.kl(distribution(padded, padded.log_scores * 0.5)),
        "kl of another": lambda d: distribution(padded, padded.log_scores * 0.5).kl(d),
    }
    for name, function in functions.items():
        grad = gradient(lambda x, function=function: function(distribution(padded, x)), padded.log_scores)
        assert grad.isfinite().all(), name
        assert not grad[ignored].any(), name


@pytest.mark.parametrize("scale", [1.0, 20.0, 200.0])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_large_scales(scale: float, dtype: Any, graphs: Any) -> None:
    """No log-probability above 0, errors of float32's rounding alone, finite gradients; saturated graphs too."""
    drawn = [graphs.gaussian(12, scale, seed) for seed in range(4)] + [graphs.saturated(12, np.exp(-scale))]
    scores = torch.tensor(np.array(drawn)).to(dtype)
    d = TreeDistribution(scores)
    trees = torch.cat([d.argmax[None], d.sample((20,)), d.top_k(5).trees])
    found = d.log_prob(trees)
    assert (found <= 0).all()
    assert found.dtype == dtype
    for b in range(len(drawn)):
        exact = Sentence(scores[b].double().numpy()).log_probs(trees[:, b, 1:].numpy())
        np.testing.assert_allclose(found[:, b], exact, rtol=torch.finfo(dtype).eps, atol=1e-12 * scale)
    assert gradient(lambda x: TreeDistribution(x).log_prob(trees), scores).isfinite().all()
    assert gradient(lambda x: TreeDistribution(x).entropy(), scores).isfinite().all()
    assert (d.entropy() >= 0).all()


def test_no_log_probability_is_above_0(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of 200 near-certain trees in float64, several would be, by rounding."""
    d = TreeDistribution(torch.from_numpy(np.random.default_rng(1).normal(size=(200, 6, 6)) * 200))
    assert (d.log_prob(d.argmax) <= 0).all()
    monkeypatch.setattr(module, "at_most_zero", lambda values: values)
    assert (d.log_prob(d.argmax) > 0).any()


@pytest.mark.parametrize("of_root", [-1e9, 1e9])
def test_offsets_cost_no_digits(of_root: float, graphs: Any) -> None:
    """A constant for each word, and a ROOT far below words or above, change neither entropy nor its gradient."""
    scores = torch.from_numpy(np.round(graphs.gaussian(5) * 1024) / 1024)
    moved = scores + torch.tensor([0, 1e6, -2e9, 3e3, 0, 1e8])
    moved[0] += of_root
    plain, other = TreeDistribution(scores), TreeDistribution(moved)
    assert float(other.entropy()) == pytest.approx(float(plain.entropy()), abs=1e-13)
    assert float(other.kl(plain)) == pytest.approx(0.0, abs=1e-13)
    tree = plain.argmax
    assert float(other.log_prob(tree)) == pytest.approx(float(plain.log_prob(tree)), abs=1e-13)
    first, second = (gradient(lambda x: TreeDistribution(x).entropy(), each) for each in (scores, moved))
    np.testing.assert_allclose(first, second, atol=1e-13)


def test_compiled(graphs: Any) -> None:
    """A distribution made and asked inside `torch.compile`, without a break in the graph: the same numbers."""
    scores = torch.from_numpy(np.array([graphs.gaussian(3, seed=seed) for seed in range(2)])).requires_grad_()
    heads = torch.tensor([[-1, 0, 1, 1], [-1, 2, 0, 2]])

    def loss(scores: Any) -> Any:
        d = TreeDistribution(scores)
        return (d.entropy() - d.log_prob(heads)).sum()

    found = torch.compile(loss, fullgraph=True, backend="aot_eager")(scores)
    assert found.item() == pytest.approx(loss(scores).item(), rel=1e-14)
    assert torch.equal(*(torch.autograd.grad(each, scores)[0] for each in (found, loss(scores))))


@pytest.mark.parametrize("mask", [-1e15, -1e32])
def test_masks_forbid_as_infinity_does(holes: Any, mask: float) -> None:
    """Values and gradients are the same to the last bit."""
    masked = torch.where(holes.log_scores == -torch.inf, mask, holes.log_scores)
    heads = distribution(holes).sample((5,))
    other = distribution(holes, holes.log_scores * 0.5)
    every = distribution(holes)[0].enumerate_support()
    assert distribution(holes)[0].log_prob(every).isneginf().any()
    assert torch.equal(*(distribution(holes, scores)[0].log_prob(every) for scores in (holes.log_scores, masked)))
    for ask in (lambda d: d.entropy(), lambda d: d.log_prob(heads), lambda d: d.kl(other), lambda d: other.kl(d)):
        found = [ask(distribution(holes, scores)) for scores in (holes.log_scores, masked)]
        assert torch.equal(*found)
        grads = [gradient(lambda x, ask=ask: ask(distribution(holes, x)), each) for each in (holes.log_scores, masked)]
        assert torch.equal(*grads)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("mask", [-1e4, -1e6, -1e9, -9e14])
@pytest.mark.parametrize("projective", [False, True])
@pytest.mark.parametrize("single_root", [True, False])
def test_masks_that_no_tree_needs_cost_no_digits(
    single_root: bool, projective: bool, mask: float, dtype: Any, graphs: Any
) -> None:
    """log Z, and its gradient: of a padded batch in which word 2 can only hang on ROOT."""
    masked, lengths = torch.from_numpy(np.stack([graphs.gaussian(6, 3, seed) for seed in (1, 2)])).to(dtype), [6, 4]
    masked[:, 1:, 2] = mask
    plain, log_z, marginals = masked.double().numpy().copy(), [], np.zeros((2, 7, 7))
    plain[plain == np.float64(masked[0, 1, 2])] = -np.inf
    for own, n, out in zip(plain, lengths, marginals, strict=True):
        sentence = Sentence(own[: n + 1, : n + 1], single_root=single_root, projective=projective)
        log_z.append(sentence.log_partition)
        out[: n + 1, : n + 1] = sentence.marginals()

    def asked(scores: Any) -> Any:
        how = {"single_root": single_root, "projective": projective}
        return TreeDistribution(scores, torch.tensor(lengths), **how).log_partition

    digits = 8 * torch.finfo(dtype).eps
    np.testing.assert_allclose(asked(masked), log_z, rtol=digits, atol=digits)
    np.testing.assert_allclose(gradient(asked, masked), marginals, rtol=0, atol=digits)
