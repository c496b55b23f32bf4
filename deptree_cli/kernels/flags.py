"""The one place where kernels get their compiler flags."""

from __future__ import annotations

import os
import sys
from functools import partial
from importlib import import_module
from typing import Any

import numpy as np


def _is_interpreted() -> bool:
    """What numba says, or would say: to import it takes a third of a second."""
    if "numba" in sys.modules:
        return bool(sys.modules["numba"].config.DISABLE_JIT)
    return os.environ.get("NUMBA_DISABLE_JIT", "0") not in ("", "0")


# Whether Python runs the kernels (NUMBA_DISABLE_JIT=1).
INTERPRETED = _is_interpreted()

# The integers that inner loops index arrays with. In machine code they are unsigned: those cannot count from the end of
# an axis, which would be checked at every step and keep loops from being vectorised. Python takes its own: NumPy 1 adds
# an unsigned integer and one of Python's as floats.
Index: Any = int if INTERPRETED else np.uint64

if not INTERPRETED:
    from deptree_cli.kernels.stored import keep
    from deptree_cli.kernels.within import Kernel

# No fastmath: the sweeps rely on the order of additions, and on zeros and infinities meaning what IEEE 754 says.
# error_model numpy: a division by zero gives inf or nan, as in an array; the check would keep loops from being
# vectorised.
OPTIONS: dict[str, Any] = {"nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True}


def kernel(function: Any = None, allocates: bool = False, **options: Any) -> Any:
    """Return a function that is compiled when first called; a decorator. Its machine code is kept on disk if possible.

    allocates: whether the function makes arrays, or returns some. All others borrow the arrays of their arguments:
    references to these are not counted, which for each view and each field would cost more than many a loop.
    options: flags beside `OPTIONS`, or instead of them. Where Python runs the kernels, numba is not imported; integers
    wrap around and divisions by zero give inf without a warning, as they do in machine code.
    """
    if function is None:
        return partial(kernel, allocates=allocates, **options)
    if INTERPRETED:
        return np.errstate(all="ignore")(function)
    compiled = Kernel(function, targetoptions={"nopython": True, "_nrt": allocates} | OPTIONS | options)
    keep(compiled)
    return compiled


def start_quickly() -> None:
    """Import numba without scipy.linalg, which it would load (0.2 s) to offer linear algebra that kernels never use.

    For processes of our own: in a program that compiles other functions too, those could then not call BLAS.
    """
    if INTERPRETED or "numba.np.arraymath" in sys.modules or "scipy.linalg" in sys.modules:
        return
    sys.modules["scipy.linalg"] = None  # type: ignore[assignment]
    try:
        import_module("numba.np.arraymath")
    finally:
        del sys.modules["scipy.linalg"]
