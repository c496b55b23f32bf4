"""A tree as a sequence of choices, whichever tree space it is of."""

from __future__ import annotations

from functools import singledispatch

from deptree_cli.core.arc_factored import ArcFactored
from deptree_cli.core.errors import DeptreeError
from deptree_cli.core.spaces import TreeSpace
from deptree_cli.core.spaces.conditioned import Conditioned
from deptree_cli.core.spaces.nonprojective import NonProjective
from deptree_cli.core.spaces.projective import Projective
from deptree_cli.core.swor.conditionals import Conditionals
from deptree_cli.core.swor.derivations import Derivations
from deptree_cli.core.swor.sequences import HeadByHead, TreeChoices


def choices_in(distribution: ArcFactored) -> TreeChoices:
    """The choices that a tree of the distribution's space is made by, and their probabilities.

    Raises:
        DeptreeError: the space has none.
    """
    return _choices_in(distribution.space, distribution)


@singledispatch
def _choices_in(space: TreeSpace, distribution: ArcFactored) -> TreeChoices:
    sums = distribution.factorisation
    if not isinstance(sums, Conditioned):
        problem = f"there is no sampling without replacement of {space.trees}"
        raise DeptreeError(problem, "Draw with replacement, or choose another tree space")
    return HeadByHead(sums)


@_choices_in.register
def _(space: NonProjective, distribution: ArcFactored) -> TreeChoices:
    return Conditionals(distribution)


@_choices_in.register
def _(space: Projective, distribution: ArcFactored) -> TreeChoices:
    return Derivations(distribution)
