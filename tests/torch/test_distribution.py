"""The distribution over tensors: sums, log-probabilities, derivatives and drawn trees, against enumeration."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from deptree_cli.core.distribution import TreeDistribution as Sentence
from deptree_cli.core.spaces import SPACES
from deptree_cli.torch import TreeDistribution
from deptree_cli.torch.ops import heads_to_arcs
from tests.pearson import chi_square


def gradient(function, scores):
    leaf = scores.detach().clone().requires_grad_()
    return torch.autograd.grad(function(leaf).sum(), leaf)[0]


def test_sums(padded):
    d = padded.distribution()
    expected = np.zeros(padded.log_scores.shape)
    for b, (oracle, n) in enumerate(zip(padded.oracles, padded.lengths, strict=True)):
        expected[b, : n + 1, : n + 1] = oracle.marginals()
        assert float(d.log_partition[b]) == pytest.approx(oracle.log_z, rel=1e-14, abs=1e-13)
        assert float(d.entropy()[b]) == pytest.approx(-(np.exp(oracle.log_probs) * oracle.log_probs).sum(), abs=1e-12)
    np.testing.assert_allclose(d.marginals, expected, rtol=0, atol=1e-13)


@pytest.mark.parametrize("event", ["heads", "arcs"])
def test_log_prob_of_every_tree(padded, event):
    """Probabilities sum to 1, trees with forbidden arcs have none; heads of ROOT and padding do not matter."""
    d = padded.distribution(event=event)
    for b, (sentence, oracle) in enumerate(zip(padded.sentences, padded.oracles, strict=True)):
        exact = dict(zip(map(tuple, oracle.trees.tolist()), oracle.log_probs.tolist(), strict=True))
        heads = padded.distribution()[b].enumerate_support()
        expected = np.array([exact.get(tuple(row), -np.inf) for row in heads[:, 1 : sentence.n + 1].tolist()])
        heads[:, 0] = 5
        value = heads if event == "heads" else heads_to_arcs(heads)
        found = d[b].log_prob(value)
        np.testing.assert_allclose(found, expected, rtol=1e-13, atol=1e-12)
        np.testing.assert_allclose(d[b].unnormalized_log_prob(value), expected + oracle.log_z, rtol=1e-13, atol=1e-12)
        assert float(found.max()) <= 0.0
        assert float(found.exp().sum()) == pytest.approx(1.0, abs=1e-12)


def test_log_prob_of_what_is_no_tree(flat):
    """-inf, with a gradient of 0; an error as of PyTorch's own distributions where arguments are validated."""
    good, d = flat.heads(0), flat.distribution(validate_args=False)
    circle = good.clone()
    circle[0, 1:5] = torch.tensor([2, 1, 0, 3])
    assert d.log_prob(torch.stack([circle, good])).isneginf().tolist() == [[True, False, False, False], [False] * 4]

    grad = gradient(lambda x: flat.distribution(x, validate_args=False).log_prob(circle), flat.log_scores)
    assert grad.isfinite().all()
    assert grad.any(-1).any(-1).tolist() == [False, False, True, True]
    checked = flat.distribution(validate_args=True)  # `torch.compile` turns PyTorch's default off
    with pytest.raises(ValueError, match="to be within the support"):
        checked.log_prob(circle)
    with pytest.raises(ValueError, match="must match event_shape"):
        checked.log_prob(circle[:, :4])
    np.testing.assert_array_equal(flat.distribution().log_prob(good.to(torch.int8)), d.log_prob(good))


