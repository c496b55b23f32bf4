"""A projective tree as a sequence of choices: what `conditionals.py` is for trees with crossing arcs.

Of n words there are 2 n choices: where each item of Eisner's chart is split, from the top down. Probabilities come from
the chart in wide numbers, so that their logarithms are accurate however small they are.
"""

from __future__ import annotations

import numpy as np

from deptree_cli.core.arc_factored import ArcFactored
from deptree_cli.core.dtypes import Float, Heads
from deptree_cli.core.spaces.factorisation import Factorisation
from deptree_cli.core.spaces.projective import Eisner
from deptree_cli.core.swor.sequences import Choices, Prefix, TreeChoices
from deptree_cli.kernels.distinct import derivations as kernel


class Derivations(TreeChoices):
    """The nodes, 0..n, at which the items of a projective tree are split."""

    def __init__(self, distribution: ArcFactored) -> None:
        self._grammar, self._n = eisner_of(distribution.factorisation).in_wide_numbers.grammar, distribution.n
        self.depth = 2 * distribution.n

    def log_probs_of_each(self, prefixes: Choices) -> Float:
        """See `TreeChoices`; O(n) each."""
        out = np.empty((len(prefixes), self._n + 1))
        kernel.log_choice_probs_of_each(self._grammar, prefixes, out)
        return out

    def branch(self, prefix: Prefix, rng: np.random.Generator) -> tuple[Float, Choices]:
        """See `TreeChoices`; O(n^2) in all."""
        before, left = np.array(prefix, dtype=np.int64), self.depth - len(prefix)
        chosen, out = np.empty(left, dtype=np.int64), np.empty((left, self._n + 1))
        kernel.log_choice_probs_along(self._grammar, before, rng.random(left), chosen, out)
        return out, chosen

    def heads_of_each(self, prefixes: Choices) -> Heads:
        """See `TreeChoices`; depth is 2n."""
        heads = np.empty((len(prefixes), self._n), dtype=np.int32)
        kernel.heads_of_each(self._grammar, prefixes, heads)
        return heads


def eisner_of(factorisation: Factorisation) -> Eisner:
    """The chart of a distribution over projective trees, for algorithms that serve no others."""
    assert isinstance(factorisation, Eisner)
    return factorisation
