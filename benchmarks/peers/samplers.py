"""Other people's samplers, of sentences alone."""

from __future__ import annotations

from collections.abc import Callable
from itertools import islice
from typing import Any

import numpy as np

from deptree_cli.core.distribution import TreeDistribution

Draw = Callable[[TreeDistribution, int], Any]


def treesample() -> Draw:
    """Wilson-Marginal of treesample (Zmigrod et al. 2021a's and Stanojevic 2022's reference code in NumPy)."""
    from treesample.wilson import WilsonRCMarginalSample

    def draw(distribution: TreeDistribution, size: int) -> object:
        return list(islice(WilsonRCMarginalSample(_weights(distribution)).sample(), size))

    return draw


def treesample_swor() -> Draw:
    """Distinct trees by treesample (Zmigrod et al. 2021a, Fig. 7): an iterator."""
    from treesample.swor import TreeSwor

    def draw(distribution: TreeDistribution, size: int) -> object:
        fair = np.exp(distribution.log_scores - distribution.log_partition / distribution.n)  # it stops where Z is tiny
        return (tree for tree, _ in TreeSwor(fair).sample())

    return draw


def synjax() -> Draw:
    """SynJax's default sampler of single-root non-projective trees, compiled by JAX."""
    import jax
    from synjax import SpanningTreeCRF

    compiled = jax.jit(
        lambda logits, key, size: SpanningTreeCRF(
            logits, directed=True, single_root_edge=True, projective=False
        ).sample(key, size),
        static_argnums=2,
    )

    def draw(distribution: TreeDistribution, size: int) -> object:
        logits = np.maximum(distribution.log_scores, -1e5).astype(np.float32)
        return jax.block_until_ready(compiled(logits, jax.random.PRNGKey(0), size))

    return draw


SAMPLERS: dict[str, Callable[[], Draw]] = {"treesample (Wilson-Marginal)": treesample, "SynJax": synjax}
DISTINCT: dict[str, Callable[[], Draw]] = {"treesample": treesample_swor}


def _weights(distribution: TreeDistribution) -> np.ndarray:
    return np.exp(distribution.log_scores - distribution.log_scores[:, 1:].max())
