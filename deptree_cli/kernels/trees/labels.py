"""Labels for the arcs of many trees, drawn by their probabilities."""

from __future__ import annotations

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
