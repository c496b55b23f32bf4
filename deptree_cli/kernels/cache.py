"""The folder where the machine code of kernels is kept; found without importing numba."""

from __future__ import annotations

import os
import tempfile
from hashlib import blake2b
from pathlib import Path


def cache_folder() -> Path:
    """A folder of the user's own, named after the sources of all kernels; the package may be installed where nobody may
    write.

    Kernels contain code of each other, which numba does not follow: a change in any file must invalidate them all.
    """
    sources = blake2b(digest_size=8)
    for source in sorted(Path(__file__).parent.glob("*.py")):
        sources.update(source.read_bytes())
    return _writable_base() / "deptree" / sources.hexdigest()


def _writable_base() -> Path:
    """Where programs keep what they can make again; the folder of temporary files for those who have no such place."""
    base = Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser()
    try:
        base.mkdir(parents=True, exist_ok=True)
    except OSError:
        return Path(tempfile.gettempdir())
    return base if os.access(base, os.W_OK) else Path(tempfile.gettempdir())


def is_filled() -> bool:
    """Whether kernels were compiled before."""
    folder = Path(os.environ.get("NUMBA_CACHE_DIR") or cache_folder())
    return folder.is_dir() and any(folder.iterdir())
