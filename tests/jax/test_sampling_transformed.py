"""Transformations of what draws trees: vmap, and gradients of what is made of them."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest

jax = pytest.importorskip("jax")

from deptree_cli.jax import log_prob, marginals, sample


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
