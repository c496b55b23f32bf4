"""Files that are read twice, although a pipe can be read only once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from deptree_cli.io.files.streams import STDIN, Input, copied, open_input, place_of


@dataclass(frozen=True)
class Reread:
    """A file, and what messages call it.

    Attributes:
        path: that of the file, or of a copy of what came through a pipe.
    """

    path: str
    place: str

    @contextmanager
    def opened(self) -> Iterator[Input]:
        """Open it as `open_input` does."""
        with open_input(self.path) as file:
            yield replace(file, place=self.place)


@contextmanager
def rereadable(paths: Sequence[str]) -> Iterator[list[Reread]]:
    """The files, each of which can be opened any number of times within the block.

    Raises:
        DeptreeError: see `open_input`.
    """
    with ExitStack() as copies:
        yield [
            Reread(path, place_of(path)) if is_rereadable(path) else copies.enter_context(_copied(path))
            for path in paths
        ]


def is_rereadable(path: str) -> bool:
    """Whether a file can be read again; what is not there is told when it is opened."""
    return path != STDIN and (Path(path).is_file() or not Path(path).exists())


@contextmanager
def _copied(path: str) -> Iterator[Reread]:
    """A copy of what a stream has; as it was written, for a gzipped one is unpacked."""
    with open_input(path) as file, copied(file.stream) as copy:
        yield Reread(copy, file.place)
