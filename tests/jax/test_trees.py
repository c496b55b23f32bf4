"""Trees in JAX: best ones as in core; draws, with and without replacement, by laws and against enumeration."""

from functools import partial

import numpy as np
import pytest

jax = pytest.importorskip("jax")

import jax.numpy as jnp

from deptree_cli.core.distribution import TreeDistribution
from deptree_cli.core.errors import DeptreeError
from deptree_cli.core.estimate import weights
from deptree_cli.core.spaces import MULTI_ROOT, SINGLE_ROOT
from deptree_cli.jax import argmax, beam, log_prob, mbr, sample, sample_without_replacement, top_k
from deptree_cli.jax.beam import stochastic_beam_search
from deptree_cli.jax.sums import sentences_of
from tests.oracle import Oracle
from tests.pearson import chi_square

Float = np.ndarray
SIZE, RUNS = 20_000, 10_000
ROUNDING = 2.0**-24  # of float32
TYPES = pytest.mark.parametrize(("single_root", "dtype"), [(True, np.float64), (False, np.float32)])
BATCH, LENGTHS = np.zeros((2, 4, 4), dtype=np.float32), np.array([3, 2])
DRAWN = sample, sample_without_replacement, stochastic_beam_search
EACH = pytest.mark.parametrize("draw", DRAWN)


@pytest.mark.parametrize("best", [argmax, mbr])
def test_best_trees_are_those_of_core(sentences, best):
    decode = partial(best, space=sentences.space.name)
    found = decode(sentences.log_scores, sentences.lengths)
    assert found.shape == (6, 5)
    for own, sentence in zip(np.asarray(found), sentences.each, strict=True):
        np.testing.assert_array_equal(own[1 : sentence.n + 1], getattr(sentence, best.__name__)())
        assert (np.delete(own, np.arange(1, sentence.n + 1)) == -1).all()
    np.testing.assert_array_equal(jax.jit(decode)(sentences.log_scores, sentences.lengths), found)
    np.testing.assert_array_equal(jax.vmap(decode)(sentences.log_scores, sentences.lengths), found)


def test_the_k_best_are_those_of_core(sentences):
    found = np.asarray(top_k(sentences.log_scores, 3, **sentences.how))
    assert found.shape == (3, 6, 5)
    for b, sentence in enumerate(sentences.each):
        best = sentence.top_k(3)
        np.testing.assert_array_equal(found[: len(best), b, 1 : sentence.n + 1], best)
        assert (found[len(best) :, b] == -1).all()


def drawn(sentences, seed=3):
    return np.asarray(sample(jax.random.key(seed), sentences.log_scores, SIZE, **sentences.how))


def test_trees_come_as_often_as_they_are_probable(sentences):
    """Pearson's chi-square of 20,000 trees of each sentence against enumeration, trees expected fewer than five times
    pooled; hypothesis: the sampler is exact; threshold: p below 0.001 / 24, for 4 spaces of 6 sentences."""
    heads = drawn(sentences)
    assert heads.dtype == np.int32
    for b, (oracle, n) in enumerate(zip(sentences.oracles, sentences.lengths, strict=True)):
        assert (heads[:, b, 0] == -1).all()
        assert (heads[:, b, n + 1 :] == -1).all()
        index = {tuple(tree): number for number, tree in enumerate(oracle.trees.tolist())}
        numbers = [index[tuple(tree)] for tree in heads[:, b, 1 : n + 1].tolist()]
        counts = np.bincount(numbers, minlength=len(index))
        assert chi_square(counts, np.exp(oracle.log_probs))[2] > 0.001 / 24


@EACH
def test_equal_sentences_of_a_batch_draw_trees_of_their_own(draw, quick):
    """64 trees are the same in order by chance once in 1e89 seeds."""
    found = draw(jax.random.key(4), np.zeros((6, 5, 5), dtype=np.float32), 64)
    heads = np.asarray(getattr(found, "heads", found))
    assert not np.array_equal(heads[:, 0], heads[:, 1])


