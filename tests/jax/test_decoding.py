"""What is asked of our kernels out of JAX: best trees, and distinct ones."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest

jax = pytest.importorskip("jax")

from deptree_cli.jax import argmax, mbr, sample_without_replacement, top_k


@pytest.mark.parametrize("name", ["argmax", "mbr"])
def test_best_trees_are_those_of_core(sentences: Any, name: str) -> None:
    decode = partial({"argmax": argmax, "mbr": mbr}[name], space=sentences.space.name)
    found = decode(sentences.log_scores, sentences.lengths)
    assert found.shape == (6, 5)
    for own, sentence in zip(np.asarray(found), sentences.each, strict=True):
        np.testing.assert_array_equal(own[1 : sentence.n + 1], getattr(sentence, name)())
        assert (np.delete(own, np.arange(1, sentence.n + 1)) == -1).all()
    np.testing.assert_array_equal(jax.jit(decode)(sentences.log_scores, sentences.lengths), found)
    np.testing.assert_array_equal(jax.vmap(decode)(sentences.log_scores, sentences.lengths), found)


def test_the_k_best_are_those_of_core(sentences: Any) -> None:
    found = np.asarray(top_k(sentences.log_scores, 3, **sentences.how))
    assert found.shape == (3, 6, 5)
    for b, sentence in enumerate(sentences.each):
        best = sentence.top_k(3)
        np.testing.assert_array_equal(found[: len(best), b, 1 : sentence.n + 1], best)
        assert (found[len(best) :, b] == -1).all()


class TestWithoutReplacement:
    def test_all_trees_come_once_with_their_probability(self, sentences: Any) -> None:
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

    def test_weights_are_unbiased(self, sentences: Any) -> None:
        """The mean over 2,000 keys of the sum of 3 trees' weights is 1; each beyond 4.5 standard errors by chance once
        in 150,000 seeds."""
        keys = jax.random.split(jax.random.key(1), 2000)
        scores, how = sentences.log_scores[0], {**sentences.how, "lengths": sentences.lengths[0]}
        draw = jax.jit(jax.vmap(lambda key: sample_without_replacement(key, scores, 3, **how).weights.sum(0)))
        sums = np.asarray(draw(keys), dtype=np.float64)
        assert abs(sums.mean() - 1) < 4.5 * sums.std() / np.sqrt(len(sums))
        assert sums.std() > 0.01
