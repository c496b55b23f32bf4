"""Log-probabilities, entropies and divergences in JAX against core's distributions and enumeration."""

import numpy as np
import pytest

jax = pytest.importorskip("jax")

import jax.numpy as jnp

from deptree_cli.core.distribution import TreeDistribution
from deptree_cli.core.errors import DeptreeError
from deptree_cli.jax import cross_entropy, entropy, kl, log_partition, log_prob, marginals

# Of float32 the last sentence has fewer: all its trees are e^-1000 beside the largest weights of columns.
ERRORS = np.array([3e-6] * 5 + [4e-4])


def close(found, expected):
    found, expected = np.asarray(found, dtype=np.float64), np.asarray(expected)
    np.testing.assert_array_equal(np.isfinite(found), np.isfinite(expected))
    finite = np.isfinite(expected)
    expected = np.where(finite, expected, 0.0)
    assert (np.abs(found - expected) <= ERRORS + 1e-6 * np.abs(expected))[finite].all()


def others(sentences):
    """Scores like those of the sentences, of another seed, with the same arcs forbidden."""
    noise = np.random.default_rng(5).normal(size=sentences.log_scores.shape).astype(np.float32)
    return sentences.log_scores + noise


def test_log_probs_of_all_arrays_of_heads_are_those_of_enumeration(sentences):
    heads = np.stack(np.meshgrid(*[np.arange(-1, 6)] * 4, indexing="ij"), -1).reshape(-1, 4)
    heads = np.pad(heads, [(0, 0), (1, 0)], constant_values=77)
    trees = np.repeat(heads[:, None], len(sentences.each), 1)
    found = np.asarray(log_prob(sentences.log_scores, trees, **sentences.how))
    expected = np.full(found.shape, -np.inf)
    for b, (oracle, n) in enumerate(zip(sentences.oracles, sentences.lengths, strict=True)):
        known = dict(zip(map(tuple, oracle.trees.tolist()), oracle.log_probs.tolist(), strict=True))
        expected[:, b] = [known.get(tuple(row), -np.inf) for row in heads[:, 1 : n + 1].tolist()]
    close(found, expected)
    assert (found <= 0).all()


def test_the_gradient_of_a_log_prob_is_arcs_less_marginals(sentences):
    how = sentences.how
    trees = np.zeros((6, 5), dtype=np.int64)
    for own, sentence in zip(trees, sentences.each, strict=True):
        own[1 : sentence.n + 1] = sentence.argmax()
    trees[2, 1:] = [2, 1, 0, 0]  # a cycle
    found = jax.grad(lambda scores: jnp.where(jnp.isfinite(x := log_prob(scores, trees, **how)), x, 0).sum())
    expected = sentences.padded([sentence.marginals() for sentence in sentences.each])
    for own, tree, n in zip(expected, trees, sentences.lengths, strict=True):
        own *= -1
        own[tree[1 : n + 1], np.arange(1, n + 1)] += 1
    expected[2] = 0
    np.testing.assert_allclose(found(sentences.log_scores), expected, atol=2e-6)


def test_log_probs_keep_digits_that_log_z_has_none_for(graphs):
    """At scores of 30,000 a float32 has steps of 0.002; the distribution is that without the offset."""
    scores = np.stack([np.round(graphs.gaussian(4, seed=b).astype(np.float32) * 64) / 64 for b in range(6)])
    heads = np.array([[-1, 0, 1, 1, 1]] * 6)
    np.testing.assert_allclose(log_prob(scores + 30_000, heads), log_prob(scores, heads), atol=1e-6)
    np.testing.assert_allclose(entropy(scores + 30_000), entropy(scores), atol=1e-6)
    np.testing.assert_allclose(log_partition(scores + 30_000), 120_000 + log_partition(scores), atol=0.01)


def test_entropies_and_divergences_are_those_of_core(sentences):
    how, other = sentences.how, others(sentences)
    pairs = list(zip(sentences.each, sentences.of(other), strict=True))
    close(entropy(sentences.log_scores, **how), [p.entropy() for p, _ in pairs])
    close(cross_entropy(sentences.log_scores, other, **how), [p.cross_entropy(q) for p, q in pairs])
    close(kl(sentences.log_scores, other, **how), [p.kl(q) for p, q in pairs])
    assert not np.asarray(kl(sentences.log_scores, sentences.log_scores, **how)).any()


def test_gradients_are_those_of_finite_differences(sentences, x64):
    scores, counted = sentences.log_scores.astype(np.float64), sentences.counted()
    other = others(sentences).astype(np.float64)
    direction = np.where(counted, np.random.default_rng(2).normal(size=scores.shape), 0.0)
    step = 1e-5 * direction

    def measured(scores, other, n):
        how = {"lengths": n, "space": sentences.space.name}
        return (entropy(scores, **how) + kl(scores, other, **how) + cross_entropy(other, scores, **how)).sum()

    up, down = (measured(each, other, sentences.lengths) for each in (scores + step, scores - step))
    for ask in (jax.grad(measured), jax.vmap(jax.grad(measured))):
        for compiled in (ask, jax.jit(ask)):
            found = np.asarray(compiled(scores, other, sentences.lengths))
            assert (found * direction).sum() == pytest.approx(float(up - down) / 2e-5, abs=1e-6)
            assert not found[~counted].any()