def test_the_key_decides(sentences):
    """Neither its form, nor compilation, vmap or the other sentences."""
    first = drawn(sentences)
    np.testing.assert_array_equal(drawn(sentences), first)
    assert (drawn(sentences, seed=4) != first).any()
    scores = sentences.log_scores.copy()
    scores[0, 1, 2] += 5.0
    compiled = jax.jit(sample, static_argnames=("k", "single_root", "projective"))
    heads = compiled(jax.random.PRNGKey(3), scores, SIZE, **sentences.how)
    np.testing.assert_array_equal(heads[:, 1:], first[:, 1:])
    assert (heads[:, 0] != first[:, 0]).any()
    keys, lengths = jax.random.split(jax.random.key(5), 6), sentences.lengths
    draw = partial(sample, k=4, space=sentences.space.name)
    found = jax.vmap(lambda key, scores, n: draw(key, scores, lengths=n))(keys, sentences.log_scores, lengths)
    np.testing.assert_array_equal(found[3], draw(keys[3], sentences.log_scores[3], lengths=lengths[3]))


def test_compiled_code_names_a_bad_sentence_within_an_error_of_its_own():
    scores = np.zeros((6, 5, 5), dtype=np.float32)
    scores[1, :, 3] = -np.inf
    compiled = jax.jit(sample, static_argnums=2)
    with pytest.raises(Exception, match=r"DeptreeError: sentence 1 of the batch: no single-root tree .* word 3 has no"):
        jax.block_until_ready(compiled(jax.random.key(0), scores, 2))
    with pytest.raises(Exception, match="DeptreeError: sentence 0 of the batch: the length is 9, not from 1 to 4"):
        jax.block_until_ready(compiled(jax.random.key(0), scores, 2, np.full(6, 9)))


def test_log_probs_of_samples_are_differentiated(sentences):
    scores, how = sentences.log_scores, sentences.how
    trees = sample(jax.random.key(0), scores, 3, **how)
    drawn = jax.jit(jax.grad(lambda x: log_prob(x, sample(jax.random.key(0), x, 3, **how), **how).sum()))
    given = jax.grad(lambda x: log_prob(x, trees, **how).sum())
    np.testing.assert_allclose(drawn(scores), given(scores), atol=1e-5)


def test_all_trees_come_once_without_replacement_with_their_probability(sentences):
    found = sample_without_replacement(jax.random.key(0), sentences.log_scores, 130, **sentences.how)
    assert found.heads.shape == (130, 6, 5)
    for b, oracle in enumerate(sentences.oracles):
        size = len(oracle.trees)
        own = np.asarray(found.heads[:size, b, 1 : oracle.trees.shape[1] + 1])
        np.testing.assert_array_equal(np.unique(own, axis=0), oracle.trees)
        assert (np.asarray(found.heads[size:, b]) == -1).all()
        assert np.isneginf(found.log_probs[size:, b]).all()
    assert np.asarray(found.exhausted).all()
    np.testing.assert_allclose(found.weights, np.exp(found.log_probs), rtol=1e-5)
    np.testing.assert_allclose(found.weights.sum(0), 1, rtol=1e-5)


def test_weights_are_unbiased(sentences):
    """The mean over 2,000 keys of the sum of 3 trees' weights is 1; each beyond 4.5 standard errors by chance once in
    150,000 seeds."""
    scores, how = sentences.log_scores[0], {**sentences.how, "lengths": sentences.lengths[0]}
    draw = jax.jit(jax.vmap(lambda key: sample_without_replacement(key, scores, 3, **how).weights.sum(0)))
    sums = np.asarray(draw(jax.random.split(jax.random.key(1), 2000)), dtype=np.float64)
    assert abs(sums.mean() - 1) < 4.5 * sums.std() / np.sqrt(len(sums))
    assert sums.std() > 0.01


@pytest.fixture
def short(monkeypatch):
    """Intervals are halved down to one word, as those of long sentences are to some; many trees are many blocks."""
    monkeypatch.setattr(beam, "SHORTEST", 1)
    monkeypatch.setattr(beam, "BLOCK", 50)
    beam._search.clear_cache()
    yield
    beam._search.clear_cache()


def padded(log_scores, dtype=np.float32):
    lengths = np.array([len(each) - 1 for each in log_scores])
    batch = np.full((len(lengths), lengths.max() + 1, lengths.max() + 1), np.nan, dtype)
    for sentence, each in zip(batch, log_scores, strict=True):
        sentence[: len(each), : len(each)] = each
    return batch, lengths