def test_given_heads(flat):
    """Bayes' rule: the trees that have the known heads keep the proportions of their probabilities."""
    known = flat.heads(0)
    known[:, 1::2] = -1
    d = flat.distribution().given(known)
    for b, oracle in enumerate(flat.oracles):
        own = known[b, 1 : oracle.trees.shape[1] + 1].numpy()
        have = ((oracle.trees == own) | (own < 0)).all(1)
        expected = np.where(have, oracle.log_probs - np.logaddexp.reduce(oracle.log_probs[have]), -np.inf)
        trees = torch.nn.functional.pad(torch.from_numpy(oracle.trees), (1, 4 - oracle.trees.shape[1]))
        np.testing.assert_allclose(d[b].log_prob(trees), expected, atol=1e-12)
        assert float(d.log_count[b].exp()) == pytest.approx(have.sum(), rel=1e-12)


def test_divergences(padded):
    d, other = padded.distribution(), padded.distribution(padded.log_scores * 0.5 + 0.1)
    for b, (sentence, oracle) in enumerate(zip(padded.sentences, padded.oracles, strict=True)):
        probs = np.exp(oracle.log_probs)
        theirs = Sentence(sentence.log_scores * 0.5 + 0.1, **padded.how).log_probs(oracle.trees)
        assert float(d.cross_entropy(other)[b]) == pytest.approx(-(probs * theirs).sum(), rel=1e-13, abs=1e-12)
        expected = (probs * (oracle.log_probs - theirs)).sum()
        assert float(torch.distributions.kl_divergence(d, other)[b]) == pytest.approx(expected, rel=1e-12, abs=1e-12)
    assert (d.kl(d) == 0).all()
    assert (d.kl(other) >= 0).all()


def test_divergences_of_neighbours_are_curved(graphs):
    """What rounding takes below 0 is mended in values only: at a divergence of 0 its Hessian is that of log Z."""
    scores = torch.from_numpy(graphs.gaussian(3, 2.0)).nan_to_num(neginf=0.0)[None]
    fixed, hessian = TreeDistribution(scores), torch.autograd.functional.hessian
    found = hessian(lambda x: fixed.kl(TreeDistribution(x)).sum(), scores)
    expected = hessian(lambda x: TreeDistribution(x).log_partition.sum(), scores)
    assert expected.abs().max() > 0.1
    torch.testing.assert_close(found, expected, rtol=0, atol=1e-13)


@pytest.mark.parametrize("measure", [TreeDistribution.kl, TreeDistribution.cross_entropy])
def test_divergences_are_infinite_where_a_possible_tree_is_forbidden(measure):
    """An arc that is forbidden there, and in a tree here; not one that no tree here has. Gradients are 0."""
    here = torch.zeros(3, 4, 4)
    here[1, 1:, 1] = here[2, 1:, 1] = -torch.inf  # ROOT -> 1 is the only head of word 1: 0 -> 2 and 0 -> 3 in no tree
    there = here.clone()
    there[0, 2, 3] = there[1, 0, 2] = there[2, 1, 2] = -torch.inf

    p, q = TreeDistribution(here), TreeDistribution(there)
    assert measure(p, q).isinf().tolist() == [True, False, True]
    of_p, of_q = lambda x: measure(TreeDistribution(x), q), lambda y: measure(p, TreeDistribution(y))
    for grad in (gradient(of_p, here), gradient(of_q, there)):
        assert grad.isfinite().all()
        assert not grad[[0, 2]].any()


@pytest.mark.parametrize("ours", SPACES, ids=lambda space: space.name)
@pytest.mark.parametrize("theirs", SPACES, ids=lambda space: space.name)
def test_divergences_between_spaces(ours, theirs, graphs):
    """Infinite if and only if some tree of one space is none of the other."""
    scores = torch.from_numpy(graphs.gaussian(4))
    d, other = (TreeDistribution(scores, None, each) for each in (ours, theirs))
    trees = d.enumerate_support()
    log_probs, beyond = d.log_prob(trees), not other.support.check(trees).all()
    expected = np.inf if beyond else float((log_probs.exp() * (log_probs - other.log_prob(trees))).sum())
    assert float(d.kl(other)) == pytest.approx(expected)


