"""The options that say which trees there are."""

from __future__ import annotations

from deptree_cli.cli.binding import bound
from deptree_cli.cli.sections import reading_option
from deptree_cli.core.spaces import TreeSpace, tree_space

SPACE_OPTIONS = [
    reading_option("--space", metavar="NAME", hidden=True, help="Which trees, also a space of another package."),
    reading_option("--multi-root", is_flag=True, often=True, help="Allow several ROOT arcs (spanning trees)."),
    reading_option("--projective", is_flag=True, often=True, help="Only trees without crossing arcs."),
]


def _space(space: str | None, multi_root: bool, projective: bool) -> TreeSpace:
    return tree_space(space, False if multi_root else None, projective or None)


# Of a command that reads trees without scores.
space_options = bound("space", SPACE_OPTIONS, _space)


def signature_of(space: TreeSpace) -> dict[str, object]:
    """What signatures call a space."""
    return {"root": "single" if space.single_root else "multi", "trees": space.kind or None}
