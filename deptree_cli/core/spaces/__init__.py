"""The register of tree spaces: which trees a distribution is over, as a value that answers the same questions.

To add a space, subclass `GeneralSpace` in a file of this folder and give it an entry below; another package names its
own by an entry point (`deptree.spaces`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias, TypedDict

from deptree_cli.core.errors import DeptreeError, Setting
from deptree_cli.core.register import Register
from deptree_cli.core.spaces.base import TreeSpace
from deptree_cli.core.spaces.factorisation import Factorisation
from deptree_cli.core.spaces.general import GeneralSpace
from deptree_cli.core.spaces.nonprojective import NonProjective
from deptree_cli.core.spaces.projective import Projective

SINGLE_ROOT = NonProjective("single-root", "single-root trees", single_root=True)
MULTI_ROOT = NonProjective("multi-root", "spanning trees with several roots", single_root=False)
PROJECTIVE = Projective("projective", "projective single-root trees", single_root=True, projective=True)
PROJECTIVE_MULTI = Projective(
    "projective-multi-root", "projective trees with several roots", single_root=False, projective=True
)

SPACES: Register[TreeSpace] = Register(
    "tree space", (SINGLE_ROOT, MULTI_ROOT, PROJECTIVE, PROJECTIVE_MULTI), "deptree.spaces", TreeSpace
)


# What may be given for a tree space: itself, its name, or nothing.
SpaceLike: TypeAlias = TreeSpace | str | None


class Short(TypedDict, total=False):
    """Short names of tree spaces: see `tree_space`."""

    single_root: bool | None
    projective: bool | None


__all__ = [
    "MULTI_ROOT",
    "PROJECTIVE",
    "PROJECTIVE_MULTI",
    "SINGLE_ROOT",
    "SPACES",
    "Factorisation",
    "GeneralSpace",
    "Short",
    "SpaceLike",
    "TreeSpace",
    "by_space",
    "refuse_unknown",
    "space",
    "tree_space",
    "with_roots",
]


def space(single_root: bool = True, projective: bool = False) -> TreeSpace:
    """The space of trees with one ROOT arc, or with one or more; of all trees, or of those without crossing arcs."""
    return next(each for each in SPACES.known if (each.single_root, each.projective) == (single_root, projective))


def tree_space(
    name: SpaceLike = None, single_root: bool | None = None, projective: bool | None = None, **unknown: object
) -> TreeSpace:
    """The tree space of a name, or of the short names `single_root` (true if not given) and `projective` (false).

    Raises:
        DeptreeError: there is no such space, or its name contradicts a short one.
        TypeError: an argument has another name.
    """
    refuse_unknown(unknown)
    if name is None:
        return space(single_root is None or bool(single_root), bool(projective))
    found = name if isinstance(name, TreeSpace) else SPACES.get(name)
    for short, wanted, option in (("single_root", single_root, "multi-root"), ("projective", projective, "")):
        if wanted is not None and wanted != getattr(found, short):
            both = Setting("space", found.name), Setting(short, bool(wanted), option)
            raise DeptreeError("{} contradicts {}".format(*both), "Leave out one of them", options=both)
    return found


def refuse_unknown(arguments: Mapping[str, object]) -> None:
    """Raise a TypeError for the first argument, if there is one: other libraries have other names for tree spaces."""
    for name in arguments:
        how = "single_root=False is for trees with several roots, projective=True for trees without crossing arcs"
        raise TypeError(f"unexpected keyword argument {name!r} ({how})")


def by_space(table: Mapping[type[TreeSpace], Any], trees: TreeSpace, default: Any = None) -> Any:
    """The value for the class of a space, or for the nearest one that it was derived from."""
    return next((table[kind] for kind in type(trees).__mro__ if kind in table), default)


def with_roots(trees: TreeSpace, single_root: bool) -> TreeSpace:
    """The space of the same trees but for how many arcs may leave ROOT.

    Raises:
        DeptreeError: there is no such space.
    """
    if not trees.has_short_name:
        problem = f"there is one space of {trees.trees}, not one with a single root and one with several"
        raise DeptreeError(problem, "Choose another tree space")
    return space(single_root, trees.projective)
