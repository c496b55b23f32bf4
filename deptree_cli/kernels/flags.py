"""The one place where kernels get their compiler flags and the folder where their machine code is kept."""

from __future__ import annotations

import os
import sys
import tempfile
from hashlib import blake2b
from importlib import import_module
from pathlib import Path
from typing import Any

import numba

# No fastmath: the sweeps rely on the order of additions, and on zeros and infinities meaning what IEEE 754 says.
# error_model numpy: a division by zero gives inf or nan, as in an array; the check would keep loops from being
# vectorised.
OPTIONS: dict[str, Any] = {"cache": True, "nogil": True, "error_model": "numpy"}


def kernel(function: Any) -> Any:
    """Compile a function of the ground floor when it is first called; the machine code is kept on disk."""
    return numba.njit(**OPTIONS)(function)


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


if "NUMBA_CACHE_DIR" not in os.environ:
    numba.config.CACHE_DIR = str(cache_folder())  # type: ignore[attr-defined]


def start_quickly() -> None:
    """Import numba without scipy.linalg, which it would load (0.2 s) to offer linear algebra that kernels never use.

    For processes of our own: in a program that compiles other functions too, those could then not call BLAS.
    """
    if "numba.np.arraymath" in sys.modules or "scipy.linalg" in sys.modules:
        return
    sys.modules["scipy.linalg"] = None  # type: ignore[assignment]
    try:
        import_module("numba.np.arraymath")
    finally:
        del sys.modules["scipy.linalg"]