def distributions(batch, lengths, single_root=True):
    shorter = [each[: n + 1, : n + 1].astype(np.float64) for each, n in zip(batch, lengths, strict=True)]
    return [TreeDistribution(each, single_root=single_root) for each in shorter]


@TYPES
def test_beam_search_draws_every_tree_once_and_then_nothing(single_root, dtype, graphs, short, quick, x64):
    """No statistics in it: trees of probability e^-300 come like any other in float64, and of e^-30 in float32."""
    roundings = 5 * ROUNDING if dtype == np.float32 else 1e-13
    graph = [graphs.gaussian(4), graphs.gaussian(4, 3, 1), graphs.one_way(4), graphs.holes(4, 7, single_root, 3)]
    graph += [graphs.gaussian(n, 3) for n in (1, 2, 3)]
    graph.append(np.where(np.isfinite(graph[3]), graph[3], -2e15))
    if dtype == np.float64:
        graph += [graphs.gaussian(4, 10, 7), graphs.gaussian(4, 30, 7), graphs.holes(4, 7, single_root, 30)]
    batch, lengths = padded(graph, dtype)
    found = stochastic_beam_search(jax.random.key(1), batch, 130, lengths, single_root=single_root)
    assert found.log_probs.dtype == dtype
    for b, distribution in enumerate(distributions(batch, lengths, single_root)):
        oracle, n = Oracle(distribution), distribution.n
        count = len(oracle.trees)
        heads, log_probs = np.asarray(found.heads[:, b]), np.asarray(found.log_probs[:, b], np.float64)
        assert sorted(heads[:count, 1 : n + 1].tolist()) == oracle.trees.tolist()
        assert (np.delete(heads, np.arange(1, n + 1), axis=1) == -1).all()
        assert (heads[count:] == -1).all()
        truth = distribution.log_probs(heads[:count, 1 : n + 1].astype(np.int32))
        np.testing.assert_allclose(log_probs[:count], truth, rtol=roundings, atol=roundings)
        assert (log_probs[count:] == -np.inf).all()
        assert (np.asarray(found.perturbed[count:, b]) == -np.inf).all()
        assert (np.diff(np.asarray(found.perturbed[:count, b])) <= 0).all()
        assert found.log_threshold[b] == -np.inf
        np.testing.assert_allclose(np.asarray(found.weights[:, b]), np.exp(log_probs), rtol=1e-5, atol=1e-37)


@pytest.mark.parametrize(("n", "scale", "rtol", "atol"), [(14, 1, 5, 5), (14, 5, 5, 5), (50, 1, 2, 0)])
def test_log_probabilities_of_longer_sentences(n, scale, rtol, atol, graphs, quick):
    """Halved once or more. 50 logarithms added in float32 are off by one rounding; without what each addition loses it
    would be five."""
    batch, lengths = padded([graphs.gaussian(n, scale, seed) for seed in range(3)])
    found = stochastic_beam_search(jax.random.key(3), batch, 40, lengths)
    for b, distribution in enumerate(distributions(batch, lengths)):
        heads = np.asarray(found.heads[:, b, 1:], np.int32)
        assert len(np.unique(heads, axis=0)) == 40
        truth = distribution.log_probs(heads)
        np.testing.assert_allclose(found.log_probs[:, b], truth, rtol=rtol * ROUNDING, atol=atol * ROUNDING)


@TYPES
def test_no_more_trees_than_a_float_type_tells_apart_are_drawn(single_root, dtype, graphs, quick, x64):
    scales, roundings = ((3, 12, 60), 5 * ROUNDING) if dtype == np.float32 else ((12, 60, 600), 1e-13)
    key, space = jax.random.key(1), SINGLE_ROOT if single_root else MULTI_ROOT
    batch, lengths = padded([graphs.gaussian(5, scale, seed) for scale in scales for seed in range(2)], dtype)
    found = beam._search(jax.random.split(key, 6), sentences_of(batch, lengths, space), 60)
    refused = np.isnan(np.asarray(found.log_probs)).all(0).tolist()
    assert refused[:2] + refused[4:] == [False] * 2 + [True] * 2
    for b, distribution in enumerate(distributions(batch, lengths, single_root)):
        if not refused[b]:
            truth = distribution.log_probs(np.asarray(found.heads[:, b, 1:], np.int32))
            np.testing.assert_allclose(found.log_probs[:, b], truth, rtol=roundings, atol=roundings)
    line = rf"^sentence [2-4] of the batch: its sums leave the range of {dtype.__name__} in plain JAX"
    with pytest.raises(DeptreeError, match=line):
        stochastic_beam_search(key, batch, 60, lengths, space)


