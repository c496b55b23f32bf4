"""One label for every arc of many trees, drawn by its probability."""

from __future__ import annotations

from deptree_cli.kernels.flags import kernel


@kernel
def draw_labels(probs, heads, uniforms, labels):
    """Draw labels (k, n) for the arcs of heads (k, n), by probs (n+1, n+1, L) and uniforms (k, n) from [0, 1).

    What rounding leaves over goes to the last label of positive probability, never to one of none.
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