def test_derivatives(holes):
    """By finite differences in float64, all arguments at once, with forbidden arcs and padding among the inputs."""
    scores = holes.log_scores[[0, 2]].requires_grad_()
    others = (scores.detach() * 0.5).requires_grad_()
    lengths, heads = holes.lengths[[0, 2]], holes.heads()[[0, 2]]

    def asked(x, y):
        d, other = (TreeDistribution(each, lengths, **holes.how) for each in (x, y))
        sums = d.log_partition, d.marginals, d.entropy(), d.log_prob(heads)
        return *sums, d.unnormalized_log_prob(heads), d.kl(other), d.cross_entropy(other)

    assert torch.autograd.gradcheck(asked, (scores, others), atol=1e-6)


def test_gradients_are_exactly_0_where_nothing_counts(padded):
    """At forbidden arcs, in padding, in column 0, on the diagonal: of every function, first and second."""
    heads, other = padded.heads(), padded.distribution(padded.log_scores * 0.5)
    sums = lambda d: d.log_partition, lambda d: d.marginals.square(), lambda d: d.entropy(), lambda d: d.log_prob(heads)
    for function in (*sums, lambda d: d.kl(other), other.kl):
        grad = gradient(lambda x, function=function: function(padded.distribution(x)), padded.log_scores)
        assert grad.isfinite().all()
        assert not grad[padded.ignored()].any()


@pytest.mark.parametrize("scale", [1.0, 20.0, 200.0])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_large_scales(scale, dtype, graphs):
    """No log-probability above 0, errors of float32's rounding alone, finite gradients; saturated graphs too."""
    drawn = [graphs.gaussian(12, scale, seed) for seed in range(4)] + [graphs.saturated(12, np.exp(-scale))]
    scores = torch.tensor(np.array(drawn)).to(dtype)
    d = TreeDistribution(scores)
    trees = torch.cat([d.argmax[None], d.sample((20,)), d.top_k(5).trees])
    found = d.log_prob(trees)
    assert found.dtype == dtype
    for b in range(len(drawn)):
        exact = Sentence(scores[b].double().numpy()).log_probs(trees[:, b, 1:].numpy())
        np.testing.assert_allclose(found[:, b], exact, rtol=torch.finfo(dtype).eps, atol=1e-12 * scale)
    assert gradient(lambda x: TreeDistribution(x).log_prob(trees), scores).isfinite().all()
    assert gradient(lambda x: TreeDistribution(x).entropy(), scores).isfinite().all()
    assert (d.entropy() >= 0).all()
    # of 200 near-certain trees several would be above 0, by rounding
    sure = TreeDistribution(torch.from_numpy(np.random.default_rng(1).normal(size=(200, 6, 6)) * scale).to(dtype))
    assert (sure.log_prob(sure.argmax) <= 0).all()


@pytest.mark.parametrize("of_root", [-1e9, 1e9])
def test_offsets_cost_no_digits(of_root, graphs):
    """A constant for each word, and a ROOT far below words or above, change neither entropy nor its gradient."""
    scores = torch.from_numpy(np.round(graphs.gaussian(5) * 1024) / 1024)
    moved = scores + torch.tensor([0, 1e6, -2e9, 3e3, 0, 1e8])
    moved[0] += of_root
    plain, other = TreeDistribution(scores), TreeDistribution(moved)
    assert float(other.entropy()) == pytest.approx(float(plain.entropy()), abs=1e-13)
    assert float(other.kl(plain)) == pytest.approx(0.0, abs=1e-13)
    assert float(other.log_prob(plain.argmax)) == pytest.approx(float(plain.log_prob(plain.argmax)), abs=1e-13)
    first, second = (gradient(lambda x: TreeDistribution(x).entropy(), each) for each in (scores, moved))
    np.testing.assert_allclose(first, second, atol=1e-13)