@pytest.mark.slow("compile")
@pytest.mark.parametrize("single_root", [True, False], ids=["single", "multi"])
def test_laws_of_beam_search(single_root, graphs, short):
    """H0: the first tree is a with probability p_a, the first two are a, b with p_a * p_b / (1 - p_a); and a tree's
    weight, 0 where it is not drawn, is p on average, of two trees.

    10,000 runs of each of two graphs with 3 words, one with forbidden arcs. Chi-square over trees and over ordered
    pairs, rare ones pooled until expected five times: p-values above 0.001 / 8 (laws x modes x graphs). Mean weights,
    and their sum, within 5 standard errors: chance misses one of about 40 with probability 2e-5 if they are normal.
    """
    scores = [graphs.gaussian(3, 1.5, seed=2), graphs.gaussian(3, seed=3)]
    scores[1][[0, 1], [3, 2]] = -np.inf
    batch, lengths = padded([each for each in scores for _ in range(RUNS)])
    found = stochastic_beam_search(jax.random.key(4), batch, 3, lengths, single_root=single_root)
    for start, distribution in zip((0, RUNS), distributions(batch[::RUNS], lengths[::RUNS], single_root), strict=True):
        oracle = Oracle(distribution)
        probs = np.exp(oracle.log_probs)
        number = {tuple(tree): index for index, tree in enumerate(oracle.trees.tolist())}
        heads = found.heads[:, start : start + RUNS, 1:].tolist()
        drawn = np.array([[number[tuple(tree)] for tree in trees] for trees in heads])
        assert chi_square(np.bincount(drawn[0], minlength=len(probs)), probs)[2] > 0.001 / 8
        others = 1.0 - np.eye(len(probs))
        pairs = ((probs / (others @ probs))[:, None] * probs * others).ravel()
        counts = np.bincount(drawn[0] * len(probs) + drawn[1], minlength=pairs.size)
        assert counts[pairs == 0].sum() == 0
        assert chi_square(counts[pairs > 0], pairs[pairs > 0])[2] > 0.001 / 8
        of_trees = np.zeros((RUNS, len(probs)))
        for numbers, weight in zip(drawn, np.asarray(found.weights[:, start : start + RUNS], np.float64), strict=True):
            of_trees[np.arange(RUNS), numbers] += weight
        with_sum = np.column_stack([of_trees, of_trees.sum(axis=1)])
        error = with_sum.std(axis=0) / np.sqrt(RUNS)
        assert (np.abs(with_sum.mean(axis=0) - [*probs, 1.0]) <= 5 * error + 1e-6).all()


@pytest.mark.parametrize(("dtype", "rtol"), [(np.float32, 1e-5), (np.float64, 2e-10)])
def test_weights_are_those_of_the_core(dtype, rtol, x64):
    """From certain trees to such as have e^-60, on both sides of where they count as rare."""
    log_probs = np.array([0.0, -1e-3, -1.0, -8.0, -12.0, -12.9, -13.0, -13.1, -20.0, -60.0], dtype)
    for threshold in (-np.inf, -70.0, -20.0, -3.0, 0.0, 2.0):
        given = jnp.zeros(10), jnp.array(log_probs), jnp.zeros(10), jnp.asarray(threshold, dtype)
        expected = weights(log_probs.astype(np.float64), float(np.exp(-threshold)))
        np.testing.assert_allclose(beam.BeamSample(*given).weights, expected, rtol=rtol)


search = partial(stochastic_beam_search, k=2)
# Each sentence with its own key and length, compiled once for the tests below.
by_sentence = jax.jit(jax.vmap(lambda key, x, n: tuple(search(key, x, lengths=n)), out_axes=(1, 1, 1, 0)))
KEYS = jax.random.split(jax.random.key(5), 3)


