"""Projective trees in JAX: the sentences that have none, and what is not offered; sums are in test_partition.py."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

jax = pytest.importorskip("jax")

from deptree_cli.core.errors import DeptreeError
from deptree_cli.jax import argmax, entropy, log_partition, log_prob, marginals, sample, stochastic_beam_search
from tests.heads_first import HEADS_FIRST


def crossing() -> np.ndarray:
    """Scores of which those of sentence 1 leave words 3 and 4 one head each, by arcs that cross."""
    scores = np.zeros((6, 5, 5), dtype=np.float32)
    scores[1, [0, 2, 4], 3] = scores[1, [0, 1, 3], 4] = -np.inf
    return scores


def test_a_sentence_without_a_projective_tree_is_named() -> None:
    line = r"^sentence 1 of the batch: no projective tree is possible: the arcs 1 -> 3 and 2 -> 4 cross"
    for ask in (log_partition, marginals, argmax, entropy, partial(sample, jax.random.key(0), k=2)):
        with pytest.raises(DeptreeError, match=line):
            ask(log_scores=crossing(), projective=True)
    assert np.isfinite(log_partition(crossing())).all()


def test_compiled_code_gives_it_minus_infinity_and_a_gradient_of_0() -> None:
    values, slopes = jax.jit(jax.vmap(jax.value_and_grad(partial(log_partition, projective=True))))(crossing())
    np.testing.assert_array_equal(np.isneginf(values), np.arange(6) == 1)
    assert not np.asarray(slopes[1]).any()
    np.testing.assert_allclose(slopes[0].sum(0)[1:], 1, rtol=1e-6)


def test_trees_that_cross_have_no_probability() -> None:
    heads = np.array([[-1, 0, 1, 1, 2]] * 6)
    scores = np.zeros((6, 5, 5), dtype=np.float32)
    assert np.isneginf(log_prob(scores, heads, projective=True)).all()
    assert np.isfinite(log_prob(scores, heads)).all()


def test_what_is_not_offered_is_refused_in_a_line() -> None:
    scores, key = crossing()[:1], jax.random.key(0)
    with pytest.raises(
        DeptreeError, match=r"^projective trees are summed by kernels only\. Leave out the implementation"
    ):
        marginals(scores, projective=True, implementation="device")
    with pytest.raises(
        DeptreeError, match=r"^beam search draws non-projective trees only\. Use sample_without_replace"
    ):
        stochastic_beam_search(key, scores, 2, projective=True)
    with pytest.raises(DeptreeError, match=r"^there is no tree space 'True'\. Choose one of single-root, "):
        log_partition(scores, None, True)
    with pytest.raises(DeptreeError, match=r"^`space=\"projective\"` contradicts `single_root=False`"):
        log_partition(scores, space="projective", single_root=False)
    with pytest.raises(DeptreeError, match=r"^JAX has no sums over trees whose heads all precede"):
        log_partition(scores, space=HEADS_FIRST)
