"""One Markov chain of randomized pruning: a selection, a mask, the sums under it, a structure, its assignment."""

from __future__ import annotations

import numpy as np

from deptree_cli.core.dtypes import Bool, Float, Integers
from deptree_cli.core.errors import DeptreeError
from deptree_cli.core.pruning.program import AnyProgram
from deptree_cli.core.pruning.selection import Selection


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
            problem = "the program's mask prunes the structure that it was made of"
            raise DeptreeError(problem, "Check that compile and assign of the program agree")
        expected = program.outside(chart) if soft else None
        structure = program.sample(chart, self._rng)
        self._assigned = program.assign(structure)
        return program.features(structure) if expected is None else expected


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
            found: Bool = program.assign(program.sample(chart, rng))
            return found
        if variable is not None:
            selected[variable] = False
    raise program.no_structure()
