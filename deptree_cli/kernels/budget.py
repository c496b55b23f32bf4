"""Who runs kernels, Python or machine code: the one question whether work is worth a compiler.

To load machine code takes a second, to compile it up to 25. A command therefore begins with Python, and asks before it
works: `foresee`. What nobody foresees, such as walks, spends a budget; when that ends, kernels are compiled. Python may
do more while no machine code is kept. The output is the same, byte by byte. A library always compiles. Whoever sets
NUMBA_DISABLE_JIT has decided: 0 compiles, 1 does not.
"""

from __future__ import annotations

import math
import os
import sys
import threading
from collections.abc import Callable
from functools import cached_property, update_wrapper
from importlib import import_module
from typing import Any, TypeVar

Result = TypeVar("Result")

# The steps of Python that are worth loading machine code, about a second: sums of n words take n^3 of them, a tree of n
# words n times as many as `TREE`, `BYTES` of text one, and so does every call of a kernel.
WORTH, TREE, BYTES = 250_000, 5, 4

# How many times as many are worth compiling it, about 4 seconds, where it takes 12 to 25 in all commands but those that
# only read. More would save one long first run, and slow all later ones: what Python does leaves no machine code.
COMPILING = 5

VARIABLE = "NUMBA_DISABLE_JIT"


class Spent(BaseException):
    """Python has worked on a sentence for as long as it may: `again` does the sentence anew, by machine code."""


class Budget:
    """What Python may still do: `steps`, None if kernels are compiled, and `more`, once, if no machine code is kept.

    waiting: what to do when kernels are compiled.
    """

    def __init__(self) -> None:
        numba = sys.modules.get("numba")
        is_forbidden = numba.config.DISABLE_JIT if numba else os.environ.get(VARIABLE, "0") not in ("", "0")
        self.steps: float | None = math.inf if is_forbidden else None
        self.more = 0
        self.is_open = not (is_forbidden or numba)
        self.waiting: list[Callable[[], Any]] = []

    def is_spent(self, code: Any = None) -> bool:
        """Whether steps were spent and have ended, on a kernel, or on what is not known where there is no code."""
        if self.steps is None or self.steps >= 0:
            return False
        if self.more:
            from deptree_cli.kernels.kept import is_kept  # loaded when it matters, which in most commands it does not

            self.steps += 0 if is_kept(code) else self.more
            self.more = 0
        return self.steps < 0


class Running(threading.local):
    """What runs in a thread: the outermost kernel, by Python; and whether work is done anew if the steps end."""

    inside: PythonKernel | None = None
    again = False


BUDGET, RUNNING = Budget(), Running()


def begin_with_python() -> None:
    """Have Python run kernels as long as that is quicker; for commands, before they import a kernel."""
    if BUDGET.is_open:
        BUDGET.steps, BUDGET.more = (0, 0) if os.environ.get(VARIABLE) else (WORTH, (COMPILING - 1) * WORTH)


def foresee(steps: float) -> None:
    """Ask whether work of this many steps, and all that was done, is worth a compiler; if so, compile from now on."""
    if BUDGET.steps is not None:
        BUDGET.steps -= steps
        if BUDGET.is_spent():
            compile_kernels()


def is_decided() -> bool:
    """Whether nothing that is foreseen changes who runs kernels."""
    return BUDGET.steps is None or BUDGET.steps == math.inf


def compile_kernels() -> None:
    """Have kernels compiled from now on, unless that is forbidden."""
    if BUDGET.steps is not None and BUDGET.steps < math.inf:
        BUDGET.steps = None
        start_quickly()
        while BUDGET.waiting:
            BUDGET.waiting.pop(0)()


def when_compiled(action: Callable[[], Any]) -> None:
    """Do something before the first kernel is compiled."""
    if BUDGET.steps is None:
        action()
    else:
        BUDGET.waiting.append(action)


def once_more(work: Callable[[], Result]) -> Result:
    """Return the result of work; where Python's steps end within it, it is done anew by machine code."""
    if BUDGET.steps is None:
        return work()
    try:
        RUNNING.again = True
        return work()
    except Spent:
        compile_kernels()
    finally:
        RUNNING.again, RUNNING.inside = False, None
    return work()


class PythonKernel:
    """A kernel that Python runs until it is compiled.

    Integers wrap around and divisions by zero give inf without a warning, as they do in machine code.
    """

    def __init__(self, function: Any, compiled: Callable[[], Any]) -> None:
        self.function = function
        self._compiled = compiled
        update_wrapper(self, function)

    @cached_property
    def compiled(self) -> Any:
        return self._compiled()

    def __call__(self, *args: Any) -> Any:
        """Run it, by whoever runs kernels now; a kernel that Python runs is not left to machine code half-way."""
        if BUDGET.steps is None:
            return self.compiled(*args)
        BUDGET.steps -= 1
        if BUDGET.steps < 0 and BUDGET.is_spent((RUNNING.inside or self).function.__code__):
            if RUNNING.again:
                raise Spent
            if RUNNING.inside is None:
                compile_kernels()
                return self.compiled(*args)
        if RUNNING.inside:
            return self.function(*args)
        import numpy as np  # `deptree --help` must not wait for it

        RUNNING.inside = self
        try:
            with np.errstate(all="ignore"):
                return self.function(*args)
        finally:
            RUNNING.inside = None

    def __reduce__(self) -> str:
        return str(self.function.__qualname__)


class _Index:
    def __call__(self, number: Any) -> int:
        return int(number)


# The integers that inner loops index arrays with. In machine code they are unsigned: those cannot count from the end of
# an axis, which would be checked at every step and keep loops from being vectorised. Python takes its own: NumPy 1 adds
# an unsigned integer and one of Python's as floats.
Index = _Index()


def start_quickly() -> None:
    """Import numba without scipy.linalg, which it would load (0.2 s) to offer linear algebra that kernels never use.

    For processes of our own: in a program that compiles other functions too, those could then not call BLAS.
    """
    if "numba.np.arraymath" in sys.modules or "scipy.linalg" in sys.modules:
        return
    sys.modules["scipy.linalg"] = None  # type: ignore[assignment]
    try:
        import_module("numba.np.arraymath")
    finally:
        del sys.modules["scipy.linalg"]
