"""A tree as a sequence of choices, whichever tree space it is of."""

from __future__ import annotations

from deptree_cli.core.arc_factored import ArcFactored
from deptree_cli.core.swor.conditionals import Conditionals
from deptree_cli.core.swor.derivations import Derivations

TreeChoices = Conditionals | Derivations


def choices_in(distribution: ArcFactored) -> TreeChoices:
    """The choices that a tree of the distribution's space is made by, and their probabilities."""
    return Derivations(distribution) if distribution.space.projective else Conditionals(distribution)
