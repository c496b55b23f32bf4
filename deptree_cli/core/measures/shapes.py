"""What the arcs of a tree are like: each by itself, and which of them have gaps."""

from __future__ import annotations

import numpy as np

from deptree_cli.core.dtypes import Bool, Float, Int, Integers


def arcs(heads: Int, starts: Int) -> Float:
    """Each arc: its expectation is its marginal probability.

    Of k trees of one sentence, (k, n+1, n+1), ``[head, dependent]``, 1 where a tree has the arc.
    """
    k, n = len(starts) - 1, int(starts[1])
    values = np.zeros((k, n + 1, n + 1))
    values[np.arange(k)[:, None], heads.reshape(k, n), np.arange(1, n + 1)] = 1.0
    return values


def non_projective_arcs(heads: Int, starts: Int) -> Int:
    """Arcs with a word between their ends that does not descend from the head (Kuhlmann and Nivre 2006)."""
    lengths = np.diff(starts)
    found = np.empty(len(lengths), dtype=np.int64)
    for n in np.unique(lengths).tolist():
        here = np.flatnonzero(lengths == n)
        found[here] = have_gaps(heads[starts[here][:, None] + np.arange(n)]).sum(axis=1)
    return found


def have_gaps(heads: Integers) -> Bool:
    """Return which arcs of trees (k, n) have a word between their ends that does not descend from the head, (k, n)."""
    from deptree_cli.kernels.trees.shapes import gaps  # loads kernels: if there is work

    found: Bool = gaps(np.array(heads, dtype=np.int64, order="C"))
    return found
