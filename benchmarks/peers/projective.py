"""Other people's projective CRFs, single-root, in batches as their users run them.

Every peer takes log-scores of a batch of sentences, (b, n+1, n+1) ``[head, dependent]``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchmarks.peers.layouts import with_root_on_diagonal, with_root_row

Float = NDArray[np.float64]


class Peer(NamedTuple):
    """What is asked of one: log Z and marginals (b, n+1, n+1), the maximum trees, k trees of each; None: it cannot."""

    marginals: Callable[[Float], Float]
    best: Callable[[Float], object]
    sample: Callable[[Float, int], object] | None


def torch_struct() -> Peer:
    """torch-struct's DependencyCRF, in double precision."""
    import torch
    from torch_struct import DependencyCRF

    def crf(log_scores: Float) -> Any:
        scores = np.maximum(with_root_on_diagonal(log_scores), -1e9)
        potentials = torch.tensor(scores, requires_grad=True)  # it fails on those that do not
        return DependencyCRF(potentials, multiroot=False)

    def marginals(log_scores: Float) -> Float:
        found = crf(log_scores)
        _ = found.partition
        return with_root_row(found.marginals.detach().numpy())

    return Peer(marginals, lambda scores: crf(scores).argmax, lambda scores, k: crf(scores).sample((k,)))


def supar() -> Peer:
    """SuPar's projective DependencyCRF, in double precision; it has no samples."""
    import torch
    from supar.structs import DependencyCRF

    def crf(log_scores: Float) -> Any:
        scores = torch.tensor(np.maximum(log_scores, -1e9).swapaxes(1, 2).copy()).requires_grad_()
        return DependencyCRF(scores, multiroot=False)

    def marginals(log_scores: Float) -> Float:
        found = crf(log_scores)
        _ = found.log_partition
        both: Float = found.marginals.detach().numpy().swapaxes(1, 2)
        return both

    return Peer(marginals, lambda scores: crf(scores).argmax, None)


def synjax() -> Peer:
    """SynJax's projective SpanningTreeCRF, compiled by JAX, in single precision as it comes.

    Its marginals are the gradient of log Z, asked for directly: its own method fails with the jaxtyping of today.
    """
    import jax
    from synjax import SpanningTreeCRF

    def crf(logits: Any) -> Any:
        return SpanningTreeCRF(logits, directed=True, single_root_edge=True, projective=True)

    sums = jax.jit(jax.value_and_grad(lambda logits: crf(logits).log_partition().sum()))
    best = jax.jit(lambda logits: crf(logits).argmax())
    sample = jax.jit(lambda logits, key, k: crf(logits).sample(key, k), static_argnums=2)

    def given(log_scores: Float) -> Any:
        return np.maximum(log_scores, -1e5).astype(np.float32)

    return Peer(
        lambda scores: np.asarray(sums(given(scores))[1], dtype=np.float64),
        lambda scores: jax.block_until_ready(best(given(scores))),
        lambda scores, k: jax.block_until_ready(sample(given(scores), jax.random.PRNGKey(0), k)),
    )


PEERS: dict[str, Callable[[], Peer]] = {"torch-struct": torch_struct, "SuPar": supar, "SynJax": synjax}
