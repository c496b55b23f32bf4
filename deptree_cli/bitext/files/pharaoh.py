"""Links of sentence pairs in the Pharaoh format: a line per pair, an empty one for a pair without links.

    0-0 1?2 2p3

Words are counted from 0, the source word stands first. ``i-j`` is a link that is sure; ``i?j`` and ``ipj``, both found
in annotated data, are links that are only possible. They come in any order.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from deptree_cli.bitext.model.links import KnownLinks, Link, Links
from deptree_cli.core.errors import DeptreeError
from deptree_cli.io.files.streams import lines_of, open_input

_LINK = re.compile(rb"([0-9]{1,9})([-?p])([0-9]{1,9})")

_SURE = b"-"


class PharaohLine(NamedTuple):
    """The links of a pair, and where they were read."""

    links: KnownLinks
    place: str


def read_pharaoh(path: str) -> Iterator[PharaohLine | DeptreeError]:
    """Read the links of each pair in a file; `-` is standard input. A file may be empty, or its lines.

    Yields:
        the links, or the error of a line that is not in the format.

    Raises:
        DeptreeError: the file cannot be read, or not to its end.
    """
    with open_input(path, may_be_empty=True) as file:
        for number, line in enumerate(lines_of(file.stream, file.place), 1):
            yield _parsed(line.removeprefix(b"\xef\xbb\xbf") if number == 1 else line, f"{file.place}:{number}")


def _parsed(line: bytes, place: str) -> PharaohLine | DeptreeError:
    sure: set[Link] = set()
    possible: set[Link] = set()
    for text in line.split():
        match = _LINK.fullmatch(text)
        if match is None:
            shown = text.decode("utf-8", "replace")[:20]
            return DeptreeError(f"{shown!r} is not a link", "Write links as 0-0, possible ones as 0?1", place=place)
        (sure if match[2] == _SURE else possible).add((int(match[1]), int(match[3])))
    return PharaohLine(KnownLinks(frozenset(sure), frozenset(sure | possible)), place)


def pharaoh_line(sure: Links, possible: Links = frozenset()) -> bytes:
    """Return the line of a pair, links sorted; possible ones that are not sure are marked by ``?``."""
    marked = sorted((link, "-" if link in sure else "?") for link in sure | possible)
    return (" ".join(f"{source}{mark}{target}" for (source, target), mark in marked) + "\n").encode()
