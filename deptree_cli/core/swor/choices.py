"""A tree as a sequence of choices, whichever tree space it is of."""

from __future__ import annotations

from deptree_cli.core.arc_factored import ArcFactored
from deptree_cli.core.spaces import by_space
from deptree_cli.core.spaces.nonprojective import NonProjective
from deptree_cli.core.spaces.projective import Projective
from deptree_cli.core.swor.conditionals import Conditionals
from deptree_cli.core.swor.derivations import Derivations
from deptree_cli.core.swor.sequences import HeadByHead, TreeChoices

CHOICES = {NonProjective: Conditionals, Projective: Derivations}


def choices_in(distribution: ArcFactored) -> TreeChoices:
    """The choices that a tree of the distribution's space is made by, and their probabilities."""
    return by_space(CHOICES, distribution.space, HeadByHead)(distribution)
