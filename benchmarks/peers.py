"""Other people's samplers and sums, where they are installed; a peer that is missing is a dash in the tables."""

from __future__ import annotations

from collections.abc import Callable
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deptree_cli.core.sentence import Sentence

Draw = Callable[[Sentence, int], Any]
Marginals = Callable[[Sentence], NDArray[np.float64]]


def treesample() -> Draw:
    """Wilson-Marginal of treesample (Zmigrod et al. 2021a's and Stanojevic 2022's reference code in NumPy)."""
    from treesample.wilson import WilsonRCMarginalSample

    def draw(sentence: Sentence, size: int) -> object:
        return list(islice(WilsonRCMarginalSample(_weights(sentence)).sample(), size))

    return draw


def treesample_swor() -> Draw:
    """Different trees by treesample (Zmigrod et al. 2021a, Fig. 7): an iterator."""
    from treesample.swor import TreeSwor

    def draw(sentence: Sentence, size: int) -> object:
        fair = np.exp(sentence.log_scores - sentence.elimination.log_z / sentence.n)  # it stops where Z is tiny
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

    def draw(sentence: Sentence, size: int) -> object:
        logits = np.maximum(sentence.log_scores, -1e5).astype(np.float32)
        return jax.block_until_ready(compiled(logits, jax.random.PRNGKey(0), size))

    return draw


def torch_struct() -> Marginals:
    """Marginals of torch-struct's non-projective CRF (a Laplacian inverse by automatic differentiation)."""
    import torch
    from torch_struct import NonProjectiveDependencyCRF

    def marginals(sentence: Sentence) -> NDArray[np.float64]:
        scores = sentence.log_scores[1:, 1:].copy()
        np.fill_diagonal(scores, sentence.log_scores[0, 1:])
        square = NonProjectiveDependencyCRF(torch.tensor(scores)[None]).marginals[0].detach().numpy()
        both = np.zeros_like(sentence.log_scores)
        both[1:, 1:], both[0, 1:] = square, square.diagonal()
        np.fill_diagonal(both, 0.0)
        return both

    return marginals


def supar() -> Marginals:
    """Marginals of SuPar's MatrixTree (the same route, in double precision)."""
    import torch
    from supar.structs import MatrixTree

    def marginals(sentence: Sentence) -> NDArray[np.float64]:
        scores = torch.tensor(sentence.log_scores.T[None]).requires_grad_()
        return MatrixTree(scores).marginals[0].detach().numpy().T

    return marginals


# networkx samples undirected trees only; it stands beside us where best trees are sought.
SAMPLERS: dict[str, Callable[[], Draw]] = {"treesample (Wilson-Marginal)": treesample, "SynJax": synjax}
DIFFERENT: dict[str, Callable[[], Draw]] = {"treesample": treesample_swor}
INFERENCE: dict[str, Callable[[], Marginals]] = {"torch-struct": torch_struct, "SuPar": supar}


def installed(peer: Callable[[], Callable[..., object]]) -> Callable[..., object] | None:
    """The peer's function, or None where it is not installed."""
    try:
        return peer()
    except ImportError:
        return None


def _weights(sentence: Sentence) -> np.ndarray:
    return np.exp(sentence.log_scores - sentence.log_scores[:, 1:].max())
