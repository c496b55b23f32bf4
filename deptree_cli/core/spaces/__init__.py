"""The register of tree spaces: which trees a distribution is over, as a value that answers the same questions.

To add a space, write it in a file of this folder and give it an entry below.
"""

from __future__ import annotations

from deptree_cli.core.register import Register
from deptree_cli.core.spaces.base import Factorisation, PreciseSums, TreeSpace
from deptree_cli.core.spaces.nonprojective import NonProjective
from deptree_cli.core.spaces.projective import Projective

SINGLE_ROOT = NonProjective("single", "single-root trees", single_root=True)
MULTI_ROOT = NonProjective("multi", "spanning trees with several roots", single_root=False)
PROJECTIVE = Projective("projective", "projective single-root trees", single_root=True, projective=True)
PROJECTIVE_MULTI = Projective(
    "projective-multi", "projective trees with several roots", single_root=False, projective=True
)

SPACES: Register[TreeSpace] = Register("tree space", (SINGLE_ROOT, MULTI_ROOT, PROJECTIVE, PROJECTIVE_MULTI))

__all__ = [
    "MULTI_ROOT",
    "PROJECTIVE",
    "PROJECTIVE_MULTI",
    "SINGLE_ROOT",
    "SPACES",
    "Factorisation",
    "PreciseSums",
    "TreeSpace",
    "space",
]


def space(single_root: bool = True, projective: bool = False) -> TreeSpace:
    """The space of trees with one ROOT arc, or with one or more; of all trees, or of those without crossing arcs."""
    return next(each for each in SPACES if (each.single_root, each.projective) == (single_root, projective))
