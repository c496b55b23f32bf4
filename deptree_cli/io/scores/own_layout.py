"""The layout that a score file of ours says it has, in its signature."""

from __future__ import annotations

from deptree_cli.core.spaces import PROJECTIVE, TreeSpace, tree_space
from deptree_cli.io.scores.layout import CHOICES, Layout
from deptree_cli.io.scores.presets import layout

# A field of signatures: the sentences were read from a container that may have sorted them by name.
ORDER, UNKNOWN = "order", "unknown"

# How scores are read without any option.
_USUAL = {name: answers[0] for name, answers in CHOICES.items()}

# The commands that write scores; what others write are none.
_WRITERS = ("dump", "convert", "hpyp parse")


def knows_order(signature: str) -> bool:
    """Whether a file of this signature has its sentences in their own order, as far as its writer knew it."""
    return f"|{ORDER}:{UNKNOWN}|" not in signature


def own_layout(signature: str) -> Layout | None:
    """Return the layout that a signature names; None if it is not that of a score file of ours.

    Raises:
        DeptreeError: it names a layout that this version does not know.
    """
    fields = _fields(signature)
    if fields is None:
        return None
    return layout(fields.get("from"), fields.get("orient"), fields.get("rootat"), fields.get("scale"))


def own_trees(signature: str) -> str | None:
    """What the trees of a file of this signature are (`TreeSpace.kind`), if not all: its scores mean nothing else."""
    return (_fields(signature) or {}).get("trees")


def space_of(
    own: str | None, space: TreeSpace | str | None, single_root: bool | None, projective: bool | None
) -> TreeSpace:
    """Return the tree space that is asked for, beside what a file's `own_trees` are; errors as of `tree_space`."""
    if own == PROJECTIVE.kind:
        return tree_space(space, single_root, projective=True)
    return tree_space(space or own, single_root, projective)


def space_to_read(signature: str) -> list[str]:
    """Return the option for the tree space that scores of this signature need where it is not kept, if any."""
    own = own_trees(signature)
    return [] if own is None else ["--projective" if own == PROJECTIVE.kind else f"--space {own}"]


def layout_to_read(signature: str) -> list[str]:
    """Return the options for the layout that scores of this signature need to be read where it is not kept."""
    read = own_layout(signature) or Layout()
    answers = {name: getattr(read, name) for name, usual in _USUAL.items() if getattr(read, name) not in (None, usual)}
    if answers and read.name:
        return [f"--from {read.name}"]
    return [f"--{name} {answer}" for name, answer in answers.items()]


def _fields(signature: str) -> dict[str, str] | None:
    """What the signature of a score file of ours says; None if it is none."""
    program, *parts = signature.split("|")
    if program != "deptree" or not parts or parts[0] not in _WRITERS:
        return None
    return dict(part.split(":", 1) for part in parts[1:] if ":" in part)
