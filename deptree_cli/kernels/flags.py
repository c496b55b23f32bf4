"""The one place where kernels get their compiler flags."""

from __future__ import annotations

import os
import sys
from importlib import import_module
from typing import Any

import numba

from deptree_cli.kernels.cache import cache_folder

# No fastmath: the sweeps rely on the order of additions, and on zeros and infinities meaning what IEEE 754 says.
# error_model numpy: a division by zero gives inf or nan, as in an array; the check would keep loops from being
# vectorised.
OPTIONS: dict[str, Any] = {"cache": True, "nogil": True, "error_model": "numpy"}


def kernel(function: Any) -> Any:
    """Compile a function of the ground floor when it is first called; the machine code is kept on disk."""
    return numba.njit(**OPTIONS)(function)


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
