"""The textbook route (Koo et al. 2007): a Laplacian, its determinant and its inverse; the baseline.

Accurate on flat scores; on the peaked scores of trained parsers the inverse cancels (README, "Why not the Laplacian
inverse").
"""

from __future__ import annotations

import numpy as np

from deptree_cli.core.dtypes import Float
from deptree_cli.core.factorisation import shift
from deptree_cli.core.spaces import space


def construct_laplacian_hat(weights: Float, single_root: bool = True) -> Float:
    """Koo et al.'s (n, n) Laplacian of weights (n+1, n+1): ROOT's replace row 0, or enter the degrees (multi-root)."""
    words = weights[1:, 1:]
    laplacian = np.diag(words.sum(axis=0)) - words
    if single_root:
        laplacian[0] = weights[0, 1:]
    else:
        laplacian += np.diag(weights[0, 1:])
    return laplacian


def log_partition(log_scores: Float, single_root: bool = True) -> float:
    """log Z by a determinant; nan where rounding made it negative."""
    shifted = shift(log_scores, space(single_root))
    sign, log_determinant = np.linalg.slogdet(construct_laplacian_hat(np.exp(shifted.log_weights), single_root))
    return float(log_determinant) + shifted.constant if sign > 0 else float("nan")


def marginals(log_scores: Float, single_root: bool = True) -> Float:
    """P(head -> dependent), (n+1, n+1), from B = L^-T (Zmigrod et al. 2021a, eq. 15 and footnote 8); unclamped."""
    weights = np.exp(shift(log_scores, space(single_root)).log_weights)
    B = np.linalg.inv(construct_laplacian_hat(weights, single_root)).T
    diagonal, across = np.diag(B).copy(), B.copy()
    result = np.zeros_like(weights)
    if single_root:
        result[0, 1:] = weights[0, 1:] * B[0]
        diagonal[0] = 0.0
        across[0] = 0.0
    else:
        result[0, 1:] = weights[0, 1:] * diagonal
    result[1:, 1:] = weights[1:, 1:] * (diagonal - across)
    return result