@pytest.mark.slow("compile")
def test_jit_and_vmap_of_beam_search_give_the_same(graphs, quick):
    key = jax.random.key(5)
    batch, lengths = padded([graphs.gaussian(3, seed=seed) for seed in range(3)])
    expected = search(key, batch)
    for found in (by_sentence(KEYS, batch, lengths), search(key, batch[:, None])):
        for part, other in zip(found, expected, strict=True):
            np.testing.assert_allclose(np.reshape(part, np.shape(other)), other, rtol=1e-6)
    gradient = jax.grad(lambda scores: search(key, scores).log_probs.sum())(jnp.array(batch))
    assert (gradient == 0).all()


@pytest.mark.parametrize("bad", [9, 4, 0, -1, "no tree", "NaN"])
def test_beam_search_finds_nothing_in_a_bad_sentence(bad, quick):
    """Of three words: an error, or in compiled code NaN, and -inf where there is no tree."""
    batch, lengths = np.zeros((3, 4, 4), np.float32), np.array([3, 3, 3])
    says = {"no tree": ".*word 2", "NaN": "the score of ROOT -> 2"}.get(bad, "the length is")
    if isinstance(bad, int):
        lengths[1] = bad
    else:
        batch[1, :, 2] = np.nan if bad == "NaN" else -np.inf
    with pytest.raises(DeptreeError, match=f"sentence 1 of the batch: {says}"):
        search(jax.random.key(1), batch, lengths=lengths)
    found = beam.BeamSample(*by_sentence(KEYS, batch, lengths))
    assert (found.heads[:, 1] == -1).all()
    assert bad == "NaN" or (found.weights[:, 1] == 0).all()
    assert np.isfinite(found.log_probs[:, 0]).all()
    assert (np.isneginf if bad == "no tree" else np.isnan)(found.log_probs[:, 1]).all()


@EACH
def test_what_is_no_key_is_refused(draw):
    other = r"^the key, of type \w+, is none of jax.random\. Give a key of jax.random\.$"
    several = r"^keys of shape \(3,\) are given\. Give a key of jax.random, one for all"
    keys = [jax.random.split(make(0), 3) for make in (jax.random.key, jax.random.PRNGKey)]
    for key in (0, None, "a key", np.random.default_rng(0), BATCH[0], *keys):
        with pytest.raises(DeptreeError, match=several if any(key is each for each in keys) else other):
            draw(key, BATCH[0], 2)


@pytest.mark.parametrize("k", [0, -1, 2.5, None, True, "many"])
def test_as_many_trees_are_not_there(k):
    says = f"^{k} trees are asked for" if type(k) is int else f"^{k!r} is not a number of trees"
    for draw in (top_k, *(partial(each, KEYS[0]) for each in DRAWN)):
        with pytest.raises(DeptreeError, match=rf"{says}\. Ask for (an integer of )?1 or more"):
            draw(BATCH[0], k)
    with pytest.raises(DeptreeError, match=r"is not a number of trees\. Ask for an integer of 1 or more, static"):
        jax.jit(top_k)(BATCH[0], 2)
    with pytest.raises(DeptreeError, match=r"^there is not enough memory for 1,000,000,000,000 trees\. Ask for fewer"):
        sample(jax.random.key(0), BATCH, 10**12)


@pytest.mark.slow("compile")
@pytest.mark.parametrize("k", [10**9, 10**30])
def test_no_more_rows_than_trees(k, quick):
    """At most 16 trees over three words, with one root 9; at most 3 over two, with one root 2."""
    key = jax.random.key(0)
    best = top_k(BATCH, k, LENGTHS), jax.jit(top_k, static_argnums=1)(BATCH, k, LENGTHS)
    for heads in (*best, *(draw(key, BATCH, k, LENGTHS).heads for draw in DRAWN[1:])):
        assert heads.shape == (16, 2, 4)
        assert (np.asarray(heads) != -1).any(-1).sum(0).tolist() == [9, 2]
    assert top_k(BATCH, np.int64(20), LENGTHS).shape == (20, 2, 4)
