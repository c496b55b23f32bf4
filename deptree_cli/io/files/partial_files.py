"""Files that a run writes beside their final place: their names, and which of them nobody will ever rename.

A file being written is locked, and the system unlocks it however its writer ends; so one that can be locked is what a
run that was killed left behind. It is reported and never removed: only its owner knows whether it is of use.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import BinaryIO

from deptree_cli.io.files.streams import STDIN

_PREFIX, _SUFFIX = ".deptree-", ".part"


def beside(target: Path) -> Path:
    """A new name in the folder of a file, under which it is written."""
    return target.with_name(f"{_PREFIX}{secrets.token_hex(8)}{_SUFFIX}")


def mark_alive(stream: BinaryIO) -> None:
    """Lock a file that is being written, as far as its file system can."""
    _lock(stream.fileno())


def partial_files(outputs: Iterable[str]) -> Iterator[str]:
    """Yield the unfinished files of runs that were killed, in the folders of these outputs."""
    for folder in dict.fromkeys(Path(os.path.realpath(path)).parent for path in outputs if path != STDIN):
        try:
            parts = sorted(folder.glob(f"{_PREFIX}*{_SUFFIX}"))
        except OSError:
            continue  # writing there will say why
        yield from (str(part) for part in parts if _is_abandoned(part))


def _is_abandoned(part: Path) -> bool:
    try:
        with part.open("r+b") as file:
            return _lock(file.fileno())
    except OSError:
        return False


def _lock(descriptor: int) -> bool:
    """Whether nobody else had locked this file; False where files cannot be locked."""
    try:
        from fcntl import LOCK_EX, LOCK_NB, flock

        flock(descriptor, LOCK_EX | LOCK_NB)
    except (ImportError, OSError):
        return False
    return True
