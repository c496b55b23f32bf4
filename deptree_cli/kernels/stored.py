"""Machine code kept on disk, where nothing that is wrong with the disk does more harm than compiling anew.

Numba's own cache raises whatever reading and writing do: a truncated file, a full disk and a folder that cannot be
written would each end the program; or it goes on in another folder, which does not depend on all sources.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import Any

from numba.core.caching import CompileResultCacheImpl, FunctionCache, UserWideCacheLocator
from numba.core.event import Listener, register

from deptree_cli.kernels.cache import cache_folder, compiling, not_kept

FOLDER = cache_folder()
NO_FOLDER = "no folder for it can be written, or is safe from others"


def keep(function: Any) -> None:
    """Have the machine code of a compiled function kept in our folder, if there is one."""
    try:
        function._cache = KernelCache(function.py_func)
    except Exception as error:  # of any kind: no cache is needed, and this is numba's inner life
        function._cache = NoCache(_reason(error))


class OurFolder(UserWideCacheLocator):
    """Tells numba where to keep machine code, whatever its own settings are."""

    def __init__(self, py_func: Any, py_file: str) -> None:
        super().__init__(py_func, py_file)
        if FOLDER is None:
            raise OSError(NO_FOLDER)
        self._cache_path = os.path.join(FOLDER, self.get_suitable_cache_subpath(py_file))  # noqa: PTH118 (numba's type)

    @classmethod
    def from_function(cls, py_func: Any, py_file: str) -> OurFolder:
        """Return a locator; nothing is written before there is something to keep."""
        return cls(py_func, py_file)


class _Code(CompileResultCacheImpl):
    _locator_classes = [OurFolder]  # noqa: RUF012 (numba's)


class KernelCache(FunctionCache):
    """A function's cache in our folder: what cannot be read is compiled again, what cannot be written is not kept."""

    _impl_class = _Code

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Return the machine code for a signature, None if there is none that can be read."""
        try:
            return super().load_overload(sig, target_context)
        except Exception:  # of any kind: so many are the ways in which a pickle can be damaged
            self._remove()
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep machine code; whoever wants to know is told if that is not possible."""
        try:
            try:
                super().save_overload(sig, data)
            except OSError:
                raise
            except Exception:  # the index is damaged
                self._remove()
                super().save_overload(sig, data)
        except Exception as error:
            not_kept(_reason(error))

    def _remove(self) -> None:
        """Remove what is kept of this function."""
        with suppress(OSError):
            for path in Path(self.cache_path).glob(f"{self._impl.filename_base}.*"):
                path.unlink(missing_ok=True)


class NoCache:
    """In place of a cache where there is no folder for one."""

    cache_path = None

    def __init__(self, reason: str) -> None:
        self._reason = reason

    def load_overload(self, sig: Any, target_context: Any) -> None:
        """Find nothing."""

    def save_overload(self, sig: Any, data: Any) -> None:
        """Tell that nothing is kept."""
        not_kept(self._reason)

    def enable(self) -> None:
        """Do nothing, as there is nothing to enable; nor for the others."""

    disable = flush = enable


class Watch(Listener):
    """Tells of kernels that are compiled; what a host program compiles is its own affair."""

    def on_start(self, event: Any) -> None:
        """Tell that the compiling of a kernel begins."""
        self._tell(event, True)

    def on_end(self, event: Any) -> None:
        """Tell that it has ended, well or not."""
        self._tell(event, False)

    def _tell(self, event: Any, begins: bool) -> None:
        if isinstance(getattr(event.data["dispatcher"], "_cache", None), KernelCache | NoCache):
            compiling(begins)


register("numba:compile", Watch())


def _reason(error: Exception) -> str:
    return getattr(error, "strerror", None) or " ".join(str(error).split()) or type(error).__name__
