"""Whose machine code is at hand: notes beside it, of commands that need not compile; without importing numba.

A note is an empty file, in a folder for each version of kernels, numba and Python. It may be wrong, for machine code is
removed and made for another processor: what relies on it then compiles.
"""

from __future__ import annotations

import platform
import re
import sys
from contextlib import suppress
from functools import cache
from hashlib import blake2b
from importlib.util import find_spec
from pathlib import Path

from deptree_cli.kernels.cache import cache_folder, packaged_folder, remove_oldest
from deptree_cli.kernels.sources import PACKAGE, kernel_files


def is_at_hand(*names: str) -> bool:
    """Whether one of these was noted, in the user's folder or in the package's."""
    folders = [folder for folder in (packaged_folder(), cache_folder()) if folder]
    return any((folder / _notes() / _escaped(name)).exists() for folder in folders for name in names)


def note(name: str, folder: Path) -> None:
    """Note that what runs under a name has its machine code in a folder."""
    notes = folder / _notes()
    with suppress(OSError):
        notes.mkdir(exist_ok=True)
        (notes / _escaped(name)).touch()
        remove_oldest(folder.glob("notes-*"))


def _escaped(name: str) -> str:
    """The name of a note's file, of letters that every file system takes."""
    readable = re.sub("[^a-z0-9-]+", "_", name)
    return readable if len(readable) < 40 else blake2b(name.encode(), digest_size=8).hexdigest()


@cache
def _notes() -> str:
    """The folder of notes: by names and sizes of the sources of kernels, for to read them all would take too long."""
    sources = [f"{path.relative_to(PACKAGE)} {path.stat().st_size}" for path in kernel_files()]
    told = repr((sources, _numba(), sys.version_info[:2], platform.machine()))
    return f"notes-{blake2b(told.encode(), digest_size=8).hexdigest()}"


def _numba() -> str:
    """The version of numba, major and minor; empty if it cannot be found."""
    found = find_spec("numba")
    with suppress(OSError):
        if found and found.origin:
            told = re.search(r'"version": "(\d+\.\d+)', (Path(found.origin).parent / "_version.py").read_text())
            return told[1] if told else ""
    return ""