@pytest.mark.parametrize("mask", [-1e15, -1e32])
def test_masks_forbid_as_infinity_does(holes, mask):
    both = holes.log_scores, torch.where(holes.log_scores == -torch.inf, mask, holes.log_scores)
    heads, other = holes.distribution().sample((5,)), holes.distribution(holes.log_scores * 0.5)
    every = holes.distribution()[0].enumerate_support()
    found = [holes.distribution(scores)[0].log_prob(every) for scores in both]
    assert found[0].isneginf().any()
    assert torch.equal(*found)
    for ask in (lambda d: d.entropy(), lambda d: d.log_prob(heads), lambda d: d.kl(other), lambda d: other.kl(d)):
        assert torch.equal(*(ask(holes.distribution(scores)) for scores in both))
        assert torch.equal(*(gradient(lambda x, ask=ask: ask(holes.distribution(x)), scores) for scores in both))


def test_best_trees(padded):
    """The most probable, all of them in order, and the one with the highest sum of marginals."""
    d = padded.distribution()
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
        marginals, words = oracle.marginals(), np.arange(1, n + 1)
        right = marginals[oracle.trees, words].sum(1).max()
        assert marginals[d.mbr[b, 1 : n + 1], words].sum() == pytest.approx(right, abs=1e-12)


@pytest.mark.parametrize("event", ["heads", "arcs"])
def test_samples_follow_the_distribution(flat, event):
    """Chi-square against enumeration, 20,000 trees a sentence; p at least 1e-4 of 4 sentences in each of 8 cases.

    A right sampler fails at 1 of 300 seeds in all, and this one is not among them.
    """
    torch.manual_seed(3)
    samples = flat.distribution(event=event).sample((20_000,))
    heads = samples if event == "heads" else torch.where(samples.any(-2), samples.argmax(-2), -1)
    for b, oracle in enumerate(flat.oracles):
        n = oracle.trees.shape[1]
        assert (heads[:, b, [0, *range(n + 1, 5)]] == -1).all()
        counts = (heads[:, b, None, 1 : n + 1].numpy() == oracle.trees).all(-1).sum(0)
        assert counts.sum() == 20_000
        assert chi_square(counts, np.exp(oracle.log_probs))[2] > 1e-4


def test_seeds(graphs):
    """`torch.manual_seed` or a generator decides; a sentence does not depend on those behind it, nor NumPy's state."""
    scores = torch.from_numpy(np.array([graphs.gaussian(5, seed=seed) for seed in range(3)]))
    d, first, state = TreeDistribution(scores), TreeDistribution(scores[:2]), np.random.get_state()
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
    np.testing.assert_array_equal(state[1], np.random.get_state()[1])


@pytest.mark.parametrize("k", [2, 130])
def test_distinct_trees(padded, k):
    """All of them where there are fewer than asked for: their weights are their probabilities."""
    drawn = padded.distribution().sample_without_replacement(k)
    assert drawn.exhausted.tolist() == [len(oracle.trees) <= k for oracle in padded.oracles]
    for b, oracle in enumerate(padded.oracles):
        found = min(len(oracle.trees), k)
        rows = [tuple(row) for row in drawn.trees[:found, b, 1 : oracle.trees.shape[1] + 1].tolist()]
        exact = dict(zip(map(tuple, oracle.trees.tolist()), oracle.log_probs, strict=True))
        assert len(set(rows)) == found
        np.testing.assert_allclose(drawn.log_probs[:found, b], [exact[row] for row in rows], rtol=1e-12, atol=1e-11)
        for part, nothing in ((drawn.trees, -1), (drawn.weights, 0), (drawn.log_probs, -1e30)):
            assert (part[found:, b] == nothing).all()
        if drawn.exhausted[b]:
            np.testing.assert_allclose(drawn.weights[:found, b], drawn.log_probs[:found, b].exp(), rtol=1e-12)


