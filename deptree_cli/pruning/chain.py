"""One Markov chain of randomized pruning: a selection, a mask, the sums under it, a structure, its assignment."""

from __future__ import annotations

import numpy as np

from deptree_cli.core.dtypes import Bool, Float, Integers
from deptree_cli.core.errors import DeptreeError
from deptree_cli.pruning.program import AnyProgram

# How much of the confident variables is pinned at a time.
SHARE = 2 / 3


class Chain:
    """The auxiliary-variable chain (Bouchard-Cote et al. 2009, algorithm 1) over the structures of a program.

    Args:
        program: what it is over.
        confident: the variables that are pinned at times.
        rng: of all its random numbers.
        dispersed: whether to start with a random assignment, so that several chains that agree in the end did not
            begin in the same place; else with all confident variables positive.

    Raises:
        DeptreeError: there is no structure.
    """

    def __init__(self, program: AnyProgram, confident: Integers, rng: np.random.Generator, dispersed: bool) -> None:
        self._program = program
        self._rng = rng
        self._assigned = start(program, confident, rng, dispersed)
        self._selection = Selection(confident, program.variables(), rng)

    def step(self, soft: bool = True) -> Float:
        """Draw a selection and, under its mask, a structure; return what the step adds to the average.

        Args:
            soft: whether that is the expectation under the mask, or the features of the structure drawn.

        Raises:
            DeptreeError: the program contradicts itself.
        """
        program = self._program
        log_z, chart = program.inside(program.compile(self._selection.next(), self._assigned))
        if log_z == -np.inf:
            problem = "the program's pruning mask removes the structure that it was made from"
            raise DeptreeError(problem, "Check that its compile and assign agree")
        expected = program.outside(chart) if soft else None
        structure = program.sample(chart, self._rng)
        self._assigned = program.assign(structure)
        return program.features(structure) if expected is None else expected


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


def start(program: AnyProgram, confident: Integers, rng: np.random.Generator, dispersed: bool = False) -> Bool:
    """The assignment of a structure with as many confident variables positive as go together, (variables,).

    All of them are pinned, and taken back at random one by one until there is a structure; one is drawn.

    Args:
        dispersed: whether to pin them to random values instead.

    Raises:
        DeptreeError: there is no structure at all.
    """
    selected = np.zeros(program.variables(), dtype=np.bool_)
    selected[confident] = True
    assigned = selected & (rng.random(len(selected)) < 0.5) if dispersed else selected.copy()
    for variable in (*rng.permutation(confident), None):
        log_z, chart = program.inside(program.compile(selected, assigned))
        if log_z > -np.inf:
            return program.assign(program.sample(chart, rng))
        if variable is not None:
            selected[variable] = False
    raise program.no_structure()
