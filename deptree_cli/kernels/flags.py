"""The one place where kernels get their compiler flags."""

from __future__ import annotations

from typing import Any

import numba

# No fastmath: the sweeps rely on the order of additions, and on zeros and infinities meaning what IEEE 754 says.
# error_model numpy: a division by zero gives inf or nan, as in an array; the check would keep loops from being
# vectorised.
OPTIONS: dict[str, Any] = {"cache": True, "nogil": True, "error_model": "numpy"}


def kernel(function: Any) -> Any:
    """Compile a function of the ground floor when it is first called; the machine code is kept on disk."""
    return numba.njit(**OPTIONS)(function)
