"""Labels of arcs: drawn by their probabilities, and what is left of these where some are forbidden."""

from __future__ import annotations

import math

from deptree_cli.kernels.flags import kernel


@kernel
def draw_labels(probs, heads, uniforms, labels):
    """Fill labels (k, n) with labels of the arcs heads (k, n), drawn by probs (n+1, n+1, L), ``[head, dependent]``.

    uniforms: (k, n) random numbers from [0, 1). What rounding leaves over goes to the last label of positive
    probability, never to one of probability 0.
    """
    for tree in range(heads.shape[0]):
        for i in range(heads.shape[1]):
            own = probs[heads[tree, i], i + 1]
            rest = uniforms[tree, i]
            for label in range(own.shape[0]):
                if own[label] > 0.0:
                    labels[tree, i] = label
                    if rest < own[label]:
                        break
                    rest -= own[label]


@kernel
def fill_beyond(log_probs, forbidden, highest, beyond, some):
    """Fill in what is left of labels' log-probabilities (n+1, n+1, L) where some are forbidden.

    highest (n+1, n+1): the highest that is left, -inf if none is. beyond (n+1, n+1, L): how far each is above that, 0
    for those that are not left. some (n+1, n+1): whether any is forbidden.
    """
    for h in range(log_probs.shape[0]):
        for d in range(log_probs.shape[1]):
            own, gone, most = log_probs[h, d], forbidden[h, d], -math.inf
            any_gone = False
            for label in range(own.shape[0]):
                any_gone = any_gone | gone[label]
                if not gone[label] and own[label] > most:
                    most = own[label]
            highest[h, d], some[h, d] = most, any_gone
            for label in range(own.shape[0]):
                is_left = not gone[label] and own[label] > -math.inf
                beyond[h, d, label] = own[label] - most if is_left else 0.0


@kernel
def fill_left(log_probs, forbidden, shares, left):
    """Fill left (n+1, n+1, L) with the log-probabilities of labels given those that are not forbidden, -inf for others.

    shares (n+1, n+1): the logarithm of what is left of each arc.
    """
    for h in range(log_probs.shape[0]):
        for d in range(log_probs.shape[1]):
            share = shares[h, d]
            for label in range(log_probs.shape[2]):
                is_left = share > -math.inf and not forbidden[h, d, label]
                left[h, d, label] = log_probs[h, d, label] - share if is_left else -math.inf


@kernel
def drop(log_probs, forbidden, weights):
    """Set weights (n+1, n+1, L) to 0 that are not left."""
    for h in range(weights.shape[0]):
        for d in range(weights.shape[1]):
            for label in range(weights.shape[2]):
                if forbidden[h, d, label] or not log_probs[h, d, label] > -math.inf:
                    weights[h, d, label] = 0.0
