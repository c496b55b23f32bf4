"""Independent trees in JAX, against enumeration."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

jax = pytest.importorskip("jax")

from deptree_cli.core.errors import DeptreeError
from deptree_cli.jax import sample, sample_without_replacement
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


def without_a_tree() -> np.ndarray:
    """Scores of which those of sentence 1 forbid all heads of word 3."""
    scores = np.zeros((6, 5, 5), dtype=np.float32)
    scores[1, :, 3] = -np.inf
    return scores


def test_a_sentence_without_a_tree_is_named() -> None:
    line = r"sentence 1 of the batch: no single-root tree .* word 3 has no head"
    with pytest.raises(DeptreeError, match=f"^{line}"):
        sample(jax.random.key(0), without_a_tree(), SIZE)
    with pytest.raises(Exception, match=f"DeptreeError: {line}"):
        jax.block_until_ready(jax.jit(sample, static_argnums=2)(jax.random.key(0), without_a_tree(), SIZE))
    with pytest.raises(Exception, match="DeptreeError: sentence 0 of the batch: the length is 9, not from 1 to 4"):
        jax.block_until_ready(jax.jit(sample, static_argnums=2)(jax.random.key(0), without_a_tree(), 2, np.full(6, 9)))
