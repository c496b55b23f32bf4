"""Where machine code is kept, for which processors and under which names; found without importing numba."""

from __future__ import annotations

import os
import platform
import shutil
import stat
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from functools import cache
from hashlib import blake2b
from pathlib import Path
from typing import Any

# Machine code for any processor of a level, which a package can bring along; found without importing numba.


NATIVE = "native"
LINE = 64  # bytes of a line of the cache, and of a vector of ours

# The level as LLVM calls it, and its features beyond the architecture's own, by LLVM's names and the kernel's
# (https://gitlab.com/x86-psABIs/x86-64-ABI, table 3.1).
IS_X86 = platform.machine() == "x86_64"
LEVEL = "x86-64-v3" if IS_X86 else "generic"
FEATURES = ["avx", "avx2", "bmi", "bmi2", "f16c", "fma", "lzcnt", "movbe", "xsave"] if IS_X86 else []
OF_KERNEL = {"bmi": "bmi1", "lzcnt": "abm"}

# What numba is told of the processor (NUMBA_CPU_NAME, NUMBA_CPU_FEATURES): its name and its features.
TARGET = LEVEL, ",".join(f"+{name}" for name in FEATURES)


@cache
def is_of_level() -> bool:
    """Whether this machine's processor has the features of the level, as far as the system says so."""
    if not FEATURES:
        return True
    with suppress(OSError), Path("/proc/cpuinfo").open(encoding="utf-8") as processors:
        for line in processors:
            if line.startswith("flags"):
                return {OF_KERNEL.get(name, name) for name in FEATURES} <= set(line.split())
    return False


# The folder where the machine code of kernels is kept; found without importing numba.
#
# What is kept are pickles, and reading a pickle runs code: a folder that others could have written to is never read.


NAME = "machine-code"
PACKAGED = Path(__file__).parents[1] / "machine_code"

VERSIONS = 8  # of a file of kernels, of which machine code is kept

# The folder to be used instead of all others, if there is one.
_only: list[Path] = []

# Called with the reason, at most once per process and only if it has been set, when machine code cannot be kept.
_listeners: list[Callable[[str], None]] = []

# Called with True when a kernel begins to be compiled and with False when that ends; they are compiled within each
# other. There is one at a time.
_watchers: list[Callable[[bool], None]] = []


def cache_folder() -> Path | None:
    """Return the folder for the machine code of kernels; None if none will do.

    It is outside the package, which may be installed where its users cannot write.
    """
    return next(filter(serves, _only or _candidates()), None)


def keep_in(folder: Path) -> None:
    """Have machine code kept in this folder, and found nowhere else."""
    _only[:] = [folder]


def packaged_folder() -> Path | None:
    """Return the folder of machine code that the package brings along; None if none is for us and this processor."""
    return PACKAGED if os.access(PACKAGED, os.R_OK | os.X_OK) and is_of_level() and not _only else None


def remove_oldest(folders: Iterable[Path]) -> None:
    """Remove the folders of the versions not used for longest, as other processes may do at the same time."""
    ages: dict[Path, float] = {}
    for folder in folders:
        with suppress(FileNotFoundError):  # another process was first
            ages[folder] = folder.stat().st_mtime
    for folder in sorted(ages, key=ages.__getitem__)[:-VERSIONS]:
        shutil.rmtree(folder, ignore_errors=True)


def tell_if_not_kept(listener: Callable[[str], None]) -> None:
    _listeners[:] = [listener]


def not_kept(reason: str) -> None:
    if _listeners:
        _listeners.pop()(reason)


def watch_compiling(watcher: Callable[[bool], None] | None) -> None:
    _watchers[:] = [watcher] if watcher else []


def compiling(begins: bool) -> None:
    for watcher in _watchers:
        watcher(begins)


def _candidates() -> Iterator[Path]:
    """Numba's folder for caches, if set, then the user's, then one among temporary files."""
    if os.environ.get("NUMBA_CACHE_DIR"):
        yield Path(os.environ["NUMBA_CACHE_DIR"]).absolute() / "deptree" / NAME
    with suppress(RuntimeError):  # nobody's home
        yield Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser().absolute() / "deptree" / NAME
    # Of one level, for whoever owns a folder may rename what is in it; and of temporary files everyone his own.
    yield Path(tempfile.gettempdir()) / f"deptree-{os.getuid() if hasattr(os, 'getuid') else 'cache'}-{NAME}"


def serves(folder: Path) -> bool:
    """Whether a folder, made if there is none, can be trusted, and has machine code or takes some.

    It is a folder, no link, that belongs to us or to root, that nobody else can write to, and in whose place nobody can
    put another: where everyone may write above it, names are protected.
    """
    with suppress(OSError):
        has_owners = hasattr(os, "getuid")  # elsewhere folders of users are their own
        owners, parent = (os.getuid(), 0) if has_owners else (), folder.parent.resolve()
        above = [each.stat() for each in {*folder.parents, parent, *parent.parents} if has_owners and each.exists()]
        if any(each.st_mode & stat.S_IWOTH and not each.st_mode & stat.S_ISVTX for each in above):
            return False
        if has_owners and parent.exists() and parent.stat().st_uid not in owners:
            return False
        folder.parent.mkdir(parents=True, exist_ok=True)
        with suppress(FileExistsError):
            folder.mkdir(mode=0o700)
        found = folder.lstat()
        is_ours = stat.S_ISDIR(found.st_mode)
        if has_owners:
            is_ours &= found.st_uid in owners and not found.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
        return is_ours and (os.access(folder, os.W_OK | os.X_OK) or any(folder.rglob("*.nbc")))
    return False


# The digest of the sources of all kernels, the wings' too: machine code of another digest is stale.
#
# Kernels contain code of each other, also those of the main house that are compiled for a wing's types, and numba does
# not track that. So all are compiled anew where one has changed.


PACKAGE = Path(__file__).parents[1]


def kernel_files() -> list[Path]:
    """Return the files of all kernels, in a fixed order."""
    return sorted(
        path for pattern in ("kernels/*.py", "*/kernels.py", "*/kernels/*.py") for path in PACKAGE.glob(pattern)
    )


@cache
def digest() -> str:
    """Return 16 hexadecimal digits of all sources of kernels."""
    found = blake2b(digest_size=8)
    for path in kernel_files():
        found.update(path.read_bytes())
    return found.hexdigest()


# Whether machine code is kept, found without importing numba; and the names under which it is.


def names(code: Any) -> tuple[str, str] | None:
    """Return what names of folders of a kernel's code begin with, and those of its files; None if it is none of ours.

    There is a folder for each file of kernels and each version of all; nothing tells when and where these are, so that
    copies of a package share it.
    """
    source = Path(code.co_filename)
    if PACKAGE not in source.parents:
        return None
    module = ".".join(source.with_suffix("").relative_to(PACKAGE).parts)
    python = f"{code.co_firstlineno}.py{sys.version_info.major}{sys.version_info.minor}{sys.abiflags}"
    return f"{module}-{digest()}", f"{source.stem}.{code.co_name}-{python}"


def is_kept(code: Any = None) -> bool:
    """Whether machine code of a kernel, or of any, is kept: for whatever types, made by whatever version of numba."""
    folder, file = (f"*-{digest()}", "*") if code is None else names(code) or ("", "")
    places = filter(None, (packaged_folder(), cache_folder()))
    return any(any(place.glob(f"{folder}-*/{file}.*.nbc")) for place in places)
