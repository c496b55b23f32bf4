"""Independent trees in JAX, against enumeration; vmap, and gradients of what is made of them."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest

jax = pytest.importorskip("jax")

from deptree_cli.jax import log_prob, marginals, sample, sample_without_replacement
from tests.pearson import chi_square

SIZE = 20_000

# 4 spaces * 6 sentences are tested together: they fail by chance once in a thousand seeds.
LEVEL = 0.001 / 24


def drawn(sentences: Any, seed: int = 3) -> np.ndarray:
    """Trees (k, 6, 5)."""
    return np.asarray(sample(jax.random.key(seed), sentences.log_scores, SIZE, **sentences.how))


def test_trees_come_as_often_as_they_are_probable(sentences: Any) -> None:
    """Pearson's chi-square of 20,000 trees of each sentence against enumeration, trees expected fewer than five times
    pooled; hypothesis: the sampler is exact; threshold: p below 0.001 / 24."""
    heads = drawn(sentences)
    assert heads.dtype == np.int32
    for b, (oracle, n) in enumerate(zip(sentences.oracles, sentences.lengths, strict=True)):
        assert (heads[:, b, 0] == -1).all()
        assert (heads[:, b, n + 1 :] == -1).all()
        index = {tuple(tree): number for number, tree in enumerate(oracle.trees.tolist())}
        found, times = np.unique(heads[:, b, 1 : n + 1], axis=0, return_counts=True)
        counts = np.zeros(len(index), dtype=np.int64)
        counts[[index[tuple(tree)] for tree in found.tolist()]] = times
        assert chi_square(counts, np.exp(oracle.log_probs))[2] > LEVEL


@pytest.mark.parametrize("draw", ["independent", "distinct"])
def test_equal_sentences_of_a_batch_draw_trees_of_their_own(draw: str) -> None:
    """From the one key each has its own random numbers: 64 come in the same order by chance once in 1e89 seeds."""
    key, scores = jax.random.key(4), np.zeros((6, 5, 5), dtype=np.float32)
    if draw == "distinct":
        heads = sample_without_replacement(key, scores, 64).heads
    else:
        heads = sample(key, scores, SIZE, np.full(6, 4))
    assert not np.array_equal(heads[:, 0], heads[:, 1])


def test_the_key_decides(sentences: Any) -> None:
    """And nothing else does: neither the form of the key, nor compilation, nor the other sentences."""
    first = drawn(sentences)
    np.testing.assert_array_equal(drawn(sentences), first)
    assert (drawn(sentences, seed=4) != first).any()
    how = sentences.how
    scores = sentences.log_scores.copy()
    scores[0, 1, 2] += 5.0
    compiled = jax.jit(sample, static_argnames=("k", "single_root", "projective"))
    heads = compiled(jax.random.PRNGKey(3), scores, SIZE, **how)
    np.testing.assert_array_equal(heads[:, 1:], first[:, 1:])
    assert (heads[:, 0] != first[:, 0]).any()


def test_compiled_code_names_a_bad_sentence_within_an_error_of_its_own() -> None:
    scores = np.zeros((6, 5, 5), dtype=np.float32)
    scores[1, :, 3] = -np.inf
    compiled = jax.jit(sample, static_argnums=2)
    with pytest.raises(Exception, match=r"DeptreeError: sentence 1 of the batch: no single-root tree .* word 3 has no"):
        jax.block_until_ready(compiled(jax.random.key(0), scores, 2))
    with pytest.raises(Exception, match="DeptreeError: sentence 0 of the batch: the length is 9, not from 1 to 4"):
        jax.block_until_ready(compiled(jax.random.key(0), scores, 2, np.full(6, 9)))


def test_vmap_over_keys_and_sentences(sentences: Any) -> None:
    keys = jax.random.split(jax.random.key(5), 6)
    lengths, name = sentences.lengths, sentences.space.name

    def draw(key: Any, scores: Any, n: Any) -> Any:
        return sample(key, scores, 4, n, name)

    found = jax.vmap(draw)(keys, sentences.log_scores, lengths)
    assert found.shape == (6, 4, 5)
    alone = draw(keys[3], sentences.log_scores[3], lengths[3])
    np.testing.assert_array_equal(found[3], alone)


@partial(jax.jit, static_argnames=("single_root", "projective"))
@jax.grad
def of_samples(scores: Any, key: Any, **how: Any) -> Any:
    """The gradient of the log-probabilities of three trees that are drawn on the way."""
    return log_prob(scores, sample(key, scores, 3, **how), **how).sum()


def test_log_probs_of_samples_are_differentiated(sentences: Any) -> None:
    """Trees are constants, as a score-function estimator takes them."""
    how = sentences.how
    found = of_samples(sentences.log_scores, jax.random.key(0), **how)
    trees = np.asarray(sample(jax.random.key(0), sentences.log_scores, 3, **how))
    expected = -3 * np.asarray(marginals(sentences.log_scores, **how))
    for b, n in enumerate(sentences.lengths):
        np.add.at(expected[b], (trees[:, b, 1 : n + 1], np.arange(1, n + 1)), 1)
    np.testing.assert_allclose(found, expected, atol=1e-5)
