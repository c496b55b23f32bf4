"""Stochastic beam search in JAX: against enumeration, however unlikely the trees; its order and its weights by laws."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np
import pytest

jax = pytest.importorskip("jax")

import jax.numpy as jnp

from deptree_cli.core.distribution import TreeDistribution
from deptree_cli.core.errors import DeptreeError
from deptree_cli.core.estimate import weights
from deptree_cli.core.spaces import MULTI_ROOT, SINGLE_ROOT
from deptree_cli.jax import beam
from deptree_cli.jax.sums import sentences_of
from tests.jax.digits import float64
from tests.oracle import Oracle
from tests.pearson import chi_square

Float = np.ndarray

BOTH = pytest.mark.parametrize("single_root", [True, False], ids=["single", "multi"])
TYPES = pytest.mark.parametrize(("single_root", "dtype"), [(True, np.float64), (False, np.float32)])

# How far float32 may be off: five roundings of the result, or of 1.
ROUNDINGS = 5 * 2.0**-24

RUNS = 10_000
LEVEL = 0.001 / 8  # laws x modes x graphs


@pytest.fixture(scope="module")
def short() -> Iterator[None]:
    """Intervals are halved down to one word, as those of long sentences are to some; many trees are many blocks."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(beam, "SHORTEST", 1)
        patch.setattr(beam, "BLOCK", 50)
        yield
    beam._search.clear_cache()


def padded(log_scores: list[Float], dtype: type = np.float32) -> tuple[Float, Float]:
    """A batch, NaN where nothing is, and its lengths."""
    lengths = np.array([len(each) - 1 for each in log_scores])
    batch = np.full((len(lengths), lengths.max() + 1, lengths.max() + 1), np.nan, dtype)
    for sentence, each in zip(batch, log_scores, strict=True):
        sentence[: len(each), : len(each)] = each
    return batch, lengths


def distributions(batch: Float, lengths: Float, single_root: bool) -> list[TreeDistribution]:
    """What the batch's own numbers say, in float64."""
    shorter = [each[: n + 1, : n + 1].astype(np.float64) for each, n in zip(batch, lengths, strict=True)]
    return [TreeDistribution(each, single_root=single_root) for each in shorter]


def check_every_tree_once(found: beam.BeamSample, b: int, distribution: TreeDistribution, roundings: float) -> None:
    """All trees that there are and then nothing, with their probabilities, in the order of what was perturbed."""
    oracle, n = Oracle(distribution), distribution.n
    count = len(oracle.trees)
    heads, log_probs = np.asarray(found.heads[:, b]), np.asarray(found.log_probs[:, b], np.float64)
    assert sorted(heads[:count, 1 : n + 1].tolist()) == oracle.trees.tolist()
    assert (heads[:, 0] == -1).all()
    assert (heads[:, n + 1 :] == -1).all()
    assert (heads[count:] == -1).all()
    truth = distribution.log_probs(heads[:count, 1 : n + 1].astype(np.int32))
    np.testing.assert_allclose(log_probs[:count], truth, rtol=roundings, atol=roundings)
    assert (log_probs[count:] == -np.inf).all()
    assert (np.asarray(found.perturbed[count:, b]) == -np.inf).all()
    assert (np.diff(np.asarray(found.perturbed[:count, b])) <= 0).all()
    assert found.log_threshold[b] == -np.inf
    np.testing.assert_allclose(np.asarray(found.weights[:, b]), np.exp(log_probs), rtol=1e-5, atol=1e-37)


@TYPES
def test_every_tree_once_and_then_the_end(single_root: bool, dtype: type, graphs, short: None, quick: None) -> None:
    """No statistics in it: trees of probability e^-300 come like any other in float64, and of e^-30 in float32."""
    graph = [graphs.gaussian(4), graphs.gaussian(4, 3, 1), graphs.one_way(4), graphs.holes(4, 7, single_root, 3)]
    graph += [graphs.gaussian(n, 3) for n in (1, 2, 3)]
    graph.append(np.where(np.isfinite(graph[3]), graph[3], -2e15))
    if dtype == np.float64:
        graph += [graphs.gaussian(4, 10, 7), graphs.gaussian(4, 30, 7), graphs.holes(4, 7, single_root, 30)]
    with float64():
        batch, lengths = padded(graph, dtype)
        found = beam.stochastic_beam_search(jax.random.key(1), batch, 130, lengths, single_root=single_root)
        assert found.log_probs.dtype == dtype
        for b, distribution in enumerate(distributions(batch, lengths, single_root)):
            check_every_tree_once(found, b, distribution, ROUNDINGS if dtype == np.float32 else 1e-13)