def test_weights_of_distinct_trees_are_unbiased(graphs):
    """The mean over 4,000 draws of 3 trees estimates all marginals: |z| below 5 for each of 9 arcs (p = 5e-6)."""
    d = TreeDistribution(torch.from_numpy(graphs.gaussian(3, 1.5))).expand((4000,))
    drawn = d.sample_without_replacement(3, torch.Generator().manual_seed(1))
    found = (drawn.weights[..., None, None] * heads_to_arcs(drawn.trees, torch.float64)).sum(0)
    z = (found.mean(0) - d[0].marginals) / (found.std(0) / 4000**0.5)
    assert (z[torch.isfinite(torch.from_numpy(graphs.uniform(3)))].abs() < 5).all()


def test_log_probs_of_distinct_trees_are_differentiable(holes):
    """The same gradient as that of `log_prob`; padded trees, of weight 0, add nothing, and are no NaN in a sum."""
    scores = holes.log_scores.clone().requires_grad_()
    d = holes.distribution(scores)
    drawn = d.sample_without_replacement(5)
    trees = torch.where(drawn.weights[..., None] > 0, drawn.trees, drawn.trees[0])
    surrogate, same = ((drawn.weights * each).sum() for each in (drawn.log_probs, d.log_prob(trees)))
    found, expected = (torch.autograd.grad(each, scores, retain_graph=True)[0] for each in (surrogate, same))
    assert surrogate.isfinite()
    assert not drawn.weights.requires_grad
    np.testing.assert_allclose(found, expected, atol=1e-13)


@pytest.mark.parametrize("shape", [(), (2, 3), (0,), (1, 1, 2)])
@pytest.mark.parametrize("event", ["heads", "arcs"])
def test_shapes(shape, event):
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
    one = TreeDistribution(torch.randn(4, 4))
    assert d.kl(one).shape == one.kl(d).shape == shape


def test_parts_of_a_batch(flat):
    """Sentences by index, slice or mask are distributions themselves, and a gradient finds its way back."""
    d = flat.distribution()
    for index in (2, slice(1, 3), torch.tensor([True, False, False, True]), [3, 3], (None, 1), ...):
        np.testing.assert_array_equal(d[index].log_partition, d.log_partition[index])
        assert d[index].batch_shape == d.log_partition[index].shape
    zeros, circle = torch.zeros(2, 3, 3), torch.tensor([-1, 2, 1])
    assert TreeDistribution(zeros, validate_args=False)[1].log_prob(circle).isneginf()
    with pytest.raises(ValueError, match="to be within the support"):
        TreeDistribution(zeros, validate_args=True)[1].log_prob(circle)
    grad = gradient(lambda x: TreeDistribution(x)[1].log_partition, zeros)
    assert not grad[0].any()
    assert grad[1].any()


def test_means_and_precision():
    """Arcs have a mean, heads have none; half precision comes back as float32, and its gradient as it was."""
    scores = torch.randn(2, 4, 4, dtype=torch.bfloat16)
    d = TreeDistribution(scores, event="arcs")
    assert torch.equal(d.mean, d.marginals)
    assert d.mean.dtype == d.log_prob(d.sample()).dtype == torch.float32
    assert d.sample().dtype == torch.bfloat16
    assert gradient(lambda x: TreeDistribution(x).entropy(), scores).dtype == torch.bfloat16


@pytest.mark.parametrize("k", [10**9, 10**30])
def test_no_more_rows_than_trees(k):
    d = TreeDistribution(torch.zeros(2, 4, 4), lengths=torch.tensor([3, 2]))
    best, draws = d.top_k(k), d.sample_without_replacement(k)
    for found in (best, draws):
        assert found.trees.shape == (9, 2, 4)
        assert (found.trees[:, 1] == -1).all(-1).sum() == 7
        assert found.log_probs.exp().sum(0).tolist() == pytest.approx([1, 1])
    assert (draws.weights.shape, draws.exhausted.all()) == ((9, 2), True)
    assert d.top_k(12).trees.shape == (12, 2, 4)  # as many rows as were asked for, where that is cheap
