"""What PyTorch and JAX ask of padded batches in the same way, beside what a `TreeBatch` answers."""

from __future__ import annotations

import numpy as np

from deptree_cli.core.dtypes import Bool, Int, Integers
from deptree_cli.core.factorisation import Rules


def are_trees(heads: Integers, lengths: Int, space: Rules) -> Bool:
    """Whether heads (..., N) of sentences of so many words (...,) are trees of a space, (...,).

    Entry j is the head of node j; those of ROOT and of padding are ignored. Behind a sentence each node is hung on the
    one before it, which closes no cycle and crosses no arc, so that all sentences have N - 1 words.
    """
    node = np.arange(heads.shape[-1])
    words = (node > 0) & (node <= lengths[..., None])
    sound = (heads >= 0) & (heads <= lengths[..., None])
    rules = Rules(single_root=space.single_root, projective=space.projective)
    hung = np.where(words & sound, heads, node - 1)[..., 1:]
    found: Bool = rules.contains(hung.reshape(-1, len(node) - 1)).reshape(lengths.shape)
    return found & (~words | (sound & space.allows(heads, node))).all(-1)