@pytest.mark.parametrize("mask", [-1e9, -1e12])
def test_trees_that_need_a_mask_are_told_apart(graphs, mask, x64):
    """Words have best heads far from each other in score, and all trees take one arc from ROOT: a mask of these arcs
    leaves the distributions as they are, and is shifted away."""
    plain = np.stack([graphs.gaussian(4, 10.0, seed=b).astype(np.float32) + 10 * b for b in range(6)])
    plain[:, :, 2] += 40
    plain[:, 0] = 0
    scores = plain.copy()
    scores[:, 0] = mask
    heads = np.stack([[-1, *TreeDistribution(own).argmax()] for own in plain])
    assert np.isfinite(log_partition(scores)).all()
    np.testing.assert_allclose(marginals(scores), marginals(plain), atol=2e-6)
    np.testing.assert_allclose(entropy(scores), entropy(plain), atol=1e-5)
    np.testing.assert_allclose(log_prob(scores, heads), log_prob(plain, heads), atol=1e-5)
    np.testing.assert_allclose(kl(scores, scores[::-1]), kl(plain, plain[::-1]), rtol=1e-5, atol=1e-5)
    scores, plain = scores.astype(np.float64), plain.astype(np.float64)
    np.testing.assert_allclose(entropy(scores), entropy(plain), atol=1e-9)
    slope = jax.jit(jax.grad(lambda scores: entropy(scores).sum()))
    np.testing.assert_allclose(slope(scores)[:, 1:], slope(plain)[:, 1:], atol=1e-9)


def test_a_mask_on_what_has_no_probability_costs_nothing(graphs):
    """Probabilities that are 1e-7 by rounding times a mask of -1e9 would be hundreds of nats."""
    scores, other = (np.stack([graphs.gaussian(4, scale, seed=b) for b in range(60)]) for scale in (50, 1))
    exact = [TreeDistribution(own) for own in scores]
    unlikely = np.stack([own.marginals() for own in exact]) < 1e-17
    masked = np.where(unlikely, -1e9, other)
    expected = [p.kl(TreeDistribution(q)) for p, q in zip(exact, masked, strict=True)]
    entropies = [p.entropy() for p in exact]
    both = jax.jit(lambda *pair: (kl(*pair), cross_entropy(*pair)))
    for mask in (-1e9, -np.inf):
        found, crossed = both(scores, np.where(unlikely, mask, other))
        np.testing.assert_allclose(found, expected, atol=1e-3)
        np.testing.assert_allclose(crossed, np.add(expected, entropies), atol=1e-3)


def test_divergences_of_neighbours_are_curved(graphs):
    """What rounding takes below 0 is mended in values only: at a divergence of 0 its Hessian is that of log Z."""
    scores = jnp.asarray(np.nan_to_num(graphs.gaussian(2, 0.5), neginf=0.0), jnp.float32)
    found = jax.jit(jax.hessian(lambda other: kl(scores, other)))(scores)
    expected = jax.jit(jax.hessian(log_partition))(scores)
    assert np.abs(expected).max() > 0.1
    np.testing.assert_allclose(found, expected, atol=1e-6)


@jax.jit
def traced(*pair):
    measures = (lambda p, _: entropy(p), cross_entropy, kl)
    values = jnp.stack([measure(*pair) for measure in measures])
    return values, jax.grad(lambda p, q: sum(measure(p, q).sum() for measure in measures), (0, 1))(*pair)


def test_compiled_code_says_nan_of_nothing_and_infinity_beyond_it():
    """Sentence 0 has trees by both, 1 by the second only, 2 by the first only, 3 by neither; 4 is NaN by the second,
    which also forbids an arc, and 5 by the first."""
    ours, theirs = np.zeros((2, 6, 5, 5), dtype=np.float32)
    ours[[1, 3], :, 3] = -np.inf
    theirs[2, 1:, 2:4] = -np.inf  # two words hang on ROOT only
    theirs[3, 0] = -np.inf
    theirs[4, 1, 2:4] = np.nan, -np.inf
    ours[5, 1, 2] = np.nan
    (entropies, *compared), slopes = traced(ours, theirs)
    np.testing.assert_array_equal(np.isnan(entropies), [False, True, False, True, False, True])
    for values in compared:
        np.testing.assert_array_equal(np.isnan(values), [False, True, False, True, True, True])
        np.testing.assert_array_equal(np.isposinf(values), np.arange(6) == 2)
    assert not any(np.asarray(slope)[[1, 3]].any() for slope in slopes)
    assert np.isfinite(slopes[0][2]).all()
    assert not np.asarray(slopes[1][2]).any()


def test_compiled_code_has_no_log_prob_of_nan():
    scores = np.zeros((6, 5, 5), dtype=np.float32)
    scores[[1, 2], 2, 1] = np.nan, -np.inf
    found = jax.jit(log_prob)(scores, np.array([[-1, 2, 0, 1, 1]] * 6))
    np.testing.assert_array_equal(np.isnan(found), np.arange(6) == 1)
    np.testing.assert_array_equal(np.isneginf(found), np.arange(6) == 2)


@pytest.mark.parametrize(
    ("ask", "other", "says"),
    [
        (log_prob, np.zeros((6, 5)), "heads have type float32, not integers"),
        (log_prob, np.zeros((6, 5), dtype=bool), "heads have type bool, not integers"),
        (log_prob, np.zeros((6, 4), dtype=int), r"heads have shape \(6, 4\), not \(..., 6, 5\)"),
        (kl, np.zeros((5, 5, 5)), r"shape \(6, 5, 5\) are compared with scores of shape \(5, 5, 5\)"),
    ],
)
def test_what_does_not_fit_is_refused(ask, other, says):
    with pytest.raises(DeptreeError, match=says):
        ask(np.zeros((6, 5, 5), dtype=np.float32), other)
