"""Kernels within kernels: they are compiled for their callers only, which optimise what they have linked.

Numba optimises every function and makes machine code and two wrappers of it before it is linked into its callers, where
all of it is optimised again: a kernel five calls deep is optimised six times. Here a kernel that another one calls is
left as the code generator wrote it, without wrappers, and optimised once, together with the kernel that Python calls.
"""

from __future__ import annotations

from typing import Any

from numba.extending import typeof_impl

from deptree_cli.kernels.budget import Index, PythonKernel
from deptree_cli.kernels.internals import (
    Compiler,
    ConfigStack,
    CPUDispatcher,
    DefaultPassBuilder,
    JITCodeLibrary,
    NopythonTypeInference,
    NumberClass,
    PassManager,
    register_pass,
    uint64,
    unliteral,
)

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


@register_pass(mutates_CFG=True, analysis_only=False)
class BodyInference(NopythonTypeInference):
    """Numba's inference of types, which lets a body return a view where references are not counted.

    Its callers do not count them either (`kernel`): they hand their flags on to the bodies they call.
    """

    _name = "body_inference"

    def run_pass(self, state: Any) -> bool:
        """Infer the types of a function."""
        counted, state.targetctx.enable_nrt = state.targetctx.enable_nrt, True
        try:
            return bool(super().run_pass(state))
        finally:
            state.targetctx.enable_nrt = counted


class Body(Linked):
    """The same for the body of an operation."""

    def define_pipelines(self) -> list[PassManager]:
        """Return the passes in their order."""
        passes = DefaultPassBuilder.define_nopython_pipeline(self.state)
        own = [(BodyInference, told) if each is NopythonTypeInference else (each, told) for each, told in passes.passes]
        passes.passes[:] = own
        passes.finalize()
        return [passes]


# How the bodies of operations (`numbers/operations.py`) are compiled.
WITHIN: Any = {"pipeline_class": Body} | NO_WRAPPERS


class Kernel(CPUDispatcher):
    """A compiled function that hands other kernels a `Linked` twin of itself."""

    def __init__(self, py_func: Any, locals: Any = None, targetoptions: Any = None, **options: Any) -> None:
        super().__init__(py_func, locals, targetoptions, **options)
        self._twin = CPUDispatcher(py_func, locals, self.targetoptions | NO_WRAPPERS, pipeline_class=Linked)

    def get_call_template(self, args: Any, kws: Any) -> Any:
        """Return the template of a call from another kernel: the same one for a literal as for any number.

        Raises:
            TypeError: it counts references, to what it returns too, and the caller does not.
        """
        template, *others = self._twin.get_call_template(
            tuple(map(unliteral, args)), {name: unliteral(kind) for name, kind in kws.items()}
        )
        caller, counts = ConfigStack.top_or_none(), self.targetoptions["_nrt"]
        returned = [signature.return_type for signature in template.cases]  # type: ignore[attr-defined]
        if any("array(" in str(kind) for kind in returned) and not (counts and (caller is None or caller.nrt)):
            raise TypeError(f"{self.py_func.__name__} returns arrays: say that it allocates, and its caller")
        return (template, *others)

    def add_overload(self, cres: Any) -> None:
        """Keep machine code.

        Raises:
            TypeError: it returns arrays and does not count references to them.
        """
        if not self.targetoptions["_nrt"] and "array(" in str(cres.signature.return_type):
            raise TypeError(f"{self.py_func.__name__} returns arrays: say that it allocates")
        super().add_overload(cres)

    def get_overload(self, sig: Any) -> Any:
        """Return the key of the code that another kernel calls."""
        return self._twin.get_overload(sig)


@typeof_impl.register(PythonKernel)
def _type_of_kernel(kernel: PythonKernel, context: Any) -> Any:
    return typeof_impl(kernel.compiled, context)


@typeof_impl.register(type(Index))
def _type_of_index(index: Any, context: Any) -> Any:
    return NumberClass(uint64)
