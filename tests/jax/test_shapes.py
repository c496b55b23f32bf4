"""One sentence, and a batch of none, asked by every function, at once and compiled; and one without a tree."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

jax = pytest.importorskip("jax")

import jax.numpy as jnp

import deptree_cli.jax as wing
from deptree_cli.core.errors import DeptreeError

KEY = jax.random.key(0)
HEADS = np.array([-1, 2, 0])


pytestmark = pytest.mark.usefixtures("quick")

# With the shapes of the results of a batch (batch,): k is 2, N is 3.
FUNCTIONS: dict[str, tuple[Callable[..., Any], Callable[..., list[tuple[int, ...]]]]] = {
    "log_partition": (wing.log_partition, lambda *batch: [batch]),
    "marginals": (wing.marginals, lambda *batch: [(*batch, 3, 3)]),
    "log_prob": (
        lambda scores: wing.log_prob(scores, jnp.broadcast_to(HEADS, scores.shape[:-1])),
        lambda *batch: [batch],
    ),
    "entropy": (wing.entropy, lambda *batch: [batch]),
    "cross_entropy": (lambda scores: wing.cross_entropy(scores, scores), lambda *batch: [batch]),
    "kl": (lambda scores: wing.kl(scores, scores), lambda *batch: [batch]),
    "argmax": (wing.argmax, lambda *batch: [(*batch, 3)]),
    "mbr": (wing.mbr, lambda *batch: [(*batch, 3)]),
    "top_k": (lambda scores: wing.top_k(scores, 2), lambda *batch: [(2, *batch, 3)]),
    "sample": (lambda scores: wing.sample(KEY, scores, 2), lambda *batch: [(2, *batch, 3)]),
    "log_partition on the device": (
        lambda scores: wing.log_partition(scores, implementation="device"),
        lambda *batch: [batch],
    ),
    "sample_without_replacement": (
        lambda scores: wing.sample_without_replacement(KEY, scores, 2),
        lambda *batch: [(2, *batch, 3), (2, *batch), (2, *batch), batch],
    ),
    "stochastic_beam_search": (
        lambda scores: wing.stochastic_beam_search(KEY, scores, 2),
        lambda *batch: [(2, *batch, 3), (2, *batch), (2, *batch), batch],
    ),
}


def test_every_function_is_here() -> None:
    assert {name for name in wing.__all__ if name.islower()} <= set(FUNCTIONS)


@pytest.mark.parametrize("batch", [(), (0,)], ids=["one sentence", "no sentence"])
def test_shapes(batch: tuple[int, ...]) -> None:
    """Of both ways of calling; the two are the same numbers."""
    scores = np.random.default_rng(0).normal(size=(*batch, 3, 3)).astype(np.float32)

    def answers(scores: Any) -> dict[str, Any]:
        return {name: jax.tree.leaves(ask(scores)) for name, (ask, _) in FUNCTIONS.items()}

    found, compiled = answers(scores), jax.jit(answers)(scores)
    for name, (_, shapes) in FUNCTIONS.items():
        assert [part.shape for part in found[name]] == shapes(*batch)
        for part, other in zip(found[name], compiled[name], strict=True):
            np.testing.assert_allclose(part, other, rtol=1e-6)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_sentence_without_a_tree_is_named(name: str) -> None:
    scores = np.zeros((3, 3, 3), dtype=np.float32)
    scores[1, :, 2] = -np.inf
    with pytest.raises(DeptreeError, match=r"^sentence 1 of the batch: no single-root tree .* word 2 has no head"):
        FUNCTIONS[name][0](scores)
