"""Which heads of padded batches are trees, as PyTorch and JAX ask."""

from __future__ import annotations

from typing import Any

import numpy as np

from deptree_cli.core.dtypes import Bool, Int, Integers
from deptree_cli.core.factorisation import Rules
from deptree_cli.core.spaces import TreeSpace


def are_trees(heads: Integers, lengths: Int, space: TreeSpace) -> Bool:
    """Whether heads (..., N) of sentences of so many words (...,) are trees of a space, (...,).

    Entry j is the head of node j; those of ROOT and of padding are ignored.
    """
    trees, sound = hung(np, heads, lengths)
    words = np.arange(heads.shape[-1])
    allowed = space.allows(heads, words) | (words > lengths[..., None])
    rules = Rules(single_root=space.single_root, projective=space.projective)
    found: Bool = rules.contains(trees.reshape(-1, trees.shape[-1])).reshape(sound.shape)
    return found & sound & allowed[..., 1:].all(-1)


def hung(xp: Any, heads: Any, lengths: Any) -> tuple[Any, Any]:
    """Return heads of N - 1 words, (..., N - 1), which are a tree if those of the words that there are, are one.

    Behind a sentence each node is hung on the one before it, which closes no cycle and crosses no arc. And whether all
    heads of words are nodes of the sentence, (...,).

    Args:
        xp: NumPy, or JAX's.
        heads: (..., N).
        lengths: (...,).
    """
    node, last = xp.arange(heads.shape[-1]), lengths[..., None]
    words, sound = (node > 0) & (node <= last), (heads >= 0) & (heads <= last)
    return xp.where(words & sound, heads, node - 1)[..., 1:], (sound | ~words).all(-1)
