"""A projective tree as a sequence of choices: what `conditionals.py` is for trees with crossing arcs.

Of n words there are 2 n choices: where each item of Eisner's chart is split, from the top down. Probabilities come from
the chart in wide numbers, so that their logarithms are accurate however small they are.
"""

from __future__ import annotations

import numpy as np

from deptree_cli.core.arc_factored import ArcFactored
from deptree_cli.core.dtypes import Float, Heads
from deptree_cli.core.spaces.base import Factorisation
from deptree_cli.core.spaces.eisner import Eisner
from deptree_cli.core.swor.conditionals import Choices, Prefix
from deptree_cli.kernels.trees import derivations as kernel


class Derivations:
    """The conditional distribution of each choice of a projective tree given the choices before it: as `Conditionals`.

    A choice is the node, 0..n, at which an item is split.
    """

    def __init__(self, distribution: ArcFactored) -> None:
        self._grammar, self._n = eisner_of(distribution.factorisation).in_wide_numbers.grammar, distribution.n
        self.depth = 2 * distribution.n

    def log_probs(self, prefix: Prefix) -> Float:
        """Log-probability of each value 0..n of the choice after `prefix`; O(n)."""
        return self.log_probs_of_each(np.array([prefix], dtype=np.int64))[0]

    def log_probs_of_each(self, prefixes: Choices) -> Float:
        """The same for prefixes of one length, (b, length) -> (b, n+1)."""
        out = np.empty((len(prefixes), self._n + 1))
        kernel.log_choice_probs_of_each(self._grammar, prefixes, out)
        return out

    def branch(self, prefix: Prefix, rng: np.random.Generator) -> tuple[Float, Choices]:
        """Draw all choices after a prefix: O(n^2) in all.

        Returns:
            for each of them the log-probabilities of its values (m, n+1), and the choices (m,).
        """
        before, left = np.array(prefix, dtype=np.int64), self.depth - len(prefix)
        chosen, out = np.empty(left, dtype=np.int64), np.empty((left, self._n + 1))
        kernel.log_choice_probs_along(self._grammar, before, rng.random(left), chosen, out)
        return out, chosen

    def heads(self, prefix: Prefix) -> Heads:
        """The tree of a complete prefix, (n,) heads."""
        return self.heads_of_each(np.array([prefix], dtype=np.int64))[0]

    def heads_of_each(self, prefixes: Choices) -> Heads:
        """The trees of complete prefixes, (b, 2n) -> (b, n) heads."""
        heads = np.empty((len(prefixes), self._n), dtype=np.int32)
        kernel.heads_of_each(self._grammar, prefixes, heads)
        return heads


def eisner_of(factorisation: Factorisation) -> Eisner:
    """The chart of a distribution over projective trees, for algorithms that serve no others."""
    assert isinstance(factorisation, Eisner)
    return factorisation
