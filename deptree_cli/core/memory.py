"""Whether there is memory for what is to be allocated: asked beforehand, for a system may promise more than it has.

Linux hands out addresses freely and ends a process that uses too many of them, without a word.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from deptree_cli.core.errors import DeptreeError

_MACHINE, _GROUP = Path("/proc/meminfo"), Path("/sys/fs/cgroup")


@contextmanager
def memory_for(size: float, what: str, remedy: str) -> Iterator[None]:
    try:
        if size and size > (free := available()):  # to ask takes as long as to sample a tree
            problem = f"there is not enough memory for {what}: it takes {_shown(size)}, {_shown(free)} are free"
            raise DeptreeError(problem, remedy)
        yield
    except MemoryError:
        raise DeptreeError(f"there is not enough memory for {what}", remedy) from None


def available() -> float:
    """The number of bytes that are free for this process, infinite where the system does not tell."""
    machine = group = math.inf
    with suppress(OSError, ValueError):  # what can be used without swapping
        machine = 1024.0 * _field(_MACHINE, "MemAvailable:")
    with suppress(OSError, ValueError):  # what the processes of a container may use beside what they do already
        group = float((_GROUP / "memory.max").read_text()) - _field(_GROUP / "memory.stat", "anon")
    return min(machine, group)


def _field(path: Path, name: str) -> float:
    found = re.search(rf"^{name}[ \t]+(\d+)", path.read_text(), re.MULTILINE)
    if found is None:
        raise ValueError(name)
    return float(found[1])


def _shown(size: float) -> str:
    return f"{size / 1e9:.1f} GB" if size >= 1e8 else f"{size / 1e6:.0f} MB"
