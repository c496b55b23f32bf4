"""Containers of scores: the register of the formats in which score files are read and written.

A container is a module that ends in a `Container`, and an entry in `CONTAINERS`; or an object of that class which
another package offers under the entry point ``deptree.containers``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from pathlib import PurePath

from deptree_cli.core.errors import DeptreeError
from deptree_cli.core.nearest import one_of
from deptree_cli.core.register import Register
from deptree_cli.io.files.output import suffix_of
from deptree_cli.io.files.streams import Input, open_input
from deptree_cli.io.scores.containers import jsonl, npy, npz, refused, safetensors
from deptree_cli.io.scores.containers.base import Container, ScoreFile, Write
from deptree_cli.io.scores.meta import NOTHING, Meta

__all__ = [
    "CONTAINERS",
    "Container",
    "ScoreFile",
    "Write",
    "container_for",
    "container_to_write",
    "open_scores",
    "write_scores",
]

CONTAINERS = Register(
    "container",
    [npz.CONTAINER, npy.CONTAINER, safetensors.CONTAINER, jsonl.CONTAINER, *refused.CONTAINERS],
    group="deptree.containers",
)


@contextmanager
def open_scores(path: str) -> Iterator[ScoreFile]:
    """Open a score file, gzipped or not; `-` is standard input.

    Raises:
        DeptreeError: it cannot be opened, no container is recognised, or the container refuses it.
    """
    with open_input(path) as file, ExitStack() as opened:
        try:
            scores = opened.enter_context(_recognised(file, path).open(file))
        except DeptreeError as error:
            raise error.at(file.place) from None
        yield scores


def _recognised(file: Input, path: str) -> Container:
    """The container that knows the first bytes, else the suffix.

    Where several know the bytes (many formats are zips) the suffix decides between them. What is refused comes last,
    so that another package may read it after all.
    """
    suffix = PurePath(path.removesuffix(".gz")).suffix.lower()
    found = _matching(CONTAINERS.known, file.head, suffix)
    if found is None or found.refused or suffix not in found.suffixes:
        found = _matching(list(CONTAINERS), file.head, suffix)  # maybe another package knows better
    if found is None:
        usual = [container.suffixes[0] for container in CONTAINERS if container.write]
        raise DeptreeError(
            "neither the name nor the first bytes tell what container of scores this is",
            f"Save the scores as {', '.join(usual[:-1])} or {usual[-1]}",
            place=file.place,
        )
    return found


def _matching(known: Sequence[Container], head: bytes, suffix: str) -> Container | None:
    found = [container for container in known if container.matches(head)] or [
        container for container in known if suffix in container.suffixes
    ]
    return min(found, key=lambda container: (container.refused, suffix not in container.suffixes), default=None)


def container_for(path: str | None) -> Container:
    """Return the container that the suffix of an output asks for, under .gz too; JSON Lines where there is none.

    Raises:
        DeptreeError: no container is written under that suffix.
    """
    suffix = suffix_of(path)
    if not suffix:
        return jsonl.CONTAINER
    written = [container for container in CONTAINERS if container.write]
    found = next((container for container in written if suffix in container.suffixes), None)
    if found is None:
        suffixes = sorted(suffix for container in written for suffix in container.suffixes)
        remedy = f"{one_of(suffixes)}, with .gz behind it to compress"
        raise DeptreeError(f"scores are not written as {suffix}", remedy, place=path or "")
    return found


def container_to_write(path: str | None, meta: Meta, header: bool = True, asked: bool = False) -> Container:
    """Return `container_for` a path if it keeps all that a reader of these scores has to know.

    Args:
        header: whether JSON Lines begin with what the file says of itself.
        asked: whether the user asked for this layout, and so can tell it to a reader.

    Raises:
        DeptreeError: as `container_for`; or the scores would be read as others.
    """
    container = container_for(path)
    if container.keeps_meta(header):
        return container
    bare = container.keeps_meta(True)  # the user left out the header, and so knows that it is not there
    needed = meta.space_to_read() + ([] if asked or bare else meta.layout_to_read())
    if needed:
        what = container.suffixes[0] + " without its header" * bare
        problem = f"a {what} cannot say that these scores have to be read with {' '.join(needed)}"
        keeping = [each.suffixes[0] for each in CONTAINERS if each.write and each.keeps_meta(True)]
        remedy = "Leave out --no-header" if bare else f"Write {', '.join(keeping[:-1])} or {keeping[-1]}"
        raise DeptreeError(problem, remedy, place=path or "")
    return container


def write_scores(
    path: str | None, meta: Meta = NOTHING, header: bool = False, asked: bool = False
) -> AbstractContextManager[Write]:
    """Open a file for scores in the container that its suffix asks for; None is standard output.

    Args:
        meta: what the file says of itself, where the container has a place for it.
        header, asked: as of `container_to_write`.

    Raises:
        DeptreeError: as `container_to_write`; later, what cannot be written.
    """
    write = container_to_write(path, meta, header, asked).write
    assert write is not None
    return write(path, meta, header)
