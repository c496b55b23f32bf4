"""No output takes the place of an input or of another output, and standard input is read once.

Files are told apart by what they are, not by name.

An output that is also an input is refused although it would be renamed into place at the end: the scores would be gone
with a wrong option, and what is appended to (``>>``) is read back for ever.
"""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Hashable, Iterable
from pathlib import Path
from typing import NamedTuple

from deptree_cli.core.errors import DeptreeError
from deptree_cli.io.files.streams import STDIN, place_of


class Named(NamedTuple):
    """A file of the command line: the option or argument that names it, and its path; `-` is a standard stream."""

    option: str
    path: str


def check_read_once(inputs: Iterable[Named]) -> None:
    """Raise before anything is read where standard input is named twice."""
    if [named.path for named in inputs].count(STDIN) > 1:
        raise DeptreeError("standard input (-) can be read only once", "Name a file for all but one of the inputs")


def refuse_overwrites(inputs: Iterable[Named], outputs: Iterable[Named]) -> None:
    """Raise before anything is written where an output is the same file as an input or another output.

    Links are followed. Devices such as the terminal and /dev/null may be named as often as one likes.

    Raises:
        DeptreeError: names both options.
    """
    taken = {_identity(named.path, 0): (named, True) for named in inputs}
    taken.pop(None, None)
    for named in outputs:
        identity = _identity(named.path, 1)
        if identity is None:
            continue
        if identity in taken:
            other, is_input = taken[identity]
            place = "standard output" if named.path == STDIN else place_of(named.path)
            problem = f"{named.option} and {other.option} would write the same file"
            if is_input:
                problem = f"{named.option} would write into what {other.option} reads"
            raise DeptreeError(problem, "Name another file for one of them", place=place)
        taken[identity] = named, False


def _identity(path: str, descriptor: int) -> Hashable | None:
    """What a file is: device and inode, else where it would be; None for what may be named twice."""
    output = path if path == STDIN and descriptor else None
    try:
        found = os.fstat(_standard(descriptor)) if path == STDIN else Path(path).stat()
    except (OSError, ValueError, AttributeError):
        return output if path == STDIN else os.path.realpath(path)
    return output if stat.S_ISCHR(found.st_mode) else (found.st_dev, found.st_ino)


def _standard(descriptor: int) -> int:
    """The descriptor behind standard input or output, which may have been replaced from within Python."""
    return (sys.stdout if descriptor else sys.stdin).fileno()
