"""Kernels within kernels: they are compiled for their callers only, which optimise what they have linked.

Numba optimises every function and makes machine code and two wrappers of it before it is linked into its callers, where
all of it is optimised again: a kernel five calls deep is optimised six times. Here a kernel that another one calls is
left as the code generator wrote it, without wrappers, and optimised once, together with the kernel that Python calls.
"""

from __future__ import annotations

from typing import Any

from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler
from numba.core.registry import CPUDispatcher
from numba.core.types import unliteral

NO_WRAPPERS = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}


class LinkedLibrary(JITCodeLibrary):
    """Code to be linked into that of callers; no machine code is made of it."""

    @property
    def codegen(self) -> LinkedLibrary:
        """Return what sets the environment of a function; here there is nothing to set."""
        return self

    def set_env(self, name: str, environment: Any) -> None:
        """Do nothing: the environment is that of machine code."""

    def _optimize_final_module(self) -> None:
        """Leave it to the callers."""

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._finalized = True

    def get_pointer_to_function(self, name: str) -> int:
        """Return 0, as of a function that there is not: nobody calls this code by its address."""
        self._ensure_finalized()
        return 0


class Linked(Compiler):
    """Numba's pipeline, with a `LinkedLibrary` for the code."""

    def compile_extra(self, func: Any) -> Any:
        """Compile a function."""
        self.state.library = LinkedLibrary(self.state.targetctx.codegen(), func.__qualname__)
        return super().compile_extra(func)


# How the bodies of operations (`numbers/operations.py`) are compiled.
WITHIN: Any = {"pipeline_class": Linked} | NO_WRAPPERS


class Kernel(CPUDispatcher):
    """A compiled function that hands other kernels a `Linked` twin of itself."""

    def __init__(self, py_func: Any, locals: Any = None, targetoptions: Any = None, **options: Any) -> None:
        super().__init__(py_func, locals, targetoptions, **options)
        self._twin = CPUDispatcher(py_func, locals, self.targetoptions | NO_WRAPPERS, pipeline_class=Linked)

    def get_call_template(self, args: Any, kws: Any) -> Any:
        """Return the template of a call from another kernel: the same one for a literal as for any number."""
        return self._twin.get_call_template(
            tuple(map(unliteral, args)), {name: unliteral(kind) for name, kind in kws.items()}
        )

    def get_overload(self, sig: Any) -> Any:
        """Return the key of the code that another kernel calls."""
        return self._twin.get_overload(sig)
