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

from deptree_cli.kernels.cache import cache_folder, compiling, not_kept, packaged_folder, remove_oldest
from deptree_cli.kernels.internals import CompileResult, Listener, dumps, register
from deptree_cli.kernels.kept import names
from deptree_cli.kernels.portable import TARGET

FOLDER, PACKAGED = cache_folder(), packaged_folder()
VERSION = ".".join(numba.__version__.split(".")[:2])  # what machine code is made for

# The files of machine code that this process has read, and those that it has written: True.
FILES: dict[Path, bool] = {}

NO_FOLDER = "no folder for it can be written, or is safe from others"


def keep(function: Any) -> None:
    """Have the machine code of a compiled function kept in our folder, if there is one."""
    function._cache = KernelCache(function.py_func.__code__)


class KernelCache:
    """A function's machine code, for numba: what the package brings along, then what is in our folder.

    What cannot be read is compiled again, what cannot be written is not kept.
    """

    cache_path = None  # for numba's statistics

    def __init__(self, code: Any) -> None:
        self._places: list[CodeFiles] = []
        found = names(code)
        if FOLDER is not None and found is not None:
            name, base = f"{found[0]}-{VERSION}", found[1]
            if PACKAGED is not None:
                self._places.append(CodeFiles(PACKAGED / name, base, is_portable=True))
            self._places.append(CodeFiles(FOLDER / name, base))

    def load_overload(self, signature: Any, target: Any) -> Any:
        """Return the machine code for a signature, None if there is none that can be read."""
        target.refresh()
        for files in self._places:
            try:
                found = files.load((signature, target.codegen().magic_tuple()))
                if found is not None:
                    return CompileResult._rebuild(target, *found)
            except Exception:  # of any kind: so many are the ways in which a pickle can be damaged
                files.flush()
        return None

    def save_overload(self, signature: Any, compiled: Any) -> None:
        """Keep machine code; whoever wants to know is told if that is not possible."""
        try:
            if not self._places:
                raise OSError(NO_FOLDER)
            self._places[-1].save((signature, compiled.codegen.magic_tuple()), compiled._reduce())
        except Exception as error:  # of any kind: no cache is needed, and this is numba's inner life
            not_kept(_reason(error))

    def flush(self) -> None:
        """Remove the files, as numba asks before it compiles everything anew."""
        for files in self._places[-1:]:
            files.flush()


class CodeFiles:
    """The machine code of a function, a file for each overload, which is written in one go.

    A key is a signature, and what system and processor the code is for.

    Args:
        folder: where the files are; made when there is something to keep, and what other versions left beside it goes,
            the oldest first.
        base: what their names begin with.
        is_portable: whether the code is for any processor of the level, not for this machine's.
    """

    def __init__(self, folder: Path, base: str, is_portable: bool = False) -> None:
        self._folder, self._base, self._is_portable = folder, base, is_portable

    def load(self, key: Any) -> Any:
        """Return what was kept under a key, None if there is nothing.

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
        """Keep something under a key."""
        if not self._folder.exists():
            self._folder.mkdir(parents=True, exist_ok=True)
            remove_oldest(self._folder.parent.glob(f"{self._folder.name.split('-')[0]}-*"))
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
        signature, (triple, *processor) = key
        return signature, (triple, *(TARGET if self._is_portable else processor))

    def _path(self, key: Any) -> Path:
        signature, target = key
        told = repr(([str(each) for each in signature], target))  # addresses in it are another process's
        name = blake2b(re.sub(" at 0x[0-9a-f]+", "", told).encode(), digest_size=8).hexdigest()
        return self._folder / f"{self._base}.{name}.nbc"


class CompileListener(Listener):
    """Tells of kernels that are compiled; what a host program compiles is its own affair."""

    def on_start(self, event: Any) -> None:
        """Tell that the compiling of a kernel begins."""
        self._tell(event, True)

    def on_end(self, event: Any) -> None:
        """Tell that it has ended, well or not."""
        self._tell(event, False)

    def _tell(self, event: Any, begins: bool) -> None:
        if isinstance(getattr(event.data["dispatcher"], "_cache", None), KernelCache):
            compiling(begins)


register("numba:compile", CompileListener())


def _reason(error: Exception) -> str:
    return getattr(error, "strerror", None) or " ".join(str(error).split()) or type(error).__name__
