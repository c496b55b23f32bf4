"""Other people's samplers and sums, where they are installed; a peer that is missing is a dash in the tables."""

from __future__ import annotations

from collections.abc import Callable
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deptree_cli.core.distribution import TreeDistribution

Draw = Callable[[TreeDistribution, int], Any]
Action = Callable[[TreeDistribution], object]
Marginals = Callable[[TreeDistribution], NDArray[np.float64]]


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


def torch_struct() -> Marginals:
    """Marginals of torch-struct's non-projective CRF (a Laplacian inverse by automatic differentiation)."""
    import torch
    from torch_struct import NonProjectiveDependencyCRF

    def marginals(distribution: TreeDistribution) -> NDArray[np.float64]:
        scores = distribution.log_scores[1:, 1:].copy()
        np.fill_diagonal(scores, distribution.log_scores[0, 1:])
        square = NonProjectiveDependencyCRF(torch.tensor(scores)[None]).marginals[0].detach().numpy()
        both = np.zeros_like(distribution.log_scores)
        both[1:, 1:], both[0, 1:] = square, square.diagonal()
        np.fill_diagonal(both, 0.0)
        return both

    return marginals


def supar() -> Marginals:
    """Marginals of SuPar's MatrixTree (the same route, in double precision)."""
    import torch
    from supar.structs import MatrixTree

    def marginals(distribution: TreeDistribution) -> NDArray[np.float64]:
        scores = torch.tensor(distribution.log_scores.T[None]).requires_grad_()
        return MatrixTree(scores).marginals[0].detach().numpy().T

    return marginals


def synjax_mst() -> Action:
    """SynJax's maximum tree with a single root (compiled by numba)."""
    from synjax._src.deptree_algorithms.deptree_non_proj_argmax import vectorized_mst

    return lambda distribution: vectorized_mst(np.maximum(distribution.log_scores, -1e5)[None], None, True)


def networkx_mst() -> Action:
    """Edmonds' maximum spanning arborescence of networkx, any number of ROOT arcs."""
    from networkx import DiGraph, maximum_spanning_arborescence

    def best(distribution: TreeDistribution) -> object:
        heads, words = np.nonzero(np.isfinite(distribution.log_scores))
        graph = DiGraph()
        arcs = zip(heads.tolist(), words.tolist(), distribution.log_scores[heads, words].tolist(), strict=True)
        graph.add_weighted_edges_from(arcs)
        return maximum_spanning_arborescence(graph)

    return best


def tree_expectations() -> Action:
    """Shannon entropy and its gradient by the reference code of Zmigrod et al. 2021b (PyTorch)."""
    import torch
    from tree_expectations.applications import entropy_grad, shannon_entropy

    def both(distribution: TreeDistribution) -> object:
        weights = np.exp(distribution.log_scores[1:, 1:] - distribution.log_partition / distribution.n)
        np.fill_diagonal(weights, np.exp(distribution.log_scores[0, 1:] - distribution.log_partition / distribution.n))
        with torch.no_grad():
            given = torch.tensor(weights)
            return shannon_entropy(given), entropy_grad(given)

    return both


# networkx samples undirected trees only; it stands beside us where best trees are sought.
BEST: dict[str, Callable[[], Action]] = {"SynJax": synjax_mst, "networkx (multi-root)": networkx_mst}
ENTROPY: dict[str, Callable[[], Action]] = {"tree_expectations": tree_expectations}
SAMPLERS: dict[str, Callable[[], Draw]] = {"treesample (Wilson-Marginal)": treesample, "SynJax": synjax}
DISTINCT: dict[str, Callable[[], Draw]] = {"treesample": treesample_swor}
INFERENCE: dict[str, Callable[[], Marginals]] = {"torch-struct": torch_struct, "SuPar": supar}


def installed(peer: Callable[[], Callable[..., object]]) -> Callable[..., object] | None:
    """The peer's function, or None where it is not installed."""
    try:
        return peer()
    except ImportError:
        return None


def _weights(distribution: TreeDistribution) -> np.ndarray:
    return np.exp(distribution.log_scores - distribution.log_scores[:, 1:].max())
