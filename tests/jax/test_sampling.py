"""Independent trees in JAX, by kernels and on the device, against enumeration."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

jax = pytest.importorskip("jax")

from deptree_cli.core.errors import DeptreeError
from deptree_cli.core.spaces import SPACES
from deptree_cli.jax import log_prob, marginals, sample, sample_without_replacement
from tests.pearson import chi_square

BOTH = pytest.mark.parametrize("implementation", ["kernels", "device"])
SIZE = 20_000

# Kernels draw from every space of trees, the sampler on devices where arcs may cross.
WAYS = pytest.mark.parametrize(
    ("sentences", "implementation"),
    [(space, "kernels") for space in SPACES] + [(space, "device") for space in SPACES if not space.projective],
    indirect=["sentences"],
    ids=lambda part: getattr(part, "name", part),
)

# 6 ways * 6 sentences are tested together: they fail by chance once in a thousand seeds.
LEVEL = 0.001 / 36

# Compiled once for all tests: JAX's random numbers take a compiler seconds.
compiled = jax.jit(sample, static_argnames=("k", "projective", "implementation"))


def drawn(sentences: Any, implementation: str, seed: int = 3) -> np.ndarray:
    """Trees (k, 6, 5)."""
    return np.asarray(
        sample(jax.random.key(seed), sentences.log_scores, SIZE, implementation=implementation, **sentences.how)
    )


@WAYS
def test_trees_come_as_often_as_they_are_probable(sentences: Any, implementation: str) -> None:
    """Pearson's chi-square of 20,000 trees of each sentence against enumeration, trees expected fewer than five times
    pooled; hypothesis: the sampler is exact; threshold: p below 0.001 / 36."""
    heads = drawn(sentences, implementation)
    assert heads.dtype == np.int32
    for b, (oracle, n) in enumerate(zip(sentences.oracles, sentences.lengths, strict=True)):
        assert (heads[:, b, 0] == -1).all()
        assert (heads[:, b, n + 1 :] == -1).all()
        index = {tuple(tree): number for number, tree in enumerate(oracle.trees.tolist())}
        found, times = np.unique(heads[:, b, 1 : n + 1], axis=0, return_counts=True)
        counts = np.zeros(len(index), dtype=np.int64)
        counts[[index[tuple(tree)] for tree in found.tolist()]] = times
        assert chi_square(counts, np.exp(oracle.log_probs))[2] > LEVEL


def test_longer_sentences_have_their_marginals_on_the_device(graphs: Any) -> None:
    """The arcs of 4,000 trees of 12 words, flat and peaked, against marginals.

    Counts are binomial: one of 2 * 144 is beyond 5.5 standard deviations by chance once in 90,000 seeds; and 1 is added
    for arcs that are hardly ever drawn.
    """
    scores = np.stack([graphs.gaussian(12), graphs.gaussian(12, 10.0)]).astype(np.float32)
    heads = np.asarray(sample(jax.random.key(8), scores, 4000, implementation="device"))
    counts = np.zeros((2, 13, 13))
    for b in range(2):
        np.add.at(counts[b], (heads[:, b, 1:], np.arange(1, 13)), 1)
    probs = np.asarray(marginals(scores), dtype=np.float64)
    allowed = 5.5 * np.sqrt(4000 * probs * (1 - probs).clip(0)) + 1
    assert (np.abs(counts - 4000 * probs) <= allowed).all()
    assert np.isfinite(log_prob(scores, heads)).all()


@pytest.mark.parametrize("draw", ["kernels", "device", "distinct"])
def test_equal_sentences_of_a_batch_draw_trees_of_their_own(draw: str) -> None:
    """From the one key each has its own random numbers: 64 come in the same order by chance once in 1e89 seeds."""
    key, scores = jax.random.key(4), np.zeros((6, 5, 5), dtype=np.float32)
    if draw == "distinct":
        heads = sample_without_replacement(key, scores, 64).heads
    else:
        heads = sample(key, scores, SIZE, np.full(6, 4), implementation=draw)
    assert not np.array_equal(heads[:, 0], heads[:, 1])


@WAYS
def test_the_key_decides(sentences: Any, implementation: str) -> None:
    """And nothing else does: neither the form of the key, nor compilation, nor the other sentences."""
    first = drawn(sentences, implementation)
    np.testing.assert_array_equal(drawn(sentences, implementation), first)
    assert (drawn(sentences, implementation, seed=4) != first).any()
    how = sentences.how
    scores = sentences.log_scores.copy()
    scores[0, 1, 2] += 5.0
    if implementation == "device":
        heads = compiled(jax.random.PRNGKey(3), scores, SIZE, implementation=implementation, **how)
    else:
        heads = sample(jax.random.PRNGKey(3), scores, SIZE, implementation=implementation, **how)
    np.testing.assert_array_equal(heads[:, 1:], first[:, 1:])
    assert (heads[:, 0] != first[:, 0]).any()


def test_on_the_cpu_kernels_are_chosen(sentences: Any) -> None:
    np.testing.assert_array_equal(drawn(sentences, "auto"), drawn(sentences, "kernels"))
    with pytest.raises(DeptreeError, match="unknown implementation 'gpu'"):
        drawn(sentences, "gpu")


def without_a_tree() -> np.ndarray:
    """Scores of which those of sentence 1 forbid all heads of word 3."""
    scores = np.zeros((6, 5, 5), dtype=np.float32)
    scores[1, :, 3] = -np.inf
    return scores


@BOTH
def test_a_sentence_without_a_tree_is_named(implementation: str) -> None:
    with pytest.raises(DeptreeError, match=r"^sentence 1 of the batch: no single-root tree .* word 3 has no head"):
        sample(jax.random.key(0), without_a_tree(), SIZE, implementation=implementation)


def test_what_is_compiled_for_a_device_gives_it_no_heads() -> None:
    lengths = np.array([4, 4, 9, 5, 0, -1])
    how = {"lengths": lengths, "single_root": True, "projective": False, "implementation": "device"}
    heads = np.asarray(compiled(jax.random.PRNGKey(0), without_a_tree(), SIZE, **how))
    assert (heads[:, 1:] == -1).all()
    assert (heads[:, 0, 1:] >= 0).all()
