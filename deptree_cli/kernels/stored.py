"""Machine code kept on disk, where nothing that is wrong with the disk does more harm than compiling anew.

Numba's own cache raises whatever reading and writing do: a truncated file, a full disk and a folder that cannot be
written would each end the program; or it goes on in another folder. It looks at the source of the kernel alone, not
at those of the kernels within it. And it numbers the overloads of a function in an index: of two processes that add one
at the same time, each may find the other's code under its own number.
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
from numba.core.caching import CompileResultCacheImpl, FunctionCache, UserWideCacheLocator
from numba.core.event import Listener, register
from numba.core.serialize import dumps

from deptree_cli.kernels.cache import cache_folder, compiling, not_kept, packaged_folder, remove_oldest
from deptree_cli.kernels.portable import TARGET
from deptree_cli.kernels.sources import PACKAGE, digest

FOLDER, PACKAGED = cache_folder(), packaged_folder()
VERSION = ".".join(numba.__version__.split(".")[:2])  # what machine code is made for

# The files of machine code that this process has read, and those that it has written: True.
FILES: dict[Path, bool] = {}

NO_FOLDER = "no folder for it can be written, or is safe from others"


def keep(function: Any) -> None:
    """Have the machine code of a compiled function kept in our folder, if there is one."""
    try:
        function._cache = KernelCache(function.py_func)
    except Exception as error:  # of any kind: no cache is needed, and this is numba's inner life
        function._cache = NoCache(_reason(error))


class OurFolder(UserWideCacheLocator):
    """Tells numba where to keep machine code: a folder for each file of kernels and each version of all."""

    def __init__(self, py_func: Any, py_file: str) -> None:
        super().__init__(py_func, py_file)
        if FOLDER is None:
            raise OSError(NO_FOLDER)
        source = Path(py_file)
        self._module = ".".join(source.with_suffix("").relative_to(PACKAGE).parts)
        self._folder = FOLDER / f"{self._module}-{digest()}-{VERSION}"
        self._cache_path = str(self._folder)

    @classmethod
    def from_function(cls, py_func: Any, py_file: str) -> OurFolder:
        """Return a locator; nothing is written before there is something to keep."""
        return cls(py_func, py_file)

    def get_source_stamp(self) -> str:
        """Return what machine code must have been made of; not when and where, so that copies of a package share it."""
        return digest()

    def ensure_cache_path(self) -> None:
        """Make the folder; what other versions left there goes, the oldest first."""
        is_new = not self._folder.exists()
        super().ensure_cache_path()
        if is_new:
            remove_oldest(self._folder.parent.glob(f"{self._module}-*"))


class CodeFiles:
    """The machine code of a function, a file for each overload, which is written in one go.

    Args:
        folder: where the files are.
        base: what their names begin with.
        is_portable: whether the code is for any processor of the level, not for this machine's.
    """

    def __init__(self, folder: Path, base: str, is_portable: bool = False) -> None:
        self._folder, self._base, self._is_portable = folder, base, is_portable

    def load(self, key: Any) -> Any:
        """Return what numba kept under a key: signature, processor, digests of the function; None if there is nothing.

        Raises:
            Exception: of any kind: so many are the ways in which a pickle can be damaged.
        """
        key = self._kept(key)
        with suppress(FileNotFoundError):
            kept, data = pickle.loads((path := self._path(key)).read_bytes())
            if kept == key:
                FILES.setdefault(path, False)
                with suppress(OSError):  # of others, or removed
                    os.utime(self._folder)  # in use, so none of the oldest
                return data
        return None

    def save(self, key: Any, data: Any) -> None:
        """Keep what numba made under a key."""
        path = self._path(self._kept(key))
        part = path.with_suffix(f".{os.getpid()}.part")
        try:
            part.write_bytes(dumps((key, data)))
            part.replace(path)
            FILES[path] = True
        except BaseException:
            part.unlink(missing_ok=True)
            raise

    def flush(self) -> None:
        """Remove the files."""
        with suppress(OSError):
            for path in self._folder.glob(f"{self._base}.*"):
                path.unlink(missing_ok=True)

    def _kept(self, key: Any) -> Any:
        signature, (triple, *processor), digests = key
        return signature, (triple, *(TARGET if self._is_portable else processor)), digests

    def _path(self, key: Any) -> Path:
        signature, *others = key
        told = repr(([str(each) for each in signature], others))  # addresses in it are another process's
        digest = blake2b(re.sub(" at 0x[0-9a-f]+", "", told).encode(), digest_size=8).hexdigest()
        return self._folder / f"{self._base}.{digest}.nbc"


class _Code(CompileResultCacheImpl):
    _locator_classes = [OurFolder]  # noqa: RUF012 (numba's)


class KernelCache(FunctionCache):
    """A function's cache: what the package brings along, then what is in our folder.

    What cannot be read is compiled again, what cannot be written is not kept.
    """

    _impl_class = _Code
    _cache_file: Any

    def __init__(self, py_func: Any) -> None:
        super().__init__(py_func)
        ours, base = Path(self.cache_path), self._impl.filename_base
        self._places = [CodeFiles(ours, base)]
        if PACKAGED is not None:
            self._places.insert(0, CodeFiles(PACKAGED / ours.name, base, is_portable=True))

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Return the machine code for a signature, None if there is none that can be read."""
        for files in self._places:
            self._cache_file = files
            try:
                found = super().load_overload(sig, target_context)
            except Exception:  # of any kind: so many are the ways in which a pickle can be damaged
                files.flush()
            else:
                if found is not None:
                    return found
        return None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep machine code; whoever wants to know is told if that is not possible."""
        self._cache_file = self._places[-1]
        try:
            super().save_overload(sig, data)
        except Exception as error:
            not_kept(_reason(error))


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


class CompileListener(Listener):
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


register("numba:compile", CompileListener())


def _reason(error: Exception) -> str:
    return getattr(error, "strerror", None) or " ".join(str(error).split()) or type(error).__name__
