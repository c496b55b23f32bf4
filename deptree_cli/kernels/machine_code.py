"""How kernels are compiled by numba, and how their machine code is kept on disk.

All that we use of numba's inner life is imported here: its releases may move it, so numba has an upper bound.
"""

from __future__ import annotations

import os
import pickle
import re
from contextlib import suppress
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numba
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler, CompileResult, DefaultPassBuilder
from numba.core.compiler_machinery import PassManager, register_pass
from numba.core.registry import CPUDispatcher
from numba.core.serialize import dumps
from numba.core.targetconfig import ConfigStack
from numba.core.typed_passes import NopythonTypeInference
from numba.core.types import NumberClass, uint64, unliteral
from numba.extending import typeof_impl

from deptree_cli.kernels.budget import Index, PythonKernel
from deptree_cli.kernels.kept import TARGET, cache_folder, compiling, names, not_kept, packaged_folder, remove_oldest

# Kernels within kernels: they are compiled for their callers only, which optimise what they have linked.
#
# Numba optimises every function and makes machine code and two wrappers of it before it is linked into its callers,
# where all of it is optimised again: a kernel five calls deep is optimised six times. Here a kernel that another one
# calls is left as the code generator wrote it, without wrappers, and optimised once, together with the kernel that
# Python calls.


NO_WRAPPERS = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}


class LinkedLibrary(JITCodeLibrary):
    """Code to be linked into that of callers; no machine code is made of it, and nobody calls it by its address."""

    @property
    def codegen(self) -> LinkedLibrary:
        return self

    def set_env(self, name: str, environment: Any) -> None:
        """There is no environment to set."""

    def _optimize_final_module(self) -> None:
        pass

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._finalized = True


@register_pass(mutates_CFG=True, analysis_only=False)
class Inference(NopythonTypeInference):
    """Numba's inference of types, which lets a function return a view where references are not counted.

    Its callers do not count them either (`Kernel`): they hand their flags on to the bodies of operations.
    """

    _name = "inference_with_views"

    def run_pass(self, state: Any) -> bool:
        counted, state.targetctx.enable_nrt = state.targetctx.enable_nrt, True
        try:
            return bool(super().run_pass(state))
        finally:
            state.targetctx.enable_nrt = counted


class Linked(Compiler):
    """Numba's pipeline, with a `LinkedLibrary` for the code, and views that are returned."""

    def compile_extra(self, func: Any) -> Any:
        self.state.library = LinkedLibrary(self.state.targetctx.codegen(), func.__qualname__)
        return super().compile_extra(func)

    def define_pipelines(self) -> list[PassManager]:
        found = DefaultPassBuilder.define_nopython_pipeline(self.state)
        found.passes[:] = [(Inference if each is NopythonTypeInference else each, why) for each, why in found.passes]
        found.finalize()
        return [found]


# How kernels within kernels and the bodies of operations (`operations.py`) are compiled.
WITHIN: Any = {"pipeline_class": Linked} | NO_WRAPPERS


class Kernel(CPUDispatcher):
    """A compiled function whose machine code is kept, and that hands other kernels a `Linked` twin of itself."""

    def __init__(self, py_func: Any, locals: Any = None, targetoptions: Any = None, **options: Any) -> None:
        super().__init__(py_func, locals, targetoptions, **options)
        self._cache: Any = KernelCache(py_func.__code__)
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


# Machine code kept on disk, where nothing that is wrong with the disk does more harm than compiling anew.
#
# Numba's own cache raises whatever reading and writing do: a truncated file, a full disk and a folder that cannot be
# written would each end the program; or it goes on in another folder. It looks at the source of the kernel alone, not
# at those of the kernels within it. And it numbers the overloads of a function in an index: of two processes that add
# one at the same time, each may find the other's code under its own number.


FOLDER, PACKAGED = cache_folder(), packaged_folder()

# The files of machine code that this process has read, and those that it has written: True.
FILES: dict[Path, bool] = {}


class KernelCache:
    """A function's machine code, for numba: what the package brings along, then what is in our folder.

    There is a file for each overload, which is written in one go. What cannot be read is compiled again, what cannot be
    written is not kept.
    """

    cache_path = None  # for numba's statistics

    def __init__(self, code: Any) -> None:
        self._folders: list[Path] = []
        found = names(code)
        if FOLDER is not None and found is not None:
            name, self._base = f"{found[0]}-{'.'.join(numba.__version__.split('.')[:2])}", found[1]
            self._folders = [place / name for place in (PACKAGED, FOLDER) if place]

    def load_overload(self, signature: Any, target: Any) -> Any:
        """Return the machine code for a signature; None if there is none that can be read, which is then compiled."""
        target.refresh()
        for folder in self._folders:
            try:
                found = load(folder, self._base, (signature, target.codegen().magic_tuple()))
                if found is not None:
                    return CompileResult._rebuild(target, *found)
            except Exception:  # of any kind: so many are the ways in which a pickle can be damaged
                with suppress(OSError):
                    for path in folder.glob(f"{self._base}.*"):
                        path.unlink(missing_ok=True)
        compiling(True)
        return None

    def save_overload(self, signature: Any, compiled: Any) -> None:
        """Keep what was compiled; whoever wants to know is told if that is not possible."""
        compiling(False)
        try:
            if not self._folders:
                raise OSError("no folder for it can be written, or is safe from others")
            save(self._folders[-1], self._base, (signature, compiled.codegen.magic_tuple()), compiled._reduce())
        except Exception as error:  # of any kind: no cache is needed, and this is numba's inner life
            not_kept(getattr(error, "strerror", None) or " ".join(str(error).split()) or type(error).__name__)


def load(folder: Path, base: str, key: Any) -> Any:
    """Return what was kept in a folder under a key, None if there is nothing.

    A key is a signature, and what system and processor the code is for: of what the package brings along, any processor
    of the level.

    Raises:
        Exception: of any kind: so many are the ways in which a pickle can be damaged.
    """
    if folder.parent == PACKAGED:
        signature, (triple, *_) = key
        key = signature, (triple, *TARGET)
    with suppress(FileNotFoundError):
        kept, data = pickle.loads((path := _path(folder, base, key)).read_bytes())
        if kept == key:
            FILES.setdefault(path, False)
            with suppress(OSError):  # of others, or removed
                os.utime(folder)  # in use, so none of the oldest
            return data
    return None


def save(folder: Path, base: str, key: Any, data: Any) -> None:
    """Keep something under a key; if the folder is new, what other versions left beside it goes, the oldest first."""
    if not folder.exists():
        folder.mkdir(parents=True, exist_ok=True)
        remove_oldest(folder.parent.glob(f"{folder.name.split('-')[0]}-*"))
    path = _path(folder, base, key)
    part = path.with_suffix(f".{os.getpid()}.part")
    try:
        part.write_bytes(dumps((key, data)))
        part.replace(path)
        FILES[path] = True
    finally:
        part.unlink(missing_ok=True)


def _path(folder: Path, base: str, key: Any) -> Path:
    signature, target = key
    told = repr(([str(each) for each in signature], target))  # addresses in it are another process's
    name = blake2b(re.sub(" at 0x[0-9a-f]+", "", told).encode(), digest_size=8).hexdigest()
    return folder / f"{base}.{name}.nbc"