@pytest.mark.parametrize("scale", [1, 5])
def test_log_probabilities_of_longer_sentences(scale: float, graphs, quick: None) -> None:
    """Halved once, to seven words."""
    batch, lengths = padded([graphs.gaussian(14, scale, seed) for seed in range(3)])
    found = beam.stochastic_beam_search(jax.random.key(3), batch, 40, lengths)
    for b, distribution in enumerate(distributions(batch, lengths, True)):
        heads = np.asarray(found.heads[:, b, 1:], np.int32)
        assert len(np.unique(heads, axis=0)) == 40
        np.testing.assert_allclose(found.log_probs[:, b], distribution.log_probs(heads), rtol=ROUNDINGS, atol=ROUNDINGS)


def test_roundings_do_not_add_up(graphs, quick: None) -> None:
    """50 logarithms added in float32 are off by one rounding; without what each addition loses it would be five."""
    batch, lengths = padded([graphs.gaussian(50, seed=seed) for seed in range(2)])
    found = beam.stochastic_beam_search(jax.random.key(3), batch, 40, lengths)
    for b, distribution in enumerate(distributions(batch, lengths, True)):
        truth = distribution.log_probs(np.asarray(found.heads[:, b, 1:], np.int32))
        np.testing.assert_allclose(found.log_probs[:, b], truth, rtol=2 * 2.0**-24, atol=0)


@TYPES
def test_what_is_out_of_range_is_refused(single_root: bool, dtype: type, graphs, quick: None) -> None:
    """No more trees than a float type tells apart are drawn; what is drawn is right."""
    scales, roundings = ((3, 12, 60), ROUNDINGS) if dtype == np.float32 else ((12, 60, 600), 1e-13)
    key, space = jax.random.key(1), SINGLE_ROOT if single_root else MULTI_ROOT
    with float64():
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
            beam.stochastic_beam_search(key, batch, 60, lengths, space)


def pair_probabilities(probs: Float) -> Float:
    """P(first a, then b) = p_a * p_b / (1 - p_a), [a, b]."""
    others = 1.0 - np.eye(len(probs))
    return (probs / (others @ probs))[:, None] * probs * others


@pytest.mark.slow("compile")
@BOTH
def test_laws(single_root: bool, graphs) -> None:
    """H0: the first tree is a with probability p_a, the first two are a, b with p_a * p_b / (1 - p_a); and a tree's
    weight, 0 where it is not drawn, is p on average, of two trees.

    10,000 runs of each of two graphs with 3 words, one with forbidden arcs. Chi-square over trees and over ordered
    pairs, rare ones pooled until expected five times: p-values above 0.001 / 8. Mean weights, and their sum, within 5
    standard errors: chance misses one of about 40 with probability 2e-5 if they are normal.
    """
    scores = [graphs.gaussian(3, 1.5, seed=2), graphs.gaussian(3, seed=3)]
    scores[1][[0, 1], [3, 2]] = -np.inf
    batch, lengths = padded([each for each in scores for _ in range(RUNS)])
    found = beam.stochastic_beam_search(jax.random.key(4), batch, 3, lengths, single_root=single_root)
    for start, distribution in zip((0, RUNS), distributions(batch[::RUNS], lengths[::RUNS], single_root), strict=True):
        oracle = Oracle(distribution)
        probs = np.exp(oracle.log_probs)
        number = {tuple(tree): index for index, tree in enumerate(oracle.trees.tolist())}
        heads = np.asarray(found.heads[:, start : start + RUNS, 1:])
        drawn = np.array([[number[tuple(tree)] for tree in trees] for trees in heads.tolist()])
        assert chi_square(np.bincount(drawn[0], minlength=len(probs)), probs)[2] > LEVEL
        pairs = pair_probabilities(probs)
        counts = np.bincount(drawn[0] * len(probs) + drawn[1], minlength=pairs.size)
        assert counts[pairs.ravel() == 0].sum() == 0
        assert chi_square(counts[pairs.ravel() > 0], pairs.ravel()[pairs.ravel() > 0])[2] > LEVEL
        check_mean_weights(np.asarray(found.weights[:, start : start + RUNS], np.float64), drawn, probs)


