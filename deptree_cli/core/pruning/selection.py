"""The chain over selections: which of the confident variables are pinned in a step, whatever they are assigned."""

from __future__ import annotations

import numpy as np

from deptree_cli.core.dtypes import Bool, Integers

# How much of the confident variables is pinned at a time.
SHARE = 2 / 3


class Selection:
    """Selections of the confident variables, one after another (Bouchard-Cote et al. 2009, section 3.2).

    From one to the next all that were not pinned are, and a random half of those that were stay so, which never depends
    on what is assigned: an adaptive choice would lose convergence.

    One step is added to the paper's: with probability 2^-m, m being the number of confident variables, nothing is
    pinned. Without it variables that determine each other may never change, because some of them are always pinned: of
    two words with the trees 0 -> 1 -> 2 and 0 -> 2 -> 1 the chain would see one only. A step that pins nothing costs as
    much as the exact sums do, but is the rarer the more a pinned variable can save.

    Args:
        confident: numbers of variables.
        variables: how many there are in all.
    """

    def __init__(self, confident: Integers, variables: int, rng: np.random.Generator) -> None:
        self._confident = confident
        self._variables = variables
        self._rng = rng
        self._pinned = self._random(np.ones(len(confident), dtype=np.bool_), round(SHARE * len(confident)))

    def next(self) -> Bool:
        """Go on to the next selection, (variables,)."""
        selected = np.zeros(self._variables, dtype=np.bool_)
        if self._rng.random() < 0.5 ** len(self._confident):
            return selected
        self._pinned = ~self._pinned | self._random(self._pinned, int(self._pinned.sum()) // 2)
        selected[self._confident[self._pinned]] = True
        return selected

    def _random(self, among: Bool, size: int) -> Bool:
        """Choose so many of some of the confident variables."""
        chosen = np.zeros(len(among), dtype=np.bool_)
        chosen[self._rng.permutation(np.flatnonzero(among))[:size]] = True
        return chosen
