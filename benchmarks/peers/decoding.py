"""Other people's best trees and entropies, of sentences alone."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from deptree_cli.core.distribution import TreeDistribution

Action = Callable[[TreeDistribution], object]


def synjax_mst() -> Action:
    """SynJax's maximum tree with a single root (compiled by numba)."""
    from synjax._src.deptree_algorithms.deptree_non_proj_argmax import vectorized_mst

    return lambda distribution: vectorized_mst(np.maximum(distribution.log_scores, -1e5)[None], None, True)


def ufal_mst() -> Action:
    """Maximum spanning arborescence of ufal.chu_liu_edmonds (C++), any number of ROOT arcs."""
    from ufal.chu_liu_edmonds import chu_liu_edmonds

    def best(distribution: TreeDistribution) -> object:
        scores = np.ascontiguousarray(distribution.log_scores.T)
        scores[scores == -np.inf] = np.nan  # no arc
        return chu_liu_edmonds(scores)

    return best


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
BEST: dict[str, Callable[[], Action]] = {
    "SynJax": synjax_mst,
    "ufal.chu_liu_edmonds (multi-root)": ufal_mst,
    "networkx (multi-root)": networkx_mst,
}
ENTROPY: dict[str, Callable[[], Action]] = {"tree_expectations": tree_expectations}