def check_mean_weights(weight: Float, drawn: Float, probs: Float) -> None:
    """Each tree's is its probability on average, and all together 1."""
    of_trees = np.zeros((drawn.shape[1], len(probs)))
    for place in range(len(drawn)):
        of_trees[np.arange(drawn.shape[1]), drawn[place]] += weight[place]
    with_sum = np.column_stack([of_trees, of_trees.sum(axis=1)])
    error = with_sum.std(axis=0) / np.sqrt(len(with_sum))
    assert (np.abs(with_sum.mean(axis=0) - [*probs, 1.0]) <= 5 * error + 1e-6).all()


@pytest.mark.parametrize(("dtype", "rtol"), [(np.float32, 1e-5), (np.float64, 2e-10)])
def test_weights_are_those_of_the_core(dtype: type, rtol: float) -> None:
    """From certain trees to such as have e^-60, on both sides of where they count as rare."""
    log_probs = np.array([0.0, -1e-3, -1.0, -8.0, -12.0, -12.9, -13.0, -13.1, -20.0, -60.0], dtype)
    with float64():
        for threshold in (-np.inf, -70.0, -20.0, -3.0, 0.0, 2.0):
            given = jnp.zeros(10), jnp.array(log_probs), jnp.zeros(10), jnp.asarray(threshold, dtype)
            expected = weights(log_probs.astype(np.float64), float(np.exp(-threshold)))
            np.testing.assert_allclose(beam.BeamSample(*given).weights, expected, rtol=rtol)


search = partial(beam.stochastic_beam_search, k=2)

# Each sentence with its own key and length, compiled once for all tests below.
by_sentence = jax.jit(jax.vmap(lambda key, x, n: tuple(search(key, x, lengths=n)), out_axes=(1, 1, 1, 0)))
KEYS, LENGTHS = jax.random.split(jax.random.key(5), 3), np.full(3, 3)


@pytest.mark.slow("compile")
def test_jit_and_vmap_give_the_same(graphs, quick: None) -> None:
    key = jax.random.key(5)
    batch, _ = padded([graphs.gaussian(3, seed=seed) for seed in range(3)])
    expected = search(key, batch)
    for found in (by_sentence(KEYS, batch, LENGTHS), search(key, batch[:, None])):
        for part, other in zip(found, expected, strict=True):
            np.testing.assert_allclose(np.reshape(part, np.shape(other)), other, rtol=1e-6)
    gradient = jax.grad(lambda scores: search(key, scores).log_probs.sum())(jnp.array(batch))
    assert (gradient == 0).all()


def test_errors(graphs, quick: None) -> None:
    key = jax.random.key(6)
    batch, _ = padded([graphs.gaussian(3)] * 3)
    with pytest.raises(DeptreeError, match="0 trees are asked for"):
        beam.stochastic_beam_search(key, batch, 0)
    noise = np.asarray(search(key, batch).perturbed)
    assert (noise[:, 0] != noise[:, 1]).all()  # equal sentences draw trees of their own
    batch[1, :, 2] = -np.inf
    with pytest.raises(DeptreeError, match=r"sentence 1 of the batch: .*word 2"):
        search(key, batch)
    assert (check_no_trees(batch) == -np.inf).all()
    batch[1, 1, 2] = np.nan
    with pytest.raises(DeptreeError, match="sentence 1 of the batch"):
        search(key, batch)


def check_no_trees(batch: Float, lengths: Float = LENGTHS) -> Float:
    """Return the log-probabilities of sentence 1 in compiled code, which finds no trees there."""
    found = beam.BeamSample(*by_sentence(KEYS, batch, lengths))
    assert (found.heads[:, 1] == -1).all()
    assert (found.weights[:, 1] == 0).all()
    assert np.isfinite(found.log_probs[:, 0]).all()
    return np.asarray(found.log_probs[:, 1])


@pytest.mark.parametrize("bad", [9, 4, 0, -1])
def test_lengths_that_are_none(bad: int, quick: None) -> None:
    """Of three words."""
    batch, lengths = np.zeros((3, 4, 4), np.float32), np.array([3, bad, 3])
    with pytest.raises(DeptreeError, match=f"sentence 1 of the batch: the length is {bad}, not from 1 to 3"):
        search(jax.random.key(1), batch, lengths=lengths)
    assert np.isnan(check_no_trees(batch, lengths)).all()
