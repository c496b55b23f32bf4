"""Containers of scores: the register of the formats in which score files are read and written.

A container is a module that ends in a `Container`, and an entry in `CONTAINERS`; or an object of that class which
another package offers under the entry point ``deptree.containers``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import PurePath

from deptree_cli.core.errors import DeptreeError
from deptree_cli.core.register import Register
from deptree_cli.io.files.streams import Input, open_input
from deptree_cli.io.scores.containers import base, jsonl, npy, npz, safetensors
from deptree_cli.io.scores.containers.base import Container, ScoreFile, Write

__all__ = ["CONTAINERS", "Container", "ScoreFile", "Write", "open_scores"]

CONTAINERS = Register(
    "container",
    [npz.CONTAINER, npy.CONTAINER, safetensors.CONTAINER, jsonl.CONTAINER, *base.CONTAINERS],
    group="deptree.containers",
)


@contextmanager
def open_scores(path: str) -> Iterator[ScoreFile]:
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
