"""The folder where the machine code of kernels is kept; found without importing numba."""

from __future__ import annotations

import os
import tempfile
from hashlib import blake2b
from pathlib import Path


def cache_folder() -> Path:
    """Return the folder for the machine code of kernels, named after a hash of all their sources.

    Kernels contain code of each other, and numba does not track that: a change in any file must invalidate them all.
    The folder is outside the package, which may be installed where its users cannot write.
    """
    sources = blake2b(digest_size=8)
    for source in sorted(Path(__file__).parent.rglob("*.py")):
        sources.update(source.read_bytes())
    return _base_folder() / "deptree" / sources.hexdigest()


def is_filled() -> bool:
    """Return whether there is machine code from an earlier run, or numba is switched off and none is needed."""
    if os.environ.get("NUMBA_DISABLE_JIT", "0") not in ("", "0"):
        return True
    return any(cache_folder().rglob("*.nbi"))


def _base_folder() -> Path:
    """Return the folder for caches: numba's, if set, else the user's, else that of temporary files."""
    if os.environ.get("NUMBA_CACHE_DIR"):
        return Path(os.environ["NUMBA_CACHE_DIR"])
    base = Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser()
    try:
        base.mkdir(parents=True, exist_ok=True)
    except OSError:
        return Path(tempfile.gettempdir())
    return base if os.access(base, os.W_OK) else Path(tempfile.gettempdir())
