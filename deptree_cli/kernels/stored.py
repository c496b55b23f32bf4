"""Machine code kept on disk, where nothing that is wrong with the disk does more harm than compiling anew.

Numba's own cache raises whatever reading and writing do: a truncated file, a full disk and a folder that cannot be
written would each end the program; or it goes on in another folder. And it looks at the source of the kernel alone, not
at those of the kernels within it.
"""

from __future__ import annotations

import shutil
from contextlib import suppress
from pathlib import Path
from typing import Any

import numba
from numba.core.caching import CompileResultCacheImpl, FunctionCache, UserWideCacheLocator
from numba.core.event import Listener, register

from deptree_cli.kernels.cache import cache_folder, compiling, not_kept
from deptree_cli.kernels.sources import KERNELS, digest_of

FOLDER = cache_folder()
VERSIONS = 8  # of a file of kernels, of which machine code is kept
NO_FOLDER = "no folder for it can be written, or is safe from others"


def keep(function: Any) -> None:
    """Have the machine code of a compiled function kept in our folder, if there is one."""
    try:
        function._cache = KernelCache(function.py_func)
    except Exception as error:  # of any kind: no cache is needed, and this is numba's inner life
        function._cache = NoCache(_reason(error))


class OurFolder(UserWideCacheLocator):
    """Tells numba where to keep machine code: a folder for each file of kernels and each version of its sources."""

    def __init__(self, py_func: Any, py_file: str) -> None:
        super().__init__(py_func, py_file)
        if FOLDER is None:
            raise OSError(NO_FOLDER)
        source = Path(py_file)
        self._module = ".".join(source.with_suffix("").relative_to(KERNELS).parts)
        self._digest = digest_of(source)
        self._folder = FOLDER / f"{self._module}-{self._digest}-{numba.__version__}"
        self._cache_path = str(self._folder)

    @classmethod
    def from_function(cls, py_func: Any, py_file: str) -> OurFolder:
        """Return a locator; nothing is written before there is something to keep."""
        return cls(py_func, py_file)

    def get_source_stamp(self) -> str:
        """Return what machine code must have been made of; not when and where, so that copies of a package share it."""
        return self._digest

    def ensure_cache_path(self) -> None:
        """Make the folder; what other versions left there goes, the oldest first."""
        is_new = not self._folder.exists()
        super().ensure_cache_path()
        if is_new:
            versions = sorted(self._folder.parent.glob(f"{self._module}-*"), key=lambda path: path.stat().st_mtime)
            for folder in versions[:-VERSIONS]:
                shutil.rmtree(folder, ignore_errors=True)


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
