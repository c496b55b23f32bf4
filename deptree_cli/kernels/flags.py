"""The one place where kernels get their compiler flags."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from importlib import import_module
from typing import Any

import numba
import numpy as np

from deptree_cli.kernels.cache import cache_folder

# No fastmath: the sweeps rely on the order of additions, and on zeros and infinities meaning what IEEE 754 says.
# error_model numpy: a division by zero gives inf or nan, as in an array; the check would keep loops from being
# vectorised.
OPTIONS: dict[str, Any] = {"cache": True, "nogil": True, "error_model": "numpy"}

CACHE_FOLDER = str(cache_folder())


def kernel(function: Any = None, **options: Any) -> Any:
    """Return a function that is compiled when first called, its machine code kept on disk; a decorator.

    options: flags beside `OPTIONS`, or instead of them. If numba is switched off (``NUMBA_DISABLE_JIT=1``) the function
    stays Python: integers wrap around and divisions by zero give inf without a warning, as they do in machine code.
    """
    if function is None:
        return partial(kernel, **options)
    if numba.config.DISABLE_JIT:  # type: ignore[attr-defined]
        return np.errstate(all="ignore")(function)
    with _own_cache_folder():
        return numba.njit(**(OPTIONS | options))(function)


@contextmanager
def _own_cache_folder() -> Iterator[None]:
    """Let numba choose our cache folder, which it does when it decorates; other programs' functions keep theirs."""
    config: Any = numba.config
    theirs = config.CACHE_DIR
    config.CACHE_DIR = CACHE_FOLDER
    try:
        yield
    finally:
        config.CACHE_DIR = theirs


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
