"""The one place where kernels get their compiler flags."""

from __future__ import annotations

from functools import partial
from typing import Any

from deptree_cli.kernels.budget import BUDGET, Index, PythonKernel

__all__ = ["Index", "kernel"]

# No fastmath: the sweeps rely on the order of additions, and on zeros and infinities meaning what IEEE 754 says.
# error_model numpy: a division by zero gives inf or nan, as in an array; the check would keep loops from being
# vectorised.
OPTIONS: dict[str, Any] = {"nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True}


def kernel(function: Any = None, allocates: bool = False, **options: Any) -> Any:
    """Return a function that is compiled when first called; a decorator. Its machine code is kept on disk if possible.

    allocates: whether the function makes arrays, or returns some. All others borrow the arrays of their arguments:
    references to these are not counted, which for each view and each field would cost more than many a loop.
    options: flags beside `OPTIONS`, or instead of them.
    """
    if function is None:
        return partial(kernel, allocates=allocates, **options)

    def compiled() -> Any:
        from deptree_cli.kernels.machine_code import Kernel  # imports numba

        return Kernel(function, targetoptions={"nopython": True, "_nrt": allocates} | OPTIONS | options)

    return compiled() if BUDGET.steps is None else PythonKernel(function, compiled)
